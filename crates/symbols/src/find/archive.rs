//! What `perf archive` packs: a tar file with the part of the build-id cache that a recording needs.
//!
//! In it are `.build-id/xx/yyyy`, links to directories or files, and what they lead to. It is unpacked to a directory that
//! only the user can read, and then searched like any directory that the user names.

use std::fs;
use std::io::{self, BufReader, Read, Seek};
use std::path::{Component, Path, PathBuf};

use crate::find::compressed::Compression;

/// Most that an archive may hold when unpacked, in bytes. The debug files of a large system have some gigabytes.
const MAX_BYTES: u64 = 32 << 30;

/// Most entries of an archive.
const MAX_ENTRIES: usize = 1 << 20;

/// Longest path in an archive, in bytes (PATH_MAX of Linux).
const MAX_PATH_BYTES: usize = 4096;

/// `perf archive --all` packs the recording and, within, such a file with the symbols.
const INNER: [&str; 2] = ["perf.symbols", "perf.all"];

/// How many archives may be packed into each other.
const MAX_NESTING: u32 = 2;

/// An archive of binaries that was unpacked. Its directory goes with this value.
#[derive(Debug)]
pub struct SymbolArchive {
    directory: tempfile::TempDir,
    /// Entries that were not unpacked: devices, paths and links out of the archive.
    pub refused: usize,
}

impl SymbolArchive {
    /// Unpacks a tar file, which may be compressed with gzip, bzip2, xz or zstd.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, is no tar file, is damaged or too large, or when there is no room to unpack it.
    pub fn unpack(path: &Path) -> io::Result<SymbolArchive> {
        if !fs::metadata(path)?.is_file() {
            return Err(io::Error::other("not a regular file"));
        }
        let directory = tempfile::Builder::new().prefix("readperf-").tempdir()?;
        let mut unpacking = Unpacking { root: directory.path().to_owned(), bytes: 0, entries: 0, refused: 0 };
        unpacking.file(path, 0).map_err(|error| unpacking.explained(error))?;
        if unpacking.entries == unpacking.refused {
            let what = match unpacking.entries {
                0 => "an empty file or archive".to_owned(),
                refused => format!(
                    "an archive of which nothing can be used: all of its {refused} entries are devices, or lead out of it"
                ),
            };
            return Err(io::Error::other(what));
        }
        Ok(SymbolArchive { directory, refused: unpacking.refused })
    }

    /// The directory to search, as one of `Options::search_dirs`.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }
}

struct Unpacking {
    root: PathBuf,
    bytes: u64,
    entries: usize,
    refused: usize,
}

impl Unpacking {
    /// What went wrong in words that do not suppose that one knows how a tar file is made.
    fn explained(&self, error: io::Error) -> io::Error {
        // The reader of tar files says so in its text alone.
        let is_cut =
            error.kind() == io::ErrorKind::UnexpectedEof || error.to_string().contains("unexpected EOF");
        let kind = if is_cut { io::ErrorKind::UnexpectedEof } else { error.kind() };
        let what = match (kind, self.entries) {
            // These are not about the contents.
            (io::ErrorKind::StorageFull | io::ErrorKind::PermissionDenied | io::ErrorKind::NotFound, _) => {
                return error;
            }
            (io::ErrorKind::UnexpectedEof, 0) => {
                "neither an ELF file nor a tar archive, or only its beginning".to_owned()
            }
            (io::ErrorKind::UnexpectedEof, read) => {
                format!("the archive ends early, after {read} entries: it is not all there")
            }
            (_, 0) => "neither an ELF file nor a tar archive (compressed or not)".to_owned(),
            (_, read) => format!("the archive is damaged behind entry {read}: {error}"),
        };
        io::Error::new(kind, what)
    }

    fn file(&mut self, path: &Path, nesting: u32) -> io::Result<()> {
        let mut file = fs::File::open(path)?;
        let mut start = Vec::new();
        file.by_ref().take(8).read_to_end(&mut start)?;
        file.rewind()?;
        let file = BufReader::new(file);
        match Compression::of(&start) {
            Some(compression) => self.entries(compression.reader(file)?, nesting),
            None => self.entries(file, nesting),
        }
    }

    fn entries(&mut self, tar: impl Read, nesting: u32) -> io::Result<()> {
        let mut archive = tar::Archive::new(tar);
        for entry in archive.entries()? {
            let mut entry = entry?;
            self.entries = self.entries.saturating_add(1);
            if self.entries > MAX_ENTRIES {
                return Err(io::Error::other("an archive with too many files"));
            }
            if !self.entry(&mut entry, nesting)? {
                self.refused = self.refused.saturating_add(1);
            }
        }
        Ok(())
    }

    /// Whether the entry was unpacked.
    fn entry<R: Read>(&mut self, entry: &mut tar::Entry<'_, R>, nesting: u32) -> io::Result<bool> {
        let kind = entry.header().entry_type();
        let Some(path) = inside(&entry.path()?) else { return Ok(kind.is_dir()) };
        let to = self.root.join(&path);
        let unpack = match kind {
            tar::EntryType::Directory => return self.make_directory(&path),
            tar::EntryType::Regular | tar::EntryType::Continuous | tar::EntryType::GNUSparse => Self::write,
            tar::EntryType::Symlink => Self::link,
            _ => return Ok(false),
        };
        if !self.make_directory(path.parent().unwrap_or(Path::new("")))? {
            return Ok(false);
        }
        match fs::symlink_metadata(&to) {
            Ok(metadata) if metadata.is_dir() => return Ok(false),
            // The later one of two entries counts.
            Ok(_) => fs::remove_file(&to)?,
            Err(_) => {}
        }
        if !unpack(self, entry, &path, &to)? {
            return Ok(false);
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_inner = name.contains(".tar") && INNER.iter().any(|start| name.starts_with(start));
        if is_inner && kind.is_file() && nesting < MAX_NESTING {
            self.file(&to, nesting.saturating_add(1))?;
        }
        Ok(true)
    }

    fn write<R: Read>(&mut self, entry: &mut tar::Entry<'_, R>, _: &Path, to: &Path) -> io::Result<bool> {
        let room = MAX_BYTES.saturating_sub(self.bytes);
        let mut out = fs::OpenOptions::new().write(true).create_new(true).open(to)?;
        let written = io::copy(&mut entry.take(room.saturating_add(1)), &mut out)?;
        self.bytes = self.bytes.saturating_add(written);
        if written > room {
            return Err(io::Error::other("an archive that is too large when unpacked"));
        }
        Ok(true)
    }

    fn link<R: Read>(&mut self, entry: &mut tar::Entry<'_, R>, path: &Path, to: &Path) -> io::Result<bool> {
        let Some(target) = entry.link_name()? else { return Ok(false) };
        let beside = path.parent().unwrap_or(Path::new(""));
        if !leads_up_only_first(&target) || inside(&beside.join(&target)).is_none() {
            return Ok(false);
        }
        std::os::unix::fs::symlink(&target, to).map(|()| true)
    }

    /// Makes a directory and those above it. Not through links: so every link is where its path says, and where it leads
    /// to can be told from its text.
    fn make_directory(&self, path: &Path) -> io::Result<bool> {
        let mut at = self.root.clone();
        for part in path.components() {
            at.push(part);
            match fs::symlink_metadata(&at) {
                Ok(metadata) if metadata.is_dir() => {}
                Ok(_) => return Ok(false),
                Err(_) => fs::create_dir(&at)?,
            }
        }
        Ok(true)
    }
}

/// Whether a relative path has `..` only at its beginning. Behind a name `..` leads out of what that name links to.
fn leads_up_only_first(target: &Path) -> bool {
    let mut parts =
        target.components().skip_while(|part| matches!(part, Component::ParentDir | Component::CurDir));
    target.is_relative() && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// A path of an archive without `.` and `..`; `None` when it leads out of the archive or is empty.
fn inside(path: &Path) -> Option<PathBuf> {
    let mut clean = PathBuf::new();
    if path.as_os_str().len() > MAX_PATH_BYTES {
        return None;
    }
    for part in path.components() {
        match part {
            Component::Normal(name) => clean.push(name),
            Component::CurDir | Component::RootDir => {}
            Component::ParentDir if clean.pop() => {}
            _ => return None,
        }
    }
    (!clean.as_os_str().is_empty()).then_some(clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside() {
        let clean = |path: &str| inside(Path::new(path)).map(|path| path.display().to_string());
        assert_eq!(clean("./.build-id/ab/cd").unwrap(), ".build-id/ab/cd");
        assert_eq!(clean(".build-id/ab/../../usr/x").unwrap(), "usr/x");
        assert_eq!(clean("/usr/x").unwrap(), "usr/x");
        for path in ["", ".", "..", "a/../..", "a/../../b", "../a"] {
            assert_eq!(clean(path), None, "{path}");
        }
        assert!(leads_up_only_first(Path::new("../../a/b")));
        for target in ["/a", "a/../b", "../a/.."] {
            assert!(!leads_up_only_first(Path::new(target)), "{target}");
        }
    }
}
