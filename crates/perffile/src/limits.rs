//! How much of anything a recording may make a reader hold.

/// Limits on what is taken from a file. Reaching one is an issue, not an error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Events (attrs).
    pub events: usize,
    /// Event ids, over all events.
    pub ids: usize,
    /// Bytes of one header feature.
    pub feature_bytes: u64,
    /// Bytes that one compressed record may expand to where the recording does not tell how large its buffers were.
    pub decompressed_bytes: u64,
    /// How many times their size compressed records, or a wrapper, may expand to; each record counts for 512 bytes more. Of
    /// what perf writes, stacks of 64 KiB that hold next to nothing go farthest: 4,000 to 6,000 times.
    pub expansion: u64,
    /// Bytes that compressed records may expand to whatever their own size, counted in the same way.
    pub expanded_bytes: u64,
    /// Bytes behind a record (AUXTRACE) that are kept of a stream that arrives; longer ones are passed over.
    pub payload_bytes: usize,
    /// Bytes not in a mapped file that may wait for their round. With more, they are delivered before it ends.
    pub waiting_bytes: u64,
    /// Wrappers (gzip, zstd, xz) around each other.
    pub wrappers: usize,
    /// Bytes that a wrapper may expand to whatever its own size.
    pub unwrapped_bytes: u64,
    /// Bytes of a temporary file: of what a wrapper holds, or of what arrives and has to be there as a whole.
    pub spooled_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            events: 65_536,
            ids: 16 << 20,
            feature_bytes: 128 << 20,
            decompressed_bytes: 1 << 30,
            expansion: 8192,
            expanded_bytes: 1 << 30,
            payload_bytes: 128 << 20,
            waiting_bytes: 512 << 20,
            wrappers: 4,
            unwrapped_bytes: 1 << 30,
            spooled_bytes: 16 << 30,
        }
    }
}
