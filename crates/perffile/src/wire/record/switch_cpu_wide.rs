//! PERF_RECORD_SWITCH_CPU_WIDE (15): a context switch on a CPU. `misc` bit 13: out. Since Linux 4.3.

use crate::wire::declare::fields;

fields! {
    /// A context switch and the other side of it.
    #[derive(Copy)]
    pub struct SwitchCpuWide {
        /// Process switched to (out) or from (in).
        next_prev_pid: u32,
        /// Thread switched to (out) or from (in).
        next_prev_tid: u32,
    }
}
