//! The answer for one binary: columns, with every name held once.

use std::path::PathBuf;
use std::sync::Arc;

use crate::function_name::FunctionName;
use crate::ids::{FileId, FunctionId, FxIndexSet, SymbolId, number};
use crate::reason::Reason;
use crate::subject::{AddressBatch, Subject};
use crate::table::Binding;

/// A symbol that covers at least one address of the batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: FunctionName,
    /// Its first address, in the address space of the batch.
    pub start: u64,
    /// The address behind its last byte.
    pub end: u64,
    /// Who can see it.
    pub binding: Binding,
    /// The source file in which it is written, as the compiler recorded it; `None` if that is not known, or was not asked for
    /// ([`Options::source_files`](crate::Options::source_files)).
    pub source_file: Option<Arc<str>>,
}

/// One level of the code at an address: the innermost inlined function first, the real function last. The real
/// function has the name of the symbol that covers the address, if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceFrame {
    /// The function; `None` when only the line is known.
    pub function: Option<FunctionId>,
    /// The source file of the code (innermost level) or of the call that was inlined (other levels).
    pub file: Option<FileId>,
    /// The line in that file, from 1; 0 when unknown.
    pub line: u32,
    /// The column in that line, from 1; 0 when unknown.
    pub column: u32,
}

/// What a file contributed to a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Provides {
    /// Symbols, from `.symtab`.
    SymbolTable,
    /// Symbols, from `.dynsym`.
    DynamicSymbols,
    /// Symbols, from a file embedded in the binary (`.gnu_debugdata`) and from `.dynsym`.
    EmbeddedSymbols,
    /// Symbols, from a kernel symbol list.
    KernelSymbols,
    /// Symbols, from the list or the dump that a process wrote of the code it generated.
    GeneratedCode,
    /// Source lines and inlined functions, from DWARF.
    DebugInfo,
    /// Where the code lies in the file, from the program headers.
    Layout,
}

/// A file that was used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Its path.
    pub path: PathBuf,
    /// What it was used for.
    pub provides: Provides,
}

/// The names of one [`AddressBatch`], one answer for each address and in the same order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolBatch {
    /// The binary that was asked about.
    pub subject: Subject,
    /// The addresses that were asked about.
    pub addresses: Vec<u64>,
    /// The symbols that cover them.
    pub symbols: Vec<Symbol>,
    /// The functions in the frames.
    pub functions: Vec<FunctionName>,
    /// The source files in the frames, as the compiler recorded them.
    pub files: Vec<Arc<str>>,
    /// The files that were used.
    pub found: Vec<Found>,
    /// Why the binary as a whole has no names; then no address has one.
    pub batch_reason: Option<Reason>,
    reasons: Vec<Reason>,
    answers: Vec<Answer>,
    frames: Vec<SourceFrame>,
    /// For each address, how many frames belong to it and those before it. Empty when there are no frames at all.
    frame_ends: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Symbol(SymbolId),
    Reason(u32),
}

impl SymbolBatch {
    /// How many addresses there are.
    pub fn len(&self) -> usize {
        self.addresses.len()
    }

    /// Whether there are no addresses.
    pub fn is_empty(&self) -> bool {
        self.addresses.is_empty()
    }

    /// The symbol that covers the address with this index, or why there is none.
    pub fn symbol(&self, index: usize) -> Result<SymbolId, &Reason> {
        match self.answers.get(index) {
            Some(Answer::Symbol(id)) => Ok(*id),
            Some(Answer::Reason(reason)) => {
                let reason = usize::try_from(*reason).ok().and_then(|number| self.reasons.get(number));
                Err(reason.unwrap_or(&Reason::Defect))
            }
            None => Err(self.batch_reason.as_ref().unwrap_or(&Reason::NoSymbolCovers)),
        }
    }

    /// The reasons of addresses without a symbol, each once.
    pub fn reasons(&self) -> &[Reason] {
        &self.reasons
    }

    /// Which of [`Self::reasons`] is that of the address with this index, if it has no symbol.
    pub fn reason_index(&self, index: usize) -> Option<usize> {
        match self.answers.get(index)? {
            Answer::Symbol(_) => None,
            Answer::Reason(number) => usize::try_from(*number).ok(),
        }
    }

    /// The symbol with this number.
    pub fn symbol_by_id(&self, id: SymbolId) -> Option<&Symbol> {
        self.symbols.get(id.index())
    }

    /// The name of the symbol at the address with this index, if it has one.
    pub fn name(&self, index: usize) -> Option<&str> {
        self.symbol(index).ok().and_then(|id| self.symbol_by_id(id)).map(|symbol| symbol.name.shown())
    }

    /// The function with this number.
    pub fn function(&self, id: FunctionId) -> Option<&FunctionName> {
        self.functions.get(id.index())
    }

    /// The source file with this number.
    pub fn file(&self, id: FileId) -> Option<&str> {
        self.files.get(id.index()).map(|file| &**file)
    }

    /// The frames at the address with this index, innermost first; empty when nothing is known of its source.
    pub fn frames(&self, index: usize) -> &[SourceFrame] {
        let start = match index.checked_sub(1) {
            None => 0,
            Some(previous) => self.frame_ends.get(previous).copied().unwrap_or(0),
        };
        let end = self.frame_ends.get(index).copied().unwrap_or(0);
        self.frames.get(start..end).unwrap_or(&[])
    }

    /// Whether any address has a frame.
    pub(crate) fn has_frames(&self) -> bool {
        !self.frames.is_empty()
    }

    /// How many frames there are.
    pub(crate) fn frame_count(&self) -> usize {
        self.frames.len()
    }

    /// An answer that has no name for any address.
    pub(crate) fn unnamed(batch: AddressBatch, reason: Reason) -> SymbolBatch {
        let mut builder = BatchBuilder::new(&batch);
        builder.push_reasons(&reason, batch.addresses.len());
        let mut answer = builder.finish(batch);
        answer.batch_reason = Some(reason);
        answer
    }
}

impl SymbolBatch {
    /// The answer for a batch whose addresses were turned into other ones, which were asked about. `asked` has for each
    /// address of `batch` what it was turned into.
    pub(crate) fn for_original(self, batch: &AddressBatch, asked: &[Option<u64>]) -> SymbolBatch {
        let mut builder = BatchBuilder::new(batch);
        // How far each symbol is from where it was found; known by the first address in it.
        let mut distances: Vec<Option<u64>> = vec![None; self.symbols.len()];
        for (address, asked) in batch.addresses.iter().zip(asked) {
            let index = asked.and_then(|asked| self.addresses.binary_search(&asked).ok());
            let (Some(index), Some(asked)) = (index, asked) else {
                builder.push_reason(&Reason::NoSymbolCovers);
                builder.push_frames([]);
                continue;
            };
            match self.symbol(index) {
                Ok(id) => {
                    let distance = distances.get_mut(id.index());
                    distance.map(|distance| distance.get_or_insert(address.wrapping_sub(*asked)));
                    builder.push_symbol(id);
                }
                Err(reason) => builder.push_reason(reason),
            }
            builder.push_frames(self.frames(index).iter().copied());
        }
        builder.symbols = self.symbols;
        for (symbol, distance) in builder.symbols.iter_mut().zip(distances) {
            symbol.start = symbol.start.wrapping_add(distance.unwrap_or(0));
            symbol.end = symbol.end.wrapping_add(distance.unwrap_or(0));
        }
        builder.functions = self.functions;
        builder.files = self.files;
        builder.found = self.found;
        builder.finish(batch.clone())
    }
}

/// Collects the answers of a batch in the order of its addresses.
#[derive(Debug)]
pub(crate) struct BatchBuilder {
    pub(crate) symbols: Vec<Symbol>,
    pub(crate) functions: Vec<FunctionName>,
    pub(crate) files: Vec<Arc<str>>,
    pub(crate) found: Vec<Found>,
    reasons: FxIndexSet<Reason>,
    answers: Vec<Answer>,
    frames: Vec<SourceFrame>,
    frame_ends: Vec<usize>,
}

impl BatchBuilder {
    pub(crate) fn new(batch: &AddressBatch) -> BatchBuilder {
        BatchBuilder {
            symbols: Vec::new(),
            functions: Vec::new(),
            files: Vec::new(),
            found: Vec::new(),
            reasons: FxIndexSet::default(),
            answers: Vec::with_capacity(batch.addresses.len()),
            frames: Vec::new(),
            frame_ends: Vec::new(),
        }
    }

    /// Answers the next address with a symbol of `self.symbols`.
    pub(crate) fn push_symbol(&mut self, id: SymbolId) {
        self.answers.push(Answer::Symbol(id));
    }

    /// Answers so many addresses with one symbol.
    pub(crate) fn push_symbols(&mut self, id: SymbolId, count: usize) {
        self.answers.extend(std::iter::repeat_n(Answer::Symbol(id), count));
    }

    /// Answers the next address with a reason.
    pub(crate) fn push_reason(&mut self, reason: &Reason) {
        self.push_reasons(reason, 1);
    }

    /// Answers so many addresses with one reason.
    pub(crate) fn push_reasons(&mut self, reason: &Reason, count: usize) {
        let known = self.reasons.get_index_of(reason);
        let index = known.unwrap_or_else(|| self.reasons.insert_full(reason.clone()).0);
        self.answers.extend(std::iter::repeat_n(Answer::Reason(number(index)), count));
    }

    /// Gives the next address its frames (independent of [`Self::push_symbol`], but in the same order).
    pub(crate) fn push_frames(&mut self, frames: impl IntoIterator<Item = SourceFrame>) {
        self.frames.extend(frames);
        self.frame_ends.push(self.frames.len());
    }

    /// The symbol that the address with this index was answered with.
    pub(crate) fn symbol(&self, index: usize) -> Option<SymbolId> {
        match self.answers.get(index) {
            Some(Answer::Symbol(id)) => Some(*id),
            _ => None,
        }
    }

    pub(crate) fn finish(mut self, batch: AddressBatch) -> SymbolBatch {
        if self.frames.is_empty() {
            self.frame_ends = Vec::new();
        }
        SymbolBatch {
            subject: batch.subject,
            addresses: batch.addresses,
            symbols: self.symbols,
            functions: self.functions,
            files: self.files,
            found: self.found,
            batch_reason: None,
            reasons: self.reasons.into_iter().collect(),
            answers: self.answers,
            frames: self.frames,
            frame_ends: self.frame_ends,
        }
    }
}
