//! What else happened, by time: context switches, what was lost, the texts of tracepoints. For views that have a time line.

mod builder;

pub use crate::mark::{Mark, MarkKind, MarkTextId};
pub use builder::MarkBuilder;

use crate::schedule::Schedule;

/// What happened, by time.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    list: Vec<Mark>,
    texts: Vec<Box<str>>,
    /// When threads had a CPU.
    pub schedule: Schedule,
    /// Tracepoints for whose texts there was no room.
    pub without_text: u64,
}

impl Marks {
    /// All of it, in order of time.
    pub fn as_slice(&self) -> &[Mark] {
        &self.list
    }

    /// A text.
    pub fn text(&self, id: MarkTextId) -> Option<&str> {
        self.texts.get(id.index()).map(|text| &**text)
    }

    /// The texts, by number.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(|text| &**text)
    }
}
