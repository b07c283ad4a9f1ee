//! PERF_RECORD_LOST (2): the ring buffer was full. Since Linux 2.6.31.

use crate::wire::declare::fields;

fields! {
    /// Records the kernel could not write.
    #[derive(Copy)]
    pub struct Lost {
        /// Event id.
        id: u64,
        /// How many records, of any type.
        lost: u64,
    }
}
