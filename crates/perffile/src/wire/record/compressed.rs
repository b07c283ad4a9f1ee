//! PERF_RECORD_COMPRESSED (81): a piece of one zstd stream.

use crate::wire::declare::fields;

fields! {
    /// Compressed records.
    #[derive(Copy)]
    pub struct Compressed<'a> {
        /// The bytes.
        data: &'a [u8] as rest,
    }
}
