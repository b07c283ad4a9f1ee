//! PERF_RECORD_ITRACE_START (12): an instruction trace begins. Since Linux 4.1.

use crate::wire::declare::fields;

fields! {
    /// The task that an instruction trace begins with.
    #[derive(Copy)]
    pub struct ItraceStart {
        /// Process.
        pid: u32,
        /// Thread.
        tid: u32,
    }
}
