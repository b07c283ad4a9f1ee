//! How far what was compressed may expand, all together: a few kilobytes can be made to hold as many records as years of
//! recording would.

use crate::limits::Limits;

/// What a record costs beside its bytes: many small ones are more work than a few large ones.
const RECORD_COST: u64 = 512;

/// What a byte that is in no record costs more: records are looked for at every one. perf compresses none.
const STRAY_COST: u64 = 8;

/// Of the whole recording: how much was compressed, and what it has cost to walk what it expanded to.
#[derive(Debug)]
pub(super) struct Expansion {
    /// Whether all of the recording was in a wrapper: then nothing else that is compressed counts.
    pub(super) is_wrapped: bool,
    compressed: u64,
    spent: u64,
    /// Up to which record they are counted.
    counted: u64,
    /// What may be spent in any case.
    always: u64,
    /// What may be spent for each compressed byte.
    times: u64,
}

impl Expansion {
    pub(super) fn new(limits: &Limits, wrapper_bytes: Option<u64>) -> Expansion {
        Expansion {
            is_wrapped: wrapper_bytes.is_some(),
            compressed: wrapper_bytes.unwrap_or(0),
            spent: 0,
            counted: 0,
            always: limits.expanded_bytes,
            times: limits.expansion,
        }
    }

    /// So many bytes of a compressed record have come.
    pub(super) fn compressed(&mut self, bytes: usize) {
        if !self.is_wrapped {
            self.compressed = self.compressed.saturating_add(bytes as u64);
        }
    }

    /// So much was expanded to, or kept from the record before: all that is looked at.
    pub(super) fn expanded(&mut self, bytes: usize) {
        self.spend(bytes as u64);
    }

    /// The walk is at this record; those since the last time were compressed, or not.
    pub(super) fn at_record(&mut self, index: u64, were_compressed: bool) {
        let count = index - std::mem::replace(&mut self.counted, index);
        if were_compressed || self.is_wrapped {
            self.spend(count.saturating_mul(RECORD_COST));
        }
    }

    /// So many bytes are no records.
    pub(super) fn stray(&mut self, bytes: u64, were_compressed: bool) {
        if were_compressed || self.is_wrapped {
            self.spend(bytes.saturating_mul(STRAY_COST));
        }
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
