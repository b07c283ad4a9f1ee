//! PERF_RECORD_AUX (11): new data in the AUX buffer. Since Linux 4.1.

use crate::wire::declare::fields;
use crate::wire::value::bits;

bits! {
    /// What is wrong with a stretch of the AUX buffer (PERF_AUX_FLAG_*).
    pub struct AuxFlags(u64 as addr) {
        /// There was no room for all of it.
        0 truncated,
        /// It was overwritten in the buffer.
        1 overwrite,
        /// It has gaps.
        2 partial,
        /// It collided with another one.
        3 collision,
    }
}

fields! {
    /// A stretch of the AUX buffer.
    #[derive(Copy)]
    pub struct Aux {
        /// Where in the buffer, bytes.
        aux_offset: u64 as addr,
        /// How much, bytes.
        aux_size: u64 as addr,
        /// What is wrong with it; bits 8 to 15 the PMU's format.
        flags: AuxFlags,
    }
}
