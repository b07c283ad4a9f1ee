//! Views: questions that everybody asks, one file of SQL each. The head of a file says what the view and its columns mean.

use datafusion::error::Result;
use datafusion::prelude::SessionContext;

/// A view.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub(crate) name: &'static str,
    text: &'static str,
}

/// Declares the views: those that others are made of come first.
macro_rules! views {
    ($($name:ident)*) => {
        /// Every view.
        pub(crate) const VIEWS: &[View] =
            &[$(View { name: stringify!($name), text: include_str!(concat!("views/", stringify!($name), ".sql")) }),*];
    };
}

views! {
    stack_frames
    stack_levels
    stack_functions
    stack_text
    functions
    callers
    callees
    lines
    thread_totals
    timeline
    differences
    off_cpu
}

impl View {
    /// What one row of it is.
    pub(crate) fn meaning(&self) -> String {
        let words = self.head().take_while(|line| column(line).is_none());
        words.collect::<Vec<_>>().join(" ")
    }

    /// Its columns: name, unit, meaning.
    pub(crate) fn columns(&self) -> Vec<(&'static str, Option<&'static str>, String)> {
        let mut columns: Vec<(&str, Option<&str>, String)> = Vec::new();
        for line in self.head() {
            match (column(line), columns.last_mut()) {
                (Some((name, unit, meaning)), _) => columns.push((name, unit, meaning.to_owned())),
                // A meaning goes on in the next line.
                (None, Some((_, _, meaning))) => *meaning = format!("{meaning} {line}"),
                (None, None) => (),
            }
        }
        columns
    }

    /// The lines of the comment at its head.
    fn head(&self) -> impl Iterator<Item = &'static str> {
        self.text.lines().map_while(|line| line.strip_prefix("--")).map(str::trim)
    }
}

/// What a line says of a column: `name [unit]: meaning`.
fn column(line: &str) -> Option<(&str, Option<&str>, &str)> {
    let (name, meaning) = line.split_once(": ")?;
    let (name, unit) = match name.split_once(" [") {
        Some((name, unit)) => (name, unit.strip_suffix(']')),
        None => (name, None),
    };
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    is_name.then_some((name, unit, meaning))
}

/// Makes the views known.
pub(crate) async fn register(context: &SessionContext) -> Result<()> {
    for view in VIEWS {
        context.sql(&format!("CREATE VIEW {} AS {}", view.name, view.text)).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_view_says_what_it_means() {
        for view in VIEWS {
            assert!(view.meaning().ends_with('.'), "{}", view.name);
            for (name, _, meaning) in view.columns() {
                assert!(meaning.ends_with('.'), "{}.{name}", view.name);
            }
        }
    }

    #[test]
    fn heads_are_read() {
        assert_eq!(
            column("self_period [of the event]: A sum."),
            Some(("self_period", Some("of the event"), "A sum."))
        );
        assert_eq!(column("event: Its name."), Some(("event", None, "Its name.")));
        assert_eq!(column("A sentence: with a colon."), None);
    }
}
