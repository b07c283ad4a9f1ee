//! Runs of bytes that can be shared: a mapped file, or memory.

mod map;

pub use map::map_file;

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Whatever owns bytes that do not move and do not change.
type Owner = dyn AsRef<[u8]> + Send + Sync;

/// A shared, immutable run of bytes. Cloning and slicing copy nothing.
#[derive(Clone)]
pub struct Bytes {
    owner: Arc<Owner>,
    range: Range<usize>,
}

impl Bytes {
    /// All bytes of an owner.
    pub fn new(owner: impl AsRef<[u8]> + Send + Sync + 'static) -> Self {
        let range = 0..owner.as_ref().len();
        Bytes { owner: Arc::new(owner), range }
    }

    /// Part of these bytes, as much of it as there is.
    pub fn slice(&self, range: Range<usize>) -> Bytes {
        let start = self.range.start.saturating_add(range.start).min(self.range.end);
        let end = self.range.start.saturating_add(range.end).clamp(start, self.range.end);
        Bytes { owner: Arc::clone(&self.owner), range: start..end }
    }

    /// Part of these bytes by file offset and size, as much of it as there is.
    pub fn section(&self, offset: u64, size: u64) -> Bytes {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let end = usize::try_from(offset.saturating_add(size)).unwrap_or(usize::MAX);
        self.slice(start..end)
    }
}

impl Deref for Bytes {
    type Target = [u8];
    #[inline]
    fn deref(&self) -> &[u8] {
        // The range was clamped to the owner's bytes when it was made, and those do not change.
        (*self.owner).as_ref().get(self.range.clone()).unwrap_or_default()
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl Default for Bytes {
    fn default() -> Self {
        Bytes::new(Vec::new())
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bytes({} bytes)", self.len())
    }
}
