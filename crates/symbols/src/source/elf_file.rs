//! A binary as a file: found, checked, and put together with its separate debug file.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::files::Files;
use crate::find::{DebugLink, Opened, Search, SplitPlaces};
use crate::reason::Reason;
use crate::source::dwarf::DebugFiles;
use crate::source::image::Image;
use crate::source::naming::{ElfNames, Parts};
use crate::source::{Names, Shared, dwarf, elf, mini_debug_info};
use crate::subject::Subject;

/// Beginnings of names that the kernel gives to memory without a file.
const WITHOUT_FILE: &[&[u8]] =
    &[b"//anon", b"anon_inode:", b"/anon_hugepage", b"/memfd:", b"/SYSV", b"/dev/zero", b"["];

pub(crate) fn open<'f>(
    shared: &Shared<'f>,
    subject: &Subject,
) -> Option<Result<Box<dyn Names + 'f>, Reason>> {
    let Subject::File { path, build_id } = subject else { return None };
    if is_without_file(path) {
        return Some(Err(Reason::NotAFile { name: path.clone() }));
    }
    let search = Search { options: &shared.options, path, build_id: *build_id, debug_link: None };
    let names = match search.binary() {
        Ok(binary) => from_binary(search, Kept::new(binary, shared.files), shared.files),
        Err(reason) => from_debug_file(&search, reason, shared.files),
    };
    Some(names.map(|names| Box::new(names) as Box<dyn Names + 'f>))
}

pub(crate) fn is_without_file(path: &Path) -> bool {
    let name = path.as_os_str().as_bytes();
    name.is_empty() || WITHOUT_FILE.iter().any(|start| name.starts_with(start))
}

/// A file that was found and whose bytes are kept.
pub(super) struct Kept<'f> {
    path: PathBuf,
    pub(super) data: &'f [u8],
}

impl<'f> Kept<'f> {
    pub(super) fn new(opened: Opened, files: &'f Files) -> Kept<'f> {
        Kept { path: opened.path, data: files.keep(opened.bytes) }
    }
}

/// Reads a binary, together with a separate debug file if it needs one.
pub(super) fn from_binary<'f>(
    mut search: Search<'_>,
    binary: Kept<'f>,
    files: &'f Files,
) -> Result<ElfNames<'f>, Reason> {
    let damaged = || Reason::NotElf { path: binary.path.clone() };
    let runtime = Image::parse(binary.data).ok_or_else(damaged)?;
    search.build_id = search.build_id.or_else(|| runtime.build_id());
    search.debug_link = runtime.debug_link().map(|(name, checksum)| DebugLink {
        name: PathBuf::from(OsStr::from_bytes(name)),
        checksum,
        binary: binary.path.clone(),
    });
    let needs = Needs {
        symbols: !elf::has_symbol_table(&runtime),
        debug_info: dwarf::Wanted::by(search.options).is_some() && !dwarf::has_debug_info(binary.data),
    };
    let separate =
        if needs.any() { search.debug_file(|image, data| needs.are_met_by(image, data)) } else { None };
    let separate = separate.map(|opened| Kept::new(opened, files));
    let separate = separate.as_ref().and_then(|kept| Image::parse(kept.data).map(|image| (kept, image)));
    let symbols = match &separate {
        Some((kept, image)) if needs.symbols && elf::has_symbol_table(image) => {
            Some((kept.path.as_path(), image))
        }
        _ => None,
    };
    let embedded =
        if needs.symbols && symbols.is_none() { mini_debug_info::read(&runtime, files) } else { None };
    let debug = match &separate {
        Some((kept, image)) if needs.debug_info => {
            debug_files(&search, (&binary.path, &runtime), kept, image, files)
        }
        _ => debug_files(&search, (&binary.path, &runtime), &binary, &runtime, files),
    };
    let parts = Parts {
        runtime: (binary.path.as_path(), runtime),
        symbols,
        embedded: embedded.as_ref(),
        debug: Some(debug),
    };
    ElfNames::read(parts, files, search.options)
}

/// The files that have debug information, `kept` being the one that has it or names the others.
fn debug_files<'f>(
    search: &Search<'_>,
    (binary, runtime): (&Path, &Image<'_>),
    kept: &Kept<'f>,
    image: &Image<'_>,
    files: &'f Files,
) -> DebugFiles<'f> {
    let is_wanted = dwarf::Wanted::by(search.options).is_some();
    let supplement = if is_wanted { search.supplement(&kept.path, image) } else { None };
    DebugFiles {
        path: kept.path.clone(),
        data: kept.data,
        supplement: supplement.map(|opened| files.keep(opened.bytes)),
        sections_at: image
            .is_relocatable
            .then(|| runtime.sections.iter().map(|section| section.offset).collect()),
        split: SplitPlaces::new(search, &[binary, &kept.path]),
    }
}

/// The binary itself is missing. A debug file will do if it says where the code was in the binary's file.
fn from_debug_file<'f>(
    search: &Search<'_>,
    reason: Reason,
    files: &'f Files,
) -> Result<ElfNames<'f>, Reason> {
    let Some(opened) = search.debug_file(|image, _| elf::has_symbol_table(image)) else { return Err(reason) };
    let kept = Kept::new(opened, files);
    let Some(image) = Image::parse(kept.data) else { return Err(reason) };
    if !image.has_layout() {
        return Err(Reason::LayoutUnknown { path: kept.path });
    }
    let debug = Some(debug_files(search, (&kept.path, &image), &kept, &image, files));
    let parts = Parts { runtime: (kept.path.as_path(), image), symbols: None, embedded: None, debug };
    ElfNames::read(parts, files, search.options)
}

/// What the binary's own file lacks.
#[derive(Clone, Copy, Debug)]
struct Needs {
    symbols: bool,
    debug_info: bool,
}

impl Needs {
    fn any(self) -> bool {
        self.symbols || self.debug_info
    }

    fn are_met_by(self, image: &Image<'_>, data: &[u8]) -> bool {
        (self.symbols && elf::has_symbol_table(image)) || (self.debug_info && dwarf::has_debug_info(data))
    }
}
