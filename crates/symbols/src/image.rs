//! An ELF file as sections and loadable segments, whatever its class and byte order (System V ABI, chapter 4 and 5).

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use object::elf;
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};
use object::{Endianness, FileKind};

use crate::build_id::BuildId;
use crate::name;

/// How many loadable segments are read. Real binaries have fewer than twenty, and each address is looked up in all.
const MAX_LOADS: usize = 256;

/// The parts of an ELF file that matter here. Nothing in it is trusted: offsets are checked when used.
#[derive(Clone, Debug)]
pub(crate) struct Image<'data> {
    pub(crate) data: &'data [u8],
    pub(crate) machine: u16,
    pub(crate) is_64: bool,
    pub(crate) big_endian: bool,
    /// Whether the file was not linked yet (`ET_REL`): then its sections have no addresses.
    pub(crate) is_relocatable: bool,
    /// Where the program starts; 0 if nowhere.
    pub(crate) entry: u64,
    pub(crate) loads: Vec<Load>,
    pub(crate) sections: Vec<Section<'data>>,
    notes: Vec<(u64, u64)>,
}

/// A PT_LOAD segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) address: u64,
    pub(crate) offset: u64,
    pub(crate) file_size: u64,
    pub(crate) memory_size: u64,
    pub(crate) executable: bool,
}

/// A section header, with the name resolved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Section<'data> {
    pub(crate) name: &'data [u8],
    pub(crate) kind: u32,
    pub(crate) flags: u64,
    pub(crate) address: u64,
    pub(crate) offset: u64,
    pub(crate) size: u64,
    pub(crate) entry_size: u64,
    pub(crate) alignment: u64,
    pub(crate) link: u32,
}

/// The virtual address of a file offset by these segments: see [`Image::offset_to_address`].
pub(crate) fn offset_to_address(loads: &[Load], offset: u64) -> Option<u64> {
    let address = |load: &Load| {
        let within = offset.checked_sub(load.offset)?;
        (within < load.file_size).then(|| load.address.wrapping_add(within))
    };
    let code = loads.iter().filter(|load| load.executable).find_map(address);
    code.or_else(|| loads.iter().find_map(address))
}

impl<'data> Image<'data> {
    /// Reads the headers. `None` when it is no ELF file or they are damaged.
    pub(crate) fn parse(data: &'data [u8]) -> Option<Image<'data>> {
        match FileKind::parse(data).ok()? {
            FileKind::Elf32 => Image::parse_class::<elf::FileHeader32<Endianness>>(data),
            FileKind::Elf64 => Image::parse_class::<elf::FileHeader64<Endianness>>(data),
            _ => None,
        }
    }

    fn parse_class<Elf: FileHeader<Endian = Endianness>>(data: &'data [u8]) -> Option<Image<'data>> {
        let header = Elf::parse(data).ok()?;
        let endian = header.endian().ok()?;
        let mut loads = Vec::new();
        let mut notes = Vec::new();
        for segment in header.program_headers(endian, data).unwrap_or(&[]) {
            match segment.p_type(endian) {
                elf::PT_LOAD if loads.len() < MAX_LOADS => loads.push(Load {
                    address: segment.p_vaddr(endian).into(),
                    offset: segment.p_offset(endian).into(),
                    file_size: segment.p_filesz(endian).into(),
                    memory_size: segment.p_memsz(endian).into(),
                    executable: segment.p_flags(endian) & elf::PF_X != 0,
                }),
                elf::PT_NOTE if notes.len() < MAX_LOADS => {
                    notes.push((segment.p_offset(endian).into(), segment.p_filesz(endian).into()))
                }
                _ => {}
            }
        }
        let names = header.section_headers(endian, data).ok().and_then(|headers| {
            header.section_strings(endian, data, headers).ok().map(|strings| (headers, strings))
        });
        let mut sections = Vec::new();
        if let Some((headers, strings)) = names {
            sections.extend(headers.iter().map(|section| Section {
                name: section.name(endian, strings).unwrap_or(b""),
                kind: section.sh_type(endian),
                flags: section.sh_flags(endian).into(),
                address: section.sh_addr(endian).into(),
                offset: section.sh_offset(endian).into(),
                size: section.sh_size(endian).into(),
                entry_size: section.sh_entsize(endian).into(),
                alignment: section.sh_addralign(endian).into(),
                link: section.sh_link(endian),
            }));
        }
        Some(Image {
            data,
            machine: header.e_machine(endian),
            is_64: header.is_class_64(),
            big_endian: header.is_big_endian(),
            is_relocatable: header.e_type(endian) == elf::ET_REL,
            entry: header.e_entry(endian).into(),
            loads,
            sections,
            notes,
        })
    }

    /// The first section with this name.
    pub(crate) fn section(&self, name: &[u8]) -> Option<&Section<'data>> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// The first section of this type.
    pub(crate) fn section_of_kind(&self, kind: u32) -> Option<&Section<'data>> {
        self.sections.iter().find(|section| section.kind == kind)
    }

    /// The section with this number, as in `sh_link` and `st_shndx`.
    pub(crate) fn section_at(&self, number: u32) -> Option<&Section<'data>> {
        self.sections.get(usize::try_from(number).ok()?)
    }

    /// The bytes of a section; empty when it has none in the file or points outside of it.
    pub(crate) fn bytes(&self, section: &Section<'data>) -> &'data [u8] {
        if section.kind == elf::SHT_NOBITS {
            return &[];
        }
        self.range(section.offset, section.size).unwrap_or(&[])
    }

    fn range(&self, offset: u64, size: u64) -> Option<&'data [u8]> {
        let start = usize::try_from(offset).ok()?;
        let end = start.checked_add(usize::try_from(size).ok()?)?;
        self.data.get(start..end)
    }

    /// The file offset of a virtual address by the segment that contains it.
    pub(crate) fn address_to_offset(&self, address: u64) -> Option<u64> {
        self.loads.iter().find_map(|load| {
            let within = address.checked_sub(load.address)?;
            (within < load.memory_size).then(|| load.offset.wrapping_add(within))
        })
    }

    /// The virtual address of a file offset. Where segments share a page of the file the executable one is meant.
    pub(crate) fn offset_to_address(&self, offset: u64) -> Option<u64> {
        offset_to_address(&self.loads, offset)
    }

    /// Whether the program headers tell where in the file the code is. Those of a separate debug file made by
    /// `objcopy --only-keep-debug` do not: its segments are empty and their offsets are moved.
    pub(crate) fn has_layout(&self) -> bool {
        self.loads.is_empty() || self.loads.iter().any(|load| load.executable && load.file_size > 0)
    }

    /// The build-id, from the note sections or, where there are none, the note segments.
    pub(crate) fn build_id(&self) -> Option<BuildId> {
        let sections = self.sections.iter().filter(|section| section.kind == elf::SHT_NOTE);
        let from_sections =
            sections.filter_map(|section| build_id_note(self.bytes(section), self.big_endian)).next();
        from_sections.or_else(|| {
            let segments = self.notes.iter().filter_map(|(offset, size)| self.range(*offset, *size));
            segments.filter_map(|bytes| build_id_note(bytes, self.big_endian)).next()
        })
    }

    /// Name and checksum of the separate debug file (`.gnu_debuglink`).
    pub(crate) fn debug_link(&self) -> Option<(&'data [u8], u32)> {
        let bytes = self.bytes(self.section(b".gnu_debuglink")?);
        let name = text_at(bytes, 0)?;
        // The checksum follows at the next multiple of four behind the zero byte.
        let at = name.len().checked_add(4)? & !3;
        Some((name, Cursor { bytes, big_endian: self.big_endian }.u32(at)?))
    }

    /// Name and build-id of the file that this one shares with others (`.gnu_debugaltlink`).
    pub(crate) fn alt_link(&self) -> Option<(&'data OsStr, BuildId)> {
        let bytes = self.bytes(self.section(b".gnu_debugaltlink")?);
        let name = text_at(bytes, 0)?;
        let build_id = BuildId::from_bytes(bytes.get(name.len().checked_add(1)?..)?)?;
        Some((OsStr::from_bytes(name), build_id))
    }

    /// Reads numbers out of the bytes of a section.
    pub(crate) fn cursor(&self, bytes: &'data [u8]) -> Cursor<'data> {
        Cursor { bytes, big_endian: self.big_endian }
    }
}

/// Numbers at offsets of a byte string, in the byte order of the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'data> {
    bytes: &'data [u8],
    big_endian: bool,
}

impl Cursor<'_> {
    #[inline(always)]
    fn array<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        let mut array: [u8; N] = self.bytes.get(at..at.checked_add(N)?)?.try_into().ok()?;
        if self.big_endian {
            array.reverse();
        }
        Some(array)
    }

    pub(crate) fn u32(&self, at: usize) -> Option<u32> {
        self.array(at).map(u32::from_le_bytes)
    }

    #[inline]
    pub(crate) fn u64(&self, at: usize) -> Option<u64> {
        self.array(at).map(u64::from_le_bytes)
    }
}

/// The text from `at` up to the next zero byte of a string table; `None` when it does not end. Of a name that is too long,
/// enough to see that: many may point into one long string.
pub(crate) fn text_at(table: &[u8], at: usize) -> Option<&[u8]> {
    const WINDOW: usize = name::MAX_BYTES + 1;
    let rest = table.get(at..)?;
    let window = rest.get(..WINDOW).unwrap_or(rest);
    let len = memchr::memchr(0, window).or((window.len() == WINDOW).then_some(WINDOW))?;
    window.get(..len)
}

/// Finds the NT_GNU_BUILD_ID note in a run of notes: name size, description size, type, name, description, where
/// name and description are filled up to four bytes.
pub(crate) fn build_id_note(notes: &[u8], big_endian: bool) -> Option<BuildId> {
    let cursor = Cursor { bytes: notes, big_endian };
    let mut at = 0_usize;
    loop {
        let name_size = usize::try_from(cursor.u32(at)?).ok()?;
        let size = usize::try_from(cursor.u32(at.checked_add(4)?)?).ok()?;
        let kind = cursor.u32(at.checked_add(8)?)?;
        let name_at = at.checked_add(12)?;
        let bytes_at = name_at.checked_add(name_size.checked_next_multiple_of(4)?)?;
        let end = bytes_at.checked_add(size)?;
        let name = notes.get(name_at..name_at.checked_add(name_size)?)?;
        if kind == elf::NT_GNU_BUILD_ID && name == b"GNU\0" {
            return BuildId::from_bytes(notes.get(bytes_at..end)?);
        }
        at = bytes_at.checked_add(size.checked_next_multiple_of(4)?)?;
    }
}

/// Whether a file has a table of all symbols (not only of the dynamic ones).
pub(crate) fn has_symbol_table(image: &Image<'_>) -> bool {
    image.section_of_kind(elf::SHT_SYMTAB).is_some_and(|section| !image.bytes(section).is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_id_behind_another_note() {
        let mut notes = Vec::new();
        notes.extend_from_slice(&[4, 0, 0, 0, 3, 0, 0, 0, 5, 0, 0, 0]);
        notes.extend_from_slice(b"GNU\0abc\0");
        notes.extend_from_slice(&[4, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]);
        notes.extend_from_slice(b"GNU\0\x12\x34\0\0");
        assert_eq!(build_id_note(&notes, false), BuildId::parse("1234"));
        assert_eq!(build_id_note(&notes, true), None);
        assert_eq!(build_id_note(&notes[..20], false), None);
    }

    #[test]
    fn names_end() {
        assert_eq!(text_at(b"\0abc\0d", 1), Some(&b"abc"[..]));
        assert_eq!(text_at(b"\0abc\0d", 5), None);
        assert_eq!(text_at(b"\0abc\0d", 9), None);
    }
}
