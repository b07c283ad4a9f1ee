//! PERF_RECORD_STAT_ROUND (77): an interval of perf stat, or the whole run, ends.

use crate::wire::declare::fields;
use crate::wire::value::numbers;

numbers! {
    /// What ends.
    pub struct StatRoundType(u64) {
        0 INTERVAL "interval", 1 FINAL "final",
    }
}

fields! {
    /// The end of an interval.
    #[derive(Copy)]
    pub struct StatRound {
        /// What ends.
        round_type: StatRoundType,
        /// Since the start, ns.
        round_time: u64,
    }
}
