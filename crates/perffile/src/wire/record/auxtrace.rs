//! PERF_RECORD_AUXTRACE (71): a piece of an AUX trace; its bytes follow outside the record.

use crate::wire::declare::fields;

fields! {
    /// Which piece of which buffer.
    #[derive(Copy)]
    pub struct Auxtrace {
        /// Bytes behind the record, padding included.
        data_size: u64,
        /// Where in the AUX buffer, bytes.
        aux_offset: u64 as addr,
        /// Key in the trace's own clock.
        reference: u64 as addr,
        /// Number of the buffer.
        idx: u32,
        /// Thread; -1 for a CPU's buffer.
        tid: i32,
        /// CPU; -1 for a thread's buffer.
        cpu: i32,
        /// Keeps what follows aligned.
        reserved: u32,
    }
}
