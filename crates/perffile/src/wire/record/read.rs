//! PERF_RECORD_READ (8): counter values of a thread that ends, with `inherit_stat`. Since Linux 2.6.31.

use crate::wire::declare::fields;
use crate::wire::sample::Read;

fields! {
    /// A thread's counter values; only those the read format names, without gaps.
    #[derive(Copy)]
    pub struct ThreadRead<'a> {
        /// Process.
        pid: u32,
        /// Thread.
        tid: u32,
        /// The values.
        values: Read<'a> as inner "read",
    }
}
