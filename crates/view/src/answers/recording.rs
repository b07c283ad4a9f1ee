//! What the recording says of itself: the texts of `info`, `stats` and `check`.

use super::{Answers, written};
use crate::query::Query;
use readperf_output::annotate::Sources;
use readperf_profile::view::listing::Listing;
use readperf_session::Session;
use serde_json::json;

/// A text about the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Header, events, features.
    Info,
    /// How many records of each type.
    Stats,
    /// What is wrong with it.
    Check,
}

/// What the page shows that is not in the profile: whoever opens files provides it.
pub trait Outside {
    /// The text of a part, as the command of that name prints it.
    ///
    /// # Errors
    /// Why there is none, as of a stream that has been read.
    fn text(&self, part: Part) -> Result<String, String>;

    /// The source files that a listing names, and only those.
    fn sources(&self, listing: &Listing, session: &Session) -> Sources;
}

pub(super) fn answer(answers: &mut Answers<'_, '_>, query: &Query) -> Result<Vec<u8>, String> {
    let part = match query.get("part") {
        "" | "info" => Part::Info,
        "stats" => Part::Stats,
        "check" => Part::Check,
        other => return Err(format!("part={other}: there is none")),
    };
    let text = answers.outside.text(part).unwrap_or_else(|why| why);
    written(&json!({"text": text}))
}
