//! What is known while a recording is still read, and while names are still looked up: samples by thread name and binary, which need
//! no names.

use readperf_analysis::{Chunk, State};
use readperf_profile::view::flame_tree::Sum;
use readperf_session::{BinaryId, CommId};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// Samples of one thread name in one binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlyRow {
    /// The thread's name.
    pub comm: Box<[u8]>,
    /// Short name of the binary; nothing where no mapping covers the address.
    pub binary: Option<Box<[u8]>>,
    /// What the samples add up to.
    pub sum: Sum,
}

/// Samples by thread name and binary, of all events.
#[derive(Debug, Default)]
pub struct EarlyRows {
    sums: FxHashMap<(CommId, Option<BinaryId>), Sum>,
    total: Sum,
}

impl EarlyRows {
    /// Takes in some records.
    pub fn see(&mut self, state: &State, chunk: &Chunk<'_>) {
        for sample in chunk.samples(state) {
            let binary = state.addresses.get(sample.address).and_then(|code| code.binary);
            let sum = self.sums.entry((sample.moment.comm, binary)).or_default();
            for share in sample.shares {
                let share = Sum { period: share.period, samples: 1 };
                sum.add(share);
                self.total.add(share);
            }
        }
    }

    /// What all samples up to now add up to.
    pub fn total(&self) -> Sum {
        self.total
    }

    /// The rows with most samples, those first.
    pub fn rows(&self, state: &State, most: usize) -> Vec<EarlyRow> {
        let session = &state.session;
        let row = |((comm, binary), sum): (&(CommId, Option<BinaryId>), &Sum)| {
            let binary = binary.and_then(|binary| session.binary(binary));
            let binary = binary.map(|binary| Box::from(&*binary.short_name));
            EarlyRow { comm: session.comm(*comm).into(), binary, sum: *sum }
        };
        let mut rows: Vec<EarlyRow> = self.sums.iter().map(row).collect();
        let key = |row: &EarlyRow| (Reverse(row.sum), row.comm.clone(), row.binary.clone());
        rows.sort_by_cached_key(key);
        rows.truncate(most);
        rows
    }
}
