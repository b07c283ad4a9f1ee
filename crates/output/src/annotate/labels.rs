//! What functions, binaries and lines are called.

use super::Annotation;
use crate::names::UNKNOWN;
use crate::short_name::shorten;
use crate::text::{decoded, printable_bytes, shown};
use readperf_profile::view::listing::{Level, Line, Listing, Part};
use readperf_session::Binary;
use std::borrow::Cow;

impl<'a> Annotation<'a> {
    /// The name of the listed function.
    pub(super) fn function(&self, listing: &Listing) -> Cow<'a, str> {
        self.profile.function(listing.function).map_or(Cow::Borrowed(UNKNOWN), |function| function.label())
    }

    /// The name of the function whose symbol covers a part.
    pub(super) fn symbol(&self, part: &Part) -> Cow<'a, str> {
        self.profile.function(part.symbol).map_or(Cow::Borrowed(UNKNOWN), |function| function.label())
    }

    fn binary(&self, part: &Part) -> Option<&'a Binary> {
        self.session.binary(part.binary?)
    }

    /// The path of the binary of a part, or its name in brackets.
    pub(super) fn binary_path(&self, part: &Part) -> Cow<'a, str> {
        self.binary(part).map_or(Cow::Borrowed(UNKNOWN), |binary| decoded(&binary.name))
    }

    /// The short name of the binary of a part.
    pub(super) fn binary_name(&self, part: &Part) -> Cow<'a, str> {
        self.binary(part).map_or(Cow::Borrowed(UNKNOWN), |binary| decoded(&binary.short_name))
    }
}

/// File and line, without the directories.
pub(super) fn place(listing: &Listing, line: &Line) -> String {
    let Some(path) = listing.file_of(line) else { return "no source is known".to_owned() };
    let name = shown(path.rsplit('/').next().unwrap_or(path)).into_owned();
    match line.line {
        0 => format!("{name} (no line)"),
        number => format!("{name}:{number}"),
    }
}

/// How wide the name of an inlined function may be where there are others beside it, and how many of them there are.
const NAME_WIDTH: usize = 32;
const MOST_NAMES: usize = 3;

/// The functions that are inlined at a place, the innermost first.
pub(super) fn inlined(levels: &[Level]) -> Option<String> {
    let names: Vec<Cow<'_, str>> = inlined_names(levels).map(shown).collect();
    (!names.is_empty()).then(|| names.join(" < "))
}

/// The same in little room: the innermost of them, with short names.
pub(super) fn inlined_briefly(levels: &[Level]) -> Option<String> {
    let short = |name| shorten(&shown(name), NAME_WIDTH).into_owned();
    let mut names: Vec<String> = inlined_names(levels).take(MOST_NAMES).map(short).collect();
    if inlined_names(levels).nth(MOST_NAMES).is_some() {
        names.push("…".to_owned());
    }
    (!names.is_empty()).then(|| names.join(" < "))
}

fn inlined_names(levels: &[Level]) -> impl Iterator<Item = &str> {
    levels.iter().filter_map(|level| level.inlined.as_deref())
}

/// A line of source as it may be shown: tabs become spaces.
pub(super) fn source(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut text = String::new();
    for (nr, part) in line.split(|byte| *byte == b'\t').enumerate() {
        if nr > 0 {
            let spaces = 8 - crate::text::width(&text) % 8;
            text.push_str(&" ".repeat(spaces));
        }
        text.push_str(&printable_bytes(part));
    }
    text
}
