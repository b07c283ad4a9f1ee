//! The frames of single addresses.

use rustc_hash::FxHashMap;

use super::split::SplitFiles;
use super::{Context, Wanted};
use crate::batch::SourceFrame;
use crate::ids::{FileId, FunctionId};
use crate::name;

/// Levels of inlining at one address that are kept.
pub(super) const MAX_DEPTH: usize = 256;

/// The frames of some addresses, with numbers for names that only hold within it.
pub(super) struct Piece<'f> {
    pub(super) functions: Places<&'f [u8]>,
    pub(super) files: Places<String>,
    pub(super) frames: Vec<SourceFrame>,
    /// For each address that has frames: the number of its query, and how many frames belong to it and those before.
    pub(super) ends: Vec<(usize, usize)>,
}

/// Numbers for names by where they lie in memory, in the order of their first appearance: the names of a few thousand
/// functions make up millions of frames, so they are read once. All of them outlive the piece.
pub(super) struct Places<T> {
    indices: FxHashMap<(usize, usize), usize>,
    pub(super) names: Vec<T>,
}

impl<T> Places<T> {
    fn new() -> Places<T> {
        Places { indices: FxHashMap::default(), names: Vec::new() }
    }

    fn index(&mut self, bytes: &[u8], name: impl FnOnce() -> T) -> usize {
        *self.indices.entry((bytes.as_ptr().addr(), bytes.len())).or_insert_with(|| {
            self.names.push(name());
            self.names.len().saturating_sub(1)
        })
    }
}

impl<'f> Piece<'f> {
    pub(super) fn new() -> Piece<'f> {
        Piece { functions: Places::new(), files: Places::new(), frames: Vec::new(), ends: Vec::new() }
    }

    /// Looks up an address, the one of query `number`.
    pub(super) fn add_address(
        &mut self,
        (context, split): (&Context<'f>, &SplitFiles<'f>),
        number: usize,
        address: u64,
        has_symbol: bool,
        wanted: Wanted,
    ) {
        let start = self.frames.len();
        let complete = match wanted {
            Wanted::Line => self.add_line(context, address),
            Wanted::Names | Wanted::NamesAndLines => self.add_frames((context, split), address, has_symbol),
        };
        if complete.is_none() {
            // Half a chain would name the wrong function: rather none.
            self.frames.truncate(start);
        }
        if self.frames.len() > start {
            self.ends.push((number, self.frames.len()));
        }
    }

    /// Takes in the names of the levels at the address of query `number`, the innermost first. The name of the outermost one
    /// is left out if the address has a symbol.
    pub(super) fn add_names(&mut self, number: usize, levels: &[Option<&'f [u8]>], has_symbol: bool) {
        let start = self.frames.len();
        for (level, name) in levels.iter().enumerate() {
            let is_outermost = level.saturating_add(1) == levels.len();
            let is_named_by_symbol = has_symbol && is_outermost;
            let function = name.filter(|_| !is_named_by_symbol).map(|name| self.number_of(name));
            if function.is_some() || is_named_by_symbol || levels.len() > 1 {
                self.frames.push(SourceFrame { function, file: None, line: 0, column: 0 });
            }
        }
        if self.frames.len() > start {
            self.ends.push((number, self.frames.len()));
        }
    }

    fn number_of(&mut self, name: &'f [u8]) -> FunctionId {
        // Enough to see that it is too long: many entries may point into one long string.
        let name = name.get(..=name::MAX_BYTES).unwrap_or(name);
        FunctionId::new(self.functions.index(name, || name))
    }

    /// The frames at an address. The name of the outermost level is left out if the address has a symbol.
    fn add_frames(
        &mut self,
        (context, split): (&Context<'f>, &SplitFiles<'f>),
        address: u64,
        has_symbol: bool,
    ) -> Option<()> {
        let mut found = split.complete(context.find_frames(address)).ok()?;
        let mut next = found.next().ok()?;
        for _ in 0..MAX_DEPTH {
            let Some(frame) = next else { return Some(()) };
            next = found.next().ok()?;
            let is_named_by_symbol = has_symbol && next.is_none();
            let function = frame.function.filter(|_| !is_named_by_symbol);
            let function = function.map(|function| self.number_of(function.name.slice()));
            self.add(function, is_named_by_symbol, frame.location);
        }
        None
    }

    fn add_line(&mut self, context: &Context<'f>, address: u64) -> Option<()> {
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
        let file = file.map(|file| {
            FileId::new(self.files.index(file.as_bytes(), || name::as_name(file.as_bytes()).into_owned()))
        });
        let (line, column) = location.map_or((0, 0), |at| (at.line.unwrap_or(0), at.column.unwrap_or(0)));
        if function.is_some() || is_named || file.is_some() {
            self.frames.push(SourceFrame { function, file, line, column });
        }
    }
}
