//! Directories that the user names: binaries by the last part of their name, debug files by build-id.

use std::path::{Path, PathBuf};

use super::recorded_path;
use super::{Place, Proof, Search};

pub(super) const BINARY: Place = Place { candidates: by_name, proof: Proof::SameId };
pub(super) const DEBUG_FILE: Place = Place { candidates: debug_files, proof: Proof::SameId };

fn by_name(search: &Search<'_>) -> Vec<PathBuf> {
    let Some(name) = search.path.file_name() else { return Vec::new() };
    let before = recorded_path::before_it_was_deleted(Path::new(name));
    let names = || std::iter::once(Path::new(name)).chain(before);
    search.options.search_dirs.iter().flat_map(|dir| names().map(|name| dir.join(name))).collect()
}

fn debug_files(search: &Search<'_>) -> Vec<PathBuf> {
    let dirs = &search.options.search_dirs;
    let mut all: Vec<PathBuf> =
        dirs.iter().flat_map(|dir| super::debug_dirs::by_build_id(dir, search)).collect();
    if let Some(name) = search.path.file_name() {
        let mut with_suffix = name.to_owned();
        with_suffix.push(".debug");
        all.extend(dirs.iter().map(|dir| dir.join(&with_suffix)));
    }
    all.extend(by_name(search));
    all
}
