//! Numbers for the names in frames: in the order of their first appearance, whoever looked up what.

use std::borrow::Cow;
use std::sync::Arc;

use super::Query;
use super::look_up::Piece;
use crate::batch::{BatchBuilder, FunctionName, SourceFrame};
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
                            function.and_then(|id| own_functions.index(id.index(), &mut functions))
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
    let names = shown.of(functions.iter().map(|raw| &**raw));
    let named = names.into_iter().zip(functions);
    builder.functions = named.map(|(name, raw)| FunctionName::new(name, raw.into_owned())).collect();
    builder.files = files.into_iter().map(Arc::from).collect();
    builder.symbols = symbols;
    any
}
