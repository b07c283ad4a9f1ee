//! NUMA_TOPOLOGY (14): memory and CPUs of each node.

use crate::wire::declare::fields;
use crate::wire::text::HeaderString;

fields! {
    /// The nodes of the machine.
    pub struct NumaTopology<'a> {
        /// One entry a node that was online.
        nodes: Vec<NumaNode<'a>> as vec counted u32 "nr",
    }
}

fields! {
    /// A node.
    pub struct NumaNode<'a> {
        /// Its number.
        node: u32,
        /// Its memory in KiB.
        mem_total_kb: u64,
        /// How much of it was free when recording began, KiB.
        mem_free_kb: u64,
        /// Its CPUs, as `0-3,8`.
        cpulist: HeaderString<'a>,
    }
}
