//! Functions by share: with the thread's name, or without.

use crate::names::FunctionId;
use crate::profile::Profile;
use readperf_session::CommId;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// A row of a table of functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The thread's name, if the table tells them apart.
    pub comm: Option<CommId>,
    /// The function.
    pub function: FunctionId,
    /// How many samples.
    pub samples: u64,
    /// Sum of their periods.
    pub period: u64,
}

/// The functions of one event, highest period first; ties by samples, then by the names that `tie` gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Index of the event in [`Profile::events`].
    pub event: usize,
    /// The rows.
    pub rows: Vec<Row>,
}

/// Which keys make a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// Thread name and function.
    CommFunction,
    /// Function.
    Function,
}

impl Profile {
    /// A table for each event that has samples. `tie` orders rows of equal weight: by names, so that the order does not
    /// depend on how the names were numbered.
    pub fn tables<T: Ord>(&self, keys: Keys, tie: impl Fn(&Row) -> T) -> Vec<Table> {
        let by_event = self.rows().chunk_by(|a, b| a.event == b.event);
        by_event
            .filter_map(|weights| {
                let event = weights.first()?.event as usize;
                let mut sums: BTreeMap<(Option<CommId>, FunctionId), (u64, u64)> = BTreeMap::new();
                for weight in weights {
                    let Some(function) = self.names.function_at(weight.address) else { continue };
                    let comm = (keys == Keys::CommFunction).then_some(weight.comm);
                    let sum = sums.entry((comm, function)).or_default();
                    sum.0 += weight.samples;
                    sum.1 = sum.1.wrapping_add(weight.period);
                }
                let row = |((comm, function), (samples, period))| Row { comm, function, samples, period };
                let mut rows: Vec<Row> = sums.into_iter().map(row).collect();
                let weight = |row: &Row| (Reverse(row.period), Reverse(row.samples));
                rows.sort_by_key(weight);
                // Names are looked up only where they decide.
                for equal in rows.chunk_by_mut(|a, b| weight(a) == weight(b)).filter(|equal| equal.len() > 1)
                {
                    equal.sort_by_cached_key(&tie);
                }
                Some(Table { event, rows })
            })
            .collect()
    }
}
