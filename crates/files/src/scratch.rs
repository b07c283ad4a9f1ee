//! Temporary files with names, and the list of those that there are.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};
use tempfile::{Builder, NamedTempFile};

/// What there is now. One list for the process, since it is the process that ends.
///
/// It is held while something is made or renamed, so that nothing is ever there without being on it.
static LIST: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn list() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    LIST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How long the end of a process waits for a thread that is making or renaming a file: on a server that does not answer, or
/// where there is no memory, that may never end.
const PATIENCE: Duration = Duration::from_secs(1);

/// Removes every [`ScratchFile`] that there is, for a process that is about to end. A thread that makes, renames
/// or drops one from now on waits for that end.
pub fn remove_scratch() {
    let until = Instant::now() + PATIENCE;
    let mut list = loop {
        match LIST.try_lock() {
            Ok(list) => break list,
            Err(TryLockError::Poisoned(list)) => break list.into_inner(),
            Err(TryLockError::WouldBlock) if Instant::now() > until => return,
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    remove_all(&mut list);
    std::mem::forget(list);
}

fn remove_all(list: &mut BTreeSet<PathBuf>) {
    while let Some(path) = list.pop_first() {
        // Nobody is left to whom it matters that something cannot be removed.
        let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
    }
}

/// Does something while nothing is removed behind its back.
pub(crate) fn undisturbed<T>(work: impl FnOnce() -> T) -> T {
    let _list = list();
    work()
}

/// A path on the list, as long as this value is.
#[derive(Debug)]
pub(crate) struct Listed(PathBuf);

impl Drop for Listed {
    fn drop(&mut self) {
        list().remove(&self.0);
    }
}

/// Makes something, and puts its path on the list.
pub(crate) fn list_new(make: impl FnOnce() -> io::Result<PathBuf>) -> io::Result<(PathBuf, Listed)> {
    let mut list = list();
    let path = make()?;
    list.insert(path.clone());
    Ok((path.clone(), Listed(path)))
}

/// A temporary file with a name. It goes with this value.
#[derive(Debug)]
pub struct ScratchFile {
    // In this order: what is removed is then taken off the list.
    file: NamedTempFile,
    listed: Listed,
}

impl ScratchFile {
    /// A new file in this folder whose name begins with `prefix`, for its user alone.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn in_folder(folder: &Path, prefix: &str) -> io::Result<ScratchFile> {
        ScratchFile::with_mode(folder, prefix, 0o600)
    }

    /// The same with these permissions, less those that the process gives to no new file (umask).
    ///
    /// # Errors
    /// As [`ScratchFile::in_folder`].
    pub fn with_mode(folder: &Path, prefix: &str, mode: u32) -> io::Result<ScratchFile> {
        // By hand, so that an error says what it is and not what the temporary name would have been.
        let open =
            |path: &Path| OpenOptions::new().read(true).write(true).create_new(true).mode(mode).open(path);
        let mut list = list();
        let file = Builder::new().prefix(prefix).make_in(folder, open)?;
        list.insert(file.path().to_owned());
        let listed = Listed(file.path().to_owned());
        Ok(ScratchFile { file, listed })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// The file itself.
    pub fn as_file(&self) -> &File {
        self.file.as_file()
    }

    /// Gives the file its place, where it takes that of a file that is there.
    ///
    /// # Errors
    /// What the operating system says; the file is gone then.
    pub fn rename(self, to: &Path) -> io::Result<()> {
        let (file, _listed) = self.into_parts();
        undisturbed(|| file.persist(to)).map(drop).map_err(|error| error.error)
    }

    /// The file, and what keeps it on the list: to be dropped when it has been renamed.
    pub(crate) fn into_parts(self) -> (NamedTempFile, impl Sized) {
        (self.file, self.listed)
    }
}

impl Write for ScratchFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_on_the_list_and_goes_with_it() {
        let dir = tempfile::tempdir().unwrap();
        let is_listed = |path: &Path| list().contains(path);
        let file = ScratchFile::in_folder(dir.path(), "x-").unwrap();
        let path = file.path().to_owned();
        assert!(path.is_file() && is_listed(&path));
        drop(file);
        assert!(!path.exists() && !is_listed(&path));

        let file = ScratchFile::in_folder(dir.path(), "x-").unwrap();
        let path = file.path().to_owned();
        file.rename(&dir.path().join("place")).unwrap();
        assert!(!path.exists() && !is_listed(&path) && dir.path().join("place").is_file());

        let file = ScratchFile::in_folder(dir.path(), "x-").unwrap();
        let path = file.path().to_owned();
        file.rename(&dir.path().join("nowhere/place")).unwrap_err();
        assert!(!path.exists() && !is_listed(&path));
    }

    #[test]
    fn all_on_a_list_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let paths = ["a", "b"].map(|name| dir.path().join(name));
        fs::write(&paths[0], "").unwrap();
        // The other one is gone already.
        let mut list = BTreeSet::from(paths);
        remove_all(&mut list);
        assert!(list.is_empty() && fs::read_dir(dir.path()).unwrap().next().is_none());
    }
}
