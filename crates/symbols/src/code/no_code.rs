//! Why there is no code.

use std::fmt;
use std::fs::File;
use std::io::ErrorKind;
use std::path::PathBuf;

use rustix::process::geteuid;

use crate::reason::{Reason, is_perf_map};

/// The memory of the running kernel.
pub(super) const KCORE: &str = "/proc/kcore";

/// Why the code at an address cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoCode {
    /// The binary was not found, or is not the recorded one.
    Binary(Reason),
    /// Only a separate debug file was found, which has names but no code.
    OnlyDebugFile {
        /// The file.
        path: PathBuf,
    },
    /// There is a file, but no code at the address.
    NotCode {
        /// The file.
        path: PathBuf,
    },
    /// The code is for a machine that there is no disassembler for.
    UnknownMachine {
        /// Its number in ELF headers (`EM_*`).
        machine: u32,
    },
    /// What was recorded of generated code, or of a BPF program, has names, but not the code.
    NotDumped,
    /// Only a list of the symbols of the kernel was found; its code is neither in a file nor to be read from memory.
    OnlyKernelList {
        /// Why the memory of the running kernel was not read.
        memory: KernelMemory,
    },
}

/// Why the memory of the running kernel is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KernelMemory {
    /// The system does not show it.
    Absent,
    /// Another user may read it.
    ForRoot,
    /// It was tried in vain, or is not in the form that is known.
    Refused,
}

impl KernelMemory {
    /// How it is here.
    pub(super) fn here() -> KernelMemory {
        match File::open(KCORE) {
            Err(error) if error.kind() == ErrorKind::NotFound => KernelMemory::Absent,
            Err(error) if error.kind() == ErrorKind::PermissionDenied && !geteuid().is_root() => {
                KernelMemory::ForRoot
            }
            _ => KernelMemory::Refused,
        }
    }
}

impl fmt::Display for NoCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoCode::Binary(reason) => reason.fmt(f),
            NoCode::OnlyDebugFile { path } => {
                write!(
                    f,
                    "only the debug file {} was found, which has no code: the binary itself is missing",
                    path.display()
                )
            }
            NoCode::NotCode { path } => write!(f, "{} has no code at the address", path.display()),
            NoCode::UnknownMachine { machine } => {
                write!(f, "there is no disassembler for machine {machine} (e_machine of ELF)")
            }
            NoCode::NotDumped => f.write_str("the code itself was not recorded, only its name"),
            NoCode::OnlyKernelList { memory } => {
                let why = match memory {
                    KernelMemory::Absent => "this system does not show its memory (there is no /proc/kcore)",
                    KernelMemory::ForRoot => "its memory (/proc/kcore) is for root alone",
                    KernelMemory::Refused => "its memory (/proc/kcore) cannot be read",
                };
                write!(
                    f,
                    "no file with code of the kernel was found, and {why}: there is only its list of symbols"
                )
            }
        }
    }
}

impl std::error::Error for NoCode {}

impl NoCode {
    /// What a user can do about it, as a phrase in plain words; `None` when there is nothing to be done.
    pub fn remedy(&self) -> Option<std::borrow::Cow<'static, str>> {
        const JITDUMP: &str = "let the runtime write a jitdump file (node: --perf-prof; python: -X perf_jit)";
        const FILE: &str = "give --vmlinux, or --symbols DIR with the image or the module";
        match self {
            // A list of symbols is no help here.
            NoCode::Binary(Reason::KernelUnknown | Reason::KernelUnproven { .. }) => {
                Some("give --vmlinux of the recorded kernel, or record with --buildid-mmap".into())
            }
            NoCode::Binary(Reason::ModuleNotFound { recorded: None, .. } | Reason::ModuleUnproven { .. }) => {
                Some("give --symbols DIR with the module's file".into())
            }
            NoCode::Binary(Reason::KernelDiffers { recorded, .. }) => {
                Some(format!("give --symbols DIR with vmlinux of build-id {recorded}").into())
            }
            // A perf map has names alone.
            NoCode::Binary(Reason::NoFile { path }) if is_perf_map(path) => Some(JITDUMP.into()),
            NoCode::Binary(reason) => reason.remedy(),
            NoCode::OnlyDebugFile { .. } => Some("give --symbols DIR with the binary itself".into()),
            NoCode::OnlyKernelList { memory: KernelMemory::ForRoot } => {
                Some(format!("{FILE}, or run as root").into())
            }
            NoCode::OnlyKernelList { .. } => Some(FILE.into()),
            NoCode::NotDumped => Some(JITDUMP.into()),
            NoCode::NotCode { .. } | NoCode::UnknownMachine { .. } => None,
        }
    }
}

impl From<Reason> for NoCode {
    fn from(reason: Reason) -> NoCode {
        NoCode::Binary(reason)
    }
}
