//! The threads that samples were last of: the next one is most often of one of these.

use crate::ids::{CommId, ProcessId, ThreadId};

/// A thread, and what every sample needs of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KnownThread {
    pub(crate) pid: u32,
    pub(crate) tid: u32,
    pub(crate) process: ProcessId,
    pub(crate) thread: ThreadId,
    pub(crate) comm: CommId,
}

/// How many are remembered. A power of two: those whose ids end alike take each other's place.
const REMEMBERED: usize = 32;

/// Threads by the end of their id, as they are now: whatever changes a thread forgets all.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecentThreads {
    slots: [Option<KnownThread>; REMEMBERED],
}

impl RecentThreads {
    #[inline]
    fn slot(tid: u32) -> usize {
        tid as usize % REMEMBERED
    }

    /// The thread with these ids, if it is remembered.
    #[inline]
    pub(crate) fn get(&self, pid: u32, tid: u32) -> Option<KnownThread> {
        self.slots
            .get(Self::slot(tid))
            .copied()
            .flatten()
            .filter(|known| known.pid == pid && known.tid == tid)
    }

    /// Remembers one.
    pub(crate) fn put(&mut self, known: KnownThread) {
        if let Some(slot) = self.slots.get_mut(Self::slot(known.tid)) {
            *slot = Some(known);
        }
    }

    /// Forgets all: one of them is not what it was.
    pub(crate) fn forget(&mut self) {
        self.slots = Default::default();
    }
}
