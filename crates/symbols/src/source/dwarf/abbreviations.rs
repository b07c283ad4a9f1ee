//! The one abbreviation that tells of a unit as a whole.
//!
//! Which code units have is asked of all of them, and for that the first entry is enough. To read all abbreviations of each takes ten
//! times as long. DWARF 5, section 7.5.3.

use std::sync::Arc;

use gimli::{Abbreviations, DebugAbbrev, EndianSlice, Reader, Section, UnitHeader};

use super::{Dwarf, Slice};

/// The abbreviation of the first entry of a unit, and no other.
pub(super) fn of_root(
    dwarf: &Dwarf<'_>,
    header: &UnitHeader<Slice<'_>>,
) -> gimli::Result<Arc<Abbreviations>> {
    let code = header.range_from(header.root_offset()..)?.read_uleb128()?;
    let mut table = *dwarf.debug_abbrev.reader();
    table.skip(header.debug_abbrev_offset().0)?;
    let Some(declaration) = declaration(table, code)? else {
        // It says what is wrong.
        return dwarf.abbreviations(header);
    };
    // A table ends with a zero.
    let alone: Vec<u8> = declaration.slice().iter().copied().chain([0]).collect();
    let alone = DebugAbbrev::from(EndianSlice::new(&alone, declaration.endian()));
    alone.abbreviations(gimli::DebugAbbrevOffset(0)).map(Arc::new)
}

/// The bytes of the declaration with this code; `None` if a table has none.
fn declaration<'f>(mut table: Slice<'f>, code: u64) -> gimli::Result<Option<Slice<'f>>> {
    loop {
        let before = table;
        let found = table.read_uleb128()?;
        if found == 0 {
            return Ok(None);
        }
        let _tag = table.read_uleb128()?;
        let _has_children = table.read_u8()?;
        loop {
            let (name, form) = (table.read_uleb128()?, table.read_uleb128()?);
            if (name, form) == (0, 0) {
                break;
            }
            if form == u64::from(gimli::DW_FORM_implicit_const.0) {
                table.read_sleb128()?;
            }
        }
        if found == code {
            let mut declaration = before;
            declaration.truncate(before.len().saturating_sub(table.len()))?;
            return Ok(Some(declaration));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::dwarf::units;
    use gimli::RunTimeEndian;

    #[test]
    fn the_declaration_with_a_code() {
        // Code 1 with a constant in the table, code 2 with children, the end, and what is of another table.
        let table = [1, 0x2e, 0, 0x3a, 0x21, 0x7f, 0, 0, 2, 0x11, 1, 0x11, 1, 0, 0, 0, 3, 0x11, 1, 0, 0, 0];
        let table = EndianSlice::new(&table, RunTimeEndian::Little);
        let of = |code| declaration(table, code).unwrap().map(|declaration| declaration.slice());
        assert_eq!(of(1), Some(&[1, 0x2e, 0, 0x3a, 0x21, 0x7f, 0, 0][..]));
        assert_eq!(of(2), Some(&[2, 0x11, 1, 0x11, 1, 0, 0][..]));
        assert_eq!(of(3), None);
        let cut = EndianSlice::new(&table.slice()[..12], RunTimeEndian::Little);
        assert!(declaration(cut, 2).is_err());
    }

    #[test]
    fn units_without_lines_have_their_strings() {
        // DWARF 5: a unit whose name is the first of its strings, which are numbered behind a head of 8 bytes.
        let table = [1, 0x11, 0, 0x72, 0x17, 0x03, 0x25, 0, 0, 0];
        let info = [14, 0, 0, 0, 5, 0, 1, 8, 0, 0, 0, 0, 1, 8, 0, 0, 0, 0];
        let offsets = [8, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0];
        let section = |id| match id {
            gimli::SectionId::DebugAbbrev => &table[..],
            gimli::SectionId::DebugInfo => &info[..],
            gimli::SectionId::DebugStrOffsets => &offsets[..],
            gimli::SectionId::DebugStr => &b"a.c\0"[..],
            _ => &[],
        };
        let load = |id| Ok::<_, gimli::Error>(EndianSlice::new(section(id), RunTimeEndian::Little));
        let dwarf = gimli::Dwarf::load(load).unwrap();
        let header = units::headers(&dwarf)[0];
        let of_root = of_root(&dwarf, &header).unwrap();
        let bare = units::without_lines(&dwarf, header, of_root).unwrap();
        let root = bare.entry(header.root_offset()).unwrap();
        let name = dwarf.attr_string(&bare, root.attr_value(gimli::DW_AT_name).unwrap()).unwrap();
        assert_eq!(name.slice(), b"a.c");
    }
}
