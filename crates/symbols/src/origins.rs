//! Files that were brought here from another machine: what they are called in answers.

use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

/// Where files come from that lie in some temporary place. Reasons and lists of used files name them by that.
#[derive(Clone, Debug, Default)]
pub struct Origins {
    /// Where the root of the other machine is.
    pub root: PathBuf,
    /// Files, and what they were called there.
    pub files: FxHashMap<PathBuf, PathBuf>,
}

impl Origins {
    /// What a path here is called.
    pub(crate) fn of(&self, path: &Path) -> PathBuf {
        match self.files.get(path) {
            Some(origin) => origin.clone(),
            None => path
                .strip_prefix(&self.root)
                .map_or_else(|_| path.to_owned(), |rest| Path::new("/").join(rest)),
        }
    }
}
