//! PERF_RECORD_HEADER_TRACING_DATA (66): formats of tracepoints; they follow outside the record.

use crate::wire::declare::fields;

fields! {
    /// How many bytes follow.
    #[derive(Copy)]
    pub struct HeaderTracingData<'a> {
        /// Bytes behind the record, padded to 8.
        data_size: u32,
        /// Padding of newer writers.
        pad: &'a [u8] as rest,
    }
}
