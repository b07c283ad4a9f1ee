//! Why there is no code.

use std::fmt;
use std::path::PathBuf;

use crate::reason::Reason;

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
    OnlyKernelList,
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
            NoCode::OnlyKernelList => f.write_str(
                "no image of the kernel was found, and its memory (/proc/kcore) cannot be read: there is only its list of symbols",
            ),
        }
    }
}

impl std::error::Error for NoCode {}

impl NoCode {
    /// What a user can do about it, as a phrase in plain words; `None` when there is nothing to be done.
    pub fn remedy(&self) -> Option<std::borrow::Cow<'static, str>> {
        match self {
            NoCode::Binary(reason) => reason.remedy(),
            NoCode::OnlyDebugFile { .. } => Some("give --symbols DIR with the binary itself".into()),
            NoCode::OnlyKernelList => {
                Some("give --vmlinux or --symbols DIR with the kernel's image, or run as root".into())
            }
            NoCode::NotDumped => Some("let the runtime write a jitdump file".into()),
            NoCode::NotCode { .. } | NoCode::UnknownMachine { .. } => None,
        }
    }
}

impl From<Reason> for NoCode {
    fn from(reason: Reason) -> NoCode {
        NoCode::Binary(reason)
    }
}
