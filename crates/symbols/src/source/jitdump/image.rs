//! Generated code as an ELF file of its own: what reads symbols, lines and call frames from files then needs no dump.

use super::line_table::{LineTable, line_table};
use super::{CODE_OFFSETS_IN_MADE_FILES, JitDump};
use crate::unwind::Machine;
use object::write::elf::{FileHeader, ProgramHeader, SectionHeader, Sym, Writer};
use object::write::{Result, StringId};
use object::{Endianness, elf};

/// Where the code lies in the file, and at which address of it. It is where newer versions of perf put it: some runtimes reckon with it.
pub const IMAGE_CODE_OFFSET: u64 = CODE_OFFSETS_IN_MADE_FILES[0];

/// A file that was made of a piece of generated code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GeneratedImage {
    /// The ELF file.
    pub bytes: Vec<u8>,
    /// Whether it has no call frame information although the dump has some: that is for absolute addresses, or the dump has not all of the
    /// code.
    pub lacks_call_frames: bool,
    /// Whether it has no source lines although the dump has some: they could not be written.
    pub lacks_lines: bool,
}

/// What machine the file is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) is_big_endian: bool,
    pub(super) is_64: bool,
    e_machine: u16,
}

/// A section: what its header says, and what is in it.
struct Section<'s> {
    name: &'static [u8],
    kind: u32,
    flags: u64,
    /// Offset in the file where it has to lie; that is its address, too. Others lie behind these.
    offset: Option<u64>,
    align: u64,
    data: &'s [u8],
    /// Size in bytes, also of one that is not in the file.
    size: u64,
}

impl JitDump {
    /// The code with this number as an ELF file, the same wherever it was moved to: the code at [`IMAGE_CODE_OFFSET`], its name as a symbol, its source lines, and its call
    /// frame information. `machine` is the one that was recorded, for dumps that do not tell theirs. `None` where there is no such code, or
    /// it cannot be written as a file of that machine.
    pub fn image(&self, number: usize, machine: Option<Machine>) -> Option<GeneratedImage> {
        let target = self.target(machine)?;
        let (function, layer) = (self.functions.get(number)?, self.layers.layers().get(number)?);
        let (name, code) = (self.range(&function.name), self.code(number));
        let size = layer.end.checked_sub(layer.start)?;
        let mut text = Section {
            flags: u64::from(elf::SHF_ALLOC | elf::SHF_EXECINSTR),
            offset: Some(IMAGE_CODE_OFFSET),
            align: 16,
            ..Section::of(b".text", code)
        };
        if code.is_empty() {
            (text.kind, text.size) = (elf::SHT_NOBITS, size);
        }
        let frames = self.frames_behind(number, size);
        let lines = self.lines(number);
        let table = line_table(&lines, layer.start, size, target);
        let mut image = GeneratedImage {
            bytes: Vec::new(),
            lacks_call_frames: frames.is_none()
                && self.unwinding(number).is_some_and(|(eh_frame, _)| !eh_frame.is_empty()),
            lacks_lines: table.is_none() && function.lines.is_some(),
        };
        let mut sections = vec![text];
        sections.extend(frames.into_iter().flatten());
        let table = table.unwrap_or_default();
        sections.extend(debug_sections(&table));
        image.bytes = write(target, &sections, name, size).ok()?;
        Some(image)
    }

    fn target(&self, recorded: Option<Machine>) -> Option<Target> {
        let is_big_endian = self.is_big_endian();
        let told = u16::try_from(self.machine()).ok()?;
        let (e_machine, is_64) = match told {
            elf::EM_NONE => recorded?.elf(),
            elf::EM_386 | elf::EM_ARM | elf::EM_PPC | elf::EM_MIPS => (told, false),
            _ => (told, true),
        };
        Some(Target { is_big_endian, is_64, e_machine })
    }

    /// Call frame information where it belongs, behind the code; `None` if it does not belong there.
    fn frames_behind(&self, number: usize, size: u64) -> Option<[Section<'_>; 2]> {
        let is_relative = self.functions.get(number)?.unwinding.as_ref()?.eh_frame_at.is_none();
        let (eh_frame, header) = self.unwinding(number)?;
        if eh_frame.is_empty() || !is_relative || length(self.code(number)) != size {
            return None;
        }
        let at = IMAGE_CODE_OFFSET.checked_add(size.checked_next_multiple_of(8)?)?;
        let header_at = at.checked_add(length(eh_frame))?;
        let flags = u64::from(elf::SHF_ALLOC);
        Some([
            Section { flags, offset: Some(at), ..Section::of(b".eh_frame", eh_frame) },
            Section { flags, offset: Some(header_at), ..Section::of(b".eh_frame_hdr", header) },
        ])
    }
}

fn debug_sections(table: &LineTable) -> impl Iterator<Item = Section<'_>> {
    let named: [(&'static [u8], &[u8]); 3] = [
        (b".debug_abbrev", &table.abbreviations),
        (b".debug_info", &table.info),
        (b".debug_line", &table.lines),
    ];
    named.into_iter().filter(|(_, data)| !data.is_empty()).map(|(name, data)| Section::of(name, data))
}

/// A slice is never longer than such a number says.
fn length(data: &[u8]) -> u64 {
    u64::try_from(data.len()).unwrap_or(u64::MAX)
}

impl<'s> Section<'s> {
    /// A section that is nowhere in memory.
    fn of(name: &'static [u8], data: &'s [u8]) -> Section<'s> {
        Section { name, kind: elf::SHT_PROGBITS, flags: 0, offset: None, align: 1, data, size: length(data) }
    }
}

/// Writes the file. What writes it wants to know first how long everything is.
fn write(target: Target, sections: &[Section<'_>], name: &[u8], size: u64) -> Result<Vec<u8>> {
    let endian = if target.is_big_endian { Endianness::Big } else { Endianness::Little };
    let mut bytes = Vec::new();
    let mut writer = Writer::new(endian, target.is_64, &mut bytes);
    writer.reserve_file_header();
    writer.reserve_program_headers(1);
    let mut placed: Vec<(StringId, u64)> = Vec::new();
    let mut loaded_end = IMAGE_CODE_OFFSET;
    for section in sections {
        let id = writer.add_section_name(section.name);
        writer.reserve_section_index();
        if let Some(offset) = section.offset {
            writer.reserve_until(usize::try_from(offset).unwrap_or(usize::MAX));
        }
        let at = writer.reserve(section.data.len(), 1);
        let at = u64::try_from(at).unwrap_or(u64::MAX);
        placed.push((id, at));
        if section.offset.is_some() {
            loaded_end = at.saturating_add(length(section.data));
        }
    }
    let symbol = writer.add_string(name);
    let text = object::write::elf::SectionIndex(1);
    writer.reserve_symbol_index(Some(text));
    writer.reserve_symtab_section_index();
    writer.reserve_symtab();
    writer.reserve_strtab_section_index();
    writer.reserve_strtab();
    writer.reserve_shstrtab_section_index();
    writer.reserve_shstrtab();
    writer.reserve_section_headers();

    let (e_type, e_machine) = (elf::ET_DYN, target.e_machine);
    writer.write_file_header(&FileHeader {
        os_abi: elf::ELFOSABI_NONE,
        abi_version: 0,
        e_type,
        e_machine,
        e_entry: 0,
        e_flags: 0,
    })?;
    let in_file = loaded_end.saturating_sub(IMAGE_CODE_OFFSET);
    writer.write_align_program_headers();
    writer.write_program_header(&ProgramHeader {
        p_type: elf::PT_LOAD,
        p_flags: elf::PF_R | elf::PF_X,
        p_offset: IMAGE_CODE_OFFSET,
        p_vaddr: IMAGE_CODE_OFFSET,
        p_paddr: IMAGE_CODE_OFFSET,
        p_filesz: in_file,
        p_memsz: in_file.max(size),
        p_align: 8,
    });
    for (section, (_, at)) in sections.iter().zip(&placed) {
        writer.pad_until(usize::try_from(*at).unwrap_or(usize::MAX));
        writer.write(section.data);
    }
    writer.write_null_symbol();
    writer.write_symbol(&Sym {
        name: Some(symbol),
        section: Some(text),
        st_info: (elf::STB_GLOBAL << 4) | elf::STT_FUNC,
        st_other: 0,
        st_shndx: 0,
        st_value: IMAGE_CODE_OFFSET,
        st_size: size,
    });
    writer.write_strtab();
    writer.write_shstrtab();
    writer.write_null_section_header();
    for (section, (id, at)) in sections.iter().zip(&placed) {
        writer.write_section_header(&SectionHeader {
            name: Some(*id),
            sh_type: section.kind,
            sh_flags: section.flags,
            sh_addr: section.offset.unwrap_or(0),
            sh_offset: *at,
            sh_size: section.size,
            sh_link: 0,
            sh_info: 0,
            sh_addralign: section.align,
            sh_entsize: 0,
        });
    }
    // One symbol before the first global one: the null symbol.
    writer.write_symtab_section_header(1);
    writer.write_strtab_section_header();
    writer.write_shstrtab_section_header();
    drop(writer);
    Ok(bytes)
}
