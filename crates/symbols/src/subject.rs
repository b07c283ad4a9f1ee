//! What is asked: a binary, and addresses in it.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

use crate::build_id::BuildId;
use crate::symbol_list::SymbolList;

/// Which binary a batch of addresses belongs to. It also fixes what the addresses are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// An ELF file mapped by a process. Addresses are file offsets: `ip - mapping start + mapping pgoff`.
    File {
        /// The path as recorded.
        path: PathBuf,
        /// The recorded build-id; a file with another one is never used.
        build_id: Option<BuildId>,
    },
    /// The kernel proper. Addresses are absolute, as they were when recording.
    Kernel {
        /// The recorded build-id of the kernel.
        build_id: Option<BuildId>,
        /// A symbol and the address it had when recording: tells how far the kernel has been moved since then
        /// (address space randomisation at boot).
        reference: Option<(String, u64)>,
    },
    /// A kernel module. Addresses are absolute, as they were when recording.
    KernelModule {
        /// Path of its file (`/lib/modules/…/x.ko`) or name, with or without brackets (`[x]`).
        name: PathBuf,
        /// The recorded build-id of the module.
        build_id: Option<BuildId>,
        /// Where the module was loaded when recording, if known: a module is loaded elsewhere after a reboot.
        start: Option<u64>,
    },
    /// The kernel of a virtual machine. Addresses are absolute, as they were in the guest.
    GuestKernel {
        /// The process that runs the guest, if it is known.
        pid: Option<u32>,
        /// As for [`Subject::Kernel`].
        build_id: Option<BuildId>,
        /// As for [`Subject::Kernel`].
        reference: Option<(String, u64)>,
    },
    /// A module of the kernel of a virtual machine. Addresses are absolute, as they were in the guest.
    GuestModule {
        /// The process that runs the guest, if it is known.
        pid: Option<u32>,
        /// As for [`Subject::KernelModule`].
        name: PathBuf,
        /// As for [`Subject::KernelModule`].
        build_id: Option<BuildId>,
        /// As for [`Subject::KernelModule`].
        start: Option<u64>,
    },
    /// The code that the kernel maps into every process. Addresses are offsets in that image.
    Vdso {
        /// The recorded build-id of the image.
        build_id: Option<BuildId>,
    },
    /// Code that a process generated while it ran. Addresses are those of the process.
    Generated {
        /// The process, as the recording numbers it.
        pid: u32,
        /// The number that the process itself sees, if it is known to be another: that is the one in names of files.
        inner_pid: Option<u32>,
        /// The jitdump file that the process mapped, as recorded: see [`JitDump::pid_in_name`](crate::JitDump).
        dump: Option<PathBuf>,
        /// Which of the pieces of code that were at an address after each other: that of
        /// [`JitDump::changes`](crate::JitDump::changes), or 0 for the one that is there in the end.
        generation: u32,
    },
    /// The page of old system calls, which the kernel maps into every process.
    Vsyscall,
    /// Memory that no file backs, and of whose code nobody tells.
    Anonymous,
    /// Code whose symbols the caller knows. Addresses are whatever those of the list are.
    Listed {
        /// The symbols.
        symbols: SymbolList,
    },
}

impl Subject {
    /// The subject by which its names are opened: all code that a process generated comes out of the same files.
    pub(crate) fn opened_as(&self) -> Cow<'_, Subject> {
        match self {
            Subject::Generated { pid, inner_pid, dump, generation: 1.. } => Cow::Owned(Subject::Generated {
                pid: *pid,
                inner_pid: *inner_pid,
                dump: dump.clone(),
                generation: 0,
            }),
            _ => Cow::Borrowed(self),
        }
    }

    /// The recorded build-id, if there is one.
    pub fn build_id(&self) -> Option<&BuildId> {
        match self {
            Subject::File { build_id, .. }
            | Subject::Kernel { build_id, .. }
            | Subject::KernelModule { build_id, .. }
            | Subject::GuestKernel { build_id, .. }
            | Subject::GuestModule { build_id, .. }
            | Subject::Vdso { build_id } => build_id.as_ref(),
            Subject::Generated { .. } | Subject::Vsyscall | Subject::Anonymous | Subject::Listed { .. } => {
                None
            }
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::File { path, .. } => write!(f, "{}", path.display()),
            Subject::Kernel { .. } => f.write_str("the kernel"),
            Subject::KernelModule { name, .. } => write!(f, "kernel module {}", name.display()),
            Subject::GuestKernel { .. } => f.write_str("the kernel of a guest"),
            Subject::GuestModule { name, .. } => write!(f, "kernel module {} of a guest", name.display()),
            Subject::Vdso { .. } => f.write_str("[vdso]"),
            Subject::Generated { pid, .. } => write!(f, "generated code of process {pid}"),
            Subject::Vsyscall => f.write_str("[vsyscall]"),
            Subject::Anonymous => f.write_str("memory without a file"),
            Subject::Listed { symbols } => write!(f, "{}", symbols.origin().display()),
        }
    }
}

/// The addresses of one binary whose names are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressBatch {
    /// The binary.
    pub subject: Subject,
    /// Its addresses, in the address space that the subject names; sorted and unique.
    pub addresses: Vec<u64>,
}

impl AddressBatch {
    /// Makes a batch; sorts the addresses and drops the repeated ones.
    pub fn new(subject: Subject, mut addresses: Vec<u64>) -> AddressBatch {
        addresses.sort_unstable();
        addresses.dedup();
        AddressBatch { subject, addresses }
    }
}
