//! TRACING_DATA (32777): formats of tracepoints, inside the record.

use crate::wire::declare::fields;

fields! {
    /// What HEADER_TRACING_DATA has behind it.
    #[derive(Copy)]
    pub struct TracingDataInside<'a> {
        /// The formats.
        data: &'a [u8] as counted_bytes_u32,
        /// Padding to eight bytes.
        pad: &'a [u8] as rest,
    }
}
