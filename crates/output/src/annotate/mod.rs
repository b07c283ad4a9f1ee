//! `readperf annotate`: functions as code, as text, JSON and HTML.

mod blocks;
mod columns;
mod gutter;
mod html;
mod json;
mod labels;
mod lines;
mod text;

pub use columns::{Measure, ShareOf};
pub use html::write_html;
pub use json::write_json;
pub use lines::{CodeLine, CodeRow, code_lines};
pub use text::write_text;

use crate::script::SourceText;
use crate::text::shown;
use columns::Columns;
use readperf_profile::Profile;
use readperf_profile::profile::EventTotal;
use readperf_profile::view::listing::Listing;
use readperf_session::Session;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Most source files of which it is told that they are missing.
const MOST_FILES: usize = 4;

/// The text of source files by the path that the compiler recorded, or why there is none.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The files that were looked for.
    pub files: FxHashMap<Arc<str>, Result<Source, String>>,
}

/// A source file that was found.
#[derive(Clone, Debug)]
pub struct Source {
    /// Where.
    pub path: String,
    /// Its text.
    pub text: SourceText,
    /// Why its lines may not be those that were compiled.
    pub doubt: Option<String>,
}

/// What is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    /// Instructions, each below its line of source.
    Both,
    /// Instructions alone.
    Code,
    /// Lines of source alone, those of each function together.
    Lines,
    /// Lines of source alone, whole files.
    Files,
}

/// What is to be shown, and how.
#[derive(Debug)]
pub struct Annotation<'a> {
    /// The functions.
    pub listings: &'a [Listing],
    /// Names of functions, totals of events.
    pub profile: &'a Profile,
    /// Names of binaries.
    pub session: &'a Session,
    /// For each event of the recording all its samples, chosen or not.
    pub recorded: &'a [EventTotal],
    /// The source files.
    pub sources: &'a Sources,
    /// Instructions, lines, or both.
    pub show: Show,
    /// What numbers say, from left to right.
    pub measures: &'a [Measure],
    /// What 100 % is.
    pub share_of: ShareOf,
    /// Whether what is called or inlined counts in columns of its own.
    pub inclusive: bool,
    /// Whether bytes of instructions are shown.
    pub bytes: bool,
    /// How many more functions there are that samples were taken in.
    pub others: usize,
    /// Columns of the terminal, if it is one: longer text is cut.
    pub width: Option<usize>,
}

impl Annotation<'_> {
    /// The events that have samples, by index.
    fn events(&self) -> Vec<usize> {
        let events = self.profile.events().iter().enumerate();
        events.filter(|(_, event)| event.samples > 0).map(|(nr, _)| nr).collect()
    }

    fn columns(&self, listing: &Listing) -> Columns {
        Columns::new(self, listing)
    }

    /// Why source text is missing, or may be another one: of the files with most samples.
    fn untold(&self, listing: &Listing) -> Vec<String> {
        let mut files: Vec<(u64, usize)> = (0..listing.files.len()).map(|nr| (0, nr)).collect();
        for line in &listing.lines {
            let samples = line.numbers.iter().map(|numbers| numbers.own.samples).sum::<u64>();
            if let Some((sum, _)) = line.file.and_then(|file| files.get_mut(file)) {
                *sum += samples;
            }
        }
        files.sort_by_key(|(samples, nr)| (std::cmp::Reverse(*samples), *nr));
        let mut told: Vec<String> = Vec::new();
        let mut untold = 0;
        for file in files.iter().filter_map(|(_, nr)| listing.files.get(*nr)) {
            let why = match self.sources.files.get(&file.path) {
                Some(Err(reason)) => format!("{}: {}", shown(&file.path), shown(reason)),
                Some(Ok(Source { path, doubt: Some(doubt), .. })) => format!("{}: {doubt}", shown(path)),
                _ => continue,
            };
            if told.len() < MOST_FILES { told.push(why) } else { untold += 1 }
        }
        if untold > 0 {
            told.push(format!("and {untold} more source files"));
        }
        told
    }

    /// A line of a source file.
    fn source_line(&self, path: &str, line: u32) -> Option<&[u8]> {
        self.sources.files.get(path)?.as_ref().ok()?.text.line(line)
    }
}
