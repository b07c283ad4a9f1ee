//! Binaries, places and functions by number, in the order in which samples first need them.

use super::as_graphviz_reads;
use super::message::{Function, Line, Location, Mapping};
use crate::export::Export;
use crate::export::images::Images;
use crate::export::strings::Strings;
use crate::json::hex;
use crate::text::{decoded, printable};
use readperf_profile::{AddressId, Apart, FrameId, FrameTable, Level};
use readperf_session::{Binary, BinaryId, BinaryKind};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// Whether a binary may be what a profile is of, and how many samples are of it. The last is the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Program {
    /// It is the kernel, a library, or memory.
    No,
    /// A file that only ever was in memory: a program that ran from there, or code that a runtime put there.
    InMemory(u64),
    /// An executable file, or what looks like one.
    File(u64),
}

/// The tables, as far as they are needed.
pub(super) struct Places<'x> {
    export: Export<'x>,
    images: Images,
    /// Numbers of locations by address; 0 for those not needed yet.
    of_address: Vec<u32>,
    /// The same place of a binary can have several addresses: one a process.
    of_place: FxHashMap<(Option<BinaryId>, u64), u64>,
    of_binary: FxHashMap<BinaryId, u64>,
    /// A function has one file in pprof: what is inlined from several files is several functions.
    frames: FrameTable,
    /// Numbers of functions by frame; 0 for those not needed yet.
    of_frame: Vec<u64>,
    /// How many functions have a number.
    told: u64,
    /// The mapping of each location; 0 where there is none.
    of_location: Vec<u64>,
    /// What each mapping may be the profile of.
    programs: Vec<Program>,
    pub(super) mappings: Vec<Mapping>,
    /// Locations and functions that are new, and have to be written.
    pub(super) locations: Vec<Location>,
    pub(super) functions: Vec<Function>,
}

impl<'x> Places<'x> {
    pub(super) fn new(export: Export<'x>) -> Self {
        let frames = export.frame_table(Apart { files: true, linkage_names: true, ..Apart::default() });
        Places {
            export,
            images: Images::of(&export),
            of_address: vec![0; export.profile.addresses().len()],
            of_place: FxHashMap::default(),
            of_binary: FxHashMap::default(),
            told: 0,
            of_frame: vec![0; frames.frames().len()],
            frames,
            of_location: Vec::new(),
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
        let Some(code) = self.export.profile.addresses().get(address) else { return 0 };
        let next = next_id(self.of_place.len());
        let id = *self.of_place.entry((code.binary, code.address)).or_insert(next);
        if id == next {
            let location = self.describe(address, code.binary, id, strings);
            self.of_location.push(location.mapping);
            self.locations.push(location);
        }
        // There are no more than addresses.
        if let (Some(number), Ok(id)) = (self.of_address.get_mut(address.index()), u32::try_from(id)) {
            *number = id;
        }
        id
    }

    /// Takes in that so many samples have this stack, the innermost location first: they are of the outermost program in it.
    pub(super) fn count(&mut self, stack: &[u64], samples: u64) {
        for location in stack.iter().rev() {
            let mapping = index(*location).and_then(|at| self.of_location.get(at)).copied().and_then(index);
            match mapping.and_then(|at| self.programs.get_mut(at)) {
                Some(Program::File(sum) | Program::InMemory(sum)) => {
                    *sum = sum.saturating_add(samples);
                    return;
                }
                Some(Program::No) | None => {}
            }
        }
    }

    /// Puts the program that most samples are of before the other binaries: pprof takes the first for what the profile is of.
    pub(super) fn program_first(&mut self) {
        let programs = self.programs.iter().enumerate().filter(|(_, program)| **program != Program::No);
        let main = programs.max_by_key(|(at, program)| (**program, Reverse(*at))).map(|(at, _)| at);
        if let Some(mappings) = main.and_then(|at| self.mappings.get_mut(..=at)) {
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
        let frames = self.frames.at(address).to_vec();
        // A location without a line would be missing from pprof's flame graph.
        let lines = frames.iter().zip(&levels).map(|(frame, level)| Line {
            function: self.function(*frame, strings),
            line: i64::from(level.line),
        });
        let lines: Vec<Line> = lines.collect();
        if let Some(mapping) = index(mapping).and_then(|at| self.mappings.get_mut(at)) {
            // What stands in for names is none: pprof may look for better ones.
            mapping.has_functions |= levels.iter().any(|level| self.export.name(level).is_some());
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
            self.programs.push(program(binary));
            let name = decoded(&binary.name);
            let name = printable(&name);
            let build_id = binary.build_id.as_deref().map(hex).unwrap_or_default();
            self.mappings.push(Mapping {
                id: number,
                start: image.map_or(0, |image| image.start),
                limit: image.map_or(0, |image| image.limit),
                offset: image.map_or(0, |image| image.offset()),
                file_name: strings.number(&as_graphviz_reads(&name)).into(),
                build_id: strings.number(&build_id).into(),
                ..Mapping::default()
            });
        }
        number
    }

    /// The number of a function; of what has no name, that of its binary in brackets.
    fn function(&mut self, frame: FrameId, strings: &mut Strings) -> u64 {
        let (Some(number), Some(frame)) =
            (self.of_frame.get_mut(frame.index()), self.frames.frames().get(frame.index()))
        else {
            return 0;
        };
        if *number == 0 {
            self.told += 1;
            *number = self.told;
            let level = &frame.first;
            let function = self.export.profile.function(level.function);
            let file = level.file.and_then(|file| self.export.profile.names().file(file));
            let file = file.or_else(|| function?.source_file()).unwrap_or_default();
            let label = self.export.label(frame);
            let linkage_name = function.and_then(|function| function.linkage_name());
            let mut string = |text: &str| i64::from(strings.number(&printable(text)));
            let (name, system_name) = (string(&label), string(linkage_name.unwrap_or(&label)));
            self.functions.push(Function { id: *number, name, system_name, file_name: string(file) });
        }
        *number
    }
}

/// What a binary may be by its kind and its name.
fn program(binary: &Binary) -> Program {
    let in_memory =
        ["/memfd:", "/dev/", "/SYSV"].iter().any(|start| binary.name.starts_with(start.as_bytes()));
    match binary.kind == BinaryKind::User && !is_library(&binary.short_name) {
        false => Program::No,
        true if in_memory => Program::InMemory(0),
        true => Program::File(0),
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
