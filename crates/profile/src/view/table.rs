//! Functions by share: with the thread's name, or without.

use crate::names::FunctionId;
use crate::profile::{Profile, SampleRow};
use readperf_session::CommId;
use std::cmp::Reverse;

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
                let row = |sample: SampleRow| {
                    let function = self.names.function_at(sample.address)?;
                    let comm = (keys == Keys::CommFunction).then_some(sample.comm);
                    Some(Row { comm, function, samples: sample.samples, period: sample.period })
                };
                let mut rows: Vec<Row> = weights.iter().filter_map(row).collect();
                rows.sort_unstable_by_key(|row| (row.comm, row.function));
                rows.dedup_by(|row, sum| {
                    let is_same = (row.comm, row.function) == (sum.comm, sum.function);
                    if is_same {
                        sum.samples += row.samples;
                        sum.period = sum.period.wrapping_add(row.period);
                    }
                    is_same
                });
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
