//! How to look for binaries and what to read from them.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::build_id::BuildId;
use crate::cache::Trace;
use crate::demangle::Demangle;
use crate::failures::Failures;
use crate::find::{ReadFile, SymbolArchive};
use crate::reason::Reason;

/// How many names in a directory are looked at.
const MAX_NAMES: usize = 1000;

/// The bytes of a file, shared between threads: read, mapped or made up.
pub type FileBytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

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
        FileLoader { load: Arc::new(load), archives: Arc::default(), failures: Arc::default(), trace: None }
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
        let bytes = match metadata {
            Ok(metadata) if !metadata.is_file() => return Err(io::Error::other("not a regular file")),
            Ok(_) => (self.load)(path),
            Err(error) => Err(error),
        };
        bytes.inspect_err(|error| self.failures.add(path, error))
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

/// Where the symbols of the kernels of virtual machines are. Nothing is searched that is not named
/// here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GuestFiles {
    /// A symbol list for every guest.
    pub kallsyms: Option<PathBuf>,
    /// A kernel image for every guest.
    pub vmlinux: Option<PathBuf>,
    /// A directory with the root directory of each guest, by the number of the process that runs the guest
    /// (`MOUNT/1234/proc/kallsyms`, `MOUNT/1234/lib/modules/…`).
    pub mount: Option<PathBuf>,
    /// Copies of guests' kernels that belong to the recording (`kcore_dir__1234`), by the process that ran the guest.
    pub kcore_dirs: Vec<(u32, PathBuf)>,
}

impl GuestFiles {
    /// The copy of the kernel of the guest that this process ran; if it is not known which, of the only guest.
    pub(crate) fn kcore_dir(&self, pid: Option<u32>) -> Option<&Path> {
        let found = match (pid, self.kcore_dirs.as_slice()) {
            (Some(pid), dirs) => dirs.iter().find(|(number, _)| *number == pid),
            (None, [only]) => Some(only),
            (None, _) => None,
        };
        found.map(|(_, path)| path.as_path())
    }
}

/// How to look for binaries and what to read from them.
#[derive(Clone, Debug)]
pub struct Options {
    /// A directory that holds the file system of the recorded machine: put before every path that is searched,
    /// but not before `search_dirs` and `build_id_cache`.
    pub symfs: Option<PathBuf>,
    /// Directories in which a binary is looked for by the last part of its name, and accepted only when its build-id
    /// is the recorded one; also as `DIR/.build-id/xx/yyyy.debug`, and as a cache of a recorder. Perf maps and jitdump files are
    /// looked for there too. The path of a [`SymbolArchive`](crate::SymbolArchive) is such a directory, if the loader knows it.
    pub search_dirs: Vec<PathBuf>,
    /// Files, and directories with files, that are looked for by their build-id under any name.
    pub symbol_files: crate::find::SymbolFiles,
    /// The build-id cache of the recorder; the default is `$HOME/.debug`.
    pub build_id_cache: Option<PathBuf>,
    /// Roots of separate debug files; the default is `/usr/lib/debug`.
    pub debug_dirs: Vec<PathBuf>,
    /// How names are shown.
    pub demangle: Demangle,
    /// Whether source files and lines are looked up (DWARF).
    pub lines: bool,
    /// Whether inlined functions are looked up (DWARF). Without it a frame is only the innermost source line; without
    /// [`Self::lines`] too there are none. Inlined functions alone take less memory and time than with their lines.
    pub inlines: bool,
    /// Whether it is looked up in which source file each symbol is written (DWARF). That is not the file of its first line where
    /// something is inlined at the start.
    pub source_files: bool,
    /// A directory in which frames are kept from run to run, by build-id: only those of binaries (and of kernels and
    /// modules that have an image) whose build-id was recorded, and only where something of the debug information is wanted. See [`cache_dir`](crate::cache_dir).
    pub cache: Option<PathBuf>,
    /// How many bytes the files in that directory may have in all; the oldest ones go first.
    pub cache_bytes: u64,
    /// How many threads work; as many as there are processors when `None`. See [`Self::thread_count`].
    pub threads: Option<NonZeroUsize>,
    /// Reads the files.
    pub file_loader: FileLoader,
    /// A kernel symbol list to use for every kernel, whatever its build-id, in place of `/proc/kallsyms`.
    pub kallsyms: Option<PathBuf>,
    /// An image of the kernel with symbols (`vmlinux`), to use for the kernel proper if its build-id is the recorded one.
    pub vmlinux: Option<PathBuf>,
    /// The release of the recorded kernel (`uname -r`), by which its image and its modules are looked for.
    pub kernel_release: Option<String>,
    /// The build-id of the recorded kernel: it stands in for one that a [`Subject::Kernel`](crate::Subject::Kernel) lacks, and
    /// tells which cached symbol list has the symbols of the modules.
    pub kernel_build_id: Option<BuildId>,
    /// What is said of a kernel without a build-id.
    pub kernel_doubt: Option<Reason>,
    /// The copy of the kernel's memory and symbols that belongs to the recording (`kcore_dir` of a recording that is a
    /// directory).
    pub kcore_dir: Option<PathBuf>,
    /// Where the symbols of guests' kernels are.
    pub guest: GuestFiles,
    /// Servers to ask for what is not found otherwise.
    #[cfg(feature = "debuginfod")]
    pub debuginfod: Option<crate::find::Debuginfod>,
    /// Where the containers' file systems are that are running here, for binaries whose build-id was recorded.
    pub mount_namespaces: crate::find::MountNamespaces,
    /// Whether the running kernel stands for the recorded one when the recording has no build-id of it.
    pub trust_running_kernel: bool,
}

impl Options {
    /// How many threads work. More than a few for each processor gain nothing, and each costs its stack.
    pub fn thread_count(&self) -> usize {
        let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        self.threads.map_or(processors, NonZeroUsize::get).min(processors * 4)
    }

    /// Whether anything is wanted that only debug information has.
    pub(crate) fn reads_debug_info(&self) -> bool {
        self.lines || self.inlines || self.source_files
    }

    /// The list of kernel symbols that is used whatever its build-id: the one that the user named, or that belongs to the
    /// recording.
    pub(crate) fn given_kernel_list(&self) -> Option<PathBuf> {
        let recorded = || self.kcore_dir.as_ref().map(|dir| dir.join("kallsyms"));
        match (&self.kallsyms, &self.vmlinux) {
            (Some(path), _) => Some(path.clone()),
            (None, Some(_)) => None,
            (None, None) => recorded().filter(|list| list.is_file()),
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            symfs: None,
            search_dirs: Vec::new(),
            symbol_files: crate::find::SymbolFiles::default(),
            build_id_cache: std::env::var_os("HOME").map(|home| Path::new(&home).join(".debug")),
            debug_dirs: vec![PathBuf::from("/usr/lib/debug")],
            demangle: Demangle::default(),
            lines: true,
            inlines: true,
            source_files: true,
            cache: None,
            cache_bytes: 512 << 20,
            threads: None,
            file_loader: FileLoader::default(),
            kallsyms: None,
            vmlinux: None,
            kernel_release: None,
            kernel_build_id: None,
            kernel_doubt: None,
            kcore_dir: None,
            guest: GuestFiles::default(),
            #[cfg(feature = "debuginfod")]
            debuginfod: None,
            mount_namespaces: crate::find::MountNamespaces::default(),
            trust_running_kernel: false,
        }
    }
}
