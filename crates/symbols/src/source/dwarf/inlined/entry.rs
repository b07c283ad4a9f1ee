//! What single entries say: where their code is and what they are called.

use std::rc::Rc;

use gimli::{AttributeValue, DebugInfoOffset, EntriesRaw, Range, Unit, UnitOffset, UnitRef};
use rustc_hash::FxHashMap;

use super::super::units::Units;
use super::super::{Dwarf, Slice};

/// How many entries a name is followed through.
const MAX_REFERENCES: usize = 16;

/// How many units that others refer to are kept.
const MAX_KEPT_UNITS: usize = 64;

/// A stretch of code: the first address, and the one behind its last.
pub(in crate::source::dwarf) type Code = Range;

type Value<'f> = AttributeValue<Slice<'f>>;

/// Whether entries of this form say where code is.
pub(super) fn may_have_code(abbreviation: &gimli::Abbreviation) -> bool {
    let mut attributes = abbreviation.attributes().iter();
    attributes.any(|attribute| matches!(attribute.name(), gimli::DW_AT_low_pc | gimli::DW_AT_ranges))
}

/// Reads an entry whose abbreviation was read: tells `each` all of its other attributes, and `add` the stretches of its code
/// that are not empty. An entry that the linker has dropped has some at the end of the address space, which wrap.
pub(in crate::source::dwarf) fn read_code<'f>(
    unit: UnitRef<'_, Slice<'f>>,
    entries: &mut EntriesRaw<'_, Slice<'f>>,
    abbreviation: &gimli::Abbreviation,
    mut each: impl FnMut(gimli::Attribute<Slice<'f>>) -> gimli::Result<()>,
    mut add: impl FnMut(Code),
) -> gimli::Result<()> {
    let (mut low, mut high, mut size, mut list) = (None, None, None, None);
    for form in abbreviation.attributes() {
        let attribute = entries.read_attribute(*form)?;
        match (attribute.name(), attribute.value()) {
            (gimli::DW_AT_low_pc, value) => low = unit.attr_address(value)?,
            (gimli::DW_AT_high_pc, AttributeValue::Udata(value)) => size = Some(value),
            (gimli::DW_AT_high_pc, value) => high = unit.attr_address(value)?,
            (gimli::DW_AT_ranges, value) => list = unit.attr_ranges_offset(value)?,
            _ => each(attribute)?,
        }
    }
    let mut add = |code: Code| {
        if code.begin < code.end {
            add(code);
        }
    };
    if let Some(list) = list {
        let mut ranges = unit.ranges(list)?;
        while let Some(code) = ranges.next()? {
            add(code);
        }
    } else if let Some(begin) = low {
        let end = high.or_else(|| size.map(|size| begin.wrapping_add(size)));
        add(Code { begin, end: end.unwrap_or(begin) });
    }
    Ok(())
}

/// The attributes of an entry that name it, and say where it is written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Naming<'f> {
    linkage: Option<Value<'f>>,
    plain: Option<Value<'f>>,
    /// The source file, by its number in the line table of its unit.
    file: Option<u64>,
    /// The entry that this one is an instance of.
    origin: Option<Value<'f>>,
}

impl<'f> Naming<'f> {
    /// Takes in an attribute of the entry.
    pub(super) fn see(&mut self, attribute: &gimli::Attribute<Slice<'f>>) {
        match attribute.name() {
            gimli::DW_AT_linkage_name | gimli::DW_AT_MIPS_linkage_name => {
                self.linkage = Some(attribute.value());
            }
            gimli::DW_AT_name => self.plain = Some(attribute.value()),
            gimli::DW_AT_decl_file => self.file = file_number(attribute.value()),
            gimli::DW_AT_abstract_origin | gimli::DW_AT_specification => {
                self.origin = Some(attribute.value());
            }
            _ => {}
        }
    }
}

fn file_number(value: Value<'_>) -> Option<u64> {
    match value {
        AttributeValue::FileIndex(number) => Some(number),
        other => other.udata_value(),
    }
}

/// A unit that another one refers to, and in which file it is.
type Referred<'f> = (Rc<Unit<Slice<'f>>>, bool);

/// Finds the names of entries, in whatever unit they are.
pub(super) struct Names<'u, 'f> {
    dwarf: &'u Dwarf<'f>,
    units: &'u Units<'f>,
    /// Other units, by whether they are in the file that is shared with others, and by their offset.
    kept: FxHashMap<(bool, usize), Rc<Unit<Slice<'f>>>>,
}

impl<'u, 'f> Names<'u, 'f> {
    pub(super) fn new(dwarf: &'u Dwarf<'f>, units: &'u Units<'f>) -> Names<'u, 'f> {
        Names { dwarf, units, kept: FxHashMap::default() }
    }

    /// The name of an entry of `unit`, by its own attributes or those of the entries that it is an instance of: that for the
    /// linker if there is one.
    pub(super) fn name(
        &mut self,
        unit: UnitRef<'_, Slice<'f>>,
        naming: &Naming<'f>,
    ) -> gimli::Result<Option<&'f [u8]>> {
        self.first_of(unit, naming, |here, naming| {
            let text = |value: Option<Value<'f>>| here.attr_string(value?).ok().map(|name| name.slice());
            text(naming.linkage).or_else(|| text(naming.plain))
        })
    }

    /// The source file in which the function at `offset` of `unit` is written. A function is declared in a header and defined
    /// elsewhere: its own entry tells of the definition, and so comes first.
    pub(super) fn source_file(
        &mut self,
        unit: UnitRef<'_, Slice<'f>>,
        offset: UnitOffset,
    ) -> gimli::Result<Option<String>> {
        let naming = read_naming(unit, offset)?;
        self.first_of(unit, &naming, |here, naming| source_path(here, naming.file?))
    }

    /// What an entry of `unit`, or else the first of the entries that it is an instance of, has.
    fn first_of<T>(
        &mut self,
        unit: UnitRef<'_, Slice<'f>>,
        naming: &Naming<'f>,
        pick: impl Fn(UnitRef<'_, Slice<'f>>, &Naming<'f>) -> Option<T>,
    ) -> gimli::Result<Option<T>> {
        let (mut naming, mut other): (Naming<'f>, Option<Referred<'f>>) = (*naming, None);
        for _ in 0..=MAX_REFERENCES {
            let (here, is_shared) = match &other {
                Some((other, true)) => (UnitRef::new(self.dwarf.sup().unwrap_or(self.dwarf), other), true),
                Some((other, false)) => (UnitRef::new(self.dwarf, other), false),
                None => (unit, false),
            };
            if let Some(found) = pick(here, &naming) {
                return Ok(Some(found));
            }
            let Some(origin) = naming.origin else { return Ok(None) };
            let (next, offset) = match origin {
                AttributeValue::UnitRef(offset) => {
                    naming = read_naming(here, offset)?;
                    continue;
                }
                AttributeValue::DebugInfoRef(offset) => self.unit_at(is_shared, offset)?,
                AttributeValue::DebugInfoRefSup(offset) if self.dwarf.sup().is_some() => {
                    self.unit_at(true, offset)?
                }
                _ => return Ok(None),
            };
            let sections = if next.1 { self.dwarf.sup().unwrap_or(self.dwarf) } else { self.dwarf };
            naming = read_naming(UnitRef::new(sections, &next.0), offset)?;
            other = Some(next);
        }
        Ok(None)
    }

    /// The unit that has an entry, and where the entry is in it.
    fn unit_at(
        &mut self,
        is_shared: bool,
        offset: DebugInfoOffset,
    ) -> gimli::Result<(Referred<'f>, UnitOffset)> {
        let missing = || gimli::Error::NoEntryAtGivenOffset(offset.0.try_into().unwrap_or(u64::MAX));
        let header = self.units.header_of(is_shared, self.dwarf, offset).ok_or_else(missing)?;
        let key = (is_shared, header.debug_info_offset().map_or(0, |offset| offset.0));
        let unit = match self.kept.get(&key) {
            Some(unit) => Rc::clone(unit),
            None => {
                if self.kept.len() >= MAX_KEPT_UNITS {
                    self.kept.clear();
                }
                let sections = if is_shared { self.dwarf.sup().ok_or_else(missing)? } else { self.dwarf };
                let unit = Rc::new(self.units.unit(sections, header)?);
                self.kept.insert(key, Rc::clone(&unit));
                unit
            }
        };
        let within = offset.to_unit_offset(&unit.header).ok_or_else(missing)?;
        Ok(((unit, is_shared), within))
    }
}

/// The path of a file of a unit's line table. DWARF 5, section 6.2.4: names are relative to their directory, that to the
/// directory of the compilation. Before version 5 directory 0 is that one.
fn source_path(unit: UnitRef<'_, Slice<'_>>, number: u64) -> Option<String> {
    let header = unit.line_program.as_ref()?.header();
    let file = header.file(number)?;
    let text = |value| Some(unit.attr_string(value).ok()?.to_string_lossy().into_owned());
    let mut path = unit.comp_dir.map(|dir| dir.to_string_lossy().into_owned()).unwrap_or_default();
    if file.directory_index() != 0 {
        push(&mut path, &file.directory(header).and_then(text)?);
    }
    push(&mut path, &text(file.path_name())?);
    Some(path)
}

/// Goes on from a path: a rooted one starts anew.
fn push(path: &mut String, next: &str) {
    if next.starts_with('/') {
        path.clear();
    } else if !path.is_empty() && !path.ends_with('/') {
        path.push('/');
    }
    path.push_str(next);
}

fn read_naming<'f>(unit: UnitRef<'_, Slice<'f>>, offset: UnitOffset) -> gimli::Result<Naming<'f>> {
    let mut naming = Naming::default();
    let mut entries = unit.entries_raw(Some(offset))?;
    if let Some(abbreviation) = entries.read_abbreviation()? {
        for form in abbreviation.attributes() {
            naming.see(&entries.read_attribute(*form)?);
        }
    }
    Ok(naming)
}
