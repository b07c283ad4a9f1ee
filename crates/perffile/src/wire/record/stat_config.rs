//! PERF_RECORD_STAT_CONFIG (75): how perf stat counted.

use crate::wire::declare::fields;
use crate::wire::list::List;
use crate::wire::pass::Element;

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
        /// 0 aggregation mode, 1 interval in ms, 2 scale, 3 aggregation level.
        tag: u64,
        /// Its value.
        val: u64,
    }
}
impl Element for StatSetting {}
