//! PERF_RECORD_COMPRESSED2 (83): a piece of one zstd stream, padded. Since perf 6.16.

use crate::wire::declare::fields;

fields! {
    /// Compressed records.
    #[derive(Copy)]
    pub struct Compressed2<'a> {
        /// How many of the bytes are data.
        data_size: u64,
        /// The bytes, padding included.
        data: &'a [u8] as rest,
    }
}
