//! The debug sections of a file, decompressed.

use std::borrow::Cow;
use std::sync::Arc;

use gimli::{EndianSlice, RunTimeEndian, SectionId};
use object::{CompressionFormat, Object, ObjectSection};
use rayon::prelude::*;

use super::{Dwarf, Slice, relocated};
use crate::files::Files;

/// Largest section after decompression. The size comes from the file.
const MAX_SECTION_BYTES: u64 = 8 << 30;

/// How much a section may grow when decompressed. zlib cannot do better; zstd can, but not on debug information.
const MAX_RATIO: u64 = 1040;

/// The sections that tell of functions. Not, for instance, the places of variables, which are large. Without `.debug_aranges`
/// the ranges of a unit are those that it states itself, which are checked.
const OF_FUNCTIONS: [SectionId; 8] = [
    SectionId::DebugInfo,
    SectionId::DebugStr,
    SectionId::DebugAbbrev,
    SectionId::DebugRngLists,
    SectionId::DebugRanges,
    SectionId::DebugAddr,
    SectionId::DebugLineStr,
    SectionId::DebugStrOffsets,
];

/// Reads the sections; `None` when the file has no `.debug_info`. Those of a file that was not linked get the addresses that
/// `sections_at` has for its other sections. Line tables are expanded only if they are wanted: see [`lines`].
pub(super) fn read<'f>(
    data: &'f [u8],
    files: &'f Files,
    sections_at: Option<&[u64]>,
    with_lines: bool,
) -> Option<Dwarf<'f>> {
    let sections = load_placed(data, files, &OF_FUNCTIONS, |id| Some(id.name()), sections_at)?;
    let mut dwarf = gimli::Dwarf::load(|id| Ok::<_, gimli::Error>(sections.get(id))).ok()?;
    if with_lines {
        dwarf.debug_line = lines(data, files, sections_at);
    }
    Some(dwarf)
}

/// The line tables of a file that has debug information; empty if it has none.
pub(super) fn lines<'f>(
    data: &'f [u8],
    files: &'f Files,
    sections_at: Option<&[u64]>,
) -> gimli::DebugLine<Slice<'f>> {
    let sections = load_placed(data, files, &[SectionId::DebugLine], |id| Some(id.name()), sections_at);
    sections.map_or_else(
        || EndianSlice::new(&[][..], RunTimeEndian::Little).into(),
        |sections| sections.get(SectionId::DebugLine).into(),
    )
}

/// Some sections of a file.
pub(super) struct Sections<'f> {
    endian: RunTimeEndian,
    loaded: Vec<(SectionId, &'f [u8])>,
}

impl<'f> Sections<'f> {
    /// The bytes of a section; none if the file does not have it or it was not wanted.
    pub(super) fn get(&self, id: SectionId) -> Slice<'f> {
        let bytes = self.loaded.iter().find(|(loaded, _)| *loaded == id).map_or(&[][..], |(_, bytes)| bytes);
        EndianSlice::new(bytes, self.endian)
    }
}

/// Reads the sections of a list, by the names that they have in this kind of file; `None` when it has no debug
/// information.
pub(super) fn load<'f>(
    data: &'f [u8],
    files: &'f Files,
    wanted: &[SectionId],
    name: impl Fn(SectionId) -> Option<&'static str> + Sync,
) -> Option<Sections<'f>> {
    load_placed(data, files, wanted, name, None)
}

fn load_placed<'f>(
    data: &'f [u8],
    files: &'f Files,
    wanted: &[SectionId],
    name: impl Fn(SectionId) -> Option<&'static str> + Sync,
    sections_at: Option<&[u64]>,
) -> Option<Sections<'f>> {
    let file = object::File::parse(data).ok()?;
    let endian = if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    file.section_by_name(name(SectionId::DebugInfo)?)?;
    // Decompression takes longer than anything else for a binary with few addresses.
    let loaded = wanted
        .par_iter()
        .filter_map(|id| {
            let section = file.section_by_name(name(*id)?)?;
            let mut bytes = section_bytes(&section)?;
            if let Some(sections_at) = sections_at {
                bytes = relocated::apply(&file, &section, bytes, sections_at)?;
            }
            let bytes = match bytes {
                Cow::Borrowed(bytes) => bytes,
                Cow::Owned(bytes) => files.keep(Arc::new(bytes)),
            };
            Some((*id, bytes))
        })
        .collect();
    Some(Sections { endian, loaded })
}

/// Whether a file has DWARF.
pub(crate) fn has_debug_info(data: &[u8]) -> bool {
    object::File::parse(data).is_ok_and(|file| {
        file.section_by_name(".debug_info")
            .is_some_and(|section| section.compressed_file_range().is_ok_and(|r| r.compressed_size > 0))
    })
}

pub(crate) fn section_bytes<'data>(section: &object::Section<'data, '_>) -> Option<Cow<'data, [u8]>> {
    let compressed = section.compressed_data().ok()?;
    if compressed.format != CompressionFormat::None {
        let stored = u64::try_from(compressed.data.len()).ok()?;
        let limit = stored.saturating_mul(MAX_RATIO).min(MAX_SECTION_BYTES);
        if compressed.uncompressed_size > limit {
            return None;
        }
    }
    compressed.decompress().ok()
}
