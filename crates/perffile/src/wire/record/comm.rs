//! PERF_RECORD_COMM (3): a thread got a name. Since Linux 2.6.31.

use crate::wire::declare::fields;
use crate::wire::text::CStr8;

fields! {
    /// A thread's name. `misc` bit 13: by an exec.
    #[derive(Copy)]
    pub struct Comm<'a> {
        /// Process.
        pid: u32,
        /// Thread.
        tid: u32,
        /// The name, at most 15 bytes in the kernel.
        comm: CStr8<'a>,
    }
}
