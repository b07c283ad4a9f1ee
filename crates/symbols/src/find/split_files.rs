//! Where the files of split debug information may be: beside the binary or where the compiler put them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Search;
use crate::file_loader::FileLoader;
use crate::files::FileBytes;
use crate::uses::{Role, UsedFile};

/// Places for the split debug information of one binary. What is found is accepted by the numbers of its units.
#[derive(Debug)]
pub(crate) struct SplitPlaces {
    /// The binary, its debug file, and the path as recorded.
    beside: Vec<PathBuf>,
    symfs: Option<PathBuf>,
    search_dirs: Vec<PathBuf>,
    /// The path of the binary as recorded.
    recorded: PathBuf,
    loader: FileLoader,
}

impl SplitPlaces {
    pub(crate) fn new(search: &Search<'_>, files: &[&Path]) -> SplitPlaces {
        let mut beside: Vec<PathBuf> = files.iter().map(|path| path.to_path_buf()).collect();
        beside.push(search.here(search.path));
        beside.dedup();
        SplitPlaces {
            beside,
            symfs: search.options.symfs.clone(),
            search_dirs: search.options.search_dirs.clone(),
            recorded: search.path.to_owned(),
            loader: search.options.file_loader.clone(),
        }
    }

    /// Where a file with all units may be: beside each of the files, with `.dwp` behind its name.
    pub(crate) fn packages(&self) -> Vec<PathBuf> {
        let beside = self.beside.iter().map(|path| with_suffix(path));
        let names = self.beside.iter().filter_map(|path| path.file_name());
        let named =
            names.flat_map(|name| self.search_dirs.iter().map(move |dir| with_suffix(&dir.join(name))));
        beside.chain(named).collect()
    }

    /// Where the file of one unit may be. `directory` is where the compiler worked.
    pub(crate) fn units(&self, directory: Option<PathBuf>, path: &Path) -> Vec<PathBuf> {
        let recorded = directory.unwrap_or_default().join(path);
        let here = match &self.symfs {
            Some(root) => root.join(recorded.strip_prefix("/").unwrap_or(&recorded)),
            None => recorded,
        };
        let dirs = self.beside.iter().filter_map(|binary| binary.parent());
        let dirs = dirs.chain(self.search_dirs.iter().map(PathBuf::as_path));
        let name = path.file_name().map(Path::new);
        // The path may begin at the directory of the binary, or the file may have been put there.
        let nearby = dirs.flat_map(|dir| {
            [path.is_relative().then_some(path), name].into_iter().flatten().map(|p| dir.join(p))
        });
        std::iter::once(here).chain(nearby).collect()
    }

    /// Notes that the file with all units was used.
    pub(crate) fn note_package(&self, path: &Path, bytes: &FileBytes) {
        self.note(with_suffix(&self.recorded), path, bytes);
    }

    /// Notes that a file was used, which the compiler put at `recorded`.
    pub(crate) fn note(&self, recorded: PathBuf, path: &Path, bytes: &FileBytes) {
        self.loader.note_use(|| UsedFile {
            role: Role::SplitDebug,
            recorded,
            build_id: None,
            path: path.to_owned(),
            bytes: Arc::clone(bytes),
        });
    }

    /// The bytes of a file; `None` when it cannot be read.
    pub(crate) fn load(&self, path: &Path) -> Option<FileBytes> {
        self.loader.load(path).ok()
    }
}

/// The name of the file with all units of another one.
fn with_suffix(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".dwp");
    PathBuf::from(name)
}
