//! Names of functions made to fit a width, by sense: what tells least of a function goes first.
//!
//! Arguments of templates go first, the innermost before the outer ones, then parameters, then the type that is returned, then
//! namespaces from the outermost on. The function's own name is what is left at the end; only where that is too wide, it loses
//! its middle. Every place where something is missing has a `…`.

mod brackets;
mod forms;

use crate::text::width;
use brackets::{Kind, Pair, pairs};
pub use forms::forms;
use std::borrow::Cow;
use unicode_width::UnicodeWidthChar as _;

/// What stands for something that is left out.
const MARK: char = '…';

/// What reports say of inlined functions. It stays while there is room for a name before it.
const INLINED: &str = " (inlined)";

/// A name in less room than this loses what is behind it, too.
const LEAST_NAME: usize = 12;

/// Arguments deeper than this go in one step.
const DEEPEST_STEP: usize = 8;

/// A name that is at most so many columns wide.
pub fn shorten(name: &str, room: usize) -> Cow<'_, str> {
    if width(name) <= room {
        return Cow::Borrowed(name);
    }
    let less = room.saturating_sub(width(INLINED));
    if let Some(front) = name.strip_suffix(INLINED).filter(|_| less >= LEAST_NAME) {
        return Cow::Owned(by_sense(front, less) + INLINED);
    }
    Cow::Owned(by_sense(name, room))
}

/// A text cut to a width: its middle is left out, since both ends tell names apart.
pub fn without_middle(text: &str, room: usize) -> Cow<'_, str> {
    if width(text) <= room {
        return Cow::Borrowed(text);
    }
    let Some(kept) = room.checked_sub(1) else { return Cow::Borrowed("") };
    let front = fitting(text.chars(), kept.div_ceil(2));
    let back: String = fitting(text.chars().rev(), kept / 2).chars().rev().collect();
    Cow::Owned(format!("{front}{MARK}{back}"))
}

/// The first characters that fit.
fn fitting(characters: impl Iterator<Item = char>, room: usize) -> String {
    let mut used = 0;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= room
    };
    characters.take_while(fits).collect()
}

fn by_sense(name: &str, room: usize) -> String {
    let fits = |text: &String| width(text) <= room;
    let of_name = pairs(name);
    let is = |pair: &Pair, kind: Kind, depth: usize| pair.kind == kind && pair.depth >= depth;
    let deepest = of_name.iter().map(|pair| pair.depth).max().unwrap_or(0).min(DEEPEST_STEP);
    for depth in (1..=deepest).rev() {
        let text = emptied(name, &of_name, |pair| is(pair, Kind::Arguments, depth));
        if fits(&text) {
            return text;
        }
    }
    let text = emptied(name, &of_name, |pair| is(pair, Kind::Arguments, 1) || is(pair, Kind::Parameters, 1));
    if fits(&text) {
        return text;
    }
    let text = text.get(return_type(&text)..).unwrap_or_default().to_owned();
    if fits(&text) {
        return text;
    }
    let text = match without_directories(&text, room) {
        Ok(text) => return text,
        Err(text) => text,
    };
    let text = plain_types(&text);
    if fits(&text) {
        return text;
    }
    without_namespaces(&text, room)
}

/// The name with nothing between some of its brackets.
fn emptied(name: &str, pairs: &[Pair], is_emptied: impl Fn(&Pair) -> bool) -> String {
    let (mut text, mut at) = (String::with_capacity(name.len()), 0);
    for pair in pairs.iter().filter(|pair| is_emptied(pair)) {
        if pair.open >= at && pair.close > pair.open + 1 {
            text.push_str(name.get(at..=pair.open).unwrap_or_default());
            text.push(MARK);
            at = pair.close;
        }
    }
    text.push_str(name.get(at..).unwrap_or_default());
    text
}

/// The places of a name that lie in no brackets.
struct Outside(Vec<Pair>);

impl Outside {
    fn new(pairs: &[Pair]) -> Outside {
        Outside(pairs.iter().filter(|pair| pair.outermost).copied().collect())
    }

    fn has(&self, at: usize) -> bool {
        let before = self.0.partition_point(|pair| pair.open < at);
        let last = before.checked_sub(1).and_then(|last| self.0.get(last));
        last.is_none_or(|pair| pair.close <= at)
    }
}

/// Where the path of the function ends: at its parameters.
fn path_end(text: &str, pairs: &[Pair]) -> usize {
    let parameters = pairs.iter().find(|pair| pair.outermost && pair.kind == Kind::Parameters);
    parameters.map_or(text.len(), |pair| pair.open)
}

/// The length of what a function returns; only names of templates tell it.
fn return_type(text: &str) -> usize {
    let pairs = pairs(text);
    let end = path_end(text, &pairs);
    let is_template = pairs.iter().any(|pair| pair.kind == Kind::Arguments && pair.close < end);
    let front = text.get(..end).unwrap_or_default();
    // `operator new`, `operator long`: their space belongs to the name. Thunks and tables are not what is returned.
    let front = front.find("operator").and_then(|at| front.get(..at)).unwrap_or(front);
    let mut spaces = front.match_indices(' ').map(|(at, _)| at);
    let outside = Outside::new(&pairs);
    let last = spaces.rfind(|at| outside.has(*at));
    match last.filter(|at| is_template && end < text.len() && !is_preposition(text, *at)) {
        Some(space) => space + 1,
        None => 0,
    }
}

/// Whether the word before a space leads to a name: `thunk to a::b()`.
fn is_preposition(text: &str, space: usize) -> bool {
    let front = text.get(..space).unwrap_or_default();
    front.ends_with(" to") || front.ends_with(" for")
}

/// A name with the file it is in, as those of scripts, with less of the directories; as an error if that is too wide.
fn without_directories(text: &str, room: usize) -> Result<String, String> {
    let begins = |(at, _): &(usize, &str)| {
        let before = text.get(..*at).unwrap_or_default();
        before.is_empty() || before.ends_with([' ', ':', '~', '*']) && !before.ends_with("::")
    };
    let Some((start, _)) = text.match_indices('/').find(begins) else { return Err(text.to_owned()) };
    let (front, path) = text.split_at(start);
    let ends: Vec<(usize, &str)> = path.match_indices('/').skip(1).map(|(at, _)| (at, "")).collect();
    match shortest_cut(path, &ends, room.saturating_sub(width(front))) {
        Ok(path) => Ok(format!("{front}{path}")),
        Err(path) => Err(format!("{front}{path}")),
    }
}

/// A text that begins behind the first of some places from where on it fits; as an error the shortest, if it never does.
fn shortest_cut(text: &str, ends: &[(usize, &str)], room: usize) -> Result<String, String> {
    let short =
        |end: usize, separator: &str| format!("{MARK}{separator}{}", text.get(end..).unwrap_or_default());
    let (mut left, mut from) = (width(text), 0);
    for (end, separator) in ends {
        left -= width(text.get(from..*end).unwrap_or_default());
        from = *end;
        if 1 + separator.len() + left <= room {
            return Ok(short(*end, separator));
        }
    }
    Err(ends.last().map_or_else(|| text.to_owned(), |(end, separator)| short(*end, separator)))
}

/// The name with types in whose place a path begins without their namespaces: `<…::Vec<…> as …::Drop>::drop`.
fn plain_types(text: &str) -> String {
    let all = pairs(text);
    let (mut short, mut at) = (String::new(), 0);
    for pair in all.iter().filter(|pair| pair.outermost && pair.kind == Kind::Qualified) {
        short.push_str(text.get(at..=pair.open).unwrap_or_default());
        let inside = text.get(pair.open + 1..pair.close).unwrap_or_default();
        let words = inside.split_inclusive(' ').map(|word| {
            let of_word = pairs(word);
            match separators(word, &of_word, 0, word.len()).last() {
                Some((end, separator)) if *end > separator.len() + 1 => {
                    format!("{MARK}{separator}{}", word.get(*end..).unwrap_or_default())
                }
                _ => word.to_owned(),
            }
        });
        short.extend(words);
        at = pair.close;
    }
    short.push_str(text.get(at..).unwrap_or_default());
    short
}

/// Where parts of a path end, behind what separates them.
fn separators<'t>(text: &'t str, pairs: &[Pair], from: usize, to: usize) -> Vec<(usize, &'t str)> {
    let part = text.get(from..to).unwrap_or_default();
    let outside = Outside::new(pairs);
    let mut ends: Vec<(usize, &str)> = ["::", "/"]
        .iter()
        .flat_map(|separator| part.match_indices(separator))
        .map(|(at, separator)| (from + at + separator.len(), separator))
        .filter(|(end, _)| outside.has(end - 1) && *end < to)
        .collect();
    ends.sort_unstable();
    ends
}

/// The name without as many of its outer namespaces as needed; if even its own name is too wide, that loses its middle.
fn without_namespaces(text: &str, room: usize) -> String {
    let all = pairs(text);
    let end = path_end(text, &all);
    let ends = separators(text, &all, 0, end);
    // `vtable for a::b`: what is before the path stays while there is room.
    let first = ends.first().map_or(0, |(end, _)| *end);
    let front = text.get(..first).unwrap_or_default();
    let outside = Outside::new(&all);
    let start = front.match_indices(' ').map(|(at, _)| at + 1).rfind(|at| outside.has(*at)).unwrap_or(0);
    let (before, path) = text.split_at(start);
    let in_path: Vec<(usize, &str)> = ends.iter().map(|(end, separator)| (end - start, *separator)).collect();
    if let Some(less) = room.checked_sub(width(before))
        && let Ok(short) = shortest_cut(path, &in_path, less)
    {
        return format!("{before}{short}");
    }
    let own = ends.last().and_then(|(end, _)| text.get(*end..)).unwrap_or(text);
    let brackets = pairs(own).into_iter();
    let cut = brackets.filter(|pair| matches!(pair.kind, Kind::Arguments | Kind::Parameters));
    let own = cut.map(|pair| pair.open).min().and_then(|at| own.get(..at)).unwrap_or(own);
    match width(own) {
        own_width if own_width < room => format!("{own}{MARK}"),
        // One column less than the name, for the mark.
        own_width if own_width == room => fitting(own.chars(), room.saturating_sub(1)) + &MARK.to_string(),
        _ => without_middle(own, room).into_owned(),
    }
}

#[cfg(test)]
mod tests;
