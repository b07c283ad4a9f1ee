//! Flame graphs: one file that shows stacks as boxes, the wider the more, without any other file or server.
//!
//! The picture is drawn twice. Once here, for viewers that run no scripts (an image in a page, a printer): the widest frames,
//! with names and hints. And once by the script in the file, from the numbers in the file, for everybody else: then it zooms,
//! searches, and fits any width. SVG and HTML differ only in what is around the picture.

mod data;
mod heading;
mod module;
mod palette;
mod picture;

pub use data::{DrawnFrame, Head, left_out_name, write_data};
pub use module::{module, style};
pub use palette::{Colors, FrameSort};
pub use readperf_profile::view::flame_layout::{Least, LeastShare, Siblings};

use crate::export::labels::{Labels, Numbered, push_ids};
use crate::export::quantity::Quantity;
use crate::export::{Export, Flag, Format, Needs, Writing};
use crate::xml::push_shown;
use heading::Side;
use readperf_profile::SampleRow;
use readperf_profile::view::flame_layout::{Bounds, FlameLayout};
use readperf_profile::view::flame_reverse::ReversedSide;
use readperf_profile::view::flame_tree::{FlameLevel, FlameTree, Sum};
use std::io::{self, Write};

/// The format: an SVG file.
pub const SVG: Format = Format {
    name: "flamegraph",
    extensions: &["svg"],
    help: "flame graph, one SVG file: zoom, search, differences (any browser)",
    binary: false,
    needs: Needs { lines: true, ..Needs::STACKS },
    one_event: true,
    pictures_time: false,
    no_place_for: &[Flag::WithCpu],
    difference: Some(write_difference),
    write: Writing::Profile(|export, out| write(export, None, Page::Svg, out)),
};

/// The format: an HTML file.
pub const HTML: Format = Format {
    name: "flamegraph-html",
    extensions: &["html", "htm"],
    help: "the same as one HTML file",
    write: Writing::Profile(|export, out| write(export, None, Page::Html, out)),
    ..SVG
};

/// How a flame graph is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlameOptions {
    /// Whether the roots are at the top: an icicle graph.
    pub inverted: bool,
    /// Whether stacks are turned around: from the function that samples were taken in to those that called it.
    pub reverse: bool,
    /// What colours mean.
    pub colors: Colors,
    /// How siblings are ordered.
    pub siblings: Siblings,
    /// What is too small to be drawn.
    pub least: Least,
    /// Whether stacks stand on the name of their thread.
    pub comm: bool,
}

impl Default for FlameOptions {
    fn default() -> Self {
        FlameOptions {
            inverted: false,
            reverse: false,
            colors: Colors::default(),
            siblings: Siblings::default(),
            least: Least::default(),
            comm: true,
        }
    }
}

/// What is around the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// Nothing: the file is the picture.
    Svg,
    /// A page.
    Html,
}

/// Everything that is shown.
struct Graph<'g> {
    labels: &'g Labels,
    frames: &'g FlameLayout,
    options: &'g FlameOptions,
    /// What is said of it.
    head: Head,
}

/// Writes the differences of a recording to another one: widths are those of the new one, colours say what has changed.
///
/// # Errors
/// What the writer says.
pub fn write_difference(
    format: &Format,
    new: &Export<'_>,
    base: &Export<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    write(new, Some(base), if format.name == HTML.name { Page::Html } else { Page::Svg }, out)
}

/// What a picture is called: program, host, date, event.
pub fn title(export: &Export<'_>) -> String {
    heading::title(&[(export, event_of(export, export))])
}

/// What tells a frame from others that were called at the same place, in the address of a page: a number for its name (FNV-1a).
pub fn frame_key(name: &str) -> u32 {
    palette::hash(name)
}

/// Writes a flame graph.
fn write(export: &Export<'_>, base: Option<&Export<'_>>, page: Page, out: &mut dyn Write) -> io::Result<()> {
    let mut labels = Labels::new(export.options.annotate, |name, text| push_shown(text, name));
    let sides: Vec<Side<'_, '_>> =
        std::iter::once(export).chain(base).map(|side| (side, event_of(side, export))).collect();
    let mut numbered: Vec<Numbered> =
        sides.iter().map(|(side, event)| labels.take_in(side, *event, root)).collect();
    labels.finish(&mut numbered);
    let flame = &export.options.flame;
    let weight = export.profile.weight();
    let layout = |tree: &FlameTree, bounds| FlameLayout::new(tree, weight, flame.siblings, bounds);
    let frames = if flame.reverse {
        flame.least.choose(|bounds| layout(&grow_reversed(&sides, &numbered, bounds), bounds), weight)
    } else {
        let tree = grow(&sides, &numbered);
        flame.least.choose(|bounds| layout(&tree, bounds), weight)
    };
    drop(numbered);
    let head = Head {
        title: heading::title(&sides),
        subtitle: heading::subtitle(&sides),
        note: with_matching(heading::note(&frames, weight, flame.reverse), base),
        weight,
        quantity: Quantity::of(export, sides.first().map_or(usize::MAX, |(_, event)| *event)),
        colors: flame.colors,
        siblings: flame.siblings,
        inverted: flame.inverted,
        differs: base.is_some(),
    };
    picture::write(&Graph { labels: &labels, frames: &frames, options: flame, head }, page, out)
}

/// The event to show. Of the recording to compare with it is the same one; one that does not have it shows nothing.
fn event_of(side: &Export<'_>, new: &Export<'_>) -> usize {
    let Some(event) = new.event() else { return side.event().unwrap_or(usize::MAX) };
    if std::ptr::eq(side, new) {
        return event;
    }
    let name = new.profile.events().get(event).map(|event| event.name.as_str());
    let matching = side.options.matching.as_ref();
    let before = name.and_then(|name| matching?.event_before(side.profile, name));
    before.unwrap_or(usize::MAX)
}

/// What a stack stands on: the thread's name.
fn root(export: &Export<'_>, row: &SampleRow, text: &mut String) {
    push_shown(text, &export.comm(row));
    push_ids(export, row, text);
}

/// The level of a row's thread, if it is to have one.
fn root_of(export: &Export<'_>, numbered: &Numbered, row: &SampleRow) -> Option<FlameLevel> {
    export.options.flame.comm.then(|| numbered.root(row))
}

fn grow(sides: &[Side<'_, '_>], numbered: &[Numbered]) -> FlameTree {
    let mut tree = FlameTree::default();
    for ((side, event), numbered) in sides.iter().zip(numbered) {
        tree.add(side.profile, *event, &numbered.levels, |row| root_of(side, numbered, row));
    }
    tree.freeze();
    tree
}

fn grow_reversed(sides: &[Side<'_, '_>], numbered: &[Numbered], bounds: Bounds) -> FlameTree {
    let least = bounds.least;
    let mut roots: Vec<_> = sides
        .iter()
        .zip(numbered)
        .map(|((side, _), numbered)| |row: &SampleRow| root_of(side, numbered, row))
        .collect();
    let mut reversed: Vec<ReversedSide<'_>> = sides
        .iter()
        .zip(numbered)
        .zip(&mut roots)
        .map(|(((side, event), numbered), root)| {
            let whole = side.profile.events().get(*event);
            ReversedSide {
                profile: side.profile,
                event: *event,
                levels: &numbered.levels,
                root,
                least: Sum {
                    period: least.of(whole.map_or(0, |event| event.period)),
                    samples: least.of(whole.map_or(0, |event| event.samples)),
                },
            }
        })
        .collect();
    let mut tree = FlameTree::reversed(&mut reversed, bounds.rows);
    tree.freeze();
    tree
}

/// With what names of the other recording were taken for those of this one.
fn with_matching(note: String, base: Option<&Export<'_>>) -> String {
    let told = base.and_then(|base| base.options.matching.as_ref()?.told());
    let Some(told) = told else { return note };
    let mut text = note;
    text.push_str(if text.is_empty() { "" } else { " " });
    push_shown(&mut text, &format!("Names differ: {told}."));
    text
}
