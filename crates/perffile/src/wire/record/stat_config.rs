//! PERF_RECORD_STAT_CONFIG (75): how perf stat counted.

use crate::wire::declare::fields;
use crate::wire::list::List;
use crate::wire::pass::Element;
use crate::wire::value::numbers;

numbers! {
    /// Which setting.
    pub struct StatConfigTag(u64) {
        0 AGGR_MODE "aggregation mode", 1 INTERVAL "interval in ms", 2 SCALE "scale",
        3 AGGR_LEVEL "aggregation level",
    }
}

fields! {
    /// Settings.
    #[derive(Copy)]
    pub struct StatConfig<'a> {
        /// Each a tag and a value.
        settings: List<'a, StatSetting> as list counted u64 "nr",
    }
}

fields! {
    /// One setting.
    #[derive(Copy)]
    pub struct StatSetting {
        /// Which.
        tag: StatConfigTag,
        /// Its value.
        val: u64,
    }
}
impl Element for StatSetting {}
