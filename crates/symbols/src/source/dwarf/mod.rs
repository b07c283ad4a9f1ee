//! Source lines and inlined functions from DWARF.

mod nesting;

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use gimli::{EndianSlice, RunTimeEndian};
use object::{CompressionFormat, Object, ObjectSection};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::batch::{BatchBuilder, FileId, Frame, Function, FunctionId, SymbolId, next_number};
use crate::demangle::{Demangle, demangle};

/// Largest section after decompression. The size comes from the file.
const MAX_SECTION_BYTES: u64 = 8 << 30;

/// How much a section may grow when decompressed. zlib cannot do better; zstd can, but not on debug information.
const MAX_RATIO: u64 = 1040;

/// Addresses looked up as one piece of work. Neighbours mostly lie in one unit, which is read once per piece at worst.
const CHUNK_ADDRESSES: usize = 512;

/// How much of a function's name is kept. Many entries may point into one long string.
const MAX_NAME_BYTES: usize = 8 * 1024;

/// Levels of inlining at one address that are kept.
const MAX_DEPTH: usize = 256;

/// The sections that are read. Not, for instance, the places of variables, which are large.
const NEEDED: &[gimli::SectionId] = &[
    gimli::SectionId::DebugInfo,
    gimli::SectionId::DebugLine,
    gimli::SectionId::DebugStr,
    gimli::SectionId::DebugAbbrev,
    gimli::SectionId::DebugRngLists,
    gimli::SectionId::DebugRanges,
    gimli::SectionId::DebugAddr,
    gimli::SectionId::DebugLineStr,
    gimli::SectionId::DebugStrOffsets,
];

type Slice<'data> = EndianSlice<'data, RunTimeEndian>;
type Context<'data> = addr2line::Context<Slice<'data>>;

/// The debug sections of a file, decompressed.
#[derive(Debug)]
pub(crate) struct DebugSections<'data> {
    endian: RunTimeEndian,
    sections: gimli::DwarfSections<Cow<'data, [u8]>>,
}

impl<'data> DebugSections<'data> {
    /// Reads the sections; `None` when the file has no `.debug_info`.
    pub(crate) fn read(data: &'data [u8]) -> Option<DebugSections<'data>> {
        let file = object::File::parse(data).ok()?;
        let endian = if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
        // Decompression takes longer than anything else for a binary with few addresses.
        let mut loaded: Vec<(gimli::SectionId, Cow<'data, [u8]>)> = NEEDED
            .par_iter()
            .filter_map(|id| Some((*id, section_bytes(&file.section_by_name(id.name())?)?)))
            .collect();
        let load = |id: gimli::SectionId| -> Result<Cow<'data, [u8]>, gimli::Error> {
            let at = loaded.iter().position(|(loaded, _)| *loaded == id);
            Ok(at.map_or(Cow::Borrowed(&[]), |at| loaded.swap_remove(at).1))
        };
        let sections = gimli::DwarfSections::load(load).ok()?;
        Some(DebugSections { endian, sections })
    }
}

/// Whether a file has DWARF.
pub(crate) fn has_debug_info(data: &[u8]) -> bool {
    object::File::parse(data).is_ok_and(|file| {
        file.section_by_name(".debug_info")
            .is_some_and(|section| section.compressed_file_range().is_ok_and(|r| r.compressed_size > 0))
    })
}

pub(crate) fn section_bytes<'data>(section: &object::Section<'data, '_>) -> Option<Cow<'data, [u8]>> {
    let compressed = section.compressed_data().ok()?;
    if compressed.format != CompressionFormat::None {
        let stored = u64::try_from(compressed.data.len()).ok()?;
        let limit = stored.saturating_mul(MAX_RATIO).min(MAX_SECTION_BYTES);
        if compressed.uncompressed_size > limit {
            return None;
        }
    }
    compressed.decompress().ok()
}

/// An address to look up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Query {
    /// The virtual address; `None` when the file does not say which one it is.
    pub(crate) address: Option<u64>,
    /// The symbol that covers it. Its name is also that of the outermost level: DWARF often has only a part of it
    /// (`operator()`, or `f` for the clone `f.part.0`).
    pub(crate) symbol: Option<SymbolId>,
}

/// What to look up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) inlines: bool,
    pub(crate) demangle: Demangle,
}

/// Looks up all addresses and pushes the frames of each in order. Returns whether any frame was found.
pub(crate) fn push_frames(
    sections: &DebugSections<'_>,
    queries: &[Query],
    wanted: Wanted,
    builder: &mut BatchBuilder,
) -> bool {
    let mut dwarf = sections.sections.borrow(|bytes| EndianSlice::new(bytes, sections.endian));
    dwarf.populate_abbreviations_cache(gimli::AbbreviationsCacheStrategy::Duplicates);
    // `.debug_aranges` is not loaded, so the ranges of a unit are those that it states itself, which are checked here.
    let mut sorted: Vec<u64> = queries.iter().filter_map(|query| query.address).collect();
    sorted.sort_unstable();
    if !nesting::is_bounded(&dwarf, &sorted) {
        return false;
    }
    let dwarf = Arc::new(dwarf);
    // A context reads what it needs when it is asked, into cells: one for each thread that works at a time.
    let idle: Mutex<Vec<Context<'_>>> = Mutex::new(Vec::new());
    let pieces: Vec<Piece<'_>> = queries
        .par_chunks(CHUNK_ADDRESSES)
        .map(|chunk| {
            let ready = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let context = match ready {
                Some(context) => context,
                None => match Context::from_arc_dwarf(Arc::clone(&dwarf)) {
                    Ok(context) => context,
                    Err(_) => return Piece::empty(chunk.len()),
                },
            };
            let piece = Piece::look_up(&context, chunk, wanted.inlines);
            idle.lock().unwrap_or_else(PoisonError::into_inner).push(context);
            piece
        })
        .collect();
    merge(&pieces, queries, wanted.demangle, builder)
}

/// The frames of some neighbouring addresses, with numbers for names that only hold within it.
struct Piece<'data> {
    functions: Interner<Cow<'data, str>>,
    files: Interner<String>,
    frames: Vec<Frame>,
    frame_ends: Vec<usize>,
}

impl<'data> Piece<'data> {
    fn empty(len: usize) -> Piece<'data> {
        Piece {
            functions: Interner::new(),
            files: Interner::new(),
            frames: Vec::new(),
            frame_ends: vec![0; len],
        }
    }

    fn look_up(context: &Context<'data>, queries: &[Query], inlines: bool) -> Piece<'data> {
        let mut piece = Piece::empty(0);
        for query in queries {
            if let Some(address) = query.address {
                let start = piece.frames.len();
                let complete = if inlines {
                    piece.add_frames(context, address, query.symbol.is_some())
                } else {
                    piece.add_line(context, address)
                };
                if complete.is_none() {
                    // Half a chain would name the wrong function: rather none.
                    piece.frames.truncate(start);
                }
            }
            piece.frame_ends.push(piece.frames.len());
        }
        piece
    }

    /// The frames at an address. The name of the outermost level is left out if the address has a symbol.
    fn add_frames(&mut self, context: &Context<'data>, address: u64, has_symbol: bool) -> Option<()> {
        let mut found = context.find_frames(address).skip_all_loads().ok()?;
        let mut next = found.next().ok()?;
        for _ in 0..MAX_DEPTH {
            let Some(frame) = next else { return Some(()) };
            next = found.next().ok()?;
            let is_named_by_symbol = has_symbol && next.is_none();
            let function = frame.function.filter(|_| !is_named_by_symbol).map(|function| {
                let name = function.name.slice();
                let name = name.get(..MAX_NAME_BYTES).unwrap_or(name);
                FunctionId(self.functions.number(String::from_utf8_lossy(name)))
            });
            self.add(function, is_named_by_symbol, frame.location);
        }
        None
    }

    fn add_line(&mut self, context: &Context<'data>, address: u64) -> Option<()> {
        let location = context.find_location(address).ok()?;
        if location.is_some() {
            self.add(None, false, location);
        }
        Some(())
    }

    fn add(
        &mut self,
        function: Option<FunctionId>,
        is_named: bool,
        location: Option<addr2line::Location<'_>>,
    ) {
        let file = location.as_ref().and_then(|location| location.file);
        let file = file.map(|file| FileId(self.files.number(file)));
        let (line, column) = location.map_or((0, 0), |at| (at.line.unwrap_or(0), at.column.unwrap_or(0)));
        if function.is_some() || is_named || file.is_some() {
            self.frames.push(Frame { function, file, line, column });
        }
    }
}

/// Numbers for values, in the order of their first appearance.
struct Interner<T> {
    numbers: FxHashMap<T, u32>,
}

impl<T: std::hash::Hash + Eq> Interner<T> {
    fn new() -> Interner<T> {
        Interner { numbers: FxHashMap::default() }
    }

    fn number<Q>(&mut self, value: Q) -> u32
    where
        T: std::borrow::Borrow<str>,
        Q: AsRef<str> + Into<T>,
    {
        if let Some(number) = self.numbers.get(value.as_ref()) {
            return *number;
        }
        let number = next_number(self.numbers.len());
        self.numbers.insert(value.into(), number);
        number
    }

    fn in_order(&self) -> Vec<&T> {
        let mut all: Vec<(&T, u32)> = self.numbers.iter().map(|(value, number)| (value, *number)).collect();
        all.sort_unstable_by_key(|(_, number)| *number);
        all.into_iter().map(|(value, _)| value).collect()
    }
}

/// Joins the pieces in the order of the addresses, so that the numbers do not depend on who looked up what.
fn merge(pieces: &[Piece<'_>], queries: &[Query], style: Demangle, builder: &mut BatchBuilder) -> bool {
    let symbols = std::mem::take(&mut builder.symbols);
    let symbol_name = |query: &Query| {
        let number = usize::try_from(query.symbol?.0).ok()?;
        symbols.get(number).map(|symbol| symbol.raw_name.as_str())
    };
    let mut queries = queries.iter();
    let mut functions: Interner<&str> = Interner::new();
    let mut files: Interner<&str> = Interner::new();
    let mut any = false;
    for piece in pieces {
        let function_numbers: Vec<u32> =
            piece.functions.in_order().into_iter().map(|name| functions.number(name.as_ref())).collect();
        let file_numbers: Vec<u32> =
            piece.files.in_order().into_iter().map(|name| files.number(name.as_str())).collect();
        let renumber = |number: u32, numbers: &[u32]| {
            usize::try_from(number).ok().and_then(|at| numbers.get(at).copied())
        };
        let mut start = 0;
        for end in &piece.frame_ends {
            let frames = piece.frames.get(start..*end).unwrap_or(&[]);
            let name = queries.next().and_then(symbol_name).filter(|_| !frames.is_empty());
            let outermost = name.map(|name| FunctionId(functions.number(name)));
            let last = frames.len().saturating_sub(1);
            any |= !frames.is_empty();
            builder.push_frames(frames.iter().enumerate().map(|(level, frame)| Frame {
                function: match outermost {
                    Some(_) if level == last => outermost,
                    _ => frame.function.and_then(|id| renumber(id.0, &function_numbers)).map(FunctionId),
                },
                file: frame.file.and_then(|id| renumber(id.0, &file_numbers)).map(FileId),
                ..*frame
            }));
            start = *end;
        }
    }
    builder.functions = functions
        .in_order()
        .into_par_iter()
        .map(|name| Function { name: demangle(name, style).into_owned(), raw_name: (*name).to_owned() })
        .collect();
    builder.symbols = symbols;
    builder.files = files.in_order().into_iter().map(|name| (*name).to_owned()).collect();
    any
}
