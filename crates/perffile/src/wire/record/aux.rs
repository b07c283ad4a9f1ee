//! PERF_RECORD_AUX (11): new data in the AUX buffer. Since Linux 4.1.

use crate::wire::declare::fields;

fields! {
    /// A stretch of the AUX buffer.
    #[derive(Copy)]
    pub struct Aux {
        /// Where in the buffer, bytes.
        aux_offset: u64 as addr,
        /// How much, bytes.
        aux_size: u64 as addr,
        /// 1 truncated, 2 overwritten, 4 with gaps, 8 collided; bits 8 to 15 the PMU's format.
        flags: u64 as addr,
    }
}
