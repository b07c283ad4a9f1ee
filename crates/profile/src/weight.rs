//! What a sample counts for.

use crate::profile::SampleRow;
use crate::view::flame_tree::Sum;

/// What a sample counts for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weight {
    /// Its period: for how many events it stands.
    #[default]
    Period,
    /// One.
    Samples,
}

impl Weight {
    /// Its name in JSON and in addresses.
    pub fn name(self) -> &'static str {
        match self {
            Weight::Period => "period",
            Weight::Samples => "samples",
        }
    }

    /// That of a sum.
    pub fn of_sum(self, sum: &Sum) -> u64 {
        match self {
            Weight::Period => sum.period,
            Weight::Samples => sum.samples,
        }
    }

    /// That of a row of samples.
    pub fn of_row(self, row: &SampleRow) -> u64 {
        match self {
            Weight::Period => row.period,
            Weight::Samples => row.samples,
        }
    }
}
