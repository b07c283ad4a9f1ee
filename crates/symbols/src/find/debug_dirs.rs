//! The trees of separate debug files that distributions install, by path and by build-id.

use std::path::{Path, PathBuf};

use super::{Place, Proof, Search};

pub(super) const BESIDE_PATH: Place = Place { candidates: by_path, proof: Proof::SameId };
pub(super) const BY_BUILD_ID: Place = Place { candidates: all_by_build_id, proof: Proof::SameId };

fn by_path(search: &Search<'_>) -> Vec<PathBuf> {
    let below = search.path.strip_prefix("/").unwrap_or(search.path);
    let mut with_suffix = below.as_os_str().to_owned();
    with_suffix.push(".debug");
    let roots = search.options.debug_dirs.iter().map(|dir| search.here(dir));
    roots.flat_map(|root| [root.join(&with_suffix), root.join(below)]).collect()
}

fn all_by_build_id(search: &Search<'_>) -> Vec<PathBuf> {
    search.options.debug_dirs.iter().flat_map(|dir| by_build_id(&search.here(dir), search)).collect()
}

/// `ROOT/.build-id/xx/yyyy.debug`
pub(super) fn by_build_id(root: &Path, search: &Search<'_>) -> Vec<PathBuf> {
    let ids = search.build_id.iter().flat_map(|id| id.spellings());
    ids.map(|id| {
        let (dir, file) = id.directory_and_file();
        root.join(".build-id").join(dir).join(format!("{file}.debug"))
    })
    .collect()
}
