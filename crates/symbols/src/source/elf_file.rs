//! A binary as a file: found, checked, and put together with its separate debug file.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::batch::SymbolBatch;
use crate::find::{DebugLink, Opened, Search};
use crate::reason::Reason;
use crate::source::image::Image;
use crate::source::naming::{self, Parts};
use crate::source::{Shared, dwarf, elf};
use crate::subject::{AddressBatch, Subject};

/// Beginnings of names that the kernel gives to memory without a file.
const WITHOUT_FILE: &[&[u8]] =
    &[b"//anon", b"anon_inode:", b"/anon_hugepage", b"/memfd:", b"/SYSV", b"/dev/zero", b"["];

pub(crate) fn answer(shared: &Shared<'_>, batch: &AddressBatch) -> Option<Result<SymbolBatch, Reason>> {
    let Subject::File { path, build_id } = &batch.subject else { return None };
    if is_without_file(path) {
        return Some(Err(Reason::NotAFile { name: path.clone() }));
    }
    let search = Search { options: shared.options, path, build_id: *build_id, debug_link: None };
    Some(match search.binary() {
        Ok(binary) => from_binary(search, &binary, batch),
        Err(reason) => from_debug_file(&search, reason, batch),
    })
}

pub(crate) fn is_without_file(path: &Path) -> bool {
    let name = path.as_os_str().as_bytes();
    name.is_empty() || WITHOUT_FILE.iter().any(|start| name.starts_with(start))
}

fn from_binary(mut search: Search<'_>, binary: &Opened, batch: &AddressBatch) -> Result<SymbolBatch, Reason> {
    let damaged = || Reason::NotElf { path: binary.path.clone() };
    let runtime = Image::parse(binary.data()).ok_or_else(damaged)?;
    search.build_id = search.build_id.or_else(|| runtime.build_id());
    search.debug_link = runtime.debug_link().map(|(name, checksum)| DebugLink {
        name: PathBuf::from(OsStr::from_bytes(name)),
        checksum,
        binary: binary.path.clone(),
    });
    let needs = Needs {
        symbols: !elf::has_symbol_table(&runtime),
        debug_info: search.options.lines && !dwarf::has_debug_info(binary.data()),
    };
    let separate =
        if needs.any() { search.debug_file(|image, data| needs.are_met_by(image, data)) } else { None };
    let separate =
        separate.as_ref().and_then(|opened| Image::parse(opened.data()).map(|image| (opened, image)));
    let own = (binary.path.as_path(), &runtime);
    let symbols = match &separate {
        Some((opened, image)) if needs.symbols && elf::has_symbol_table(image) => {
            (opened.path.as_path(), image)
        }
        _ => own,
    };
    let debug = match &separate {
        Some((opened, _)) if needs.debug_info => Some((opened.path.as_path(), opened.data())),
        _ => Some((binary.path.as_path(), binary.data())),
    };
    naming::name(&Parts { runtime: own, symbols, debug }, search.options, batch)
}

/// The binary itself is missing. A debug file will do if it says where the code was in the binary's file.
fn from_debug_file(search: &Search<'_>, reason: Reason, batch: &AddressBatch) -> Result<SymbolBatch, Reason> {
    let Some(opened) = search.debug_file(|image, _| elf::has_symbol_table(image)) else { return Err(reason) };
    let Some(image) = Image::parse(opened.data()) else { return Err(reason) };
    if !image.has_layout() {
        return Err(Reason::LayoutUnknown { path: opened.path.clone() });
    }
    let own = (opened.path.as_path(), &image);
    let debug = Some((opened.path.as_path(), opened.data()));
    naming::name(&Parts { runtime: own, symbols: own, debug }, search.options, batch)
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
