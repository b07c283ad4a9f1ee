//! PMU_MAPPINGS (16): names of the PMUs, by the number that `perf_event_attr.type` holds.

use crate::wire::declare::fields;
use crate::wire::event_type::EventType;
use crate::wire::text::HeaderString;

fields! {
    /// All PMUs of the machine.
    pub struct PmuMappings<'a> {
        /// In the order in which perf found them.
        pmus: Vec<PmuMapping<'a>> as vec counted u32 "nr",
    }
}

fields! {
    /// A PMU.
    #[derive(Copy, Eq)]
    pub struct PmuMapping<'a> {
        /// Its number on this machine; below 6 the same on all.
        kind: EventType as value "type",
        /// Its name, as /sys/bus/event_source/devices has it.
        name: HeaderString<'a>,
    }
}
