//! Where the code of a subject comes from.

use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::file::CodeFile;
use super::{FunctionCode, NoCode, RecordedCode, kernel};
use crate::find::{DebugLink, Opened, Search};
use crate::image::{Image, has_symbol_table};
use crate::reason::Reason;
use crate::source::{Shared, elf_file, vdso};
use crate::subject::Subject;

/// The opened code of a subject.
pub(crate) type OpenedCode<'f> = Result<CodeSource<'f>, NoCode>;

/// The code of a subject, ready to be asked.
#[derive(Debug)]
pub(crate) enum CodeSource<'f> {
    File(CodeFile<'f>),
    Recorded(RecordedCode),
}

impl<'f> CodeSource<'f> {
    /// Finds the code of a subject, by the rules by which its names are found.
    pub(crate) fn open(shared: &Shared<'f>, subject: &Subject) -> OpenedCode<'f> {
        match subject {
            Subject::File { path, build_id } => {
                if elf_file::is_without_file(path, build_id.as_ref()) {
                    return Err(Reason::NotAFile { name: path.clone() }.into());
                }
                let search = Search { options: &shared.options, path, build_id: *build_id, debug_link: None };
                from_file(shared, search)
            }
            Subject::Vdso { build_id } => {
                let (path, bytes) = vdso::find(shared, *build_id)?;
                let image = parse(shared, Opened { path: path.clone(), bytes })?;
                CodeFile::mapped(path, image, |_| None)
            }
            Subject::Vsyscall => Err(Reason::Vsyscall.into()),
            Subject::Anonymous => Err(Reason::Anonymous.into()),
            Subject::Listed { .. } => return Ok(CodeSource::Recorded(shared.options.recorded_code.clone())),
            // It is kept together with its names.
            Subject::Generated { .. } => Err(NoCode::NotDumped),
            _ => kernel::open(shared, subject).unwrap_or(Err(Reason::Defect.into())),
        }
        .map(CodeSource::File)
    }

    /// The code at an address.
    pub(crate) fn function(&self, address: u64, symbol: Option<Range<u64>>) -> Result<FunctionCode, NoCode> {
        match self {
            CodeSource::File(file) => file.function(address, symbol),
            CodeSource::Recorded(code) => code.function(address),
        }
    }
}

/// Reads the headers of a file, and keeps it.
pub(super) fn parse<'f>(shared: &Shared<'f>, opened: Opened) -> Result<Image<'f>, Reason> {
    let Opened { path, bytes } = opened;
    Image::parse(shared.files.keep(bytes)).ok_or(Reason::NotElf { path })
}

/// The binary, or a debug file that has its code, too.
fn from_file<'f>(shared: &Shared<'f>, search: Search<'_>) -> Result<CodeFile<'f>, NoCode> {
    let opened = search.binary().or_else(|reason| {
        let reason = match reason {
            Reason::NoFile { path } if search.build_id.is_none() => Reason::NoFileNorId { path },
            reason => reason,
        };
        match search.debug_file(|image, _| image.has_layout()) {
            Some(opened) => Ok(opened),
            None => match search.debug_file(|image, _| has_symbol_table(image)) {
                Some(Opened { path, .. }) => Err(NoCode::OnlyDebugFile { path }),
                None => Err(reason.into()),
            },
        }
    })?;
    let path = opened.path.clone();
    let image = parse(shared, opened)?;
    let binary = path.clone();
    CodeFile::mapped(path, image, |image| symbols_of(shared, &search, &binary, image))
}

/// The file with the symbols of a binary that has none.
fn symbols_of<'f>(
    shared: &Shared<'f>,
    search: &Search<'_>,
    binary: &Path,
    image: &Image<'_>,
) -> Option<Image<'f>> {
    if has_symbol_table(image) {
        return None;
    }
    let debug_link = image.debug_link().map(|(name, checksum)| DebugLink {
        name: PathBuf::from(OsStr::from_bytes(name)),
        checksum,
        binary: binary.to_owned(),
    });
    let search = Search { build_id: search.build_id.or_else(|| image.build_id()), debug_link, ..*search };
    parse(shared, search.debug_file(|image, _| has_symbol_table(image))?).ok()
}
