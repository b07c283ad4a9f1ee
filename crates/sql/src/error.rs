//! What is wrong with a query, with its place and the names that were perhaps meant.

use crate::store::Told;
use datafusion::common::{Diagnostic, Span};
use datafusion::error::DataFusionError;
use std::fmt::{self, Display, Formatter};

/// Why there is no answer.
#[derive(Debug)]
pub struct Error {
    said: String,
    /// The line of the query, and below it a mark at the place.
    place: Option<String>,
    cause: Option<DataFusionError>,
}

/// An answer, or why there is none.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error in these words.
    pub(crate) fn said(said: impl Into<String>) -> Error {
        Error { said: said.into(), place: None, cause: None }
    }

    /// The same, where the text of the query is at hand, with the place. `tables` are those that there are.
    pub(crate) fn within(self, query: &str, tables: &[String]) -> Error {
        let Error { mut said, cause: Some(error), .. } = self else { return self };
        if let Some(diagnostic) = error.diagnostic() {
            let notes = diagnostic.notes.iter().map(|note| &note.message);
            for more in notes.chain(diagnostic.helps.iter().map(|help| &help.message)) {
                // The nearest name is enough.
                let is_said = said.contains(more.as_str()) || said.contains("Did you mean");
                if !is_said {
                    said.push_str(&format!("; {more}"));
                }
            }
        }
        if let Some(table) = unknown_table(&said) {
            let near = tables.iter().filter(|known| strsim::damerau_levenshtein(known, table) <= 3);
            let near = near.min_by_key(|known| strsim::damerau_levenshtein(known, table));
            let hint = near.map_or_else(
                || "SHOW TABLES lists them".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            said = format!("there is no table `{table}`; {hint}");
        }
        let place = place(&error, &said, query);
        Error { said, place, cause: Some(error) }
    }

    /// The line of the query that is wrong, and below it a mark at the place.
    pub fn place(&self) -> Option<&str> {
        self.place.as_deref()
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said)
    }
}

impl std::error::Error for Error {
    // The message is that of the cause. What the system said is behind it: that a reader went away, say.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let mut cause = self.cause.as_ref()? as &(dyn std::error::Error + 'static);
        loop {
            if cause.is::<std::io::Error>() {
                return Some(cause);
            }
            cause = cause.source()?;
        }
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Error {
        Error::from(DataFusionError::from(error))
    }
}

impl From<Told> for Error {
    fn from(told: Told) -> Error {
        Error::said(told.0)
    }
}

impl From<DataFusionError> for Error {
    fn from(error: DataFusionError) -> Error {
        Error { said: message(&error), place: None, cause: Some(error) }
    }
}

/// What an error says, without the names of the stages it came through.
fn message(error: &DataFusionError) -> String {
    if let Some(told) = told(error) {
        return told.0.clone();
    }
    let text = error.find_root().strip_backtrace();
    // Where one name is near, all others follow.
    let text = text.split_once("\nValid fields are").map_or(text.as_str(), |(near, _)| near).to_owned();
    let stages = [
        "SQL error: ParserError(",
        "Error during planning: ",
        "Schema error: ",
        "Execution error: ",
        "External error: ",
    ];
    let Some(stage) = stages.iter().find(|stage| text.starts_with(**stage)) else { return text };
    let bare = text.trim_start_matches(stage);
    let bare = if stage.ends_with('(') { bare.trim_end_matches(')').trim_matches('"') } else { bare };
    bare.to_owned()
}

/// What a store said, if that is the cause.
fn told(error: &DataFusionError) -> Option<&Told> {
    let mut cause = error as &(dyn std::error::Error + 'static);
    loop {
        match cause.downcast_ref() {
            Some(told) => return Some(told),
            None => cause = cause.source()?,
        }
    }
}

/// The table that an error says is not there.
fn unknown_table(said: &str) -> Option<&str> {
    let name = said.strip_prefix("table '")?.strip_suffix("' not found")?;
    name.rsplit('.').next()
}

/// The line of the query with a mark below the place, if that is known.
fn place(error: &DataFusionError, said: &str, query: &str) -> Option<String> {
    let (line, column) = error.diagnostic().and_then(in_diagnostic).or_else(|| in_words(said))?;
    let text = query.lines().nth(line.checked_sub(1)?)?;
    let before: String =
        text.chars().take(column.checked_sub(1)?).map(|c| if c == '\t' { c } else { ' ' }).collect();
    Some(format!("  {text}\n  {before}^"))
}

fn in_diagnostic(diagnostic: &Diagnostic) -> Option<(usize, usize)> {
    let Span { start, .. } = diagnostic.span?;
    Some((usize::try_from(start.line).ok()?, usize::try_from(start.column).ok()?))
}

/// The place as the parser says it: `… at Line: 1, Column: 8`.
fn in_words(said: &str) -> Option<(usize, usize)> {
    let (_, place) = said.rsplit_once("Line: ")?;
    let (line, column) = place.split_once(", Column: ")?;
    let digits = column.find(|c: char| !c.is_ascii_digit()).map_or(column, |end| column.split_at(end).0);
    Some((line.parse().ok()?, digits.parse().ok()?))
}
