//! Names for stacks that were added up: each table is read once, and of it is kept what these stacks have.

use super::chosen::Sum;
use super::columns::Columns;
use super::numbers::Numbers;
use crate::engine::Engine;
use crate::error::Result;
use readperf_profile::{AddressId, Assembly, DetailId, FileId, Frame, FunctionId, SampleRow, StackId};
use readperf_session::{Binary, BinaryId, BinaryKind, CodeAddress, CpuMode, Session};
use readperf_symbols::FunctionName;

/// Why something has no name that the tables should have had.
const NOT_IN_TABLES: &str = "the tables do not have it";
/// Why something has no name that has none in the tables.
const WITHOUT_NAME: &str = "it had no name when its recording was exported";

/// Stacks and what is known of them.
#[derive(Default)]
pub(super) struct Named {
    event: u32,
    sums: Vec<Sum>,
    session: Session,
    assembly: Assembly,
}

/// The frames of the wanted stacks, one stack after the other.
struct StackFrames {
    stacks: Numbers,
    /// Of each stack, if it is there: where its frames are.
    ranges: Vec<Option<(usize, usize)>>,
    frames: Vec<i64>,
}

/// A level of a frame.
#[derive(Clone, Copy)]
struct Level {
    frame: usize,
    level: i64,
    function: i64,
    file: Option<FileId>,
    line: u32,
}

/// Where a frame is.
#[derive(Clone, Copy)]
struct Place {
    binary: Option<i64>,
    address: u64,
    is_kernel: bool,
}

/// A function.
struct Symbol {
    name: Option<FunctionName>,
    address: u64,
    binary: Option<i64>,
}

impl Named {
    /// Takes in what the samples of an event add up to.
    pub(super) fn add(&mut self, event: u32, sums: Vec<Sum>) {
        (self.event, self.sums) = (event, sums);
    }

    /// The names, and the profile to be.
    pub(super) fn into_parts(self) -> (Session, Assembly) {
        (self.session, self.assembly)
    }

    /// Looks all names up, and says of how many samples the tables do not have all frames.
    pub(super) fn look_up(&mut self, engine: &Engine, no_inlines: bool) -> Result<u64> {
        if self.sums.is_empty() {
            return Ok(0);
        }
        let stacks = self.stacks(engine)?;
        let of_samples = self.sums.iter().map(|sum| sum.frame);
        let frames = Numbers::of(stacks.frames.iter().copied().chain(of_samples).collect());
        let mut levels = self.levels(engine, &frames)?;
        levels.sort_unstable_by_key(|level| (level.frame, level.level));
        let places = places(engine, &frames)?;
        let functions = Numbers::of(levels.iter().map(|level| level.function).collect());
        let symbols = symbols(engine, &functions)?;
        let of_places = places.iter().flatten().filter_map(|place| place.binary);
        let of_symbols = symbols.iter().flatten().filter_map(|symbol| symbol.binary);
        let binaries = Numbers::of(of_places.chain(of_symbols).collect());
        let of_binary = self.binaries(engine, &binaries)?;
        let binary = |id: Option<i64>| binaries.find(id?, &of_binary).copied().flatten();
        let of_function: Vec<FunctionId> = symbols
            .into_iter()
            .map(|symbol| match symbol {
                Some(Symbol { name, address, binary: of }) => {
                    self.assembly.function(binary(of), address, name.ok_or(WITHOUT_NAME))
                }
                None => self.assembly.function(None, 0, Err(NOT_IN_TABLES)),
            })
            .collect();
        let unknown = self.assembly.function(None, 0, Err(NOT_IN_TABLES));
        let function = |id: i64| functions.find(id, &of_function).copied().unwrap_or(unknown);
        let mut left = levels.as_slice();
        let of_frame: Vec<(AddressId, bool)> = (0..)
            .zip(&places)
            .map(|(nr, place): (usize, _)| {
                let (own, others) = left.split_at(left.partition_point(|level| level.frame == nr));
                left = others;
                let own =
                    if no_inlines { own.get(own.len().saturating_sub(1)..).unwrap_or(own) } else { own };
                let level = |level: &Level| Frame {
                    function: function(level.function),
                    file: level.file,
                    line: level.line,
                };
                let mut frames: Vec<Frame> = own.iter().map(level).collect();
                let is_known = place.is_some() && !frames.is_empty();
                if frames.is_empty() {
                    frames.push(Frame { function: unknown, file: None, line: 0 });
                }
                (self.assembly.place(code(*place, binary), &frames), is_known)
            })
            .collect();
        Ok(self.rows(&stacks, &frames, &of_frame))
    }

    /// The stacks of the samples.
    fn stacks(&self, engine: &Engine) -> Result<StackFrames> {
        let stacks = Numbers::of(self.sums.iter().map(|sum| sum.stack).collect());
        let mut ranges = stacks.table();
        let mut frames = Vec::new();
        for rows in engine.in_any_order("SELECT stack_id, frame_ids FROM stacks")? {
            let rows = rows?;
            let mut columns = Columns::of(&rows);
            let (id, list) = (columns.numbers()?, columns.lists()?);
            for row in 0..rows.num_rows() {
                let number = id.get(row).and_then(|id| stacks.number(id));
                if let Some(range) = number.and_then(|number| ranges.get_mut(number)) {
                    let start = frames.len();
                    list.extend(row, &mut frames);
                    *range = Some((start, frames.len()));
                }
            }
        }
        Ok(StackFrames { stacks, ranges, frames })
    }

    /// The levels of frames.
    fn levels(&mut self, engine: &Engine, frames: &Numbers) -> Result<Vec<Level>> {
        let mut levels = Vec::new();
        let query = "SELECT frame_id, level, function_id, line, file FROM frame_levels";
        for rows in engine.in_any_order(query)? {
            let rows = rows?;
            let mut columns = Columns::of(&rows);
            let (id, level, function) = (columns.numbers()?, columns.numbers()?, columns.numbers()?);
            let (line, file) = (columns.numbers()?, columns.texts()?);
            for row in 0..rows.num_rows() {
                let Some(frame) = id.get(row).and_then(|id| frames.number(id)) else { continue };
                levels.push(Level {
                    frame,
                    level: level.get(row).unwrap_or_default(),
                    function: function.get(row).unwrap_or_default(),
                    file: file.get(row).map(|file| self.assembly.file(file)),
                    line: u32::try_from(line.bits(row)).unwrap_or_default(),
                });
            }
        }
        Ok(levels)
    }

    /// The binaries in the session, by number.
    fn binaries(&mut self, engine: &Engine, binaries: &Numbers) -> Result<Vec<Option<BinaryId>>> {
        let mut known = binaries.table();
        let query = "SELECT binary_id, dso, path, build_id, kind FROM binaries";
        for rows in engine.in_any_order(query)? {
            let rows = rows?;
            let mut columns = Columns::of(&rows);
            let (id, dso, path) = (columns.numbers()?, columns.texts()?, columns.texts()?);
            let (build_id, kind) = (columns.texts()?, columns.texts()?);
            for row in 0..rows.num_rows() {
                let number = id.get(row).and_then(|id| binaries.number(id));
                let Some(known) = number.and_then(|number| known.get_mut(number)) else { continue };
                let bytes = |text: Option<&str>| text.unwrap_or_default().as_bytes().into();
                *known = Some(Binary {
                    name: bytes(path.get(row)),
                    short_name: bytes(dso.get(row)),
                    kind: kind_of(kind.get(row).unwrap_or_default()),
                    // Nothing looks for the file: that it tells builds apart is enough.
                    build_id: build_id.get(row).map(|text| text.as_bytes().into()),
                });
            }
        }
        Ok(known.into_iter().map(|binary| binary.map(|binary| self.session.add_binary(binary))).collect())
    }

    /// The rows of the profile; how many samples have stacks that are not known in full.
    fn rows(&mut self, known: &StackFrames, frames: &Numbers, of_frame: &[(AddressId, bool)]) -> u64 {
        let mut places = Vec::new();
        let mut stack_ids: Vec<Option<(StackId, bool)>> = Vec::with_capacity(known.ranges.len());
        for range in &known.ranges {
            let list = range.and_then(|(start, end)| known.frames.get(start..end));
            stack_ids.push(list.map(|list| {
                places.clear();
                let all = list.iter().filter_map(|frame| frames.find(*frame, of_frame));
                let is_whole = all.fold(true, |is_whole, (place, is_known)| {
                    places.push(*place);
                    is_whole && *is_known
                });
                (self.assembly.stack(&places), is_whole)
            }));
        }
        let mut incomplete = 0u64;
        for sum in std::mem::take(&mut self.sums) {
            let stack = known.stacks.find(sum.stack, &stack_ids).copied().flatten();
            let (stack, is_whole) = stack.unwrap_or((StackId::EMPTY, false));
            if !is_whole {
                incomplete = incomplete.saturating_add(sum.samples);
            }
            let Some((address, _)) = frames.find(sum.frame, of_frame).copied() else { continue };
            self.assembly.row(SampleRow {
                event: self.event,
                comm: self.session.add_comm(sum.comm.as_bytes()),
                thread: None,
                cpu: None,
                time_ns: 0,
                stack,
                address,
                detail: DetailId::default(),
                samples: sum.samples,
                period: sum.period,
            });
        }
        incomplete
    }
}

/// Where frames are, by number.
fn places(engine: &Engine, frames: &Numbers) -> Result<Vec<Option<Place>>> {
    let mut places = frames.table();
    for rows in engine.in_any_order("SELECT frame_id, binary_id, address, kind FROM frames")? {
        let rows = rows?;
        let mut columns = Columns::of(&rows);
        let (id, binary, address) = (columns.numbers()?, columns.numbers()?, columns.numbers()?);
        let kind = columns.texts()?;
        for row in 0..rows.num_rows() {
            let number = id.get(row).and_then(|id| frames.number(id));
            if let Some(place) = number.and_then(|number| places.get_mut(number)) {
                let is_kernel = kind.get(row) == Some("kernel");
                *place = Some(Place { binary: binary.get(row), address: address.bits(row), is_kernel });
            }
        }
    }
    Ok(places)
}

/// The functions, by number.
fn symbols(engine: &Engine, functions: &Numbers) -> Result<Vec<Option<Symbol>>> {
    let mut symbols = functions.table();
    let query = "SELECT function_id, function, linkage_name, address, binary_id FROM symbols";
    for rows in engine.in_any_order(query)? {
        let rows = rows?;
        let mut columns = Columns::of(&rows);
        let (id, name, linkage) = (columns.numbers()?, columns.texts()?, columns.texts()?);
        let (address, binary) = (columns.numbers()?, columns.numbers()?);
        for row in 0..rows.num_rows() {
            let number = id.get(row).and_then(|id| functions.number(id));
            if let Some(symbol) = number.and_then(|number| symbols.get_mut(number)) {
                let linkage = linkage.get(row).unwrap_or_default();
                let name = name.get(row).map(|name| FunctionName::new(name.to_owned(), linkage.to_owned()));
                *symbol = Some(Symbol { name, address: address.bits(row), binary: binary.get(row) });
            }
        }
    }
    Ok(symbols)
}

/// The place of a frame in the session.
fn code(place: Option<Place>, binary: impl Fn(Option<i64>) -> Option<BinaryId>) -> CodeAddress {
    let Place { binary: id, address, is_kernel } =
        place.unwrap_or(Place { binary: None, address: 0, is_kernel: false });
    let mode = if is_kernel { CpuMode::Kernel } else { CpuMode::User };
    CodeAddress { binary: binary(id), address, ip: address, mode }
}

/// What a binary is by the words of the table. Where it lay is another matter in every recording.
fn kind_of(word: &str) -> BinaryKind {
    match word {
        "kernel" => BinaryKind::Kernel { reference: None },
        "module" => BinaryKind::Module { start: 0 },
        "vdso" => BinaryKind::Vdso,
        "vsyscall" => BinaryKind::Vsyscall,
        "jit" => BinaryKind::Jit { pid: 0, generation: 0 },
        "anon" => BinaryKind::Anon,
        "bpf" => BinaryKind::Bpf { start: 0 },
        "guest kernel" => BinaryKind::GuestKernel { reference: None },
        "guest module" => BinaryKind::GuestModule { start: 0 },
        _ => BinaryKind::User,
    }
}
