//! Records on their way into batches: what waits for its round, and what is ready.

use crate::order::{Entry, Ordering, Queue};

/// How many records make a batch where no round ends it before. So few that what was walked is still in the cache of the CPU
/// when it is decoded.
pub(super) const BATCH_RECORDS: usize = 4 * 1024;

/// The records that were walked and not delivered yet.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    pub(super) ordering: Ordering,
    /// Whether records with time wait for their round.
    pub(super) sorting: bool,
    pub(super) queue: Queue,
    pub(super) ready: Vec<Entry>,
    /// A round has ended: what is ready is a batch.
    pub(super) ended: bool,
    /// Number of the first record of the round at hand.
    start: u64,
}

impl Rounds {
    pub(super) fn new(ordering: Ordering) -> Self {
        Rounds { ordering, ..Rounds::default() }
    }

    /// Takes a record.
    #[inline(always)]
    pub(super) fn push(&mut self, entry: Entry) {
        if self.sorting && Queue::has_to_wait(entry.time) {
            self.queue.push(entry);
        } else {
            self.ready.push(entry);
        }
    }

    /// Whether there is enough for a batch.
    #[inline(always)]
    pub(super) fn is_enough(&self) -> bool {
        self.ready.len() >= BATCH_RECORDS
    }

    /// What is ready makes a batch as it is.
    pub(super) fn cut(&mut self) {
        self.ended |= !self.ready.is_empty();
    }

    /// A mark of a finished round, before the record of this number: what it allows to deliver is a batch. One mark behind the
    /// other makes none.
    pub(super) fn finish_round(&mut self, index: u64) {
        let before = self.ready.len();
        self.queue.finish_round(&mut self.ready);
        let records = index.saturating_sub(std::mem::replace(&mut self.start, index));
        self.ended |= records > 1 || self.ready.len() > before;
    }

    /// Nothing more comes, or what waits takes too much memory.
    pub(super) fn finish(&mut self) {
        self.queue.finish(&mut self.ready);
    }

    /// What is ready, in order.
    pub(super) fn take(&mut self) -> Vec<Entry> {
        let entries = std::mem::take(&mut self.ready);
        self.ready.reserve(entries.len().min(BATCH_RECORDS));
        entries
    }
}
