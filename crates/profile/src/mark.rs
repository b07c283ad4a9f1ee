//! Something that happened while recording, besides samples.

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
        text: Option<MarkTextId>,
    },
}

/// Number of a text in [`Marks`](crate::marks::Marks).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MarkTextId(pub(crate) u32);

impl MarkTextId {
    /// Its index, from 0 without gaps.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
