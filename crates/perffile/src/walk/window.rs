//! The chunks that records lie in which are still to be delivered.

use crate::event::Chunk;
use crate::order::Entry;
use std::collections::VecDeque;

/// Some chunks in a row.
#[derive(Debug, Default)]
pub(super) struct Window {
    /// Number of the first.
    first: u32,
    chunks: VecDeque<Chunk>,
    /// How many bytes each of them keeps in memory, their sum, and the sum since the last batch.
    held: VecDeque<u64>,
    pub(super) held_bytes: u64,
    pub(super) new_bytes: u64,
}

impl Window {
    /// Adds a chunk; `held` bytes of it are in memory for its sake.
    pub(super) fn push(&mut self, chunk: Chunk, held: usize) {
        self.held_bytes += held as u64;
        self.new_bytes += held as u64;
        self.held.push_back(held as u64);
        self.chunks.push_back(chunk);
    }

    /// The chunk at hand: the newest.
    pub(super) fn newest(&self) -> Option<&Chunk> {
        self.chunks.back()
    }

    /// Its number.
    pub(super) fn newest_number(&self) -> u32 {
        let newest = self.chunks.len().saturating_sub(1);
        self.first.saturating_add(u32::try_from(newest).unwrap_or(u32::MAX))
    }

    /// Whether it is a part of a mapped file, which takes no memory.
    pub(super) fn is_newest_mapped(&self) -> bool {
        self.held.back() == Some(&0)
    }

    /// The chunks that these records lie in, and those between; the number of the first. Of those that wait there may be far more.
    pub(super) fn of(&self, entries: &[Entry]) -> (u32, Vec<Chunk>) {
        if let (1, false) = (self.chunks.len(), entries.is_empty()) {
            return (self.first, self.chunks.iter().cloned().collect());
        }
        let numbers = || entries.iter().map(|entry| entry.chunk);
        let Some((first, last)) = numbers().min().zip(numbers().max()) else {
            return (self.first, Vec::new());
        };
        let skipped = first.saturating_sub(self.first) as usize;
        let count = (last - first) as usize + 1;
        (first, self.chunks.iter().skip(skipped).take(count).cloned().collect())
    }

    /// Lets go of the chunks before the first that is needed; never of the newest.
    pub(super) fn drop_before(&mut self, needed: impl FnOnce() -> u32) {
        if self.chunks.len() < 2 {
            return;
        }
        let needed = needed();
        while self.chunks.len() > 1 && self.first < needed {
            self.chunks.pop_front();
            self.held_bytes -= self.held.pop_front().unwrap_or(0);
            self.first += 1;
        }
    }
}
