//! How files are read: from this machine, or out of archives.

use std::fmt;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::archive::{ReadFile, SymbolArchive};
use crate::build_id::BuildId;
use crate::failures::Failures;
use crate::files::FileBytes;
use crate::origins::Origins;
use crate::trace::Trace;
use crate::uses::{UsedFile, Uses};

/// How many names in a directory are looked at.
const MAX_NAMES: usize = 1000;

/// Reads a file. A caller may bring its own, for instance one that maps files into memory.
///
/// With [`Options::cache`] it must give what the file system has at the path: whether a cached answer still holds is seen
/// by size, time and number of the files.
#[derive(Clone)]
pub struct FileLoader {
    load: Arc<Load>,
    archives: Arc<Archives>,
    failures: Arc<Failures>,
    /// Notes what was tried, for the cache.
    trace: Option<Arc<Trace>>,
    /// Notes what was used, if somebody wants to know.
    uses: Option<Arc<Uses>>,
    /// What files are called that were brought here.
    origins: Option<Arc<Origins>>,
}

type Load = dyn Fn(&Path) -> io::Result<FileBytes> + Send + Sync;

/// Archives of files, and how what is unpacked of them is read.
struct Archives {
    all: Vec<SymbolArchive>,
    read_file: Box<ReadFile>,
}

impl FileLoader {
    /// A loader that calls `load`. It is called from several threads at once, and only for what
    /// [`std::fs::metadata`] calls a regular file.
    pub fn new(load: impl Fn(&Path) -> io::Result<FileBytes> + Send + Sync + 'static) -> FileLoader {
        FileLoader {
            load: Arc::new(load),
            archives: Arc::default(),
            failures: Arc::default(),
            trace: None,
            uses: None,
            origins: None,
        }
    }

    /// The same loader, which finds the members of these archives below the archives' own paths. Large ones are unpacked into a
    /// file without a name, which `read_file` reads or maps.
    pub fn with_archives(
        self,
        archives: Vec<SymbolArchive>,
        read_file: impl Fn(File) -> io::Result<FileBytes> + Send + Sync + 'static,
    ) -> FileLoader {
        let archives = Arc::new(Archives { all: archives, read_file: Box::new(read_file) });
        FileLoader { archives, ..self }
    }

    /// The same loader, which keeps what was used: see [`Self::used`].
    pub fn keeping_used(self) -> FileLoader {
        FileLoader { uses: Some(Arc::default()), ..self }
    }

    /// The files that names, lines and frames came from so far, if they are kept. What was looked at and was of another build is not
    /// among them.
    pub fn used(&self) -> Vec<UsedFile> {
        self.uses.as_ref().map(|uses| uses.all()).unwrap_or_default()
    }

    /// Notes that a file was used.
    pub(crate) fn note_use(&self, used: impl FnOnce() -> UsedFile) {
        if let Some(uses) = &self.uses {
            uses.add(used());
        }
    }

    /// The same loader, whose files are called what they were called where they come from.
    pub fn with_origins(self, origins: Origins) -> FileLoader {
        FileLoader { origins: Some(Arc::new(origins)), ..self }
    }

    /// What a file is called in answers.
    pub(crate) fn called(&self, path: &Path) -> PathBuf {
        self.origins.as_ref().map_or_else(|| path.to_owned(), |origins| origins.of(path))
    }

    /// The archives whose members can be found.
    pub fn archives(&self) -> &[SymbolArchive] {
        &self.archives.all
    }

    /// Has what the archives have of a build-id unpacked together with what is asked for next.
    pub(crate) fn want(&self, build_id: Option<&BuildId>) {
        let Some(build_id) = build_id else { return };
        self.archives.all.iter().for_each(|archive| archive.want(build_id));
    }

    /// A member of an archive; `None` if the path is below none.
    pub(crate) fn load_packed(&self, path: &Path) -> Option<io::Result<FileBytes>> {
        let found =
            self.archives.all.iter().find_map(|archive| archive.load(path, &*self.archives.read_file))?;
        // It may be packed anew.
        self.note_other_source();
        Some(found)
    }

    /// The names of what is in a directory, of this machine or of an archive.
    pub(crate) fn names_in(&self, directory: &Path) -> Vec<PathBuf> {
        let packed = self.archives.all.iter().find_map(|archive| archive.names_in(directory));
        packed.unwrap_or_else(|| {
            let entries = std::fs::read_dir(directory).into_iter().flatten().take(MAX_NAMES);
            entries.flatten().map(|entry| PathBuf::from(entry.file_name())).collect()
        })
    }

    /// Reads the whole file, if it is a regular one: the path comes from a recording and might name a device or a
    /// pipe, which would never end.
    pub(crate) fn load(&self, path: &Path) -> io::Result<FileBytes> {
        if let Some(packed) = self.load_packed(path) {
            return packed;
        }
        let metadata = std::fs::metadata(path);
        if let Some(trace) = &self.trace {
            trace.add(path, metadata.as_ref().ok());
        }
        let bytes = metadata.and_then(|metadata| self.load_regular(path, &metadata));
        bytes.inspect_err(|error| self.failures.add(path, error))
    }

    fn load_regular(&self, path: &Path, metadata: &Metadata) -> io::Result<FileBytes> {
        match metadata.is_file() {
            true => (self.load)(path),
            false => Err(io::Error::other("not a regular file")),
        }
    }

    /// Reads a symbol list of a kernel. One that the system makes while it is read says that it has no bytes: it is read, and others are loaded.
    pub(crate) fn load_list(&self, path: &Path) -> io::Result<FileBytes> {
        if let Some(packed) = self.load_packed(path) {
            return packed;
        }
        let metadata = std::fs::metadata(path)?;
        match metadata.is_file() && metadata.len() == 0 {
            true => Ok(Arc::new(std::fs::read(path)?)),
            false => self.load_regular(path, &metadata),
        }
    }

    /// Notes why a file could not be read that is read in another way.
    pub(crate) fn note_failure(&self, path: &Path, error: &io::Error) {
        self.failures.add(path, error);
    }

    /// Notes that a file could not be read, and nothing was found instead of it.
    pub(crate) fn note_loss(&self, path: &Path) {
        self.failures.nothing_instead_of(path);
    }

    /// Says because of which files names, lines or frames are missing that would have been found: the system did not let them be
    /// read, or they are in an archive that is damaged.
    pub fn losses(&self) -> Vec<String> {
        let damaged = self.archives.all.iter().filter_map(SymbolArchive::damage);
        damaged.chain(self.failures.losses()).collect()
    }

    /// Notes a path that the answer depends on and that is read in another way.
    pub(crate) fn note(&self, path: &Path) {
        if let Some(trace) = &self.trace {
            trace.add(path, std::fs::metadata(path).ok().as_ref());
        }
    }

    /// Notes that the answer depends on more than files, so that it is not kept.
    pub(crate) fn note_other_source(&self) {
        if let Some(trace) = &self.trace {
            trace.unsettle();
        }
    }

    /// The same loader, which notes nothing.
    pub(crate) fn untraced(&self) -> FileLoader {
        FileLoader { trace: None, ..self.clone() }
    }

    /// The same loader, which notes in `trace` what it is asked for.
    pub(crate) fn traced(&self, trace: Arc<Trace>) -> FileLoader {
        FileLoader { trace: Some(trace), ..self.clone() }
    }
}

impl Default for FileLoader {
    fn default() -> Self {
        FileLoader::new(|path| read_whole(File::open(path)?))
    }
}

impl Default for Archives {
    fn default() -> Archives {
        Archives { all: Vec::new(), read_file: Box::new(read_whole) }
    }
}

fn read_whole(mut file: File) -> io::Result<FileBytes> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Arc::new(bytes))
}

impl fmt::Debug for FileLoader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FileLoader")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    #[test]
    fn a_list_that_the_system_makes_is_read_and_others_are_loaded() {
        let directory = tempfile::tempdir().unwrap();
        let copy = directory.path().join("kallsyms");
        std::fs::write(&copy, "10 T x\n").unwrap();
        let loaded = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&loaded);
        let loader = FileLoader::new(move |path| {
            count.fetch_add(1, Relaxed);
            Ok(Arc::new(std::fs::read(path)?))
        });
        assert_eq!((*loader.load_list(&copy).unwrap()).as_ref(), b"10 T x\n");
        assert_eq!(loaded.load(Relaxed), 1);
        let of_directory = loader.load_list(directory.path()).err();
        assert_eq!(of_directory.map(|error| error.to_string()).unwrap(), "not a regular file");
        assert!(loader.load_list(&directory.path().join("none")).is_err());
        let made = Path::new("/proc/self/cmdline");
        if made.exists() {
            assert!(!(*loader.load_list(made).unwrap()).as_ref().is_empty(), "it cannot be mapped");
        }
        assert_eq!(loaded.load(Relaxed), 1);
    }
}
