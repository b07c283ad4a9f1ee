//! Numbers for the names in frames: in the order of their first appearance, whoever looked up what.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::Query;
use super::look_up::Piece;
use crate::batch::{BatchBuilder, FileId, Frame, Function, FunctionId, next_number};
use crate::demangle::{Demangle, demangle};

/// Numbers for values, in the order of their first appearance.
pub(super) struct Interner<T> {
    numbers: FxHashMap<T, u32>,
}

impl<T: std::hash::Hash + Eq + std::borrow::Borrow<str>> Interner<T> {
    pub(super) fn new() -> Interner<T> {
        Interner { numbers: FxHashMap::default() }
    }

    pub(super) fn number<Q: AsRef<str> + Into<T>>(&mut self, value: Q) -> u32 {
        if let Some(number) = self.numbers.get(value.as_ref()) {
            return *number;
        }
        let number = next_number(self.numbers.len());
        self.numbers.insert(value.into(), number);
        number
    }

    fn in_order(&self) -> Vec<&str> {
        let mut all: Vec<(&str, u32)> =
            self.numbers.iter().map(|(value, number)| (value.borrow(), *number)).collect();
        all.sort_unstable_by_key(|(_, number)| *number);
        all.into_iter().map(|(value, _)| value).collect()
    }
}

/// The names of one piece, and their numbers in the answer once they have one.
struct Renumbering<'p> {
    names: Vec<&'p str>,
    numbers: Vec<Option<u32>>,
}

impl<'p> Renumbering<'p> {
    fn new(names: Vec<&'p str>) -> Renumbering<'p> {
        Renumbering { numbers: vec![None; names.len()], names }
    }

    fn number(&mut self, number: u32, all: &mut Interner<&'p str>) -> Option<u32> {
        let at = usize::try_from(number).ok()?;
        let known = self.numbers.get_mut(at)?;
        let name = self.names.get(at)?;
        Some(*known.get_or_insert_with(|| all.number(*name)))
    }
}

/// Joins the pieces in the order of the addresses. Returns whether there is any frame.
pub(super) fn merge(
    pieces: &[Piece<'_>],
    queries: &[Query],
    style: Demangle,
    builder: &mut BatchBuilder,
) -> bool {
    let symbols = std::mem::take(&mut builder.symbols);
    let symbol_name = |query: &Query| {
        let number = usize::try_from(query.symbol?.0).ok()?;
        symbols.get(number).map(|symbol| symbol.raw_name.as_str())
    };
    let mut functions: Interner<&str> = Interner::new();
    let mut files: Interner<&str> = Interner::new();
    let mut readers: Vec<_> = pieces
        .iter()
        .map(|piece| {
            let functions = Renumbering::new(piece.functions.in_order());
            (piece.ends.iter().peekable(), 0_usize, functions, Renumbering::new(piece.files.in_order()))
        })
        .collect();
    let mut any = false;
    for (number, query) in queries.iter().enumerate() {
        let mut answered = false;
        for (piece, (ends, start, own_functions, own_files)) in pieces.iter().zip(&mut readers) {
            let Some((_, end)) = ends.next_if(|(query, _)| *query == number) else { continue };
            let frames = piece.frames.get(*start..*end).unwrap_or(&[]);
            *start = *end;
            (any, answered) = (true, true);
            let outermost = symbol_name(query);
            let last = frames.len().saturating_sub(1);
            builder.push_frames(frames.iter().enumerate().map(|(level, frame)| {
                Frame {
                    function: match outermost {
                        Some(name) if level == last => Some(FunctionId(functions.number(name))),
                        _ => frame
                            .function
                            .and_then(|id| own_functions.number(id.0, &mut functions))
                            .map(FunctionId),
                    },
                    file: frame.file.and_then(|id| own_files.number(id.0, &mut files)).map(FileId),
                    ..*frame
                }
            }));
            break;
        }
        if !answered {
            builder.push_frames([]);
        }
    }
    builder.functions = functions
        .in_order()
        .into_par_iter()
        .with_min_len(16)
        .map(|name| Function { name: demangle(name, style).into_owned(), raw_name: name.to_owned() })
        .collect();
    builder.files = files.in_order().into_iter().map(str::to_owned).collect();
    builder.symbols = symbols;
    any
}
