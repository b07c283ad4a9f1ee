//! One answer out of several that each know some of the addresses.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::batch::{
    BatchBuilder, FileId, Frame, Function, FunctionId, Provides, Symbol, SymbolBatch, SymbolId, next_number,
};
use crate::demangle::Demangle;
use crate::source::shown::shown;
use crate::subject::AddressBatch;

/// Makes the answer to a batch out of answers about the same binary. Its numbers are those that a fresh answer would
/// have: in the order of first appearance. `None` when an address is in none of them.
pub(crate) fn assemble(batch: AddressBatch, from: &[&SymbolBatch], style: Demangle) -> Option<SymbolBatch> {
    let mut builder = BatchBuilder::new(&batch);
    let mut symbols: Numbers<(u64, u64, &str), &Symbol> = Numbers::default();
    let mut functions: Numbers<&str, &Function> = Numbers::default();
    let mut files: Numbers<&str, &str> = Numbers::default();
    let mut parts: Vec<Part<'_>> = from.iter().map(|answer| Part::new(answer)).collect();
    for address in &batch.addresses {
        let (part, index) = parts.iter_mut().find_map(|part| part.index_of(*address).map(|at| (part, at)))?;
        let answer = part.answer;
        match answer.symbol(index) {
            Ok(id) => {
                let number = part.symbols.number(id.0, || {
                    let symbol = answer.symbol_by_id(id)?;
                    Some(symbols.number((symbol.start, symbol.end, symbol.raw_name.as_str()), symbol))
                });
                builder.push_symbol(SymbolId(number?));
            }
            Err(reason) => builder.push_reason(reason),
        }
        let frames = answer.frames(index).iter().map(|frame| {
            let function = frame.function.and_then(|id| {
                part.functions.number(id.0, || {
                    let function = answer.function(id)?;
                    Some(functions.number(&function.raw_name, function))
                })
            });
            let file = frame.file.and_then(|id| {
                part.files.number(id.0, || answer.file(id).map(|file| files.number(file, file)))
            });
            Frame { function: function.map(FunctionId), file: file.map(FileId), ..*frame }
        });
        builder.push_frames(frames);
    }
    // What was kept may have no names to show, since those depend on the style.
    let name = |name: &str, raw: &str| match name {
        "" => shown(raw, style),
        name => name.to_owned(),
    };
    builder.symbols = symbols
        .values
        .into_par_iter()
        .with_min_len(16)
        .map(|symbol| Symbol { name: name(&symbol.name, &symbol.raw_name), ..symbol.clone() })
        .collect();
    builder.functions = functions
        .values
        .into_par_iter()
        .with_min_len(16)
        .map(|function| Function {
            name: name(&function.name, &function.raw_name),
            raw_name: function.raw_name.clone(),
        })
        .collect();
    builder.files = files.values.into_iter().map(str::to_owned).collect();
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

/// The numbers that those of one answer become, once they are needed.
struct Renumbering(Vec<Option<u32>>);

impl Renumbering {
    fn number(&mut self, number: u32, new: impl FnOnce() -> Option<u32>) -> Option<u32> {
        let known = self.0.get_mut(usize::try_from(number).ok()?)?;
        if known.is_none() {
            *known = new();
        }
        *known
    }
}

/// Numbers for values in the order of their first appearance.
struct Numbers<K, V> {
    numbers: FxHashMap<K, u32>,
    values: Vec<V>,
}

impl<K, V> Default for Numbers<K, V> {
    fn default() -> Self {
        Numbers { numbers: FxHashMap::default(), values: Vec::new() }
    }
}

impl<K: std::hash::Hash + Eq, V> Numbers<K, V> {
    fn number(&mut self, key: K, value: V) -> u32 {
        *self.numbers.entry(key).or_insert_with(|| {
            self.values.push(value);
            next_number(self.values.len().saturating_sub(1))
        })
    }
}
