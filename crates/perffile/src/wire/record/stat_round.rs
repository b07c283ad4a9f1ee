//! PERF_RECORD_STAT_ROUND (77): an interval of perf stat, or the whole run, ends.

use crate::wire::declare::fields;

fields! {
    /// The end of an interval.
    #[derive(Copy)]
    pub struct StatRound {
        /// 0 an interval, 1 the run.
        round_type: u64,
        /// Since the start, ns.
        round_time: u64,
    }
}
