//! COMPRESSED (27): how the COMPRESSED records of the file were made.

use crate::wire::declare::fields;
use crate::wire::value::numbers;

numbers! {
    /// A method of compression.
    pub struct CompressionType(u32) {
        1 ZSTD "zstd",
    }
}

fields! {
    /// How records were compressed.
    #[derive(Copy, Eq)]
    pub struct Compression {
        /// Form of the section; 1 so far.
        version: u32,
        /// The method.
        kind: CompressionType as value "type",
        /// Level of compression.
        level: u32,
        /// How many times smaller the records became, rounded.
        ratio: u32,
        /// Bytes of a ring buffer: no record expands to more.
        mmap_len: u32,
    }
}
