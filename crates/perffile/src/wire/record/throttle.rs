//! PERF_RECORD_THROTTLE (5) and PERF_RECORD_UNTHROTTLE (6): the kernel stopped an event that came too often, or let it go on. Since Linux 2.6.31.

use crate::wire::declare::fields;

fields! {
    /// An event stopped or let go on.
    #[derive(Copy)]
    pub struct Throttle {
        /// When, ns.
        time: u64,
        /// Event id.
        id: u64,
        /// Id of the very counter.
        stream_id: u64,
    }
}
