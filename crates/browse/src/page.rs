//! A page of text: keys, what the recording says, what is known of a row.

use crate::keys::BINDINGS;
use crate::keys::View;
use crate::list::Cursor;
use readperf_output::text::printable;
use regex::Regex;

/// A page.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub(crate) title: String,
    pub(crate) lines: Vec<String>,
    pub(crate) cursor: Cursor,
}

impl Page {
    /// A page of a text. What could drive a terminal in it is made harmless.
    pub(crate) fn new(title: &str, text: &str) -> Page {
        let lines = text.lines().map(|line| printable(&line.replace('\t', "    ")).into_owned()).collect();
        Page { title: title.to_owned(), lines, cursor: Cursor::default() }
    }

    /// The keys.
    pub(crate) fn help() -> Page {
        let mut text = String::new();
        let views = [
            (View::Rows, "Rows and calls"),
            (View::Code, "Code"),
            (View::Flame, "Flame graph"),
            (View::Time, "Time"),
            (View::Page, "Pages of text"),
        ];
        for (view, title) in views {
            text.push_str(&format!("{title}\n"));
            for binding in BINDINGS.iter().filter(|binding| binding.views.contains(&view)) {
                text.push_str(&format!("  {:<12} {}\n", binding.name, binding.help));
            }
            text.push('\n');
        }
        Page::new("keys", &text)
    }

    /// Folds lines at a width, so that all of them can be read.
    pub(crate) fn folded(&self, width: usize) -> Page {
        let width = width.max(10);
        let mut lines = Vec::new();
        for line in &self.lines {
            let mut rest = String::new();
            for c in line.chars() {
                if readperf_output::text::width(&rest)
                    + readperf_output::text::width(c.encode_utf8(&mut [0; 4]))
                    > width
                {
                    lines.push(std::mem::take(&mut rest));
                }
                rest.push(c);
            }
            lines.push(rest);
        }
        Page { lines, ..self.clone() }
    }

    /// The next line that a pattern matches, from one on, round the end.
    pub(crate) fn find(&self, pattern: &Regex, forward: bool) -> Option<usize> {
        find(self.lines.len(), self.cursor.at, forward, |nr| {
            self.lines.get(nr).is_some_and(|line| pattern.is_match(line))
        })
    }
}

/// The next of some lines that is meant, from one on, round the end.
pub(crate) fn find(
    len: usize,
    from: usize,
    forward: bool,
    mut is_it: impl FnMut(usize) -> bool,
) -> Option<usize> {
    let step = |nr: usize| if forward { (from + nr) % len } else { (from + len - nr) % len };
    (1..=len).map(step).find(|nr| is_it(*nr))
}
