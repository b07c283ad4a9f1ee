//! The source lines of a piece of generated code as DWARF 4, which every reader knows.

use super::GeneratedLine;
use super::image::{IMAGE_CODE_OFFSET, Target};
use gimli::write::{
    Address, AttributeValue, DwarfUnit, EndianVec, FileId, LineProgram, LineString, Sections,
};
use gimli::{DW_AT_high_pc, DW_AT_low_pc, DW_AT_name, DW_AT_stmt_list};
use gimli::{Encoding, Format, LineEncoding, RunTimeEndian, SectionId};

/// The sections of a table; empty if there are no lines.
#[derive(Debug, Default)]
pub(super) struct LineTable {
    pub(super) abbreviations: Vec<u8>,
    pub(super) info: Vec<u8>,
    pub(super) lines: Vec<u8>,
}

/// The table of some code that was at `start` in memory and lies at [`IMAGE_CODE_OFFSET`] in its file. `None` if there is none.
pub(super) fn line_table(
    lines: &[GeneratedLine<'_>],
    start: u64,
    size: u64,
    target: Target,
) -> Option<LineTable> {
    // Files without a name cannot be written; lines in them are told as unknown.
    let first_file = lines.iter().find(|line| is_name(&line.file))?.file.as_bytes();
    let address_size = if target.is_64 { 8 } else { 4 };
    let encoding = Encoding { format: Format::Dwarf32, version: 4, address_size };
    let text = |text: &[u8]| LineString::String(text.to_vec());
    // In this version the working directory is not in the table, and the first file is one like others.
    let (directory, first) = (text(b"/"), text(first_file));
    let mut program = LineProgram::new(encoding, LineEncoding::default(), directory, None, first, None);
    let directory = program.default_directory();
    program.begin_sequence(Some(Address::Constant(IMAGE_CODE_OFFSET)));
    let mut file: FileId = program.add_file(text(first_file), directory, None);
    for line in lines {
        let is_known = is_name(&line.file);
        if is_known {
            file = program.add_file(text(line.file.as_bytes()), directory, None);
        }
        let row = program.row();
        row.address_offset = line.address.checked_sub(start)?;
        row.file = file;
        row.line = if is_known { u64::from(line.line) } else { 0 };
        program.generate_row();
    }
    program.end_sequence(size);

    let mut dwarf = DwarfUnit::new(encoding);
    dwarf.unit.line_program = program;
    let root = dwarf.unit.root();
    let entry = dwarf.unit.get_mut(root);
    entry.set(DW_AT_name, AttributeValue::String(first_file.to_vec()));
    entry.set(DW_AT_low_pc, AttributeValue::Address(Address::Constant(IMAGE_CODE_OFFSET)));
    entry.set(DW_AT_high_pc, AttributeValue::Udata(size));
    entry.set(DW_AT_stmt_list, AttributeValue::LineProgramRef);
    let endian = if target.is_big_endian { RunTimeEndian::Big } else { RunTimeEndian::Little };
    let mut sections = Sections::new(EndianVec::new(endian));
    dwarf.write(&mut sections).ok()?;
    let bytes = |id| sections.get(id).map(|section| section.slice().to_vec());
    Some(LineTable {
        abbreviations: bytes(SectionId::DebugAbbrev)?,
        info: bytes(SectionId::DebugInfo)?,
        lines: bytes(SectionId::DebugLine)?,
    })
}

fn is_name(file: &str) -> bool {
    !file.is_empty() && !file.contains('\0')
}
