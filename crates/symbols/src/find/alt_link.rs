//! The file with what several debug files have in common (made by `dwz -m`), which they name in `.gnu_debugaltlink`.

use std::path::{Path, PathBuf};

use super::{Place, Proof, Search};

pub(super) const PLACE: Place = Place { candidates, proof: Proof::SameId };

/// The name is a path, from the directory of the debug file or from the root. What is there counts only if it has the
/// build-id that the link states.
fn candidates(search: &Search<'_>) -> Vec<PathBuf> {
    let Some(link) = &search.debug_link else { return Vec::new() };
    if link.name.is_absolute() {
        return vec![search.here(&link.name), link.name.clone()];
    }
    let beside = link.binary.parent().unwrap_or(Path::new("."));
    vec![beside.join(&link.name)]
}
