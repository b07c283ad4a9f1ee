//! An output file that is whole or as it was before.

use crate::scratch::{ScratchFile, undisturbed};
use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::ErrorKind::{NotFound, PermissionDenied, ReadOnlyFilesystem};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};

/// Beginning of the names of files that are not complete yet.
const PREFIX: &str = ".readperf-";

/// As many links as Linux follows, one after the other.
const MOST_LINKS: usize = 40;

/// What a new file's permissions are, less the umask.
const NEW_FILE: u32 = 0o666;

/// An output. Under its name it is there once it is published; without that, all is as it was before.
///
/// Where it goes, who owns it and who may read it is as if the file had been written over: links are followed, and the owner
/// and the permissions of a file that is there are kept.
#[derive(Debug)]
pub struct WholeFile {
    path: PathBuf,
    way: Way,
}

#[derive(Debug)]
enum Way {
    /// There is nothing to keep: devices, pipes, and what the process was given as an open file.
    Straight(File),
    /// Written beside its place, and renamed.
    Beside { scratch: ScratchFile, place: PathBuf },
    /// Written to a file without a name, and copied at the end: where a rename would take away the file's other names or its
    /// owner, or the folder takes no new files. Only what happens while it is copied can harm the old file.
    Copied { spool: File, old: File },
}

/// Where a path leads.
enum End {
    Place(PathBuf),
    /// To what a process has open (`/dev/stdout`, `/dev/fd/3`).
    Descriptor(PathBuf),
    /// To no file: a folder, or links in a circle.
    Nowhere,
}

impl WholeFile {
    /// Begins an output.
    ///
    /// # Errors
    /// What the operating system would say if the file were written over.
    pub fn create(path: &Path) -> io::Result<WholeFile> {
        Ok(WholeFile { path: path.to_owned(), way: Way::to(path)? })
    }

    /// What to write to. All of it must be flushed before the file is published.
    ///
    /// # Errors
    /// When there are too many open files.
    pub fn writer(&self) -> io::Result<File> {
        match &self.way {
            Way::Straight(file) | Way::Copied { spool: file, .. } => file.try_clone(),
            Way::Beside { scratch, .. } => scratch.as_file().try_clone(),
        }
    }

    /// The path, as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Puts complete outputs in their places, and lets no [`remove_scratch`](crate::remove_scratch) come between.
///
/// # Errors
/// Of the first that cannot be put there: what the operating system says, and the path. Those after it are as before.
pub fn publish(files: impl IntoIterator<Item = WholeFile>) -> Result<(), (PathBuf, io::Error)> {
    // What is taken off the list needs the list: it is dropped at the end.
    let mut kept = Vec::new();
    let mut ready = Vec::new();
    for WholeFile { path, way } in files {
        match way {
            Way::Straight(_) => {}
            Way::Copied { spool, old } => copy_over(spool, old).map_err(|error| (path, error))?,
            Way::Beside { scratch, place } => {
                let (file, listed) = scratch.into_parts();
                kept.push(listed);
                ready.push((path, file, place));
            }
        }
    }
    undisturbed(|| {
        for (path, file, place) in ready {
            let Err(refused) = file.persist(&place) else { continue };
            // A file that something is mounted on keeps its place, and can be written over.
            let old = OpenOptions::new().write(true).open(&place);
            let copied =
                old.map_err(|_| refused.error).and_then(|old| copy_over(refused.file.reopen()?, old));
            copied.map_err(|error| (path, error))?;
        }
        Ok(())
    })
}

/// Makes a file's content that of another. What is longer comes first: for that there may be no room, and what was there is
/// whole then.
fn copy_over(mut from: File, mut to: File) -> io::Result<()> {
    let (new, old) = (from.metadata()?.len(), to.metadata()?.len());
    from.seek(SeekFrom::Start(old))?;
    to.seek(SeekFrom::Start(old))?;
    if let Err(error) = io::copy(&mut from, &mut to) {
        to.set_len(old)?;
        return Err(error);
    }
    from.rewind()?;
    to.rewind()?;
    io::copy(&mut from.take(old), &mut to)?;
    to.set_len(new)
}

impl Way {
    fn to(path: &Path) -> io::Result<Way> {
        let place = match end(path)? {
            End::Descriptor(path) => return descriptor(&path).map(Way::Straight),
            End::Place(place) => Some(place),
            End::Nowhere => None,
        };
        // Whether it may be written over is for the system to say, before any work is done.
        let old = OpenOptions::new().write(true).open(path);
        let (Some(place), false) = (place, old.as_ref().is_err_and(|error| error.kind() != NotFound)) else {
            return old.and(Err(NotFound.into()));
        };
        let folder = place.parent().unwrap_or(Path::new("/"));
        let Ok(old) = old else {
            return Ok(Way::Beside { scratch: ScratchFile::with_mode(folder, PREFIX, NEW_FILE)?, place });
        };
        let found = old.metadata()?;
        if !found.is_file() {
            return Ok(Way::Straight(old));
        }
        match like(&found, folder)? {
            Some(scratch) => Ok(Way::Beside { scratch, place }),
            None => Ok(Way::Copied { spool: tempfile::tempfile()?, old }),
        }
    }
}

/// A file that can take the place of one that is there: its owner and permissions are the same. `None` if there can be none.
fn like(old: &Metadata, folder: &Path) -> io::Result<Option<ScratchFile>> {
    if old.nlink() > 1 {
        return Ok(None);
    }
    // Nobody else reads it before it is known who may.
    let scratch = match ScratchFile::in_folder(folder, PREFIX) {
        Err(error) if matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem) => return Ok(None),
        scratch => scratch?,
    };
    let file = scratch.as_file();
    let new = file.metadata()?;
    let is_of_same = (new.uid(), new.gid()) == (old.uid(), old.gid());
    if !is_of_same && fchown(file, Some(old.uid()), Some(old.gid())).is_err() {
        return Ok(None);
    }
    file.set_permissions(Permissions::from_mode(old.mode() & 0o777))?;
    Ok(Some(scratch))
}

/// What the process has open, or another one.
fn descriptor(path: &Path) -> io::Result<File> {
    // Opened anew these would be written from the start, not from where whoever started the process has come to.
    let own = |number: &str| path == fs::canonicalize("/proc/self/fd").unwrap_or_default().join(number);
    match () {
        () if own("1") => Ok(io::stdout().as_fd().try_clone_to_owned()?.into()),
        () if own("2") => Ok(io::stderr().as_fd().try_clone_to_owned()?.into()),
        () => OpenOptions::new().append(true).open(path),
    }
}

/// Follows the links at the end of a path, if there are any.
fn end(path: &Path) -> io::Result<End> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let (Some(name), false) = (path.file_name(), path.as_os_str().as_bytes().ends_with(b"/")) else {
            return Ok(End::Nowhere);
        };
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => fs::canonicalize(folder)?,
            _ => fs::canonicalize(".")?,
        };
        let place = folder.join(name);
        if folder.starts_with("/proc") {
            return Ok(End::Descriptor(place));
        }
        match fs::read_link(&place) {
            Ok(to) => path = folder.join(to),
            // It is no link, or nothing.
            Err(_) => return Ok(End::Place(place)),
        }
    }
    Ok(End::Nowhere)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn written(path: &Path, text: &str) -> WholeFile {
        let file = WholeFile::create(path).unwrap();
        file.writer().unwrap().write_all(text.as_bytes()).unwrap();
        file
    }

    /// Also by a panic, which drops what it passes.
    #[test]
    fn without_being_published_nothing_has_changed() {
        let dir = tempfile::tempdir().unwrap();
        let (old, linked, new) = (dir.path().join("old"), dir.path().join("linked"), dir.path().join("new"));
        fs::write(&old, "old").unwrap();
        fs::write(&linked, "old").unwrap();
        fs::hard_link(&linked, dir.path().join("link")).unwrap();
        let panicked = std::panic::catch_unwind(|| {
            let _files = [&old, &linked, &new].map(|path| written(path, "half"));
            panic!("on purpose");
        });
        panicked.unwrap_err();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3);
        for path in [old, linked] {
            assert_eq!(fs::read_to_string(path).unwrap(), "old");
        }
    }

    #[test]
    fn longer_and_shorter_content_is_copied_over() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("from"), dir.path().join("to"));
        for (old, new) in [("", "new"), ("old", ""), ("old", "longer"), ("longer", "new"), ("old", "new")] {
            fs::write(&from, new).unwrap();
            fs::write(&to, old).unwrap();
            let target = OpenOptions::new().write(true).open(&to).unwrap();
            copy_over(File::open(&from).unwrap(), target).unwrap();
            assert_eq!(fs::read_to_string(&to).unwrap(), new);
        }
    }

    #[test]
    fn what_cannot_be_put_in_its_place_is_named_and_those_after_it_stay() {
        let dir = tempfile::tempdir().unwrap();
        let (gone, old) = (dir.path().join("folder/new"), dir.path().join("old"));
        fs::create_dir(dir.path().join("folder")).unwrap();
        fs::write(&old, "old").unwrap();
        let files = [written(&gone, "new"), written(&old, "new")];
        fs::remove_dir_all(dir.path().join("folder")).unwrap();
        let (path, error) = publish(files).unwrap_err();
        assert_eq!((path, error.kind()), (gone, NotFound));
        assert_eq!(fs::read_to_string(&old).unwrap(), "old");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
