//! Code that a process generated, out of what it wrote of it: the jitdump file that it mapped, and its perf map.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use readperf_code::{Content, Machine};
use rustc_hash::FxHashMap;

use crate::batch::{BatchBuilder, Found, Provides, SourceFrame, Symbol, SymbolBatch};
use crate::code::{Extent, FunctionCode, NoCode, Space};
use crate::find::generated::{self as find, Process};
use crate::function_name::FunctionName;
use crate::ids::{FileId, FunctionId, FxIndexSet, SymbolId};
use crate::options::Options;
use crate::reason::Reason;
use crate::source::jitdump::JitDump;
use crate::source::perf_map::{GeneratedFunction, PerfMap};
use crate::source::{Names, Shared};
use crate::subject::{AddressBatch, Subject};
use crate::table::Binding;

pub(crate) fn open<'f>(
    shared: &Shared<'f>,
    subject: &Subject,
) -> Option<Result<Box<dyn Names + 'f>, Reason>> {
    let Subject::Generated { pid, inner_pid, dump, generation: _ } = subject else { return None };
    let process = Process { pid: *pid, inner_pid: *inner_pid };
    let dump = dump.as_ref().map(|path| read_dump(&shared.options, process.pid, path));
    let map = read_map(&shared.options, process);
    Some(GeneratedNames::new(dump, map).map(|names| Box::new(names) as Box<dyn Names + 'f>))
}

/// The jitdump file that a process mapped, and where it was found.
pub(crate) fn read_dump(options: &Options, pid: u32, path: &Path) -> Result<(PathBuf, JitDump), Reason> {
    let (path, bytes) = find::jitdump(options, pid, path)?;
    match JitDump::parse(bytes) {
        Some(dump) => Ok((path, dump)),
        None => Err(Reason::NotReadable { path, error: "not a jitdump file".to_owned() }),
    }
}

fn read_map(options: &Options, process: Process) -> Result<(PathBuf, PerfMap), Reason> {
    let (path, bytes) = find::perf_map(options, process)?;
    match PerfMap::parse((*bytes).as_ref().to_vec()) {
        Some(map) => Ok((path, map)),
        None => Err(Reason::NotReadable { path, error: "too large".to_owned() }),
    }
}

/// What was written of the code of one process. Where both tell of an address the dump counts, which has lines too.
#[derive(Debug)]
struct GeneratedNames {
    dump: Option<(PathBuf, JitDump)>,
    map: Option<(PathBuf, PerfMap)>,
    /// Why an address without a symbol has none.
    reason: Reason,
}

/// A function of the dump, or else of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Number {
    OfDump(usize),
    OfMap(usize),
}

impl GeneratedNames {
    fn new(
        dump: Option<Result<(PathBuf, JitDump), Reason>>,
        map: Result<(PathBuf, PerfMap), Reason>,
    ) -> Result<GeneratedNames, Reason> {
        // The dump is known to have been there; a map is only a guess.
        let reason = match (&dump, &map) {
            (Some(Err(reason)), _) => reason.clone(),
            (None, Err(reason)) => return Err(reason.clone()),
            (Some(Ok((path, dump))), _) if dump.damage.lost_code() > 0 => {
                Reason::ListDamaged { path: path.clone(), count: dump.damage.lost_code() }
            }
            (_, Ok((path, map))) if map.bad_lines() > 0 => {
                Reason::ListDamaged { path: path.clone(), count: map.bad_lines() }
            }
            (_, Err(reason @ (Reason::ForeignOwner { .. } | Reason::OthersMayWrite { .. }))) => {
                reason.clone()
            }
            _ => Reason::NoSymbolCovers,
        };
        match (dump.and_then(Result::ok), map.ok()) {
            (None, None) => Err(reason),
            (dump, map) => Ok(GeneratedNames { dump, map, reason }),
        }
    }

    fn find(&self, generation: u32, address: u64) -> Option<Number> {
        let dump = self.dump.as_ref().map(|(_, dump)| dump);
        let in_dump = dump.and_then(|dump| dump.at_generation(generation, address)).map(Number::OfDump);
        in_dump.or_else(|| self.map.as_ref()?.1.number_at(address).map(Number::OfMap))
    }

    fn function(&self, number: Number) -> Option<GeneratedFunction<'_>> {
        match number {
            Number::OfDump(number) => self.dump.as_ref()?.1.function(number),
            Number::OfMap(number) => self.map.as_ref()?.1.function(number),
        }
    }

    /// The file of the first line of a function.
    fn source_file(&self, number: Number) -> Option<Arc<str>> {
        let (Some((_, dump)), Number::OfDump(number)) = (&self.dump, number) else { return None };
        dump.line_places(number).first().map(|line| dump.file_name(&line.file).as_ref().into())
    }

    /// The frame of each address that has a line in the dump. Generated code has one level.
    fn push_frames(&self, numbers: &[Option<Number>], batch: &AddressBatch, builder: &mut BatchBuilder) {
        let Some((_, dump)) = &self.dump else { return };
        let mut files = Files::default();
        // Addresses are sorted, so most of one function come one after the other.
        let mut last: (Option<usize>, Vec<_>) = (None, Vec::new());
        for (index, (number, address)) in numbers.iter().zip(&batch.addresses).enumerate() {
            let Some(Number::OfDump(number)) = *number else {
                builder.push_frames([]);
                continue;
            };
            if last.0 != Some(number) {
                last = (Some(number), dump.line_places(number));
            }
            let after = last.1.partition_point(|line| line.address <= *address);
            let line = after.checked_sub(1).and_then(|at| last.1.get(at));
            let function = builder.symbol(index).map(|symbol| FunctionId::new(symbol.index()));
            let frame = line.map(|line| {
                let file = files.number(dump, &line.file);
                SourceFrame { function, file: Some(file), line: line.line, column: 0 }
            });
            builder.push_frames(frame);
        }
        builder.files = files.names.into_iter().collect();
        // Each symbol is also the function of its frames.
        builder.functions = builder.symbols.iter().map(|symbol| symbol.name.clone()).collect();
    }
}

/// Numbers for source files, in the order of their first appearance. A name is read once, whatever number of lines it has.
#[derive(Debug, Default)]
struct Files {
    of_place: FxHashMap<Range<usize>, FileId>,
    names: FxIndexSet<Arc<str>>,
}

impl Files {
    fn number(&mut self, dump: &JitDump, place: &Range<usize>) -> FileId {
        if let Some(known) = self.of_place.get(place) {
            return *known;
        }
        let (index, _) = self.names.insert_full(dump.file_name(place).as_ref().into());
        let file = FileId::new(index);
        self.of_place.insert(place.clone(), file);
        file
    }
}

impl Names for GeneratedNames {
    fn name(&self, options: &Options, batch: &AddressBatch) -> SymbolBatch {
        let mut builder = BatchBuilder::new(batch);
        let paths = [self.dump.as_ref().map(|(path, _)| path), self.map.as_ref().map(|(path, _)| path)];
        let found = |path: &PathBuf| Found { path: path.clone(), provides: Provides::GeneratedCode };
        builder.found = paths.into_iter().flatten().map(found).collect();
        let generation = match &batch.subject {
            Subject::Generated { generation, .. } => *generation,
            _ => 0,
        };
        let numbers: Vec<Option<Number>> =
            batch.addresses.iter().map(|address| self.find(generation, *address)).collect();
        let mut known: FxHashMap<Number, SymbolId> = FxHashMap::default();
        for number in &numbers {
            if let Some(id) = number.and_then(|number| known.get(&number)) {
                builder.push_symbol(*id);
                continue;
            }
            let Some((number, function)) = number.and_then(|number| Some((number, self.function(number)?)))
            else {
                builder.push_reason(&self.reason);
                continue;
            };
            let id = *known.entry(number).or_insert_with(|| {
                // Runtimes write names as people know them: they are not mangled.
                builder.symbols.push(Symbol {
                    name: FunctionName::plain(function.name.into_owned()),
                    start: function.start,
                    end: function.end,
                    binding: Binding::Global,
                    source_file: if options.source_files { self.source_file(number) } else { None },
                });
                SymbolId::new(builder.symbols.len().saturating_sub(1))
            });
            builder.push_symbol(id);
        }
        if options.lines {
            self.push_frames(&numbers, batch, &mut builder);
        }
        builder.finish(batch.clone())
    }

    fn code(&self, subject: &Subject, address: u64) -> Option<Result<FunctionCode, NoCode>> {
        let generation = match subject {
            Subject::Generated { generation, .. } => *generation,
            _ => 0,
        };
        let Some((Number::OfDump(number), (_, dump))) =
            self.find(generation, address).zip(self.dump.as_ref())
        else {
            return Some(Err(NoCode::NotDumped));
        };
        Some(dumped_code(dump, number))
    }
}

/// The code of a function of a dump, at the addresses that it ran at.
fn dumped_code(dump: &JitDump, number: usize) -> Result<FunctionCode, NoCode> {
    let e_machine = dump.machine();
    let unknown = NoCode::UnknownMachine { machine: e_machine };
    // The file does not tell its class: 32 bits have machines of their own, but for RISC-V, whose runtimes have 64.
    let machine = u16::try_from(e_machine).ok().and_then(|number| {
        [true, false].into_iter().find_map(|is_64| Machine::of_elf(number, is_64, dump.is_big_endian()))
    });
    let machine = machine.ok_or(unknown)?;
    let function = dump.function(number).ok_or(NoCode::NotDumped)?;
    let bytes = dump.code(number);
    if bytes.is_empty() {
        return Err(NoCode::NotDumped);
    }
    Ok(FunctionCode {
        machine,
        start: function.start,
        linked: function.start,
        extent: Extent::Symbol,
        is_linked: true,
        bytes: bytes.into(),
        parts: vec![(0, Content::Code)],
        space: Space::Same,
    })
}
