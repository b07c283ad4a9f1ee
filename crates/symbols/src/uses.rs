//! Which files names, lines and frames came from: what somebody needs who wants the same answers elsewhere.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crate::build_id::BuildId;
use crate::files::FileBytes;

/// What a file was used as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Role {
    /// The file that was mapped.
    Binary,
    /// A separate file with symbols or debug information.
    DebugFile,
    /// What several debug files have in common.
    Supplement,
    /// Debug information that the compiler put into a file of its own (`.dwo`, `.dwp`).
    SplitDebug,
    /// An image of the kernel with symbols.
    KernelImage,
    /// The file of a kernel module.
    Module,
    /// The code that the kernel maps into every process.
    Vdso,
    /// A list of kernel symbols.
    KernelList,
    /// The list that a process wrote of the code it generated.
    PerfMap,
    /// The dump that a process wrote of the code it generated.
    JitDump,
}

/// A file that was used.
#[derive(Clone)]
pub struct UsedFile {
    /// What for.
    pub role: Role,
    /// The path by which it was looked for: that of the recorded machine.
    pub recorded: PathBuf,
    /// The build-id by which it was looked for. Without one nothing but its path says that it is the right file.
    pub build_id: Option<BuildId>,
    /// Where it was found.
    pub path: PathBuf,
    /// What is in it, decompressed.
    pub bytes: FileBytes,
}

impl std::fmt::Debug for UsedFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("UsedFile");
        shown.field("role", &self.role).field("recorded", &self.recorded).field("build_id", &self.build_id);
        shown.field("path", &self.path).finish_non_exhaustive()
    }
}

/// The files that were used so far, each once for each role.
#[derive(Debug, Default)]
pub(crate) struct Uses(Mutex<Vec<UsedFile>>);

impl Uses {
    pub(crate) fn add(&self, used: UsedFile) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |other: &UsedFile| {
            other.role == used.role
                && other.recorded == used.recorded
                && other.path == used.path
                && other.build_id == used.build_id
        };
        if !all.iter().any(is_same) {
            all.push(used);
        }
    }

    /// In an order that does not depend on threads.
    pub(crate) fn all(&self) -> Vec<UsedFile> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let order = |used: &UsedFile| (used.role, used.recorded.clone(), used.build_id, used.path.clone());
        all.sort_by_cached_key(order);
        all
    }
}
