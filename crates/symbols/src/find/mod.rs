//! Where the file of a binary, and its separate debug file, may be.
//!
//! The places are two tables, tried in order; one more place is one more file here and one more line in a table.
//! A file with another build-id than the recorded one is never used.

mod alt_link;
mod build_id_cache;
mod debug_dirs;
mod debug_link;
#[cfg(feature = "debuginfod")]
mod debuginfod;
pub(crate) mod generated;
mod kernel_images;
mod module_files;
mod mount_namespaces;
mod recorded_path;
mod search_dirs;
mod split_files;
mod symbol_files;

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::build_id::BuildId;
use crate::compressed::{self, Compression};
use crate::files::FileBytes;
use crate::image::{Image, has_symbol_table};
use crate::options::Options;
use crate::reason::Reason;
use crate::uses::{Role, UsedFile};

pub(crate) use build_id_cache::kernel_symbol_lists;
#[cfg(feature = "debuginfod")]
pub use debuginfod::Debuginfod;
pub(crate) use module_files::module_name;
pub use mount_namespaces::MountNamespaces;
pub(crate) use split_files::SplitPlaces;
pub use symbol_files::SymbolFiles;

/// Where the file that was mapped may be.
const BINARIES: &[Place] = &[
    recorded_path::PLACE,
    recorded_path::REPLACED,
    build_id_cache::BINARY,
    search_dirs::BINARY,
    symbol_files::PLACE,
    mount_namespaces::BINARY,
    #[cfg(feature = "debuginfod")]
    debuginfod::BINARY,
];

/// Where a separate file with symbols and debug information may be.
const DEBUG_FILES: &[Place] = &[
    debug_link::PLACE,
    // The cache may hold the binary as it was before it was stripped.
    build_id_cache::BINARY,
    build_id_cache::DEBUG_FILE,
    debug_dirs::BESIDE_PATH,
    debug_dirs::BY_BUILD_ID,
    search_dirs::DEBUG_FILE,
    symbol_files::PLACE,
    #[cfg(feature = "debuginfod")]
    debuginfod::DEBUG_FILE,
];

/// Where the file with what several debug files have in common may be.
const SUPPLEMENTS: &[Place] = &[
    alt_link::PLACE,
    debug_dirs::BY_BUILD_ID,
    search_dirs::DEBUG_FILE,
    symbol_files::PLACE,
    #[cfg(feature = "debuginfod")]
    debuginfod::DEBUG_FILE,
];

/// Where an image of the kernel with symbols may be.
const KERNEL_IMAGES: &[Place] = &[
    build_id_cache::BINARY,
    build_id_cache::DEBUG_FILE,
    kernel_images::PLACE,
    debug_dirs::BY_BUILD_ID,
    kernel_images::GIVEN,
    search_dirs::DEBUG_FILE,
    symbol_files::PLACE,
    #[cfg(feature = "debuginfod")]
    debuginfod::DEBUG_FILE,
];

/// Where the file of a kernel module may be.
const MODULES: &[Place] = &[
    module_files::AS_RECORDED,
    module_files::OF_RELEASE,
    build_id_cache::BINARY,
    module_files::GIVEN,
    debug_dirs::BY_BUILD_ID,
    symbol_files::PLACE,
    #[cfg(feature = "debuginfod")]
    debuginfod::BINARY,
];

/// Where a copy of the code may be that the kernel maps into every process.
const VDSO_IMAGES: &[Place] = &[
    build_id_cache::BINARY,
    module_files::VDSO,
    debug_dirs::BY_BUILD_ID,
    search_dirs::DEBUG_FILE,
    symbol_files::PLACE,
    #[cfg(feature = "debuginfod")]
    debuginfod::DEBUG_FILE,
];

/// Largest file after decompression.
const MAX_BYTES: u64 = 1 << 30;

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
    /// The build-id; if none was recorded, that a module is for the recorded release of the kernel.
    IdOrRelease,
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

/// What a file says of another one that belongs to it.
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
        self.first(Role::Binary, BINARIES, |_| true)
    }

    /// The file that a debug file shares with others, if it names one.
    pub(crate) fn supplement(&self, debug_file: &Path, image: &Image<'_>) -> Option<Opened> {
        let (name, build_id) = image.alt_link()?;
        let link = DebugLink { name: name.into(), checksum: 0, binary: debug_file.to_owned() };
        let search = Search { build_id: Some(build_id), debug_link: Some(link), ..*self };
        search.first(Role::Supplement, SUPPLEMENTS, |_| true).ok()
    }

    /// An image of the kernel with symbols.
    pub(crate) fn kernel_image(&self) -> Result<Opened, Reason> {
        self.first(Role::KernelImage, KERNEL_IMAGES, |opened| {
            Image::parse(opened.data()).is_some_and(|image| has_symbol_table(&image))
        })
    }

    /// The file of a kernel module, with symbols.
    pub(crate) fn module(&self) -> Result<Opened, Reason> {
        self.first(Role::Module, MODULES, |opened| {
            Image::parse(opened.data()).is_some_and(|image| has_symbol_table(&image))
        })
    }

    /// A copy of the code that the kernel maps into every process.
    pub(crate) fn vdso(&self) -> Option<Opened> {
        let is_whole = |opened: &Opened| Image::parse(opened.data()).is_some_and(|image| image.has_layout());
        self.first(Role::Vdso, VDSO_IMAGES, is_whole).ok()
    }

    /// The file at this path here, if its build-id is the recorded one.
    pub(crate) fn given(&self, path: &Path) -> Result<Opened, Reason> {
        let nothing = || Reason::NoFile { path: path.to_owned() };
        let opened = self.open(path, Proof::IdIfRecorded).map_err(|reason| reason.unwrap_or_else(nothing))?;
        self.note(Role::KernelImage, &opened);
        Ok(opened)
    }

    /// A file with symbols or debug information that `useful` accepts.
    pub(crate) fn debug_file(&self, useful: impl Fn(&Image<'_>, &[u8]) -> bool) -> Option<Opened> {
        self.first(Role::DebugFile, DEBUG_FILES, |opened| {
            Image::parse(opened.data()).is_some_and(|image| useful(&image, opened.data()))
        })
        .ok()
    }

    fn first(
        &self,
        role: Role,
        places: &[Place],
        useful: impl Fn(&Opened) -> bool,
    ) -> Result<Opened, Reason> {
        let mut reason = Reason::NoFile { path: self.called(&self.here(self.path)) };
        for place in places {
            for path in (place.candidates)(self) {
                match self.open(&path, place.proof) {
                    Ok(opened) if useful(&opened) => {
                        self.note(role, &opened);
                        return Ok(opened);
                    }
                    Ok(_) => {}
                    // The first file that was there but not good says more than that others were not there.
                    Err(found) if matches!(reason, Reason::NoFile { .. }) => reason = found.unwrap_or(reason),
                    Err(_) => {}
                }
            }
        }
        Err(self.failure_of_servers().filter(|_| matches!(reason, Reason::NoFile { .. })).unwrap_or(reason))
    }

    fn note(&self, role: Role, opened: &Opened) {
        self.options.file_loader.note_use(|| UsedFile {
            role,
            recorded: self.path.to_owned(),
            build_id: self.build_id,
            path: opened.path.clone(),
            bytes: Arc::clone(&opened.bytes),
        });
    }

    /// That no server had a file means nothing if one could not be asked.
    #[cfg(feature = "debuginfod")]
    fn failure_of_servers(&self) -> Option<Reason> {
        self.options.debuginfod.as_ref()?.failure(self.build_id.and_then(|id| id.spellings().pop()))
    }

    #[cfg(not(feature = "debuginfod"))]
    fn failure_of_servers(&self) -> Option<Reason> {
        None
    }

    /// Opens a candidate. The error is `None` when there is nothing at the path.
    fn open(&self, path: &Path, proof: Proof) -> Result<Opened, Option<Reason>> {
        let unreadable = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => None,
            // Only that the recorded path is a directory is worth telling.
            _ if proof != Proof::IdIfRecorded && path.is_dir() => None,
            _ => Some(Reason::NotReadable { path: self.called(path), error: error.to_string() }),
        };
        let mut opened = Opened {
            path: self.called(path),
            bytes: self.options.file_loader.load(path).map_err(unreadable)?,
        };
        if let Some(compression) = Compression::of(opened.data()) {
            let bytes = compressed::decompress(opened.data(), compression, MAX_BYTES).map_err(unreadable)?;
            opened.bytes = Arc::new(bytes);
        }
        let image =
            Image::parse(opened.data()).ok_or_else(|| Some(Reason::NotElf { path: self.called(path) }))?;
        let found = image.build_id();
        match (self.build_id, found, proof) {
            (Some(recorded), Some(found), _) if recorded.matches(&found) => Ok(opened),
            (Some(recorded), Some(_), _)
            | (Some(recorded), None, Proof::IdIfRecorded | Proof::SameId | Proof::IdOrRelease) => {
                Err(Some(Reason::BuildIdDiffers { path: self.called(path), recorded, found }))
            }
            (None, _, Proof::IdIfRecorded) => Ok(opened),
            (None, _, Proof::IdOrRelease) if self.is_of_release(&image) => Ok(opened),
            (_, _, Proof::IdOrChecksum) if self.has_checksum(&opened) => Ok(opened),
            (None, _, Proof::SameId | Proof::IdOrRelease) | (_, _, Proof::IdOrChecksum) => Err(None),
        }
    }

    fn has_checksum(&self, opened: &Opened) -> bool {
        self.debug_link.as_ref().is_some_and(|link| debug_link::checksum(opened.data()) == link.checksum)
    }

    /// Whether a module is for the recorded release: its `vermagic` begins with it, which the kernel itself insists on.
    fn is_of_release(&self, image: &Image<'_>) -> bool {
        let release = self.kernel_release();
        release.is_some_and(|release| module_files::release(image) == Some(release.as_bytes()))
    }

    /// The release of the recorded kernel, if it can be part of a path: it comes from the recording.
    fn kernel_release(&self) -> Option<&str> {
        let release = self.options.kernel_release.as_deref()?;
        let mut parts = Path::new(release).components();
        let is_name = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
        is_name.then_some(release)
    }

    /// What a file is called in answers.
    fn called(&self, path: &Path) -> PathBuf {
        self.options.file_loader.called(path)
    }

    /// A path of the recorded machine as a path here.
    fn here(&self, path: &Path) -> PathBuf {
        self.options.here(path)
    }
}
