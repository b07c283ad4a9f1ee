//! Flame graphs: one file that shows stacks as boxes, the wider the more, without any other file or server.
//!
//! The picture is drawn twice. Once here, for viewers that run no scripts (an image in a page, a printer): the widest frames,
//! with names and hints. And once by the script in the file, from the numbers in the file, for everybody else: then it zooms,
//! searches, and fits any width. SVG and HTML differ only in what is around the picture.

mod data;
mod frames;
mod palette;
mod picture;

pub use frames::{LeastShare, Siblings};
pub use palette::Colors;

use crate::export::labels::{Labels, Numbered, push_ids};
use crate::export::{Export, Format, Needs};
use crate::text::grouped;
use crate::xml::push_shown;
use frames::Frames;
use readperf_profile::SampleRow;
use readperf_profile::view::flame_reverse::ReversedSide;
use readperf_profile::view::flame_tree::{FlameTree, Sum};
use std::io::{self, Write};

const NEEDS: Needs = Needs::STACKS;

/// The format: an SVG file.
pub const SVG: Format = Format {
    name: "flamegraph",
    extensions: &["svg"],
    help: "flame graph, one SVG file: zoom, search, differences (any browser)",
    binary: false,
    needs: NEEDS,
    write: |export, out| write(export, None, Page::Svg, out),
};

/// The format: an HTML file.
pub const HTML: Format = Format {
    name: "flamegraph-html",
    extensions: &["html", "htm"],
    help: "the same as one HTML file",
    binary: false,
    needs: NEEDS,
    write: |export, out| write(export, None, Page::Html, out),
};

/// How a flame graph is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    pub least: LeastShare,
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
    frames: &'g Frames,
    options: &'g FlameOptions,
    /// What widths are, and what else is told.
    weight: crate::export::Weight,
    title: String,
    /// What is shown: event, samples, period.
    subtitle: String,
    /// What is not shown.
    note: String,
    /// Whether two recordings are compared.
    differs: bool,
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

/// Writes a flame graph.
fn write(export: &Export<'_>, base: Option<&Export<'_>>, page: Page, out: &mut dyn Write) -> io::Result<()> {
    let mut labels = Labels::new(export.options.annotate, |name, text| push_shown(text, name));
    let sides: Vec<(&Export<'_>, usize)> =
        std::iter::once(export).chain(base).map(|side| (side, event_of(side, export))).collect();
    let mut numbered: Vec<Numbered> =
        sides.iter().map(|(side, event)| labels.take_in(side, *event, root)).collect();
    labels.finish(&mut numbered);
    let flame = &export.options.flame;
    let tree = grow(&sides, &numbered, flame);
    drop(numbered);
    let frames = Frames::new(&tree, export.options.weight, flame.siblings, flame.least);
    drop(tree);
    let graph = Graph {
        labels: &labels,
        frames: &frames,
        options: flame,
        weight: export.options.weight,
        title: title(export, base.is_some()),
        subtitle: subtitle(&sides),
        note: with_matching(note(&frames, flame.least, export.options.weight), base),
        differs: base.is_some(),
    };
    picture::write(&graph, page, out)
}

/// The event to show. Of the recording to compare with it is the one with the same name; one that has none of that name shows
/// nothing.
fn event_of(side: &Export<'_>, new: &Export<'_>) -> usize {
    let Some(event) = new.event() else { return side.event().unwrap_or(usize::MAX) };
    if std::ptr::eq(side, new) {
        return event;
    }
    let name = new.profile.events().get(event).map(|event| &event.name);
    side.profile.events().iter().position(|event| Some(&event.name) == name).unwrap_or(usize::MAX)
}

/// What a stack stands on: the thread's name.
fn root(export: &Export<'_>, row: &SampleRow, text: &mut String) {
    push_shown(text, &export.comm(row));
    push_ids(export, row, text);
}

fn grow(sides: &[(&Export<'_>, usize)], numbered: &[Numbered], options: &FlameOptions) -> FlameTree {
    if !options.reverse {
        let mut tree = FlameTree::default();
        for ((side, event), numbered) in sides.iter().zip(numbered) {
            tree.add(side.profile, *event, &numbered.levels, |row| numbered.root(row));
        }
        tree.freeze();
        return tree;
    }
    let mut roots: Vec<_> = numbered.iter().map(|numbered| |row: &SampleRow| numbered.root(row)).collect();
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
                    period: options.least.of(whole.map_or(0, |event| event.period)),
                    samples: options.least.of(whole.map_or(0, |event| event.samples)),
                },
            }
        })
        .collect();
    let mut tree = FlameTree::reversed(&mut reversed);
    tree.freeze();
    tree
}

fn title(export: &Export<'_>, differs: bool) -> String {
    let mut title = String::new();
    match (&export.options.title, differs, export.options.flame.reverse) {
        (Some(given), _, _) => push_shown(&mut title, given),
        (None, true, false) => title.push_str("Differential flame graph"),
        (None, true, true) => title.push_str("Differential flame graph of callers"),
        (None, false, true) => title.push_str("Flame graph of callers"),
        (None, false, false) => title.push_str("Flame graph"),
    }
    title
}

fn subtitle(sides: &[(&Export<'_>, usize)]) -> String {
    let of_side = |(side, event): &(&Export<'_>, usize)| match side.profile.events().get(*event) {
        None => "no samples".to_owned(),
        Some(event) => {
            let mut text = String::new();
            push_shown(&mut text, &event.name);
            format!("{text}: {} samples, period {}", grouped(event.samples), grouped(event.period))
        }
    };
    let texts: Vec<String> = sides.iter().map(of_side).collect();
    match texts.as_slice() {
        [new, base] => format!("new: {new} · base: {base}"),
        _ => texts.concat(),
    }
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

/// What is not shown, in words.
fn note(frames: &Frames, least: LeastShare, weight: crate::export::Weight) -> String {
    if frames.left_out == 0 {
        return String::new();
    }
    let whole = frames.list.first().map(|all| all.total).unwrap_or_default();
    let share = |side: usize| {
        let of = |sums: [Sum; 2]| sums.get(side).map_or(0, |sum| weight.of_sum(sum));
        crate::overview::share(of(frames.left_out_sum), of(whole))
    };
    let percent = f64::from(least.0) / 10_000.0;
    let sides = if share(1) > 0.0 {
        format!("{:.2} % and {:.2} %", share(0), share(1))
    } else {
        format!("{:.2} %", share(0))
    };
    format!(
        "Not shown: {} frames under {percent} %, together {sides} of the weight.",
        grouped(frames.left_out)
    )
}
