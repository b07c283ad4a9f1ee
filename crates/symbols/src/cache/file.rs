//! A cache file: what it is called, read and written.
//!
//! A magic number with the version, the length of the rest, a checksum of the rest, the rest.

use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use readperf_files::ScratchFile;
use serde::{Deserialize, Serialize};

use super::stored::Stored;
use crate::build_id::BuildId;
use crate::trace::Tried;

/// Another version of the layout has another number.
const MAGIC: &[u8; 8] = b"rpnames3";

/// Magic number, length, checksum.
const HEADER_BYTES: usize = 8 + 8 + 4;

/// Largest file that is written or read. It has the frames of half a million addresses.
const MAX_BYTES: usize = 32 << 20;

/// End of the names of cache files.
pub(super) const SUFFIX: &str = ".names";

/// Beginning of the names of files that are being written.
pub(super) const TEMPORARY: &str = ".names-";

/// A file is marked as used if it was not for this long.
const MARK_AFTER: Duration = Duration::from_secs(3600);

/// What is in a cache file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Content {
    /// What the answers depend on besides files.
    pub(super) key: String,
    /// The files that they depend on.
    pub(super) tried: Vec<Tried>,
    pub(super) stored: Stored,
}

/// The path of the file for a key: the build-id first, so that people can tell the files apart.
pub(super) fn path(dir: &Path, id: &BuildId, key: &str) -> PathBuf {
    dir.join(format!("{id}-{:08x}{SUFFIX}", checksum(key.as_bytes())))
}

/// Reads a cache file; `None` when there is none, or it is not whole, or it is for something else.
pub(super) fn read(path: &Path, key: &str) -> Option<Content> {
    let file = std::fs::File::open(path).ok()?;
    let metadata = file.metadata().ok()?;
    if !metadata.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    let limit = HEADER_BYTES.checked_add(MAX_BYTES)?.checked_add(1)?;
    file.take(u64::try_from(limit).ok()?).read_to_end(&mut bytes).ok()?;
    let (header, body) = bytes.split_at_checked(HEADER_BYTES)?;
    if header != make_header(body)? {
        return None;
    }
    let content: Content = postcard::from_bytes(body).ok().filter(|content: &Content| content.key == key)?;
    mark_used(path, &metadata);
    Some(content)
}

/// Writes a cache file: whoever reads it sees all of it or the one before. Returns whether it was small enough.
pub(super) fn write(path: &Path, content: &Content) -> io::Result<bool> {
    let body = postcard::to_stdvec(content).map_err(io::Error::other)?;
    let Some(header) = make_header(&body) else { return Ok(false) };
    let dir = path.parent().ok_or_else(|| io::Error::other("no directory"))?;
    std::fs::create_dir_all(dir)?;
    let mut file = ScratchFile::in_folder(dir, TEMPORARY)?;
    file.write_all(&header)?;
    file.write_all(&body)?;
    file.rename(path)?;
    Ok(true)
}

fn make_header(body: &[u8]) -> Option<[u8; HEADER_BYTES]> {
    if body.len() > MAX_BYTES {
        return None;
    }
    let length = u64::try_from(body.len()).ok()?;
    let mut header = [0; HEADER_BYTES];
    let parts = MAGIC.iter().copied().chain(length.to_le_bytes()).chain(checksum(body).to_le_bytes());
    header.iter_mut().zip(parts).for_each(|(slot, byte)| *slot = byte);
    Some(header)
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// The file that was used last stays longest. It does no harm if that cannot be written down.
fn mark_used(path: &Path, metadata: &std::fs::Metadata) {
    let now = SystemTime::now();
    let age = metadata.modified().ok().and_then(|time| now.duration_since(time).ok());
    if age.is_some_and(|age| age > MARK_AFTER) {
        let _ = std::fs::File::options().write(true).open(path).and_then(|file| file.set_modified(now));
    }
}

/// Whether a file is one of the cache, or was to become one.
pub(super) fn is_ours(name: &std::ffi::OsStr) -> bool {
    name.as_bytes().ends_with(SUFFIX.as_bytes()) || is_temporary(name)
}

/// Whether a file is one that is being written, or that a process left when it was stopped.
pub(super) fn is_temporary(name: &std::ffi::OsStr) -> bool {
    name.as_bytes().starts_with(TEMPORARY.as_bytes())
}
