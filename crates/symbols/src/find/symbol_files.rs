//! Files that the user named, and those below directories that the user named, by their build-id, whatever they are called.
//!
//! Directories are gone through when a file is wanted that was found nowhere else, and only once. How far is bounded: somebody
//! may name the root of a file system.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use walkdir::WalkDir;

use super::compressed::{Compression, decompress};
use super::{MAX_BYTES, Place, Proof, Search};
use crate::build_id::BuildId;
use crate::file_loader::FileLoader;
use crate::image::Image;

pub(super) const PLACE: Place = Place { candidates: by_build_id, proof: Proof::SameId };

/// Directories within directories that are looked into.
const MOST_DEEP: usize = 16;
/// Entries of directories that are looked at.
const MOST_ENTRIES: usize = 200_000;
/// Binaries whose build-id is read.
const MOST_BINARIES: usize = 50_000;

/// The first bytes of an ELF file.
const MAGIC: [u8; 4] = *b"\x7fELF";

/// Binaries and debug files to be found by their build-id.
#[derive(Clone, Default)]
pub struct SymbolFiles {
    directories: Vec<PathBuf>,
    files: Vec<(BuildId, PathBuf)>,
    /// What is in the directories, once somebody wanted to know.
    found: Arc<OnceLock<Found>>,
}

/// The binaries below some directories.
#[derive(Debug, Default)]
struct Found {
    files: Vec<(BuildId, PathBuf)>,
    is_cut: bool,
}

impl SymbolFiles {
    /// Nothing but what is below these directories.
    pub fn below(directories: Vec<PathBuf>) -> SymbolFiles {
        SymbolFiles { directories, ..SymbolFiles::default() }
    }

    /// Adds a file. `false` if it is no ELF file, compressed or not.
    ///
    /// # Errors
    /// When it cannot be read, or is an ELF file that nothing tells what it belongs to: it has no build-id.
    pub fn add(&mut self, path: &Path) -> io::Result<bool> {
        if !std::fs::metadata(path)?.is_file() || !begins_as_elf(path)? {
            return Ok(false);
        }
        let bytes = std::fs::read(path)?;
        let bytes = match Compression::of(&bytes) {
            Some(compression) => decompress(&bytes, compression, MAX_BYTES)?,
            None => bytes,
        };
        let image = Image::parse(&bytes).ok_or_else(|| io::Error::other("a damaged ELF file"))?;
        let no_id =
            || io::Error::other("an ELF file without a build-id: nothing tells which binary it belongs to");
        self.files.push((image.build_id().ok_or_else(no_id)?, path.to_owned()));
        Ok(true)
    }

    /// Says that not all directories were gone through, if so.
    pub fn told(&self) -> Option<String> {
        self.found.get().filter(|found| found.is_cut).map(|_| {
            format!(
                "--symbols: of very large directories only {MOST_BINARIES} binaries among {MOST_ENTRIES} entries, \
                 {MOST_DEEP} directories deep, were looked at for their build-id"
            )
        })
    }

    fn with_id(&self, wanted: &BuildId, loader: &FileLoader) -> Vec<PathBuf> {
        let found = self.found.get_or_init(|| Found::below(&self.directories, loader));
        let all = self.files.iter().chain(&found.files);
        all.filter(|(id, _)| id.matches(wanted)).map(|(_, path)| path.clone()).collect()
    }
}

impl fmt::Debug for SymbolFiles {
    /// Without what was found: it depends on nothing but the rest.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SymbolFiles")
            .field("directories", &self.directories)
            .field("files", &self.files)
            .finish_non_exhaustive()
    }
}

impl Found {
    fn below(directories: &[PathBuf], loader: &FileLoader) -> Found {
        let mut found = Found::default();
        let loader = loader.untraced();
        let mut left = MOST_ENTRIES;
        // In the order of the names: the first of several files counts.
        let walk = |dir| WalkDir::new(dir).max_depth(MOST_DEEP).sort_by_file_name().into_iter();
        for entry in directories.iter().flat_map(walk).filter_map(Result::ok) {
            found.is_cut |= entry.file_type().is_dir() && entry.depth() == MOST_DEEP;
            if left == 0 || found.files.len() >= MOST_BINARIES {
                found.is_cut = true;
                break;
            }
            left -= 1;
            let path = entry.path();
            if entry.file_type().is_dir() || !is_plain_elf(path, &loader) {
                continue;
            }
            let id = loader.load(path).ok().and_then(|bytes| Image::parse((*bytes).as_ref())?.build_id());
            found.files.extend(id.map(|id| (id, path.to_owned())));
        }
        found
    }
}

/// Only a regular file is opened: to open a pipe may wait for ever.
fn is_plain_elf(path: &Path, loader: &FileLoader) -> bool {
    let mut start = [0; MAGIC.len()];
    std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
        && File::open(path)
            .inspect_err(|error| loader.note_failure(path, error))
            .is_ok_and(|mut file| file.read_exact(&mut start).is_ok())
        && start == MAGIC
}

fn begins_as_elf(path: &Path) -> io::Result<bool> {
    let mut file = File::open(path)?;
    let mut start = Vec::new();
    file.by_ref().take(8).read_to_end(&mut start)?;
    let Some(compression) = Compression::of(&start) else { return Ok(start.starts_with(&MAGIC)) };
    let mut inner = Vec::new();
    let reader = compression.reader(io::Cursor::new(start).chain(file));
    let is_read = reader.and_then(|reader| reader.take(4).read_to_end(&mut inner)).is_ok();
    Ok(is_read && inner == MAGIC)
}

fn by_build_id(search: &Search<'_>) -> Vec<PathBuf> {
    let files = &search.options.symbol_files;
    let Some(wanted) = search.build_id.filter(|_| !files.directories.is_empty() || !files.files.is_empty())
    else {
        return Vec::new();
    };
    let loader = &search.options.file_loader;
    let found = files.with_id(&wanted, loader);
    if found.is_empty() {
        // The next run may find a new file, under any name.
        loader.note_other_source();
    }
    found
}
