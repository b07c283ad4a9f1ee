//! PERF_RECORD_THREAD_MAP (73): the threads that were recorded.

use crate::wire::declare::fields;
use crate::wire::list::List;
use crate::wire::pass::Element;

fields! {
    /// Threads.
    #[derive(Copy)]
    pub struct ThreadMap<'a> {
        /// Each with its name.
        threads: List<'a, MappedThread> as list counted u64 "nr",
    }
}

fields! {
    /// A thread.
    #[derive(Copy)]
    pub struct MappedThread {
        /// Thread id; -1 for any.
        pid: u64,
        /// Its name, NUL-padded.
        comm: [u8; 16] as name,
    }
}
impl Element for MappedThread {}
