//! Recordings beside the repository.

#[path = "../../../../tests/corpus_root.rs"]
mod corpus_root;

use std::path::{Path, PathBuf};

pub(crate) use corpus_root::corpus_root as root;

/// The fixtures of the repository.
pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures")
}

/// All files below a folder that begin like a recording, by name.
pub(crate) fn recordings(root: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if begins_like_a_recording(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn begins_like_a_recording(path: &Path) -> bool {
    use std::io::Read;
    let mut magic = [0; 8];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok()
        && [b"PERFILE2", b"2ELIFREP", b"PERFFILE", b"ELIFFREP"].contains(&&magic)
}

/// The corpus, or a loud word that it is not there.
pub(crate) fn corpus_or_skip(test: &str) -> Option<PathBuf> {
    let root = root();
    if root.is_dir() {
        return Some(root);
    }
    eprintln!("SKIPPED {test}: no corpus at {}; set READPERF_CORPUS", root.display());
    None
}
