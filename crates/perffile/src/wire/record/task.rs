//! PERF_RECORD_EXIT (4) and PERF_RECORD_FORK (7): a thread came or went. Since Linux 2.6.31.

use crate::wire::declare::fields;

fields! {
    /// A thread and its parent.
    #[derive(Copy)]
    pub struct Task {
        /// Process.
        pid: u32,
        /// Process of the parent.
        ppid: u32,
        /// Thread.
        tid: u32,
        /// Thread of the parent.
        ptid: u32,
        /// When, ns.
        time: u64,
    }
}
