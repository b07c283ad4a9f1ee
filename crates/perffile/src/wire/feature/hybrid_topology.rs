//! HYBRID_TOPOLOGY (30): which CPUs each of several core PMUs is for.

use crate::wire::declare::fields;
use crate::wire::text::HeaderString;

fields! {
    /// The kinds of cores of a hybrid machine.
    pub struct HybridTopology<'a> {
        /// One entry a kind.
        nodes: Vec<HybridNode<'a>> as vec counted u32 "nr",
    }
}

fields! {
    /// A kind of cores.
    pub struct HybridNode<'a> {
        /// Name of its PMU, such as `cpu_atom`.
        pmu_name: HeaderString<'a>,
        /// Its CPUs, as `16-23`.
        cpus: HeaderString<'a>,
    }
}
