//! A file that a recording is read from: its bytes, and whether it changes its size while it is read.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// A file, and the size that it had when it was opened.
#[derive(Debug)]
pub(crate) struct OpenedFile {
    file: File,
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

impl OpenedFile {
    /// A file of which so many bytes were there when it was opened.
    pub(crate) fn new(file: File, path: &Path, kind: &Metadata, bytes: usize) -> OpenedFile {
        OpenedFile { file, path: path.to_owned(), identity: identity(kind), bytes: bytes as u64 }
    }

    /// Reads what lies at an offset; fewer bytes than there is room for where the file ends. Nothing else that reads the file is
    /// moved by it.
    #[cfg(unix)]
    pub(super) fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        use std::os::unix::fs::FileExt as _;
        let mut count = 0;
        while let Some(room) = into.get_mut(count..).filter(|room| !room.is_empty()) {
            match self.file.read_at(room, offset + count as u64) {
                Ok(0) => break,
                Ok(more) => count += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(count)
    }

    #[cfg(not(unix))]
    pub(super) fn read_at(&self, _: &mut [u8], _: u64) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
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
