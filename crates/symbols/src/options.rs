//! How to look for binaries and what to read from them.

use std::fmt;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::build_id::BuildId;
use crate::demangle::Demangle;

/// The bytes of a file, shared between threads: read, mapped or made up.
pub type FileBytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// Reads a file. A caller may bring its own, for instance one that maps files into memory.
#[derive(Clone)]
pub struct FileLoader(Arc<Load>);

type Load = dyn Fn(&Path) -> io::Result<FileBytes> + Send + Sync;

impl FileLoader {
    /// A loader that calls `load`. It is called from several threads at once, and only for what
    /// [`std::fs::metadata`] calls a regular file.
    pub fn new(load: impl Fn(&Path) -> io::Result<FileBytes> + Send + Sync + 'static) -> FileLoader {
        FileLoader(Arc::new(load))
    }

    /// Reads the whole file, if it is a regular one: the path comes from a recording and might name a device or a
    /// pipe, which would never end.
    pub(crate) fn load(&self, path: &Path) -> io::Result<FileBytes> {
        if !std::fs::metadata(path)?.is_file() {
            return Err(io::Error::other("not a regular file"));
        }
        (self.0)(path)
    }
}

impl Default for FileLoader {
    fn default() -> Self {
        FileLoader::new(|path| {
            let mut bytes = Vec::new();
            std::fs::File::open(path)?.read_to_end(&mut bytes)?;
            Ok(Arc::new(bytes))
        })
    }
}

impl fmt::Debug for FileLoader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FileLoader")
    }
}

/// Where the symbols of the kernels of virtual machines are. Nothing is searched that is not named here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GuestFiles {
    /// A symbol list for every guest.
    pub kallsyms: Option<PathBuf>,
    /// A kernel image for every guest.
    pub vmlinux: Option<PathBuf>,
    /// A directory with the root directory of each guest, by the number of the process that runs the guest
    /// (`MOUNT/1234/proc/kallsyms`, `MOUNT/1234/lib/modules/…`).
    pub mount: Option<PathBuf>,
}

/// How to look for binaries and what to read from them.
#[derive(Clone, Debug)]
pub struct Options {
    /// A directory that holds the file system of the recorded machine: put before every path that is searched,
    /// but not before `search_dirs` and `build_id_cache`.
    pub symfs: Option<PathBuf>,
    /// Directories in which a binary is looked for by the last part of its name, and accepted only when its build-id
    /// is the recorded one; also as `DIR/.build-id/xx/yyyy.debug`.
    pub search_dirs: Vec<PathBuf>,
    /// The build-id cache of the recorder; the default is `$HOME/.debug`.
    pub build_id_cache: Option<PathBuf>,
    /// Roots of separate debug files; the default is `/usr/lib/debug`.
    pub debug_dirs: Vec<PathBuf>,
    /// How names are shown.
    pub demangle: Demangle,
    /// Whether source files and lines are looked up (DWARF); without it there are no frames.
    pub lines: bool,
    /// Whether inlined functions are looked up; needs `lines`. Without it a frame is only the innermost source line.
    pub inlines: bool,
    /// How many threads work; as many as there are processors when `None`.
    pub threads: Option<NonZeroUsize>,
    /// Reads the files.
    pub file_loader: FileLoader,
    /// A kernel symbol list to use for every kernel, whatever its build-id, in place of `/proc/kallsyms`.
    pub kallsyms: Option<PathBuf>,
    /// An image of the kernel with symbols (`vmlinux`), to use for the kernel proper if its build-id is the recorded one.
    pub vmlinux: Option<PathBuf>,
    /// The release of the recorded kernel (`uname -r`), by which its image and its modules are looked for.
    pub kernel_release: Option<String>,
    /// The build-id of the recorded kernel. It tells which cached symbol list has the symbols of the modules.
    pub kernel_build_id: Option<BuildId>,
    /// The copy of the kernel's memory and symbols that belongs to the recording (`kcore_dir` of a recording that is a
    /// directory).
    pub kcore_dir: Option<PathBuf>,
    /// Where the symbols of guests' kernels are.
    pub guest: GuestFiles,
    /// Whether the running kernel stands for the recorded one when the recording has no build-id of it.
    pub trust_running_kernel: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            symfs: None,
            search_dirs: Vec::new(),
            build_id_cache: std::env::var_os("HOME").map(|home| Path::new(&home).join(".debug")),
            debug_dirs: vec![PathBuf::from("/usr/lib/debug")],
            demangle: Demangle::default(),
            lines: true,
            inlines: true,
            threads: None,
            file_loader: FileLoader::default(),
            kallsyms: None,
            vmlinux: None,
            kernel_release: None,
            kernel_build_id: None,
            kcore_dir: None,
            guest: GuestFiles::default(),
            trust_running_kernel: false,
        }
    }
}
