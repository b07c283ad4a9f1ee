//! Binaries, places and functions by number, in the order in which samples first need them.

use super::message::{Function, Line, Location, Mapping};
use crate::export::Export;
use crate::export::frames::Level;
use crate::export::images::Images;
use crate::export::strings::Strings;
use crate::json::hex;
use crate::text::printable;
use readperf_profile::{AddressId, FileId, FunctionId};
use readperf_session::{BinaryId, BinaryKind};
use rustc_hash::FxHashMap;

/// The tables, as far as they are needed.
pub(super) struct Places<'x> {
    export: Export<'x>,
    images: Images,
    /// Numbers of locations by address; 0 for those not needed yet.
    of_address: Vec<u32>,
    /// The same place of a binary can have several addresses: one a process.
    of_place: FxHashMap<(Option<BinaryId>, u64), u64>,
    of_binary: FxHashMap<BinaryId, u64>,
    /// A function has one file in pprof; what is inlined from several files is several functions.
    of_function: FxHashMap<(FunctionId, Option<FileId>), u64>,
    /// Numbers of binaries that are no libraries, by what they are called.
    programs: Vec<u64>,
    pub(super) mappings: Vec<Mapping>,
    /// Locations and functions that are new, and have to be written.
    pub(super) locations: Vec<Location>,
    pub(super) functions: Vec<Function>,
}

impl<'x> Places<'x> {
    pub(super) fn new(export: Export<'x>) -> Self {
        Places {
            export,
            images: Images::of(&export),
            of_address: vec![0; export.profile.addresses().len()],
            of_place: FxHashMap::default(),
            of_binary: FxHashMap::default(),
            of_function: FxHashMap::default(),
            programs: Vec::new(),
            mappings: Vec::new(),
            locations: Vec::new(),
            functions: Vec::new(),
        }
    }

    /// The number of the location at an address.
    pub(super) fn location(&mut self, address: AddressId, strings: &mut Strings) -> u64 {
        match self.of_address.get(address.index()) {
            Some(0) => {}
            Some(known) => return u64::from(*known),
            None => return 0,
        }
        let Some(code) = self.export.profile.addresses().get(address).copied() else { return 0 };
        let next = next_id(self.of_place.len());
        let id = *self.of_place.entry((code.binary, code.address)).or_insert(next);
        if id == next {
            let location = self.describe(address, code.binary, id, strings);
            self.locations.push(location);
        }
        // There are no more than addresses.
        if let (Some(number), Ok(id)) = (self.of_address.get_mut(address.index()), u32::try_from(id)) {
            *number = id;
        }
        id
    }

    /// Puts the first program before the other binaries: pprof takes the first for what the profile is of.
    pub(super) fn program_first(&mut self) {
        let program = self.mappings.iter().position(|mapping| self.programs.contains(&mapping.id));
        if let Some(mappings) = program.and_then(|at| self.mappings.get_mut(..=at)) {
            mappings.rotate_right(1);
        }
    }

    fn describe(
        &mut self,
        address: AddressId,
        binary: Option<BinaryId>,
        id: u64,
        strings: &mut Strings,
    ) -> Location {
        let mapping = binary.map_or(0, |binary| self.mapping(binary, strings));
        let levels: Vec<Level> = self.export.levels_at(address).collect();
        let mut lines = Vec::with_capacity(levels.len());
        for level in &levels {
            let function = self.function(level, strings);
            // An address without a name is shown as its binary's by pprof itself, which may also know better.
            if function > 0 {
                lines.push(Line { function, line: i64::from(level.line) });
            }
        }
        if let Some(mapping) = index(mapping).and_then(|at| self.mappings.get_mut(at)) {
            mapping.has_functions |= !lines.is_empty();
            mapping.has_file_names |= levels.iter().any(|level| level.file.is_some());
            mapping.has_line_numbers |= levels.iter().any(|level| level.line > 0);
            mapping.has_inline_frames |= levels.iter().any(|level| level.inlined);
        }
        Location { id, mapping, address: self.images.address(&self.export, address), lines }
    }

    fn mapping(&mut self, id: BinaryId, strings: &mut Strings) -> u64 {
        let next = next_id(self.mappings.len());
        let number = *self.of_binary.entry(id).or_insert(next);
        if number == next
            && let Some(binary) = self.export.session.binary(id)
        {
            let image = self.images.get(id);
            if binary.kind == BinaryKind::User && !is_library(&binary.short_name) {
                self.programs.push(number);
            }
            let build_id = binary.build_id.as_deref().map(hex).unwrap_or_default();
            self.mappings.push(Mapping {
                id: number,
                start: image.map_or(0, |image| image.start),
                limit: image.map_or(0, |image| image.limit),
                offset: image.map_or(0, |image| image.offset()),
                file_name: strings.number(&printable(&String::from_utf8_lossy(&binary.name))).into(),
                build_id: strings.number(&build_id).into(),
                ..Mapping::default()
            });
        }
        number
    }

    /// The number of a function; 0 of what has no name.
    fn function(&mut self, level: &Level, strings: &mut Strings) -> u64 {
        let Some(function) = self.export.profile.function(level.function) else { return 0 };
        let Some(name) = function.name() else { return 0 };
        let next = next_id(self.of_function.len());
        let number = *self.of_function.entry((level.function, level.file)).or_insert(next);
        if number == next {
            let file = level.file.and_then(|file| self.export.profile.names().file(file));
            let file = file.or(function.source_file()).unwrap_or_default();
            let system_name = function.linkage_name().unwrap_or(name);
            let mut string = |text: &str| i64::from(strings.number(&printable(text)));
            let (name, system_name, file_name) = (string(name), string(system_name), string(file));
            self.functions.push(Function { id: number, name, system_name, file_name });
        }
        number
    }
}

fn index(id: u64) -> Option<usize> {
    usize::try_from(id.checked_sub(1)?).ok()
}

fn is_library(name: &[u8]) -> bool {
    name.windows(3).any(|part| part == b".so")
}

/// Ids start at 1.
fn next_id(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX).saturating_add(1)
}
