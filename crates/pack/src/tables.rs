//! An ELF file without its code and data: only the tables that names, lines, inlined functions and call frames are read from.
//!
//! What is loaded into memory keeps its place in the file, since that is how addresses of samples are told; where code and data were
//! are zeros, which take no room when they are compressed, and the section headers say so (`SHT_NOBITS`, as in a debug file). What is not
//! loaded follows behind.

use object::elf;
use object::read::elf::{FileHeader, ProgramHeader as _, SectionHeader as _};
use object::{Endianness, FileKind};

/// Sections of debug information that only a debugger needs: where variables are, indexes, macros.
const FOR_DEBUGGERS: [&[u8]; 11] = [
    b"loc",
    b"loclists",
    b"pubnames",
    b"pubtypes",
    b"gnu_pubnames",
    b"gnu_pubtypes",
    b"names",
    b"macro",
    b"macinfo",
    b"macro_str",
    b"types_index",
];

/// Beginnings of the names of sections that are loaded and are tables, or tell names of those that are: call frames, the procedure linkage
/// table, function descriptors, what a module says of itself.
const LOADED_TABLES: [&[u8]; 9] = [
    b".eh_frame",
    b".ARM.ex",
    b".plt",
    b".iplt",
    b".got",
    b".opd",
    b".modinfo",
    b".gnu.version",
    b".debug_frame",
];

/// Types of sections that are loaded and are tables.
const LOADED_TYPES: [u32; 9] = [
    elf::SHT_NOTE,
    elf::SHT_DYNSYM,
    elf::SHT_STRTAB,
    elf::SHT_REL,
    elf::SHT_RELA,
    elf::SHT_DYNAMIC,
    elf::SHT_HASH,
    elf::SHT_GNU_HASH,
    elf::SHT_SYMTAB,
];

/// A section, as it is in the file and as it is to be.
struct Section {
    offset: u64,
    size: u64,
    alignment: u64,
    is_loaded: bool,
    is_kept: bool,
    is_in_file: bool,
}

/// The file without code and data. `None` when there are no section headers to tell tables from code, or it is damaged: then it can only be kept
/// as it is.
pub fn only_tables(data: &[u8]) -> Option<Vec<u8>> {
    match FileKind::parse(data).ok()? {
        FileKind::Elf32 => of_class::<elf::FileHeader32<Endianness>>(data, &CLASS_32),
        FileKind::Elf64 => of_class::<elf::FileHeader64<Endianness>>(data, &CLASS_64),
        _ => None,
    }
}

/// Where in the headers of a class is what has to be changed, in bytes.
struct Class {
    word: usize,
    section_table: usize,
    section_offset: usize,
}

const CLASS_32: Class = Class { word: 4, section_table: 32, section_offset: 16 };
const CLASS_64: Class = Class { word: 8, section_table: 40, section_offset: 24 };

/// Where the type of a section stands in its header, in bytes.
const SECTION_TYPE: usize = 4;

fn of_class<Elf: FileHeader<Endian = Endianness>>(data: &[u8], class: &Class) -> Option<Vec<u8>> {
    let header = Elf::parse(data).ok()?;
    let endian = header.endian().ok()?;
    let headers = header.section_headers(endian, data).ok().filter(|headers| headers.len() > 1)?;
    let names = header.section_strings(endian, data, headers).ok()?;
    let sections: Vec<Section> = headers
        .iter()
        .map(|section| {
            let (kind, flags) = (section.sh_type(endian), section.sh_flags(endian).into());
            let is_loaded = flags & u64::from(elf::SHF_ALLOC) != 0;
            let name = section.name(endian, names).unwrap_or_default();
            Section {
                offset: section.sh_offset(endian).into(),
                size: section.sh_size(endian).into(),
                alignment: section.sh_addralign(endian).into(),
                is_loaded,
                is_kept: is_table(name, kind, is_loaded),
                is_in_file: !matches!(kind, elf::SHT_NOBITS | elf::SHT_NULL),
            }
        })
        .collect();
    let segments = header.program_headers(endian, data).unwrap_or_default();
    let segments_at: u64 = header.e_phoff(endian).into();
    let segments_end = segments_at.checked_add(u64::try_from(std::mem::size_of_val(segments)).ok()?)?;
    let loads = segments.iter().filter(|segment| segment.p_type(endian) == elf::PT_LOAD);
    let loads_end = loads.map(|load| {
        let (offset, size): (u64, u64) = (load.p_offset(endian).into(), load.p_filesz(endian).into());
        offset.saturating_add(size)
    });
    let in_place = sections.iter().filter(|section| section.is_loaded && section.is_in_file);
    let sections_end = in_place.map(|section| section.offset.saturating_add(section.size));
    let first = u64::try_from(size_of::<Elf>()).ok()?.max(segments_end);
    let loaded_end = loads_end.chain(sections_end).fold(first, u64::max);
    // A damaged file may claim any end.
    let mut out = vec![0; usize::try_from(loaded_end.min(data.len() as u64)).ok()?];
    keep(&mut out, data, 0, size_of::<Elf>())?;
    keep(&mut out, data, usize::try_from(segments_at).ok()?, std::mem::size_of_val(segments))?;
    let order = Order { is_big: endian == Endianness::Big };
    let mut new_headers = headers_bytes(data, header.e_shoff(endian).into(), headers)?;
    let entry = new_headers.len() / headers.len();
    for (number, section) in sections.iter().enumerate().filter(|(_, section)| section.is_in_file) {
        let at = number.checked_mul(entry)?;
        let bytes = || {
            let start = usize::try_from(section.offset).ok()?;
            data.get(start..start.checked_add(usize::try_from(section.size).ok()?)?)
        };
        if !section.is_kept {
            order.put(&mut new_headers, at.checked_add(SECTION_TYPE)?, 4, elf::SHT_NOBITS.into())?;
        } else if section.is_loaded {
            keep(&mut out, data, usize::try_from(section.offset).ok()?, bytes()?.len())?;
        } else {
            align(&mut out, section.alignment);
            let offset = u64::try_from(out.len()).ok()?;
            out.extend_from_slice(bytes()?);
            order.put(&mut new_headers, at.checked_add(class.section_offset)?, class.word, offset)?;
        }
    }
    align(&mut out, 8);
    let table = u64::try_from(out.len()).ok()?;
    out.extend_from_slice(&new_headers);
    order.put(&mut out, class.section_table, class.word, table)?;
    Some(out)
}

fn is_table(name: &[u8], kind: u32, is_loaded: bool) -> bool {
    if is_loaded {
        return LOADED_TYPES.contains(&kind) || LOADED_TABLES.iter().any(|start| name.starts_with(start));
    }
    let debug = name.strip_prefix(b".debug_").or_else(|| name.strip_prefix(b".zdebug_"));
    name != b".gdb_index" && !debug.is_some_and(|rest| FOR_DEBUGGERS.contains(&rest))
}

/// Copies bytes to the place where they were.
fn keep(out: &mut [u8], data: &[u8], start: usize, len: usize) -> Option<()> {
    let end = start.checked_add(len)?;
    out.get_mut(start..end)?.copy_from_slice(data.get(start..end)?);
    Some(())
}

fn headers_bytes<S>(data: &[u8], offset: u64, headers: &[S]) -> Option<Vec<u8>> {
    let start = usize::try_from(offset).ok()?;
    Some(data.get(start..start.checked_add(std::mem::size_of_val(headers))?)?.to_vec())
}

fn align(out: &mut Vec<u8>, alignment: u64) {
    let alignment = usize::try_from(alignment.clamp(1, 4096)).unwrap_or(1);
    if let Some(len) = out.len().checked_next_multiple_of(alignment) {
        out.resize(len, 0);
    }
}

/// How numbers are written.
struct Order {
    is_big: bool,
}

impl Order {
    fn put(&self, out: &mut [u8], at: usize, width: usize, value: u64) -> Option<()> {
        let to = out.get_mut(at..at.checked_add(width)?)?;
        match self.is_big {
            true => to.copy_from_slice(value.to_be_bytes().get(8_usize.checked_sub(width)?..)?),
            false => to.copy_from_slice(value.to_le_bytes().get(..width)?),
        }
        Some(())
    }
}
