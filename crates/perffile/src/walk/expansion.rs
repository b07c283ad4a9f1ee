//! How far compressed records may expand, all together: a few kilobytes can be made to hold as many records as years of
//! recording would.

use crate::limits::Limits;

/// What walking a record costs at least, in bytes that cost as much: many small records are more work than a few large ones.
const RECORD_COST: u64 = 512;

/// What a byte that is no record costs: records are looked for at every one. perf compresses none.
const STRAY_COST: u64 = 8;

/// Of the whole recording: how much was compressed, and what it has cost to walk what it expanded to.
#[derive(Debug)]
pub(super) struct Expansion {
    compressed: u64,
    spent: u64,
    /// What may be spent in any case.
    always: u64,
    /// What may be spent for each compressed byte.
    times: u64,
}

impl Expansion {
    pub(super) fn new(limits: &Limits) -> Expansion {
        Expansion { compressed: 0, spent: 0, always: limits.expanded_bytes, times: limits.expansion }
    }

    /// So many bytes of a compressed record have come.
    pub(super) fn compressed(&mut self, bytes: usize) {
        self.compressed = self.compressed.saturating_add(bytes as u64);
    }

    /// So much was expanded to, or kept from the record before: all that is looked at.
    pub(super) fn expanded(&mut self, bytes: usize) {
        self.spend(bytes as u64);
    }

    /// So many records were in it.
    pub(super) fn records(&mut self, count: u64) {
        self.spend(count.saturating_mul(RECORD_COST));
    }

    /// So many bytes of it are no records.
    pub(super) fn stray(&mut self, bytes: u64) {
        self.spend(bytes.saturating_mul(STRAY_COST));
    }

    fn spend(&mut self, cost: u64) {
        self.spent = self.spent.saturating_add(cost);
    }

    /// What may be spent in all.
    pub(super) fn most(&self) -> u64 {
        self.always.max(self.compressed.saturating_mul(self.times))
    }

    /// How much of it is left.
    pub(super) fn left(&self) -> u64 {
        self.most().saturating_sub(self.spent)
    }
}
