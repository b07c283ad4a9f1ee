//! Numbers for the names in frames: in the order of their first appearance, whoever looked up what.

use std::borrow::Cow;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::Query;
use super::look_up::Piece;
use crate::batch::{BatchBuilder, SourceFrame};
use crate::function_name::FunctionName;
use crate::ids::{FileId, FunctionId, FxIndexSet};
use crate::name::as_name;
use crate::source::shown::ShownNames;

/// The names of one piece, or the symbols, and their numbers in the answer once they have one.
struct Renumbering<'p, T> {
    names: &'p [T],
    indices: Vec<Option<usize>>,
    read: fn(&'p T) -> Cow<'p, str>,
}

impl<'p, T> Renumbering<'p, T> {
    fn new(names: &'p [T], read: fn(&'p T) -> Cow<'p, str>) -> Renumbering<'p, T> {
        Renumbering { names, indices: vec![None; names.len()], read }
    }

    fn index(&mut self, index: usize, all: &mut FxIndexSet<Cow<'p, str>>) -> Option<usize> {
        let known = self.indices.get_mut(index)?;
        let name = self.names.get(index)?;
        Some(*known.get_or_insert_with(|| all.insert_full((self.read)(name)).0))
    }
}

/// The functions by their names. Inlined ones are told apart by the name that is shown; others have a symbol, of which most are never shown.
fn named_functions(
    functions: FxIndexSet<Cow<'_, str>>,
    is_inlined: &FxHashSet<usize>,
    shown: &ShownNames,
) -> Vec<FunctionName> {
    let inlined = functions.iter().enumerate().filter(|(index, _)| is_inlined.contains(index));
    let mut names = shown.of(inlined.map(|(_, raw)| &**raw)).into_iter();
    let named = |(index, raw): (usize, Cow<'_, str>)| match is_inlined.contains(&index) {
        true => FunctionName::new(names.next().unwrap_or_default(), raw.into_owned()),
        false => FunctionName::mangled(raw.into_owned(), shown.style()),
    };
    functions.into_iter().enumerate().map(named).collect()
}

/// Joins the pieces in the order of the addresses. Returns whether there is any frame.
pub(super) fn merge(
    pieces: &[Piece<'_>],
    queries: &[Query],
    shown: &ShownNames,
    builder: &mut BatchBuilder,
) -> bool {
    let symbols = std::mem::take(&mut builder.symbols);
    let mut named = Renumbering::new(&symbols, |symbol| Cow::Borrowed(symbol.name.raw()));
    let (mut functions, mut files) = (FxIndexSet::default(), FxIndexSet::default());
    let mut is_inlined: FxHashSet<usize> = FxHashSet::default();
    let mut readers: Vec<_> = pieces
        .iter()
        .map(|piece| {
            let functions = Renumbering::new(&piece.functions.names, |name| as_name(name));
            let files = Renumbering::new(&piece.files.names, |name| Cow::Borrowed(name.as_str()));
            (piece.ends.iter().peekable(), 0_usize, functions, files)
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
            let symbol = query.symbol;
            let last = frames.len().saturating_sub(1);
            builder.push_frames(frames.iter().enumerate().map(|(level, frame)| {
                SourceFrame {
                    function: match (symbol, frame.function) {
                        (Some(symbol), _) if level == last => named.index(symbol.index(), &mut functions),
                        (_, function) => {
                            let index =
                                function.and_then(|id| own_functions.index(id.index(), &mut functions));
                            is_inlined.extend(index);
                            index
                        }
                    }
                    .map(FunctionId::new),
                    file: frame.file.and_then(|id| own_files.index(id.index(), &mut files)).map(FileId::new),
                    ..*frame
                }
            }));
            break;
        }
        if !answered {
            builder.push_frames([]);
        }
    }
    builder.functions = named_functions(functions, &is_inlined, shown);
    builder.files = files.into_iter().map(Arc::from).collect();
    builder.symbols = symbols;
    any
}
