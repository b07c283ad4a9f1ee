//! How to look for binaries and what to read from them.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use crate::build_id::BuildId;
use crate::demangle::Demangle;
use crate::file_loader::FileLoader;
use crate::reason::Reason;

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
    /// Code that belongs to the recording, beside its symbols in lists of the caller.
    pub recorded_code: crate::code::RecordedCode,
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

    /// A path of the recorded machine as a path here.
    pub fn here(&self, path: &Path) -> PathBuf {
        match &self.symfs {
            Some(root) => root.join(path.strip_prefix("/").unwrap_or(path)),
            None => path.to_owned(),
        }
    }

    /// The path of a source file of a binary that a server gave, if servers may be asked: see [`Debuginfod`](crate::Debuginfod). `path` is
    /// that which the compiler wrote.
    ///
    /// # Errors
    /// Why there may be one although no server gave it.
    pub fn source_from_server(&self, build_id: &[u8], path: &str) -> Result<Option<PathBuf>, Reason> {
        #[cfg(feature = "debuginfod")]
        if let Some((servers, build_id)) = self.debuginfod.as_ref().zip(BuildId::from_bytes(build_id)) {
            return servers.source(&build_id, path, &self.file_loader);
        }
        let _ = (build_id, path);
        Ok(None)
    }

    /// The same for the kernel of a guest, which has nothing but what the user or the recording named for it.
    pub(crate) fn for_guest(&self, pid: Option<u32>) -> Options {
        let given = &self.guest;
        let root = given.mount.as_ref().zip(pid).map(|(mount, pid)| mount.join(pid.to_string()));
        let list = || root.as_ref().map(|root| root.join("proc/kallsyms")).filter(|list| list.is_file());
        Options {
            kallsyms: given.kallsyms.clone().or_else(list),
            vmlinux: given.vmlinux.clone(),
            symfs: Some(root.unwrap_or_else(|| PathBuf::from("/nonexistent"))),
            kcore_dir: given.kcore_dir(pid).map(Path::to_owned),
            kernel_release: None,
            kernel_build_id: None,
            kernel_doubt: None,
            trust_running_kernel: false,
            ..self.clone()
        }
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
            recorded_code: crate::code::RecordedCode::default(),
            guest: GuestFiles::default(),
            #[cfg(feature = "debuginfod")]
            debuginfod: None,
            mount_namespaces: crate::find::MountNamespaces::default(),
            trust_running_kernel: false,
        }
    }
}
