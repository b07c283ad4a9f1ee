//! Whether a file changes its size while it is read.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

/// The size that a file had when it was opened.
#[derive(Debug)]
pub(crate) struct FileSize {
    path: PathBuf,
    identity: Identity,
    pub(crate) bytes: u64,
}

/// What tells a file from another one that has its name now.
#[cfg(unix)]
type Identity = (u64, u64);
#[cfg(not(unix))]
type Identity = ();

#[cfg(unix)]
fn identity(file: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt as _;
    (file.dev(), file.ino())
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Identity {}

impl FileSize {
    /// Of a file of which so many bytes were there when it was opened.
    pub(crate) fn new(path: &Path, file: &Metadata, bytes: usize) -> FileSize {
        FileSize { path: path.to_owned(), identity: identity(file), bytes: bytes as u64 }
    }

    /// Says how it has changed since. `None` if it has not, or is not there any more under its name.
    pub(crate) fn change(&self) -> Option<String> {
        let now = fs::metadata(&self.path).ok().filter(|file| identity(file) == self.identity)?.len();
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        match now.checked_sub(self.bytes) {
            Some(0) => None,
            Some(more) => Some(format!(
                "{name} has grown by {more} bytes while it was read: it is still being written, and these are not in the answer"
            )),
            None => Some(format!(
                "{name} became shorter by {} bytes while it was read: something else writes to it",
                self.bytes - now
            )),
        }
    }
}
