//! Numbers for the names in frames: in the order of their first appearance, whoever looked up what.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::Query;
use super::look_up::Piece;
use crate::batch::{BatchBuilder, FileId, Frame, Function, FunctionId, next_number};
use crate::source::name::as_name;
use crate::source::shown::ShownNames;

/// Numbers for names, in the order of their first appearance.
#[derive(Default)]
struct Interner<'p> {
    numbers: FxHashMap<Cow<'p, str>, u32>,
}

impl<'p> Interner<'p> {
    fn number(&mut self, name: Cow<'p, str>) -> u32 {
        let next = next_number(self.numbers.len());
        *self.numbers.entry(name).or_insert(next)
    }

    fn in_order(&self) -> Vec<&str> {
        let mut all: Vec<(&str, u32)> =
            self.numbers.iter().map(|(name, number)| (name.as_ref(), *number)).collect();
        all.sort_unstable_by_key(|(_, number)| *number);
        all.into_iter().map(|(name, _)| name).collect()
    }
}

/// The names of one piece, or the symbols, and their numbers in the answer once they have one.
struct Renumbering<'p, T> {
    names: &'p [T],
    numbers: Vec<Option<u32>>,
    read: fn(&'p T) -> Cow<'p, str>,
}

impl<'p, T> Renumbering<'p, T> {
    fn new(names: &'p [T], read: fn(&'p T) -> Cow<'p, str>) -> Renumbering<'p, T> {
        Renumbering { names, numbers: vec![None; names.len()], read }
    }

    fn number(&mut self, number: u32, all: &mut Interner<'p>) -> Option<u32> {
        let at = usize::try_from(number).ok()?;
        let known = self.numbers.get_mut(at)?;
        let name = self.names.get(at)?;
        Some(*known.get_or_insert_with(|| all.number((self.read)(name))))
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
    let mut named = Renumbering::new(&symbols, |symbol| Cow::Borrowed(symbol.raw_name.as_str()));
    let (mut functions, mut files) = (Interner::default(), Interner::default());
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
                Frame {
                    function: match (symbol, frame.function) {
                        (Some(symbol), _) if level == last => named.number(symbol.0, &mut functions),
                        (_, function) => function.and_then(|id| own_functions.number(id.0, &mut functions)),
                    }
                    .map(FunctionId),
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
    let raw_names = functions.in_order();
    let names = shown.of(raw_names.iter().copied());
    builder.functions = raw_names
        .into_iter()
        .zip(names)
        .map(|(raw_name, name)| Function { name, raw_name: raw_name.to_owned() })
        .collect();
    builder.files = files.in_order().into_iter().map(str::to_owned).collect();
    builder.symbols = symbols;
    any
}
