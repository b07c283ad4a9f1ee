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
    /// Bytes that one compressed record may expand to.
    pub decompressed_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { events: 65_536, ids: 16 << 20, feature_bytes: 1 << 30, decompressed_bytes: 256 << 20 }
    }
}
