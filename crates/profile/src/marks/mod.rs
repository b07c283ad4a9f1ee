//! What else happened, by time: context switches, what was lost, the texts of tracepoints. For views that have a time line.

mod builder;

pub use builder::MarkBuilder;

use crate::schedule::Schedule;
use readperf_session::{LostMoment, ThreadId};

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// When, in ns of the recording's clock.
    pub time_ns: u64,
    /// To which thread, where that is known.
    pub thread: Option<ThreadId>,
    /// On which CPU, where that is known.
    pub cpu: Option<u32>,
    /// What.
    pub kind: MarkKind,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkKind {
    /// The thread got a CPU.
    SwitchIn,
    /// The thread gave its CPU up.
    SwitchOut {
        /// Whether it still wanted to run.
        preempted: bool,
    },
    /// Something was lost while recording.
    Lost(LostMoment),
    /// A tracepoint was passed.
    Tracepoint {
        /// Index of the event.
        event: u32,
        /// What it says, if the recording describes it.
        text: Option<TextId>,
    },
}

/// Number of a text in [`Marks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TextId(u32);

impl TextId {
    /// Its index, from 0 without gaps.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

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
    pub fn text(&self, id: TextId) -> Option<&str> {
        self.texts.get(id.index()).map(|text| &**text)
    }

    /// The texts, by number.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(|text| &**text)
    }
}
