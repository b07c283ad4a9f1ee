//! Which units have code at an address, and whether it is safe to read them.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use gimli::{
    Abbreviations, AttributeValue, DebugAddrBase, DebugInfoOffset, DebugLine, DebugLocListsBase,
    DebugRngListsBase, DebugStrOffsetsBase, Unit, UnitHeader, UnitType,
};
use rayon::prelude::*;

use super::inlined::{Code, read_code};
use super::{Dwarf, Slice, abbreviations, nesting, sections};
use crate::files::Files;
use crate::ids::number;

type Header<'f> = UnitHeader<Slice<'f>>;

/// The units of a file by address.
pub(super) struct Units<'f> {
    headers: Vec<Header<'f>>,
    /// Those of the file that is shared with others, once they were asked for.
    shared: OnceLock<Vec<Header<'f>>>,
    /// Whether any unit is described in a file of its own.
    are_split: bool,
    /// Whether each unit nests within bounds, once it was asked.
    bounded: Vec<OnceLock<bool>>,
    /// Disjoint stretches of addresses, by address.
    stretches: Vec<Stretch>,
    /// The units of all stretches, one after the other.
    members: Vec<usize>,
    /// Units that do not say where their code is: they may be asked about any address.
    rangeless: Vec<usize>,
    /// Whether all of those nest within bounds, once one address was asked about.
    rangeless_bounded: OnceLock<bool>,
    /// Where the line tables of those say that they have code, once such an address was asked about.
    by_lines: OnceLock<(Vec<Stretch>, Vec<usize>)>,
    /// Line tables that are expanded when they are first needed. Without it they are in the sections.
    later_lines: Option<LaterLines<'f>>,
}

/// The line tables of a file of which only the names of functions are wanted. They are seldom needed, and to expand them takes a fifth
/// of the time that the rest takes.
pub(super) struct LaterLines<'f> {
    data: &'f [u8],
    sections_at: Option<Vec<u64>>,
    files: &'f Files,
    lines: OnceLock<DebugLine<Slice<'f>>>,
}

impl<'f> LaterLines<'f> {
    /// Those of this file; where its sections are, if it was not linked.
    pub(super) fn new((data, sections_at): (&'f [u8], Option<Vec<u64>>), files: &'f Files) -> LaterLines<'f> {
        LaterLines { data, sections_at, files, lines: OnceLock::new() }
    }

    fn get(&self) -> &DebugLine<Slice<'f>> {
        self.lines.get_or_init(|| sections::lines(self.data, self.files, self.sections_at.as_deref()))
    }
}

/// Addresses that belong together because the ranges of some units overlap there. Mostly that is one unit.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    begin: u64,
    end: u64,
    /// Where its units are in `members`.
    first: u32,
    last: u32,
}

impl Stretch {
    fn members(&self) -> Range<usize> {
        self.first as usize..self.last as usize
    }
}

impl<'f> Units<'f> {
    pub(super) fn read(dwarf: &Dwarf<'f>, later_lines: Option<LaterLines<'f>>) -> Units<'f> {
        let headers = headers(dwarf);
        let stated: Vec<Stated> =
            headers.par_iter().with_min_len(16).map(|header| Stated::read(dwarf, *header)).collect();
        let are_split = stated.iter().any(|stated| stated.is_split);
        let rangeless = stated.iter().enumerate().filter(|(_, stated)| stated.may_have_more());
        let rangeless = rangeless.map(|(unit, _)| unit).collect();
        let ranges = stated
            .into_iter()
            .enumerate()
            .flat_map(|(unit, stated)| stated.ranges.into_iter().map(move |(begin, end)| (begin, end, unit)));
        let ranges = ranges.collect();
        let bounded = headers.iter().map(|_| OnceLock::new()).collect();
        let (stretches, members) = join(ranges);
        Units {
            headers,
            shared: OnceLock::new(),
            are_split,
            bounded,
            stretches,
            members,
            rangeless,
            rangeless_bounded: OnceLock::new(),
            by_lines: OnceLock::new(),
            later_lines,
        }
    }

    /// How many units there are.
    pub(super) fn len(&self) -> usize {
        self.headers.len()
    }

    /// Whether any unit is described in a file of its own.
    pub(super) fn are_split(&self) -> bool {
        self.are_split
    }

    /// Reads a unit.
    pub(super) fn read_unit(&self, dwarf: &Dwarf<'f>, unit: usize) -> Option<gimli::Unit<Slice<'f>>> {
        self.unit(dwarf, *self.headers.get(unit)?).ok()
    }

    /// Reads a unit of this file, or of the one that it shares with others, with what is known of its lines if they were expanded.
    pub(super) fn unit(&self, dwarf: &Dwarf<'f>, header: Header<'f>) -> gimli::Result<Unit<Slice<'f>>> {
        match self.later_lines {
            Some(_) => without_lines(dwarf, header, dwarf.abbreviations(&header)?),
            None => dwarf.unit(header),
        }
    }

    /// The unit that has the entry at an offset of `.debug_info`, of this file or of the one that it shares with others.
    pub(super) fn header_of(
        &self,
        is_shared: bool,
        dwarf: &Dwarf<'f>,
        offset: DebugInfoOffset,
    ) -> Option<Header<'f>> {
        let of_shared = || self.shared.get_or_init(|| dwarf.sup().map(headers).unwrap_or_default());
        let headers = if is_shared { of_shared() } else { &self.headers };
        let after =
            headers.partition_point(|header| header.debug_info_offset().is_some_and(|start| start < offset));
        headers.get(after.checked_sub(1)?).copied()
    }

    /// The units that have code at the address: those that say so, or else those that only their lines tell of.
    pub(super) fn with_code_at(&self, dwarf: &Dwarf<'f>, address: u64) -> &[usize] {
        let stated = self.stated_at(address);
        if !stated.is_empty() || self.rangeless.is_empty() {
            return stated;
        }
        let known = self.by_lines.get();
        let made = known.is_none().then(|| self.read_by_lines(dwarf));
        // Made outside of the lock: threads share out the work, and one that waits for a part of it may take on a question that
        // comes here as well.
        let (stretches, members) =
            known.unwrap_or_else(|| self.by_lines.get_or_init(|| made.unwrap_or_default()));
        members_at(stretches, members, address)
    }

    fn read_by_lines(&self, dwarf: &Dwarf<'f>) -> (Vec<Stretch>, Vec<usize>) {
        let with_lines = self.later_lines.as_ref().map(|later| with_lines(dwarf, *later.get()));
        let dwarf = with_lines.as_ref().unwrap_or(dwarf);
        let units = self.rangeless.par_iter().with_min_len(16);
        join(units.flat_map_iter(|unit| self.lines_of(dwarf, *unit)).collect())
    }

    /// The stretches of code that the line table of a unit has.
    fn lines_of(&self, dwarf: &Dwarf<'f>, unit: usize) -> Vec<(u64, u64, usize)> {
        let unit_with_lines = self.headers.get(unit).and_then(|header| dwarf.unit(*header).ok());
        let program = unit_with_lines.and_then(|unit| unit.line_program);
        let sequences = program.and_then(|program| Some(program.sequences().ok()?.1)).unwrap_or_default();
        let stretches = sequences.iter().map(|sequence| (sequence.start, sequence.end, unit));
        stretches.filter(|(start, end, _)| start < end).collect()
    }

    /// The first of the units that may have code at the address.
    pub(super) fn first_at(&self, address: u64) -> Option<usize> {
        self.stated_at(address).iter().chain(&self.rangeless).next().copied()
    }

    /// Whether every unit that may have code at the address nests within bounds.
    pub(super) fn are_bounded_at(&self, dwarf: &Dwarf<'f>, address: u64) -> bool {
        let all = |units: &[usize]| units.iter().all(|unit| self.is_bounded(dwarf, *unit));
        *self.rangeless_bounded.get_or_init(|| all(&self.rangeless)) && all(self.stated_at(address))
    }

    fn is_bounded(&self, dwarf: &Dwarf<'f>, unit: usize) -> bool {
        let (Some(known), Some(header)) = (self.bounded.get(unit), self.headers.get(unit)) else {
            return false;
        };
        *known.get_or_init(|| nesting::is_bounded(dwarf, *header))
    }

    fn stated_at(&self, address: u64) -> &[usize] {
        members_at(&self.stretches, &self.members, address)
    }
}

pub(super) fn headers<'f>(dwarf: &Dwarf<'f>) -> Vec<Header<'f>> {
    let mut headers = Vec::new();
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        headers.push(header);
    }
    headers
}

fn members_at<'m>(stretches: &[Stretch], members: &'m [usize], address: u64) -> &'m [usize] {
    let after = stretches.partition_point(|stretch| stretch.begin <= address);
    let stretch = after.checked_sub(1).and_then(|at| stretches.get(at));
    let stretch = stretch.filter(|stretch| address < stretch.end);
    stretch.and_then(|stretch| members.get(stretch.members())).unwrap_or(&[])
}

/// The ranges that a unit states.
struct Stated {
    ranges: Vec<(u64, u64)>,
    /// Whether all of them could be read.
    is_complete: bool,
    /// Whether the unit is described in a file of its own.
    is_split: bool,
}

impl Stated {
    fn read(dwarf: &Dwarf<'_>, header: UnitHeader<Slice<'_>>) -> Stated {
        let mut stated = Stated { ranges: Vec::new(), is_complete: true, is_split: false };
        stated.is_complete = stated.add_all(dwarf, header).is_ok();
        stated
    }

    fn add_all(&mut self, dwarf: &Dwarf<'_>, header: UnitHeader<Slice<'_>>) -> gimli::Result<()> {
        let unit = without_lines(dwarf, header, abbreviations::of_root(dwarf, &header)?)?;
        self.is_split = unit.dwo_id.is_some();
        let mut entries = unit.entries_raw(None)?;
        let root = entries.read_abbreviation()?.ok_or(gimli::Error::MissingUnitDie)?;
        let add = |code: Code| self.ranges.push((code.begin, code.end));
        read_code(unit.unit_ref(dwarf), &mut entries, root, |_| Ok(()), add)
    }

    fn may_have_more(&self) -> bool {
        !self.is_complete || self.ranges.is_empty()
    }
}

/// The same sections with other line tables.
fn with_lines<'f>(dwarf: &Dwarf<'f>, debug_line: DebugLine<Slice<'f>>) -> Dwarf<'f> {
    let mut with_lines = gimli::Dwarf {
        debug_abbrev: dwarf.debug_abbrev,
        debug_addr: dwarf.debug_addr,
        debug_info: dwarf.debug_info,
        debug_line,
        debug_line_str: dwarf.debug_line_str,
        debug_str: dwarf.debug_str,
        debug_str_offsets: dwarf.debug_str_offsets,
        ranges: dwarf.ranges,
        file_type: dwarf.file_type,
        ..gimli::Dwarf::default()
    };
    with_lines.populate_abbreviations_cache(gimli::AbbreviationsCacheStrategy::Duplicates);
    with_lines
}

/// A unit as far as the ranges and names of its functions need it. To read names and line tables of all units, of which a few are asked
/// about, takes longer than all else that is read of them.
pub(super) fn without_lines<'f>(
    dwarf: &Dwarf<'f>,
    header: Header<'f>,
    abbreviations: Arc<Abbreviations>,
) -> gimli::Result<Unit<Slice<'f>>> {
    let (encoding, file_type) = (header.encoding(), dwarf.file_type);
    let mut unit = Unit {
        abbreviations,
        name: None,
        comp_dir: None,
        low_pc: 0,
        str_offsets_base: DebugStrOffsetsBase::default_for_encoding_and_file(encoding, file_type),
        addr_base: DebugAddrBase(0),
        loclists_base: DebugLocListsBase::default_for_encoding_and_file(encoding, file_type),
        rnglists_base: DebugRngListsBase::default_for_encoding_and_file(encoding, file_type),
        line_program: None,
        dwo_id: match header.type_() {
            UnitType::Skeleton(id) | UnitType::SplitCompilation(id) => Some(id),
            _ => None,
        },
        header,
    };
    let mut low = None;
    let mut entries = unit.header.entries_raw(&unit.abbreviations, None)?;
    let root = entries.read_abbreviation()?.ok_or(gimli::Error::MissingUnitDie)?;
    for form in root.attributes() {
        let attribute = entries.read_attribute(*form)?;
        match (attribute.name(), attribute.value()) {
            (gimli::DW_AT_low_pc, value) => low = Some(value),
            (gimli::DW_AT_addr_base | gimli::DW_AT_GNU_addr_base, AttributeValue::DebugAddrBase(base)) => {
                unit.addr_base = base;
            }
            (
                gimli::DW_AT_rnglists_base | gimli::DW_AT_GNU_ranges_base,
                AttributeValue::DebugRngListsBase(base),
            ) => unit.rnglists_base = base,
            (gimli::DW_AT_str_offsets_base, AttributeValue::DebugStrOffsetsBase(base)) => {
                unit.str_offsets_base = base;
            }
            (gimli::DW_AT_GNU_dwo_id, AttributeValue::DwoId(id)) => {
                unit.dwo_id.get_or_insert(id);
            }
            _ => {}
        }
    }
    // Ranges may be told from there.
    if let Some(low) = low.map(|low| dwarf.attr_address(&unit, low)).transpose()?.flatten() {
        unit.low_pc = low;
    }
    Ok(unit)
}

/// Joins ranges that overlap.
fn join(mut ranges: Vec<(u64, u64, usize)>) -> (Vec<Stretch>, Vec<usize>) {
    ranges.sort_unstable();
    let mut stretches: Vec<Stretch> = Vec::with_capacity(ranges.len());
    let mut members: Vec<usize> = Vec::with_capacity(ranges.len());
    for (begin, end, unit) in ranges {
        let next = number(members.len());
        match stretches.last_mut() {
            Some(last) if begin < last.end => last.end = last.end.max(end),
            // Ranges of one unit that follow one another are one.
            Some(last) if begin == last.end && members.get(last.first as usize..) == Some(&[unit]) => {
                last.end = end;
            }
            _ => stretches.push(Stretch { begin, end, first: next, last: next }),
        }
        if let Some(last) = stretches.last_mut() {
            if members.get(last.first as usize..).is_none_or(|known| known.last() != Some(&unit)) {
                members.push(unit);
            }
            last.last = number(members.len());
        }
    }
    (stretches, members)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ranges: &[(u64, u64, usize)], address: u64) -> Vec<usize> {
        let (stretches, members) = join(ranges.to_vec());
        members_at(&stretches, &members, address).to_vec()
    }

    #[test]
    fn units_by_address() {
        let ranges = [(0x10, 0x20, 0), (0x20, 0x30, 0), (0x30, 0x40, 1), (0x38, 0x50, 2), (0x60, 0x61, 0)];
        assert_eq!(at(&ranges, 0xf), []);
        assert_eq!(at(&ranges, 0x1f), [0]);
        assert_eq!(at(&ranges, 0x20), [0]);
        assert_eq!(at(&ranges, 0x30), [1, 2]);
        assert_eq!(at(&ranges, 0x4f), [1, 2]);
        assert_eq!(at(&ranges, 0x50), []);
        assert_eq!(at(&ranges, 0x60), [0]);
        assert_eq!(at(&ranges, 0x61), []);
    }

    /// In this test's own program, whose units are of several versions of DWARF.
    #[test]
    fn units_without_lines_have_their_ranges() {
        let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let files = crate::files::Files::new();
        let Some(dwarf) = sections::read(&program, &files, None, true) else { return };
        let headers = headers(&dwarf);
        assert!(!headers.is_empty());
        for header in headers {
            let whole = dwarf.unit(header).unwrap();
            let of_root = abbreviations::of_root(&dwarf, &header).unwrap();
            for abbreviations in [of_root, dwarf.abbreviations(&header).unwrap()] {
                let bare = without_lines(&dwarf, header, abbreviations).unwrap();
                let bases = |unit: &Unit<Slice<'_>>| {
                    let (strings, addresses) = (unit.str_offsets_base, unit.addr_base);
                    (strings, addresses, unit.rnglists_base, unit.low_pc, unit.dwo_id)
                };
                assert_eq!(bases(&bare), bases(&whole), "{:?}", whole.name);
            }
        }
    }
}
