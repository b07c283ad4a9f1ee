//! Where the file of a binary, and its separate debug file, may be.
//!
//! The places are two tables, tried in order; one more place is one more file here and one more line in a table.
//! A file with another build-id than the recorded one is never used.

mod archive;
mod build_id_cache;
pub(crate) mod compressed;
mod debug_dirs;
mod debug_link;
pub(crate) mod generated;
pub(crate) mod module_files;
mod recorded_path;
mod search_dirs;

use std::io;
use std::path::{Path, PathBuf};

use crate::build_id::BuildId;
use crate::options::{FileBytes, Options};
use crate::reason::Reason;
use crate::source::image::Image;

pub use archive::SymbolArchive;
pub(crate) use build_id_cache::kernel_symbol_lists;

/// Where the file that was mapped may be.
const BINARIES: &[Place] =
    &[recorded_path::PLACE, recorded_path::REPLACED, build_id_cache::BINARY, search_dirs::BINARY];

/// Where a separate file with symbols and debug information may be.
const DEBUG_FILES: &[Place] = &[
    debug_link::PLACE,
    build_id_cache::DEBUG_FILE,
    debug_dirs::BESIDE_PATH,
    debug_dirs::BY_BUILD_ID,
    search_dirs::DEBUG_FILE,
];

/// A rule for where a file may be.
pub(crate) struct Place {
    /// Paths to try, best first.
    candidates: fn(&Search<'_>) -> Vec<PathBuf>,
    /// What makes a file there the right one.
    proof: Proof,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Proof {
    /// The build-id, if one was recorded; otherwise that it is there.
    IdIfRecorded,
    /// The build-id.
    SameId,
    /// The build-id, or the checksum in the debug link of a binary that has no build-id.
    IdOrChecksum,
}

/// What is looked for.
#[derive(Debug)]
pub(crate) struct Search<'a> {
    pub(crate) options: &'a Options,
    /// The path as recorded.
    pub(crate) path: &'a Path,
    /// The build-id as recorded, or when looking for a debug file that of the binary.
    pub(crate) build_id: Option<BuildId>,
    /// Name and checksum of the debug file, and the directory that the binary was found in.
    pub(crate) debug_link: Option<DebugLink>,
}

/// What a binary says of its separate debug file.
#[derive(Clone, Debug)]
pub(crate) struct DebugLink {
    pub(crate) name: PathBuf,
    pub(crate) checksum: u32,
    pub(crate) binary: PathBuf,
}

/// A file that was found.
#[derive(Clone)]
pub(crate) struct Opened {
    pub(crate) path: PathBuf,
    pub(crate) bytes: FileBytes,
}

impl Opened {
    pub(crate) fn data(&self) -> &[u8] {
        (*self.bytes).as_ref()
    }
}

impl Search<'_> {
    /// The file that was mapped.
    pub(crate) fn binary(&self) -> Result<Opened, Reason> {
        self.first(BINARIES, |_| true)
    }

    /// A file with symbols or debug information that `useful` accepts.
    pub(crate) fn debug_file(&self, useful: impl Fn(&Image<'_>, &[u8]) -> bool) -> Option<Opened> {
        self.first(DEBUG_FILES, |opened| {
            Image::parse(opened.data()).is_some_and(|image| useful(&image, opened.data()))
        })
        .ok()
    }

    fn first(&self, places: &[Place], useful: impl Fn(&Opened) -> bool) -> Result<Opened, Reason> {
        let mut reason = Reason::NoFile { path: self.path.to_owned() };
        for place in places {
            for path in (place.candidates)(self) {
                match self.open(&path, place.proof) {
                    Ok(opened) if useful(&opened) => return Ok(opened),
                    Ok(_) => {}
                    // The first file that was there but not good says more than that others were not there.
                    Err(found) if matches!(reason, Reason::NoFile { .. }) => reason = found.unwrap_or(reason),
                    Err(_) => {}
                }
            }
        }
        Err(reason)
    }

    /// Opens a candidate. The error is `None` when there is nothing at the path.
    fn open(&self, path: &Path, proof: Proof) -> Result<Opened, Option<Reason>> {
        let bytes = self.options.file_loader.load(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => None,
            _ => Some(Reason::NotReadable { path: path.to_owned(), error: error.to_string() }),
        })?;
        let opened = Opened { path: path.to_owned(), bytes };
        let image =
            Image::parse(opened.data()).ok_or_else(|| Some(Reason::NotElf { path: path.to_owned() }))?;
        let found = image.build_id();
        match (self.build_id, found, proof) {
            (Some(recorded), Some(found), _) if recorded.matches(&found) => Ok(opened),
            (Some(recorded), Some(_), _) | (Some(recorded), None, Proof::IdIfRecorded | Proof::SameId) => {
                Err(Some(Reason::BuildIdDiffers { path: path.to_owned(), recorded, found }))
            }
            (None, _, Proof::IdIfRecorded) => Ok(opened),
            (_, _, Proof::IdOrChecksum) if self.has_checksum(&opened) => Ok(opened),
            (None, _, Proof::SameId) | (_, _, Proof::IdOrChecksum) => Err(None),
        }
    }

    fn has_checksum(&self, opened: &Opened) -> bool {
        self.debug_link.as_ref().is_some_and(|link| debug_link::checksum(opened.data()) == link.checksum)
    }

    /// A path of the recorded machine as a path here.
    fn here(&self, path: &Path) -> PathBuf {
        match &self.options.symfs {
            Some(root) => root.join(path.strip_prefix("/").unwrap_or(path)),
            None => path.to_owned(),
        }
    }
}
