//! Functions and instructions by number, and which of them are at each address.

use crate::export::Export;
use crate::export::labels::push_ids;
use crate::export::strings::{Strings, ranks};
use crate::text::{decoded, printable};
use indexmap::IndexSet;
use readperf_analysis::LinkedAddress;
use readperf_profile::{AddressId, Apart, FileId, FunctionId, Level, SampleRow};
use readperf_session::{CommId, ThreadId};
use rustc_hash::{FxBuildHasher, FxHashMap};

/// What callgrind itself calls what it does not know.
const UNKNOWN: &str = "???";

/// A function as viewers tell them apart. The numbers are those of its texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Function {
    pub(super) object: u32,
    /// The file that it is written in; some of its lines may be in others.
    pub(super) file: u32,
    pub(super) name: u32,
}

/// An instruction of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub(super) function: u32,
    pub(super) file: u32,
    /// From 1; 0 where unknown.
    pub(super) line: u32,
    /// In the object, as the linker gave it.
    pub(super) address: u64,
}

/// Texts as they are written, by number.
#[derive(Debug, Default)]
pub(super) struct Texts(Strings);

impl Texts {
    /// The number of a name.
    fn number(&mut self, name: &str) -> u32 {
        let text = printable(name.trim());
        self.0.number(if text.is_empty() { UNKNOWN } else { &text })
    }

    pub(super) fn get(&self, number: u32) -> &str {
        self.0.get(number).unwrap_or(UNKNOWN)
    }
}

/// The functions and instructions of a profile.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) objects: Texts,
    pub(super) files: Texts,
    pub(super) names: Texts,
    functions: IndexSet<Function, FxBuildHasher>,
    /// Where each function begins; 0 where that is not known, as of inlined ones.
    starts: Vec<u64>,
    places: IndexSet<Place, FxBuildHasher>,
    /// Places at all addresses, one after the other, the outermost first.
    at: Vec<u32>,
    /// Where those of an address end.
    ends: Vec<usize>,
    roots: FxHashMap<(CommId, Option<ThreadId>), u32>,
}

impl Code {
    pub(super) fn of(export: &Export<'_>) -> Code {
        let homes = homes(export);
        let mut code = Code {
            objects: Texts::default(),
            files: Texts::default(),
            names: Texts::default(),
            functions: IndexSet::default(),
            starts: Vec::new(),
            places: IndexSet::default(),
            at: Vec::new(),
            ends: Vec::new(),
            roots: FxHashMap::default(),
        };
        let table = export.frame_table(Apart::default());
        let names = table.frames().iter().map(|frame| code.names.number(&export.label(frame)));
        let names: Vec<u32> = names.collect();
        for address in export.profile.addresses().ids() {
            // Whole: viewers look there for the instructions.
            let binary = export.binary(address).map(|binary| decoded(&binary.name));
            let object = code.objects.number(binary.as_deref().unwrap_or_default());
            for (frame, level) in table.at(address).iter().zip(export.levels_at(address)).rev() {
                let name = names.get(frame.index()).copied().unwrap_or_default();
                let home = homes.get(&level.function).copied();
                let place = code.place_of(export, (object, name), home.flatten(), &level);
                code.at.push(place);
            }
            code.ends.push(code.at.len());
        }
        code
    }

    fn place_of(
        &mut self,
        export: &Export<'_>,
        (object, name): (u32, u32),
        home: Option<FileId>,
        level: &Level,
    ) -> u32 {
        let file_name = |file: Option<FileId>| file.and_then(|file| export.profile.names().file(file));
        let home = self.files.number(file_name(home).unwrap_or_default());
        let file = file_name(level.file).map_or(home, |file| self.files.number(file));
        let function = number(&mut self.functions, Function { object, file: home, name });
        let LinkedAddress { instruction, bias } = export.linked_address(level.address);
        if self.starts.len() <= function as usize {
            self.starts.resize(function as usize + 1, 0);
        }
        if let Some(start) = self.starts.get_mut(function as usize).filter(|start| **start == 0) {
            *start = start_of(export, level, bias).unwrap_or(0);
        }
        number(&mut self.places, Place { function, file, line: level.line, address: instruction })
    }

    /// The place of what a row's stack stands on: its thread's name.
    pub(super) fn root(&mut self, export: &Export<'_>, row: &SampleRow) -> u32 {
        if let Some(root) = self.roots.get(&(row.comm, row.thread)) {
            return *root;
        }
        let mut name = export.comm(row).into_owned();
        push_ids(export, row, &mut name);
        name.push_str(" (thread)");
        let (object, file) = (self.objects.number(UNKNOWN), self.files.number(UNKNOWN));
        let name = self.names.number(&name);
        let function = number(&mut self.functions, Function { object, file, name });
        let place = number(&mut self.places, Place { function, file, line: 0, address: 0 });
        self.roots.insert((row.comm, row.thread), place);
        place
    }

    /// Forgets what is only needed to add costs: nothing is numbered from now on, and no address is asked about.
    pub(super) fn freeze(&mut self) {
        self.functions.shrink_to_fit();
        self.places.shrink_to_fit();
        (self.at, self.ends) = Default::default();
    }

    /// The places at an address, the outermost first.
    pub(super) fn at(&self, address: AddressId) -> &[u32] {
        let before = address.index().checked_sub(1).and_then(|before| self.ends.get(before));
        let end = self.ends.get(address.index()).copied().unwrap_or(0);
        self.at.get(before.copied().unwrap_or(0)..end).unwrap_or_default()
    }

    pub(super) fn place(&self, number: u32) -> Place {
        self.places.get_index(number as usize).copied().unwrap_or_default()
    }

    pub(super) fn function(&self, number: u32) -> Function {
        self.functions.get_index(number as usize).copied().unwrap_or_default()
    }

    /// Where a function begins; 0 where that is not known.
    pub(super) fn start(&self, function: u32) -> u64 {
        self.starts.get(function as usize).copied().unwrap_or(0)
    }

    /// The functions' places in the order of objects, files and names.
    pub(super) fn ranks(&self) -> Vec<u32> {
        ranks(self.functions.iter().map(|function| {
            let Function { object, file, name } = function;
            (self.objects.get(*object), self.files.get(*file), self.names.get(*name))
        }))
    }

    /// The files' places in the order of their names.
    pub(super) fn file_ranks(&self) -> Vec<u32> {
        ranks(self.files.0.iter())
    }
}

/// Where the function of a level begins, by the linker's addresses.
fn start_of(export: &Export<'_>, level: &Level, bias: u64) -> Option<u64> {
    let function = export.profile.function(level.function)?;
    (function.has_name() && !level.inlined).then(|| function.address.wrapping_add(bias))
}

/// The number of a thing.
fn number<T: Eq + std::hash::Hash>(things: &mut IndexSet<T, FxBuildHasher>, thing: T) -> u32 {
    u32::try_from(things.insert_full(thing).0).unwrap_or(u32::MAX)
}

/// The file that each function is written in: the one that its symbol tells, if it has lines there, else where most of its
/// addresses are.
fn homes(export: &Export<'_>) -> FxHashMap<FunctionId, Option<FileId>> {
    let mut counts: FxHashMap<(FunctionId, FileId), u64> = FxHashMap::default();
    for address in export.profile.addresses().ids() {
        for level in export.levels_at(address) {
            if let Some(file) = level.file {
                *counts.entry((level.function, file)).or_default() += 1;
            }
        }
    }
    let file_name = |file: FileId| export.profile.names().file(file).unwrap_or_default();
    let worth = |(function, file): (FunctionId, FileId), count: u64| {
        let told = export.profile.function(function).and_then(|function| function.source_file());
        (told == Some(file_name(file)), count, std::cmp::Reverse(file_name(file)))
    };
    let mut homes: FxHashMap<FunctionId, Option<FileId>> = FxHashMap::default();
    for ((function, file), count) in &counts {
        let home = homes.entry(*function).or_default();
        let best = home.and_then(|best| Some(worth((*function, best), *counts.get(&(*function, best))?)));
        if best < Some(worth((*function, *file), *count)) {
            *home = Some(*file);
        }
    }
    homes
}
