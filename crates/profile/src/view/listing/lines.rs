//! The lines of source of a listing, each once.

use super::Numbers;
use super::code::CodeLevel;
use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;
use std::sync::Arc;

/// Number of a line in [`Listing::lines`](super::Listing::lines).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LineId(u32);

impl LineId {
    pub(super) fn new(index: usize) -> LineId {
        LineId(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// Its index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A line of source.
#[derive(Clone, Debug)]
pub struct Line {
    /// Index of its file in [`Listing::files`](super::Listing::files); `None` if no source is known.
    pub file: Option<usize>,
    /// The line in it, from 1; 0 if it is not known, or stands for none.
    pub line: u32,
    /// The function it is in, if it is only there because that is inlined.
    pub inlined: Option<Arc<str>>,
    /// What samples say, for each event.
    pub numbers: Vec<Numbers>,
}

/// A source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Its path, as the compiler recorded it.
    pub path: Arc<str>,
}

/// Collects lines.
#[derive(Debug)]
pub(super) struct LineTable {
    events: usize,
    files: IndexSet<Arc<str>, FxBuildHasher>,
    lines: IndexMap<(Option<usize>, u32), Option<Arc<str>>, FxBuildHasher>,
}

impl LineTable {
    pub(super) fn new(events: usize) -> LineTable {
        LineTable { events, files: IndexSet::default(), lines: IndexMap::default() }
    }

    /// How many events there are.
    pub(super) fn events(&self) -> usize {
        self.events
    }

    /// The number of a line.
    pub(super) fn number(&mut self, level: &CodeLevel<'_>, inlined: Option<&Arc<str>>) -> LineId {
        let file = level.file.map(|file| self.files.insert_full(Arc::clone(file)).0);
        self.insert(file, level.line, inlined)
    }

    /// The line of what nothing is known of.
    pub(super) fn unknown(&mut self) -> LineId {
        self.insert(None, 0, None)
    }

    fn insert(&mut self, file: Option<usize>, line: u32, inlined: Option<&Arc<str>>) -> LineId {
        let (index, known) = match self.lines.entry((file, line)) {
            indexmap::map::Entry::Occupied(entry) => (entry.index(), entry.into_mut()),
            indexmap::map::Entry::Vacant(entry) => (entry.index(), entry.insert(inlined.cloned())),
        };
        // What is also there without being inlined is the function's own.
        if inlined.is_none() {
            *known = None;
        }
        LineId::new(index)
    }

    pub(super) fn finish(self) -> (Vec<Line>, Vec<SourceFile>) {
        let numbers = vec![Numbers::default(); self.events];
        let line = |((file, line), inlined)| Line { file, line, inlined, numbers: numbers.clone() };
        let files = self.files.into_iter().map(|path| SourceFile { path });
        (self.lines.into_iter().map(line).collect(), files.collect())
    }
}
