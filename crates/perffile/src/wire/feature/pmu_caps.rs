//! CPU_PMU_CAPS (28) and PMU_CAPS (31): what the PMUs can do, as their `caps` directories in /sys tell.

use crate::wire::declare::fields;
use crate::wire::text::HeaderString;

fields! {
    /// The capabilities of the PMU `cpu`.
    pub struct CpuPmuCaps<'a> {
        /// In the order in which perf found them.
        caps: Vec<PmuCap<'a>> as vec counted u32 "nr",
    }
}

fields! {
    /// A capability, such as `max_precise` = `3`, `branches` = `32`.
    pub struct PmuCap<'a> {
        /// Its name.
        name: HeaderString<'a>,
        /// Its value.
        value: HeaderString<'a>,
    }
}

fields! {
    /// The capabilities of all PMUs but `cpu`; before Linux 5.19 of the core PMUs of a hybrid machine only.
    pub struct PmuCaps<'a> {
        /// One entry a PMU.
        pmus: Vec<PmuWithCaps<'a>> as vec counted u32 "nr_pmu",
    }
}

fields! {
    /// A PMU and its capabilities.
    pub struct PmuWithCaps<'a> {
        /// In the order in which perf found them.
        caps: Vec<PmuCap<'a>> as vec counted u32 "nr_caps",
        /// Name of the PMU.
        pmu_name: HeaderString<'a>,
    }
}
