//! Where the corpus of real recordings lies: the one place that says so. A module of every test that needs it, by its path.

use std::path::{Path, PathBuf};

/// `$READPERF_CORPUS`, else `../shared/corpus` beside the repository. It need not exist.
pub(crate) fn corpus_root() -> PathBuf {
    std::env::var_os("READPERF_CORPUS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus"), PathBuf::from)
}
