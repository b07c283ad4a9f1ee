//! Why an address has no name.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use crate::build_id::BuildId;
use crate::kernel_doubt::KernelDoubt;

/// Why an address, or a whole binary, has no name. Prints as a phrase in plain words.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// There is no file at the recorded path, nor anywhere else that was searched.
    NoFile {
        /// The path that was looked for.
        path: PathBuf,
    },
    /// There is no file at the recorded path, and no build-id was recorded that would tell it elsewhere.
    NoFileNorId {
        /// The path that was looked for.
        path: PathBuf,
    },
    /// What was recorded is memory that no file backs (heap, stack, generated code).
    NotAFile {
        /// The name of the mapping as recorded.
        name: PathBuf,
    },
    /// It is memory that no file backs.
    Anonymous,
    /// It is the page of old system calls.
    Vsyscall,
    /// There is a file, but it is another build.
    BuildIdDiffers {
        /// The file.
        path: PathBuf,
        /// The build-id when recording.
        recorded: BuildId,
        /// The build-id of the file; `None` when it has none.
        found: Option<BuildId>,
    },
    /// The file could not be read.
    NotReadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: String,
    },
    /// A file in a place where everyone may write belongs to another user, who could have put anything in it.
    ForeignOwner {
        /// The file.
        path: PathBuf,
        /// Number of the user that it belongs to.
        owner: u32,
    },
    /// A file in a place where everyone may write could have been changed by other users than its owner.
    OthersMayWrite {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// The file is no ELF file, or its headers are damaged.
    NotElf {
        /// The file.
        path: PathBuf,
    },
    /// The file is of another machine than the one that recorded.
    OtherMachine {
        /// The file.
        path: PathBuf,
    },
    /// Only a separate debug file was found; it does not tell where in the binary's file its code lies.
    LayoutUnknown {
        /// The debug file.
        path: PathBuf,
    },
    /// The binary has no symbols at all, and no debug file of it was found.
    Stripped {
        /// The file.
        path: PathBuf,
        /// Its build-id, by which a debug file is looked for.
        build_id: Option<BuildId>,
    },
    /// The binary has only the symbols that it exports, no debug file of it was found, and none covers this address.
    NotExported {
        /// The file.
        path: PathBuf,
        /// Its build-id, by which a debug file is looked for.
        build_id: Option<BuildId>,
    },
    /// The binary has symbols, but none covers this address.
    NoSymbolCovers,
    /// There is no file, and a server that might have one could not be asked or gave something else.
    NotDownloaded {
        /// The server.
        url: String,
        /// What went wrong.
        error: String,
    },
    /// No symbol covers this address, and part of the list of symbols could not be read.
    ListDamaged {
        /// The list.
        path: PathBuf,
        /// How many lines or records could not be read.
        count: u64,
    },
    /// The recording was made on another kernel than the one running here, and no symbols of it were found.
    KernelDiffers {
        /// The build-id when recording.
        recorded: BuildId,
        /// The build-id of the running kernel; `None` when it does not tell.
        running: Option<BuildId>,
    },
    /// It was not recorded which kernel it was, so the running one may be another.
    KernelUnknown,
    /// The build-id of the kernel was not recorded, and what was recorded of it does not prove that it is the running one.
    KernelUnproven {
        /// Why not.
        doubt: KernelDoubt,
    },
    /// What should be a list of kernel symbols has no line of one.
    NoKernelList {
        /// The file.
        path: PathBuf,
    },
    /// The kernel shows all its addresses as zero to this user (`kernel.kptr_restrict`).
    KernelAddressesHidden,
    /// The symbol by which the kernel's position is known is not in its symbol list.
    ReferenceMissing {
        /// Name of the symbol.
        symbol: String,
    },
    /// No file of the module was found, and it is not loaded in the running kernel.
    ModuleNotFound {
        /// Name of the module.
        module: String,
        /// The build-id when recording, if there was one.
        recorded: Option<BuildId>,
    },
    /// No file of the module was found, and the one that is loaded now may be another: no build-id was recorded.
    ModuleUnproven {
        /// Name of the module.
        module: String,
    },
    /// No file of the module was found, and the one that is loaded now is another.
    ModuleDiffers {
        /// Name of the module.
        module: String,
        /// The build-id when recording.
        recorded: BuildId,
        /// The build-id of the one that is loaded.
        loaded: BuildId,
    },
    /// The list of kernel symbols has none of this module.
    ModuleNotListed {
        /// Name of the module.
        module: String,
    },
    /// There is a file of the module, but it was not recorded where the module was loaded.
    ModuleStartUnknown {
        /// Name of the module.
        module: String,
    },
    /// The system gave no such image to this process.
    NoVdso,
    /// The recorded build-id of the vdso is missing or differs from the one of this system.
    VdsoDiffers {
        /// The build-id when recording, if there was one.
        recorded: Option<BuildId>,
        /// The build-id of this system's image, if it has one.
        running: Option<BuildId>,
    },
    /// Reading this binary failed in a way that was not foreseen. A defect of this program.
    Defect,
}

impl Reason {
    /// What a user can do about it, as a phrase in plain words; `None` when there is nothing to be done.
    pub fn remedy(&self) -> Option<Cow<'static, str>> {
        let fixed = |text: &'static str| Some(Cow::Borrowed(text));
        let with_id = |id: &BuildId, what: &str| {
            Some(Cow::Owned(format!(
                "give --symbols DIR with {what} of build-id {id}, or `perf archive` of that machine"
            )))
        };
        match self {
            Reason::NoFile { path } if is_perf_map(path) => fixed(
                "let the runtime write a perf map or a jitdump file (java: -XX:+DumpPerfMapAtExit; node: --perf-basic-prof; \
                 python: -X perf)",
            ),
            Reason::NoFile { .. } | Reason::OtherMachine { .. } => fixed(
                "give --symfs ROOT or --symbols DIR with the recorded machine's files, or `perf archive` of it",
            ),
            Reason::NoFileNorId { .. } => fixed(
                "give --symfs ROOT with the recorded machine's files at their paths, or record with --buildid-mmap",
            ),
            Reason::BuildIdDiffers { recorded, .. } => with_id(recorded, "the file"),
            Reason::NotReadable { .. } => fixed("run as a user who may read it"),
            Reason::ForeignOwner { .. } => {
                fixed("if you trust it, copy it to a directory and give --symbols DIR")
            }
            Reason::OthersMayWrite { .. } => fixed(
                "if you trust it, take the permission from others (chmod go-w), or copy it to a directory and give --symbols DIR",
            ),
            Reason::NotElf { .. } => fixed("see whether the file is damaged or was replaced"),
            Reason::LayoutUnknown { .. } => {
                fixed("give --symbols DIR with the binary itself, stripped or not")
            }
            Reason::Stripped { .. } | Reason::NotExported { .. } => {
                fixed("install its debug package, or give --symbols DIR with its debug file")
            }
            Reason::NotDownloaded { .. } => fixed("see whether the server can be reached, and try again"),
            Reason::KernelDiffers { recorded, .. } => with_id(recorded, "vmlinux"),
            Reason::KernelUnknown | Reason::KernelUnproven { .. } => {
                fixed("give --kallsyms or --vmlinux of the recorded kernel, or record with --buildid-mmap")
            }
            Reason::NoKernelList { .. } => {
                fixed("give --kallsyms a copy of the recorded kernel's /proc/kallsyms")
            }
            Reason::KernelAddressesHidden if geteuid().is_root() => {
                fixed("set kernel.kptr_restrict to 0, or give --kallsyms of the recorded kernel")
            }
            Reason::KernelAddressesHidden => fixed(
                "run as root, or set kernel.kptr_restrict to 0, or give --kallsyms of the recorded kernel",
            ),
            Reason::ReferenceMissing { .. } => fixed("give --kallsyms or --vmlinux of the recorded kernel"),
            Reason::ModuleNotFound { recorded: Some(id), .. }
            | Reason::ModuleDiffers { recorded: id, .. } => with_id(id, "the module's file"),
            Reason::ModuleNotFound { recorded: None, .. } | Reason::ModuleUnproven { .. } => {
                fixed("give --symbols DIR with the module's file, or --kallsyms of the recorded kernel")
            }
            Reason::ModuleNotListed { .. } => {
                fixed("give --kallsyms of the recorded kernel with this module loaded")
            }
            Reason::ModuleStartUnknown { .. } => fixed("give --kallsyms of the recorded kernel"),
            Reason::NoVdso | Reason::VdsoDiffers { .. } => {
                fixed("give --symbols DIR with `perf archive` of the recorded machine")
            }
            Reason::ListDamaged { .. } => {
                fixed("see whether the process was still writing it, or the disk was full")
            }
            Reason::NotAFile { .. }
            | Reason::Anonymous
            | Reason::Vsyscall
            | Reason::NoSymbolCovers
            | Reason::Defect => None,
        }
    }
}

fn no_debug_file(build_id: Option<&BuildId>) -> String {
    match build_id {
        Some(id) => format!("no debug file with build-id {id}"),
        None => "no debug file, and no build-id to find one by".to_owned(),
    }
}

/// Whether a file is one in which a runtime writes the names of its code.
pub(crate) fn is_perf_map(path: &Path) -> bool {
    let name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
    name.starts_with("perf-") && name.ends_with(".map")
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::NoFile { path } => write!(f, "no file at {}", path.display()),
            Reason::NoFileNorId { path } => {
                write!(f, "no file at {}, and no build-id was recorded to find it by", path.display())
            }
            Reason::NotAFile { name } => write!(f, "{} is memory without a file", name.display()),
            Reason::Anonymous => f.write_str("memory without a file"),
            Reason::Vsyscall => f.write_str("the page of old system calls has no symbols"),
            Reason::BuildIdDiffers { path, recorded, found: Some(found) } => {
                write!(f, "build-id differs: recorded {recorded}, {} has {found}", path.display())
            }
            Reason::BuildIdDiffers { path, recorded, found: None } => {
                write!(f, "build-id differs: recorded {recorded}, {} has none", path.display())
            }
            Reason::NotReadable { path, error } => write!(f, "cannot read {}: {error}", path.display()),
            Reason::ForeignOwner { path, owner } => {
                write!(f, "{} belongs to user {owner}, who could have put anything in it", path.display())
            }
            Reason::OthersMayWrite { path, mode } => {
                write!(
                    f,
                    "{} may be written by others (mode {mode:04o}), who could have put anything in it",
                    path.display()
                )
            }
            Reason::NotElf { path } => write!(f, "{} is not an ELF file", path.display()),
            Reason::OtherMachine { path } => write!(f, "{} is for another machine", path.display()),
            Reason::LayoutUnknown { path } => {
                write!(f, "only the debug file {} was found, the binary itself is missing", path.display())
            }
            Reason::Stripped { path, build_id } => {
                write!(f, "{} is stripped, {}", path.display(), no_debug_file(build_id.as_ref()))
            }
            Reason::NotExported { path, build_id } => {
                let without = no_debug_file(build_id.as_ref());
                write!(f, "{} is stripped but for what it exports, {without}", path.display())
            }
            Reason::NoSymbolCovers => f.write_str("no symbol covers the address"),
            Reason::NotDownloaded { url, error } => write!(f, "no file, and none from {url}: {error}"),
            Reason::ListDamaged { path, count } => {
                write!(f, "no symbol covers the address; {count} entries of {} are damaged", path.display())
            }
            Reason::KernelDiffers { recorded, running: Some(running) } => {
                write!(f, "recorded on another kernel: build-id {recorded}, the running one has {running}")
            }
            Reason::KernelDiffers { recorded, running: None } => {
                write!(
                    f,
                    "recorded on a kernel with build-id {recorded}, the running one does not tell its own"
                )
            }
            Reason::KernelUnknown => f.write_str("the recording does not tell which kernel it was"),
            Reason::KernelUnproven { doubt } => {
                write!(f, "the recording has no build-id of its kernel; {doubt}")
            }
            Reason::NoKernelList { path } => write!(f, "{} is no list of kernel symbols", path.display()),
            Reason::KernelAddressesHidden => {
                f.write_str("kernel addresses were hidden (kernel.kptr_restrict): all of the list are zero")
            }
            Reason::ReferenceMissing { symbol } => {
                write!(f, "the kernel has no symbol {symbol}, by which its position was recorded")
            }
            Reason::ModuleNotFound { module, .. } => {
                write!(f, "no file of module {module} was found, and it is not loaded here")
            }
            Reason::ModuleUnproven { module } => {
                write!(
                    f,
                    "no file of module {module} was found, and the one that is loaded here may be another"
                )
            }
            Reason::ModuleDiffers { module, recorded, loaded } => {
                write!(
                    f,
                    "no file of module {module} was found: recorded {recorded}, the one loaded here has {loaded}"
                )
            }
            Reason::ModuleNotListed { module } => {
                write!(f, "the list of kernel symbols has none of module {module}")
            }
            Reason::ModuleStartUnknown { module } => {
                write!(f, "the recording does not tell where module {module} was loaded")
            }
            Reason::NoVdso => f.write_str("this system has no vdso image"),
            Reason::VdsoDiffers { recorded, running } => {
                let name = |id: &Option<BuildId>| id.map_or_else(|| "none".to_owned(), |id| id.to_string());
                write!(
                    f,
                    "vdso build-id differs: recorded {}, this system has {}",
                    name(recorded),
                    name(running)
                )
            }
            Reason::Defect => f.write_str("internal error while reading the binary"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remedies() {
        let recorded = BuildId::parse("0123456789abcdef").unwrap();
        let path = || PathBuf::from("/tmp/perf-7.map");
        let differs = Reason::BuildIdDiffers { path: path(), recorded, found: None };
        assert!(differs.remedy().unwrap().contains("build-id 0123456789abcdef"));
        assert!(Reason::NoFile { path: path() }.remedy().unwrap().contains("perf map"));
        assert!(Reason::NoFile { path: "/usr/bin/x".into() }.remedy().unwrap().contains("--symfs"));
        assert_eq!(Reason::NoSymbolCovers.remedy(), None);
    }
}
