//! A binary as a file: found, checked, and put together with its separate debug file.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::build_id::BuildId;
use crate::files::Files;
use crate::find::{DebugLink, Opened, Search, SplitPlaces};
use crate::image::{Image, has_symbol_table};
use crate::reason::Reason;
use crate::source::dwarf::DebugFiles;
use crate::source::naming::{ElfNames, Parts};
use crate::source::{Names, Shared, dwarf, mini_debug_info};
use crate::subject::Subject;

/// Beginnings of names that the kernel gives to memory without a file.
const WITHOUT_FILE: &[&[u8]] =
    &[b"//anon", b"anon_inode:", b"/anon_hugepage", b"/memfd:", b"/SYSV", b"/dev/zero", b"["];

pub(crate) fn open<'f>(
    shared: &Shared<'f>,
    subject: &Subject,
) -> Option<Result<Box<dyn Names + 'f>, Reason>> {
    let Subject::File { path, build_id } = subject else { return None };
    if is_without_file(path, build_id.as_ref()) {
        return Some(Err(Reason::NotAFile { name: path.clone() }));
    }
    let search = Search { options: &shared.options, path, build_id: *build_id, debug_link: None };
    let names = match search.binary() {
        Ok(binary) => from_binary(search, Kept::new(binary, shared.files), shared.files),
        Err(Reason::NoFile { path }) if build_id.is_none() => Err(Reason::NoFileNorId { path }),
        Err(reason) => from_debug_file(&search, reason, shared.files),
    };
    Some(names.map(|names| Box::new(names) as Box<dyn Names + 'f>))
}

/// What has a build-id was a file, though perhaps one in memory (`memfd_create(2)`), and may be found by it.
pub(crate) fn is_without_file(path: &Path, build_id: Option<&BuildId>) -> bool {
    let name = path.as_os_str().as_bytes();
    name.is_empty() || build_id.is_none() && WITHOUT_FILE.iter().any(|start| name.starts_with(start))
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
    let separate = Separate::find(&search, &runtime, binary.data, files);
    let symbols = separate.symbols.as_ref().and_then(|kept| Some((kept, Image::parse(kept.data)?)));
    let embedded = match has_symbol_table(&runtime) || symbols.is_some() {
        true => None,
        false => mini_debug_info::read(&runtime, files),
    };
    let in_binary = (binary.path.as_path(), &runtime);
    let debug = match separate.debug_info().and_then(|kept| Some((kept, Image::parse(kept.data)?))) {
        Some((kept, image)) => debug_files(&search, in_binary, kept, &image, files),
        None => debug_files(&search, in_binary, &binary, &runtime, files),
    };
    let symbols = symbols.as_ref().map(|(kept, image)| (kept.path.as_path(), image));
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
    let Some(opened) = search.debug_file(|image, _| has_symbol_table(image)) else { return Err(reason) };
    let kept = Kept::new(opened, files);
    let Some(image) = Image::parse(kept.data) else { return Err(reason) };
    if !image.has_layout() {
        return Err(Reason::LayoutUnknown { path: kept.path });
    }
    let debug = Some(debug_files(search, (&kept.path, &image), &kept, &image, files));
    let parts = Parts { runtime: (kept.path.as_path(), image), symbols: None, embedded: None, debug };
    ElfNames::read(parts, files, search.options)
}

/// Files that have what the binary's own lacks.
#[derive(Default)]
struct Separate<'f> {
    symbols: Option<Kept<'f>>,
    debug_info: Option<DebugInfo<'f>>,
}

enum DebugInfo<'f> {
    /// In the file that has the symbols, too, as usual.
    BesideSymbols,
    In(Kept<'f>),
}

impl<'f> Separate<'f> {
    fn find(search: &Search<'_>, runtime: &Image<'_>, binary: &[u8], files: &'f Files) -> Separate<'f> {
        let mut found = Separate::default();
        if !has_symbol_table(runtime) {
            let opened = search.debug_file(|image, _| has_symbol_table(image));
            found.symbols = opened.map(|opened| Kept::new(opened, files));
        }
        let wants_debug_info = search.options.reads_debug_info();
        if wants_debug_info && !dwarf::has_debug_info(binary) {
            found.debug_info = match &found.symbols {
                Some(kept) if dwarf::has_debug_info(kept.data) => Some(DebugInfo::BesideSymbols),
                _ => {
                    let opened = search.debug_file(|_, data| dwarf::has_debug_info(data));
                    opened.map(|opened| DebugInfo::In(Kept::new(opened, files)))
                }
            };
        }
        found
    }

    fn debug_info(&self) -> Option<&Kept<'f>> {
        match self.debug_info.as_ref()? {
            DebugInfo::BesideSymbols => self.symbols.as_ref(),
            DebugInfo::In(kept) => Some(kept),
        }
    }
}
