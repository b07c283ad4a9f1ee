//! What a runtime dumped of the code it generated: jitdump files (`jit-PID.dump`), with the code itself, source lines and
//! times, read without rewriting the recording first.

mod call_frames;
mod image;
mod line_table;
mod lines;
mod record;
mod unused;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::path::Path;

use rustc_hash::FxHashMap;

use crate::files::FileBytes;
use crate::name::as_name;
use crate::options::Options;
use crate::reason::Reason;
use crate::source::generated;
use crate::source::generations::{CodeChange, Generations};
use crate::source::layers::{Layer, Layers};
use crate::source::perf_map::GeneratedFunction;
pub(crate) use call_frames::CallFrames;
pub use image::{GeneratedImage, IMAGE_CODE_OFFSET};
use lines::{LineEntry, Lines};
use record::{Header, Record, Records};

/// Where `perf inject` puts the code in the ELF files it makes of a dump: behind the headers. Some runtimes (V8) add this
/// to the addresses of all lines, so that the lines are right in those files. The greater one is of newer versions.
const CODE_OFFSETS_IN_MADE_FILES: [u64; 2] = [0x80, 0x40];

/// A jitdump file.
pub struct JitDump {
    bytes: FileBytes,
    header: Header,
    functions: Vec<Function>,
    layers: Layers,
    generations: Generations,
    /// What was added to the addresses of all lines.
    line_offset: u64,
    /// What could not be read.
    pub damage: JitDamage,
}

/// What of a jitdump file could not be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JitDamage {
    /// Records whose fields do not fit in them.
    pub damaged_records: u64,
    /// Records of a kind that is not known.
    pub unknown_records: u64,
    /// Moves of code that was never loaded.
    pub moves_of_nothing: u64,
    /// Source lines, or unwinding information, of code that was not loaded next.
    pub unused_details: u64,
    /// Source lines whose files have no readable name, so that it is not known where one ends and the next begins.
    pub damaged_lines: u64,
    /// Whether the file ends within a record.
    pub is_cut: bool,
}

impl JitDamage {
    /// How many records may have been code that is now missing.
    pub fn lost_code(&self) -> u64 {
        self.damaged_records.saturating_add(self.moves_of_nothing).saturating_add(u64::from(self.is_cut))
    }
}

/// A piece of code at one place.
#[derive(Clone, Debug)]
struct Function {
    /// The number of the code as it was loaded; another one if this is where it was moved to.
    origin: usize,
    name: Range<usize>,
    code: Range<usize>,
    /// Where it was when lines and unwinding information were written.
    loaded_at: u64,
    lines: Option<Lines>,
    /// How long it was then.
    loaded_size: u64,
    unwinding: Option<Unwinding>,
}

#[derive(Clone, Debug)]
struct Unwinding {
    data: Range<usize>,
    header_size: usize,
    /// Address of `.eh_frame`, if its header tells it.
    eh_frame_at: Option<u64>,
}

/// Where generated code comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedLine<'d> {
    /// First address of the line, where the code was when it was asked about.
    pub address: u64,
    /// Source file as the runtime wrote it.
    pub file: Cow<'d, str>,
    /// Line, from 1; 0 when unknown.
    pub line: u32,
}

impl JitDump {
    /// The process that writes a file of this name (`…/jit-1234.dump`). A recording tells of the file by a mapping of
    /// it, which is how it is found.
    pub fn pid_in_name(path: &Path) -> Option<u32> {
        let name = path.file_name()?.to_str()?;
        let digits = name.strip_prefix("jit-")?.strip_suffix(".dump")?;
        digits.bytes().all(|digit| digit.is_ascii_digit()).then_some(())?;
        digits.parse().ok()
    }

    /// Finds the file that a process (as the recording numbers it) mapped from this path, and reads it.
    ///
    /// # Errors
    /// Why there is none, or why it is not read: see [`Subject::Generated`](crate::Subject).
    pub fn find(options: &Options, pid: u32, path: &Path) -> Result<JitDump, Reason> {
        generated::read_dump(options, pid, path).map(|(_, dump)| dump)
    }

    /// Reads a file. `None` when it is no jitdump file.
    pub fn parse(bytes: FileBytes) -> Option<JitDump> {
        let data: &[u8] = (*bytes).as_ref();
        let header = Header::read(data)?;
        let mut reader = Reader::default();
        let mut records = Records::of(data, &header);
        for (time, record) in &mut records {
            reader.take(data, time, record);
        }
        reader.damage.is_cut = records.is_cut;
        reader.count_unused(reader.pending_lines.is_some());
        reader.count_unused(reader.pending_unwinding.is_some());
        let line_offset = reader.line_offset();
        let Reader { functions, layers, damage, .. } = reader;
        let generations = Generations::of(&layers);
        let layers = Layers::new(layers);
        Some(JitDump { header, functions, layers, generations, line_offset, damage, bytes })
    }

    /// The process, as it saw its own number.
    pub fn pid(&self) -> u32 {
        self.header.pid
    }

    /// The machine, as in ELF headers (`EM_*`); 0 where the writer does not tell.
    pub fn machine(&self) -> u32 {
        self.header.machine
    }

    /// Whether times are ticks of the processor. Otherwise they are of the clock `CLOCK_MONOTONIC`, in ns, and only of
    /// use for a recording with the same clock (`perf record -k mono`).
    pub fn has_processor_time(&self) -> bool {
        self.header.has_processor_time
    }

    /// How many pieces of code there are; one that was moved counts once for each place.
    pub fn len(&self) -> usize {
        self.functions.len()
    }

    /// Whether there is no code.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// The number of the code at an address in the end.
    pub fn last_at(&self, address: u64) -> Option<usize> {
        self.layers.last_at(address)
    }

    /// For each address and time (in the unit of the file) the number of the code that was there then.
    pub fn all_at(&self, questions: &[(u64, u64)]) -> Vec<Option<usize>> {
        self.layers.all_at(questions)
    }

    /// The code that shares addresses with other code, in order of time. All else is told by its address alone.
    pub fn changes(&self) -> &[CodeChange] {
        self.generations.changes()
    }

    /// How much code shares addresses but is not among the [`JitDump::changes`], because other code has taken its place
    /// too often to tell all of it apart.
    pub fn changes_left_out(&self) -> u64 {
        self.generations.beyond()
    }

    /// The number of the code of a generation at an address; of generation 0 that which is there in the end.
    pub fn at_generation(&self, generation: u32, address: u64) -> Option<usize> {
        if generation == 0 {
            return self.last_at(address);
        }
        let number = self.generations.last_from(generation, address)?;
        self.layers.layers().get(number).is_some_and(|layer| address < layer.end).then_some(number)
    }

    /// The code with this number.
    pub fn function(&self, number: usize) -> Option<GeneratedFunction<'_>> {
        let layer = self.layers.layers().get(number)?;
        let name = as_name(self.range(&self.functions.get(number)?.name));
        Some(GeneratedFunction { start: layer.start, end: layer.end, name })
    }

    /// When the code with this number came to its place, in the unit of the file.
    pub fn since(&self, number: usize) -> Option<u64> {
        self.layers.layers().get(number).map(|layer| layer.since)
    }

    /// The number of the code as it was loaded, if that with this number is where it was moved to; else this number.
    pub fn origin(&self, number: usize) -> usize {
        self.functions.get(number).map_or(number, |function| function.origin)
    }

    /// The instructions of the code with this number; empty when they were not dumped.
    pub fn code(&self, number: usize) -> &[u8] {
        self.functions.get(number).map_or(&[], |function| self.range(&function.code))
    }

    /// `.eh_frame` and `.eh_frame_hdr` of the code with this number.
    pub fn unwinding(&self, number: usize) -> Option<(&[u8], &[u8])> {
        let unwinding = self.functions.get(number)?.unwinding.as_ref()?;
        let data = self.range(&unwinding.data);
        data.split_at_checked(data.len().checked_sub(unwinding.header_size)?)
    }

    /// Whether other code was or is where the code with this number is.
    pub(crate) fn shares_its_place(&self, number: usize) -> bool {
        self.generations.is_shared(number)
    }

    /// The source lines of the code with this number, by address.
    pub fn lines(&self, number: usize) -> Vec<GeneratedLine<'_>> {
        let lines = self.line_places(number).into_iter();
        lines
            .map(|place| GeneratedLine {
                address: place.address,
                file: self.file_name(&place.file),
                line: place.line,
            })
            .collect()
    }

    /// The same without the names of files, of which one may stand for many lines.
    pub(crate) fn line_places(&self, number: usize) -> Vec<LineEntry> {
        let (Some(function), Some(layer)) = (self.functions.get(number), self.layers.layers().get(number))
        else {
            return Vec::new();
        };
        let Some(lines) = &function.lines else { return Vec::new() };
        let lines = lines.read(self.data(), self.header.is_big_endian);
        let size = layer.end.saturating_sub(layer.start);
        let line = |entry: LineEntry| {
            // Entries that are damaged mostly are nowhere near the code.
            let within = entry.address.wrapping_sub(function.loaded_at).wrapping_sub(self.line_offset);
            (within < size).then(|| LineEntry { address: layer.start.wrapping_add(within), ..entry })
        };
        lines.into_iter().filter_map(line).collect()
    }

    /// The name of a source file.
    pub(crate) fn file_name(&self, place: &Range<usize>) -> Cow<'_, str> {
        as_name(self.range(place))
    }

    fn data(&self) -> &[u8] {
        (*self.bytes).as_ref()
    }

    fn range(&self, range: &Range<usize>) -> &[u8] {
        self.data().get(range.clone()).unwrap_or(&[])
    }
}

impl fmt::Debug for JitDump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Header { pid, machine, .. } = self.header;
        write!(f, "JitDump {{ pid: {pid}, machine: {machine}, {} functions, {:?} }}", self.len(), self.damage)
    }
}

/// Puts records together.
#[derive(Debug, Default)]
struct Reader {
    functions: Vec<Function>,
    layers: Vec<Layer>,
    damage: JitDamage,
    /// The last function with an index, by which a move names it.
    by_index: FxHashMap<u64, usize>,
    /// Lines for the code at an address, which is to be loaded next.
    pending_lines: Option<(u64, Lines)>,
    pending_unwinding: Option<Unwinding>,
    /// Unwinding information that is about all code that is loaded until there is more of it.
    common_unwinding: Option<Unwinding>,
}

impl Reader {
    fn take(&mut self, data: &[u8], time: u64, record: Record) {
        match record {
            Record::Load { address, size, index, name, code } => {
                let lines = self.pending_lines.take();
                let fits = lines.as_ref().is_none_or(|(of, _)| *of == address);
                self.count_unused(!fits);
                let lines = lines
                    .filter(|_| fits)
                    .and_then(|(_, lines)| self.sound(data, lines, address, size, &name));
                let function = Function {
                    origin: self.functions.len(),
                    name,
                    code,
                    loaded_at: address,
                    lines,
                    loaded_size: size,
                    unwinding: self.pending_unwinding.take().or_else(|| self.common_unwinding.clone()),
                };
                self.push(
                    function,
                    Layer { start: address, end: address.saturating_add(size), since: time },
                    index,
                );
            }
            Record::Move { to, size, index, .. } => {
                let moved = self.by_index.get(&index).and_then(|at| self.functions.get(*at)).cloned();
                match moved {
                    Some(function) => {
                        self.push(
                            function,
                            Layer { start: to, end: to.saturating_add(size), since: time },
                            index,
                        );
                    }
                    None => self.damage.moves_of_nothing = self.damage.moves_of_nothing.saturating_add(1),
                }
            }
            Record::DebugInfo { address, lines } => {
                let unused = self.pending_lines.replace((address, lines));
                self.count_unused(unused.is_some());
            }
            Record::UnwindingInfo { header_size, data, eh_frame_at } => {
                let unwinding = Unwinding { data, header_size, eh_frame_at };
                // The table of a whole module, as LLVM writes it, is told once for all functions.
                self.common_unwinding = Some(&unwinding).filter(|told| told.eh_frame_at.is_some()).cloned();
                let unused = self.pending_unwinding.replace(unwinding);
                self.count_unused(unused.is_some());
            }
            Record::Close => {}
            Record::Other => self.damage.unknown_records = self.damage.unknown_records.saturating_add(1),
            Record::Damaged => self.damage.damaged_records = self.damage.damaged_records.saturating_add(1),
        }
    }

    /// Lines of code at an address, if they can be read. The second entry is nowhere near the code where the first one seems to end too
    /// early.
    fn sound(
        &mut self,
        data: &[u8],
        lines: Lines,
        address: u64,
        size: u64,
        name: &Range<usize>,
    ) -> Option<Lines> {
        let [most_added, _] = CODE_OFFSETS_IN_MADE_FILES;
        let is_near = |line: u64| line.wrapping_sub(address) <= size.saturating_add(most_added);
        let is_damaged = lines.first.is_some_and(is_near) && lines.second.is_some_and(|line| !is_near(line));
        if !is_damaged && lines.second.is_some() {
            return Some(lines);
        }
        let restored = lines.clone().restored(data, name);
        self.damage.damaged_lines += u64::from(is_damaged && restored.is_none());
        restored.or_else(|| (!is_damaged).then_some(lines))
    }

    /// Most code has a line at its very beginning; where none has, all lines were moved.
    fn line_offset(&self) -> u64 {
        let distance = |function: &Function| function.lines.as_ref()?.first?.checked_sub(function.loaded_at);
        let nearest = self.functions.iter().filter_map(distance).min().unwrap_or(0);
        CODE_OFFSETS_IN_MADE_FILES.into_iter().find(|offset| nearest >= *offset).unwrap_or(0)
    }

    fn push(&mut self, function: Function, layer: Layer, index: u64) {
        self.by_index.insert(index, self.functions.len());
        self.functions.push(function);
        self.layers.push(layer);
    }

    fn count_unused(&mut self, is_unused: bool) {
        self.damage.unused_details = self.damage.unused_details.saturating_add(u64::from(is_unused));
    }
}
