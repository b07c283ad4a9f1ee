//! The path as recorded, below the root that was given.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::{Place, Proof, Search};

pub(super) const PLACE: Place = Place { candidates: as_recorded, proof: Proof::IdIfRecorded };
/// What the kernel calls deleted may have been replaced by the same build, as package managers do.
pub(super) const REPLACED: Place = Place { candidates: replaced, proof: Proof::SameId };

fn as_recorded(search: &Search<'_>) -> Vec<PathBuf> {
    vec![search.here(search.path)]
}

fn replaced(search: &Search<'_>) -> Vec<PathBuf> {
    before_it_was_deleted(search.path).map(|path| search.here(path)).into_iter().collect()
}

/// The name without what the kernel puts behind that of a deleted file.
pub(super) fn before_it_was_deleted(path: &Path) -> Option<&Path> {
    let name = path.as_os_str().as_bytes().strip_suffix(b" (deleted)")?;
    Some(Path::new(OsStr::from_bytes(name)))
}
