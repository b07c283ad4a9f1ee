//! One answer out of several that each know some of the addresses.

use std::sync::Arc;

use crate::batch::{BatchBuilder, Provides, SourceFrame, Symbol, SymbolBatch};
use crate::function_name::FunctionName;
use crate::ids::{FileId, FunctionId, FxIndexMap, FxIndexSet, SymbolId};
use crate::subject::AddressBatch;

/// Makes the answer to a batch out of answers about the same binary. Its numbers are those that a fresh answer would
/// have: in the order of first appearance. `None` when an address is in none of them.
pub(crate) fn assemble(batch: AddressBatch, from: &[&SymbolBatch]) -> Option<SymbolBatch> {
    let mut builder = BatchBuilder::new(&batch);
    let mut symbols: FxIndexMap<(u64, u64, &str), &Symbol> = FxIndexMap::default();
    let mut functions: FxIndexMap<&str, &FunctionName> = FxIndexMap::default();
    let mut files: FxIndexSet<&Arc<str>> = FxIndexSet::default();
    let mut parts: Vec<Part<'_>> = from.iter().map(|answer| Part::new(answer)).collect();
    for address in &batch.addresses {
        let (part, index) = parts.iter_mut().find_map(|part| part.index_of(*address).map(|at| (part, at)))?;
        let answer = part.answer;
        match answer.symbol(index) {
            Ok(id) => {
                let index = part.symbols.index(id.index(), || {
                    let symbol = answer.symbol_by_id(id)?;
                    let entry = symbols.entry((symbol.start, symbol.end, symbol.name.raw()));
                    let index = entry.index();
                    entry.or_insert(symbol);
                    Some(index)
                });
                builder.push_symbol(SymbolId::new(index?));
            }
            Err(reason) => builder.push_reason(reason),
        }
        let frames = answer.frames(index).iter().map(|frame| {
            let function = frame.function.and_then(|id| {
                part.functions.index(id.index(), || {
                    let function = answer.function(id)?;
                    let entry = functions.entry(function.raw());
                    let index = entry.index();
                    entry.or_insert(function);
                    Some(index)
                })
            });
            let file = frame.file.and_then(|id| {
                part.files.index(id.index(), || Some(files.insert_full(answer.files.get(id.index())?).0))
            });
            SourceFrame { function: function.map(FunctionId::new), file: file.map(FileId::new), ..*frame }
        });
        builder.push_frames(frames);
    }
    builder.symbols = symbols.into_values().cloned().collect();
    builder.functions = functions.into_values().cloned().collect();
    builder.files = files.into_iter().cloned().collect();
    for found in from.iter().flat_map(|answer| &answer.found) {
        if !builder.found.contains(found) {
            builder.found.push(found.clone());
        }
    }
    let mut answer = builder.finish(batch);
    if !answer.has_frames() {
        answer.found.retain(|found| found.provides != Provides::DebugInfo);
    }
    Some(answer)
}

/// One of the answers that another is made of.
struct Part<'a> {
    answer: &'a SymbolBatch,
    /// Where the search for the next address begins: they come in order.
    next: usize,
    symbols: Renumbering,
    functions: Renumbering,
    files: Renumbering,
}

impl<'a> Part<'a> {
    fn new(answer: &'a SymbolBatch) -> Part<'a> {
        let (symbols, functions, files) = (answer.symbols.len(), answer.functions.len(), answer.files.len());
        Part {
            answer,
            next: 0,
            symbols: Renumbering(vec![None; symbols]),
            functions: Renumbering(vec![None; functions]),
            files: Renumbering(vec![None; files]),
        }
    }

    /// Where an address is that is not lower than the ones asked for before.
    fn index_of(&mut self, address: u64) -> Option<usize> {
        let rest = self.answer.addresses.get(self.next..)?;
        // Mostly it is the very next one.
        if rest.first().is_some_and(|first| *first < address) {
            self.next = self.next.saturating_add(1);
            if rest.get(1).is_some_and(|second| *second < address) {
                let before = rest.partition_point(|other| *other < address);
                self.next = self.next.saturating_add(before).saturating_sub(1);
            }
        }
        (self.answer.addresses.get(self.next) == Some(&address)).then_some(self.next)
    }
}

/// The indices that those of one answer become, once they are needed.
struct Renumbering(Vec<Option<usize>>);

impl Renumbering {
    fn index(&mut self, index: usize, new: impl FnOnce() -> Option<usize>) -> Option<usize> {
        let known = self.0.get_mut(index)?;
        if known.is_none() {
            *known = new();
        }
        *known
    }
}
