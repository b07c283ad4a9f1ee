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
    /// Bytes that one compressed record may expand to, with what was left of the one before.
    pub decompressed_bytes: usize,
    /// Bytes behind a record (AUXTRACE) that are kept of a stream that arrives; longer ones are passed over.
    pub payload_bytes: usize,
    /// Bytes not in a mapped file that may wait for their round before they are delivered all the same.
    pub waiting_bytes: u64,
    /// Wrappers (gzip, zstd, xz) around each other.
    pub wrappers: usize,
    /// Bytes that a wrapper may expand to whatever its own size; beyond that, 256 times its size.
    pub unwrapped_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            events: 65_536,
            ids: 16 << 20,
            feature_bytes: 128 << 20,
            decompressed_bytes: 64 << 20,
            payload_bytes: 128 << 20,
            waiting_bytes: 512 << 20,
            wrappers: 4,
            unwrapped_bytes: 1 << 30,
        }
    }
}
