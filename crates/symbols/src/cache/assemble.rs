//! One answer out of several that each know some of the addresses.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::batch::{
    BatchBuilder, FileId, Frame, Function, FunctionId, Provides, Symbol, SymbolBatch, SymbolId, next_number,
};
use crate::demangle::{Demangle, demangle};
use crate::source::plt::shown;
use crate::subject::AddressBatch;

/// Makes the answer to a batch out of answers about the same binary. Its numbers are those that a fresh answer would
/// have: in the order of first appearance. `None` when an address is in none of them.
pub(crate) fn assemble(batch: AddressBatch, from: &[&SymbolBatch], style: Demangle) -> Option<SymbolBatch> {
    let mut builder = BatchBuilder::new(&batch);
    let mut symbols: Numbers<(u64, u64, &str), &Symbol> = Numbers::default();
    let mut functions: Numbers<&str, &Function> = Numbers::default();
    let mut files: Numbers<&str, &str> = Numbers::default();
    for address in &batch.addresses {
        let at = |answer: &&&SymbolBatch| answer.addresses.binary_search(address).ok();
        let (answer, index) = from.iter().find_map(|answer| Some((*answer, at(&answer)?)))?;
        match answer.symbol(index) {
            Ok(id) => {
                let symbol = answer.symbol_by_id(id)?;
                let key = (symbol.start, symbol.end, symbol.raw_name.as_str());
                builder.push_symbol(SymbolId(symbols.number(key, symbol)));
            }
            Err(reason) => builder.push_reason(reason),
        }
        let frames = answer.frames(index).iter().map(|frame| {
            let function = frame.function.and_then(|id| answer.function(id));
            let file = frame.file.and_then(|id| answer.file(id));
            Frame {
                function: function.map(|function| FunctionId(functions.number(&function.raw_name, function))),
                file: file.map(|file| FileId(files.number(file, file))),
                ..*frame
            }
        });
        builder.push_frames(frames.collect::<Vec<Frame>>());
    }
    // What was kept has no names to show, since those depend on the style.
    let name = |name: &str, raw: &str, show: fn(&str, Demangle) -> String| match name {
        "" => show(raw, style),
        name => name.to_owned(),
    };
    builder.symbols = symbols
        .values
        .into_par_iter()
        .with_min_len(16)
        .map(|symbol| Symbol { name: name(&symbol.name, &symbol.raw_name, shown), ..symbol.clone() })
        .collect();
    builder.functions = functions
        .values
        .into_par_iter()
        .with_min_len(16)
        .map(|function| Function {
            name: name(&function.name, &function.raw_name, |raw, style| demangle(raw, style).into_owned()),
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
