//! PERF_RECORD_STAT (76): one counter value of perf stat.

use crate::wire::declare::fields;

fields! {
    /// A counter value.
    #[derive(Copy)]
    pub struct Stat {
        /// Event id.
        event_id: u64,
        /// CPU, or its index; -1 when counted per task.
        cpu: i32,
        /// Index of the thread.
        thread: u32,
        /// The count.
        val: u64,
        /// Time enabled, ns.
        ena: u64,
        /// Time running, ns.
        run: u64,
    }
}
