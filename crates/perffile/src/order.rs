//! Order of time across rounds.
//!
//! perf reads the ring buffers of the CPUs in turn, so a recording is a mixture of runs that are each in order. After a
//! pass over all buffers it writes FINISHED_ROUND. What was taken in one round may still be overtaken by records of the
//! next one, but not of the one after it:
//!
//! ```text
//!   round 1: t 1 5 3      max 5   mark: deliver t <= 0 (nothing); then the bound is 5
//!   round 2: t 4 7 6      max 7   mark: deliver t <= 5 (1 3 4 5); then the bound is 7
//!   end:                          deliver the rest     (6 7)
//! ```
//!
//! Records without time, or with 0 or the highest time, which perf makes up itself, and perf's own records are delivered at
//! once, where they stand. Equal times keep the order of the file.

use crate::runs::Runs;

/// In which order records are delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Ordering {
    /// As they lie in the file.
    File,
    /// By time, as far as the recording allows.
    #[default]
    Time,
}

/// A record on its way: where it lies, and the keys to put it in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The time it is ordered by, ns; 0 without one, [`Entry::STRAY`] for an impossible one.
    pub(crate) time: u64,
    pub(crate) index: u64,
    pub(crate) chunk: u32,
    pub(crate) pos: u32,
}

impl Entry {
    /// The time of a sample whose own lies far outside the recording: it does not wait.
    pub(crate) const STRAY: u64 = u64::MAX;
}

/// What a waiting record takes at most: itself, twice over while the list grows, and once more while it is sorted.
const WAITING_BYTES: u64 = 3 * size_of::<Entry>() as u64;

/// What waits to be delivered.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    pending: Runs,
    /// What the last mark allows to deliver at the next one.
    bound: u64,
    last_delivered: u64,
    /// Records that are older than what had been delivered before they came.
    pub(crate) unordered: u64,
}

impl Queue {
    /// Whether a record with this time has to wait at all.
    #[inline(always)]
    pub(crate) fn has_to_wait(time: u64) -> bool {
        time != 0 && time != Entry::STRAY
    }

    /// Takes a record that has to wait.
    #[inline(always)]
    pub(crate) fn push(&mut self, entry: Entry) {
        self.pending.push(entry);
    }

    /// A round is finished: appends what may be delivered now to `ready`.
    pub(crate) fn finish_round(&mut self, ready: &mut Vec<Entry>) {
        let bound = self.bound;
        self.deliver(bound, ready);
        self.bound = self.pending.latest();
    }

    /// The recording is at its end: appends all that is left.
    pub(crate) fn finish(&mut self, ready: &mut Vec<Entry>) {
        self.deliver(u64::MAX, ready);
    }

    fn deliver(&mut self, bound: u64, ready: &mut Vec<Entry>) {
        self.unordered += self.pending.count_before(self.last_delivered);
        let before = ready.len();
        self.pending.take_until(bound, ready);
        if let Some(last) = ready.get(before..).and_then(<[Entry]>::last) {
            self.last_delivered = last.time;
        }
    }

    /// How many bytes of memory it takes to keep what waits in order.
    pub(crate) fn held_bytes(&self) -> u64 {
        self.pending.len() as u64 * WAITING_BYTES
    }

    /// The first chunk that a waiting record lies in.
    pub(crate) fn first_chunk(&self) -> Option<u32> {
        self.pending.iter().map(|entry| entry.chunk).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(time: u64, index: u64) -> Entry {
        Entry { time, index, chunk: 0, pos: 0 }
    }

    fn times(ready: &[Entry]) -> Vec<u64> {
        ready.iter().map(|e| e.time).collect()
    }

    #[test]
    fn a_round_delivers_up_to_the_bound_of_the_one_before() {
        let (mut queue, mut ready) = (Queue::default(), Vec::new());
        for t in [1, 5, 3] {
            queue.push(entry(t, t));
        }
        queue.finish_round(&mut ready);
        assert_eq!(times(&ready), []);
        for t in [4, 7, 6] {
            queue.push(entry(t, t));
        }
        queue.finish_round(&mut ready);
        assert_eq!(times(&ready), [1, 3, 4, 5]);
        queue.push(entry(2, 9));
        queue.finish(&mut ready);
        assert_eq!(queue.unordered, 1, "2 comes after 5 was delivered");
        assert_eq!(times(&ready), [1, 3, 4, 5, 2, 6, 7]);
    }

    #[test]
    fn equal_times_keep_the_order_of_the_file() {
        let (mut queue, mut ready) = (Queue::default(), Vec::new());
        for index in 0..100 {
            queue.push(entry(7, index));
        }
        queue.finish(&mut ready);
        assert!(ready.iter().map(|e| e.index).eq(0..100));
    }
}
