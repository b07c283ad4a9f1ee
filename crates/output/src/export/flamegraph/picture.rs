//! The file: style, the picture for viewers without scripts, the numbers, the script.

use super::data::{self, left_out_name};
use super::module::{DRAWING, SEARCH, STYLE};
use super::palette::{FrameSort, rules};
use super::{DrawnFrame, Graph, Page};
use crate::export::quantity::samples;
use crate::overview::share;
use crate::short_name::shorten;
use crate::text::without_long_middle;
use crate::xml::push_xml;
use readperf_profile::view::flame_layout::{BoxContent, FlameBox};
use readperf_profile::view::flame_tree::NO_LINE;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Height of a row of frames, in pixels. The script has the same.
const ROW: u32 = 18;
/// Height of title and notes above the frames.
const HEAD: u32 = 84;
/// Frames below this share are not in the picture without script, in percent.
const STILL_LEAST: f64 = 0.1;
/// Names are not written into frames below this share, in percent.
const STILL_NAMED: f64 = 1.5;
/// The picture without script is as wide as what it is shown in; for names it is taken to be so wide, in pixels.
const STILL_WIDTH: f64 = 1000.0;
/// Width of a letter, in pixels.
const LETTER: f64 = 7.3;
/// Deepest row of the picture without script: what is hostile is deep.
const STILL_ROWS: u32 = 1000;

/// Where numbers and picture are in a file, and its bar.
const FILE: &str = include_str!("file.js");
const CONTROLS: &str = include_str!("controls.js");

/// Writes the file.
pub(super) fn write(graph: &Graph<'_>, page: Page, out: &mut dyn Write) -> io::Result<()> {
    let mut title = String::new();
    push_xml(&mut title, &graph.head.title);
    match page {
        Page::Svg => writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>")?,
        Page::Html => writeln!(
            out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>{title}</title>\n</head>\n<body>"
        )?,
    }
    let height = HEAD + still_rows(graph) * ROW + ROW;
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"flamegraph\" class=\"{}\" width=\"100%\" height=\"{height}\" \
         role=\"img\" aria-labelledby=\"flame-title flame-about\">\n<title id=\"flame-title\">{title}</title>",
        if page == Page::Html { "in-page" } else { "alone" }
    )?;
    let mut about = String::new();
    push_xml(&mut about, &format!("{} {}", graph.head.subtitle, graph.head.note));
    writeln!(out, "<desc id=\"flame-about\">{about}</desc>")?;
    writeln!(out, "<style>\n{STYLE}{}</style>", rules())?;
    write_still(graph, out)?;
    out.write_all(b"<script type=\"application/json\" id=\"flame-data\">\n")?;
    data::write(&graph.head, graph.frames.list.iter().map(|frame| drawn(graph, frame)), Some(page), out)?;
    out.write_all(b"\n</script>\n<script><![CDATA[\n(() => {\n'use strict';\n")?;
    for part in [FILE, SEARCH].iter().chain(&DRAWING).chain(&[CONTROLS]) {
        out.write_all(part.as_bytes())?;
    }
    out.write_all(b"})();\n]]></script>\n</svg>\n")?;
    match page {
        Page::Svg => Ok(()),
        Page::Html => out.write_all(b"</body>\n</html>\n"),
    }
}

/// How many rows the picture without script has: those with frames wide enough for it.
fn still_rows(graph: &Graph<'_>) -> u32 {
    let whole = graph.frames.list.first().map_or(0, |all| weight(graph, all));
    let wide = graph.frames.list.iter().filter(|frame| share(weight(graph, frame), whole) >= STILL_LEAST);
    wide.map(|frame| frame.depth + 1).max().unwrap_or(1).min(STILL_ROWS)
}

/// The picture without script: widths in percent, so that it fits any width; every frame cuts off what is too long for it.
fn write_still(graph: &Graph<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut text = String::from("<g id=\"flame-still\">\n");
    for (class, y, line) in [
        ("title", 24, &graph.head.title),
        ("about", 46, &graph.head.subtitle),
        ("about", 64, &graph.head.note),
    ] {
        let _ = write!(text, "<text class=\"{class}\" x=\"12\" y=\"{y}\">");
        push_xml(&mut text, line);
        text.push_str("</text>\n");
    }
    out.write_all(text.as_bytes())?;
    out.write_all(b"<svg x=\"1%\" width=\"98%\" overflow=\"visible\">\n")?;
    let rows = still_rows(graph);
    let whole = graph.frames.list.first().map_or(0, |all| weight(graph, all));
    // Where the next child of each open frame begins, in percent.
    let mut starts: Vec<f64> = Vec::new();
    for frame in &graph.frames.list {
        let depth = frame.depth as usize;
        starts.truncate(depth + 1);
        let x = starts.get(depth).copied().unwrap_or(0.0);
        let width = share(weight(graph, frame), whole).clamp(0.0, (100.0 - x).max(0.0));
        if let Some(start) = starts.get_mut(depth) {
            *start = x + width;
        } else {
            starts.push(x + width);
        }
        starts.push(x);
        if width >= STILL_LEAST && frame.depth < rows {
            let row = if graph.options.inverted { frame.depth } else { rows - 1 - frame.depth };
            text.clear();
            push_frame(&mut text, graph, frame, (x, width), HEAD + row * ROW);
            out.write_all(text.as_bytes())?;
        }
    }
    out.write_all(b"</svg>\n</g>\n")
}

fn weight(graph: &Graph<'_>, frame: &FlameBox) -> u64 {
    graph.head.weight.of_sum(&frame.total[0])
}

/// A frame, as it is drawn.
fn drawn<'g>(graph: &'g Graph<'_>, frame: &FlameBox) -> DrawnFrame<'g> {
    let level = match frame.what {
        BoxContent::Level(level) => Some(level),
        BoxContent::All | BoxContent::LeftOut(_) => None,
    };
    let variant = level.and_then(|level| graph.labels.variant(level.variant));
    DrawnFrame {
        depth: frame.depth,
        name: name(graph, frame.what),
        binary: variant.map_or("", |variant| graph.labels.name(variant.binary)).into(),
        place: graph.labels.line(level.map_or(NO_LINE, |level| level.line)),
        sort: FrameSort::of(frame.what, variant),
        inlined: variant.is_some_and(|variant| variant.inlined),
        named: true,
        total: frame.total,
        own: frame.own,
    }
}

/// What a frame is called.
fn name<'g>(graph: &'g Graph<'_>, what: BoxContent) -> Cow<'g, str> {
    match what {
        BoxContent::All => "all".into(),
        BoxContent::LeftOut(count) => left_out_name(count).into(),
        BoxContent::Level(level) => graph.labels.name(level.label).into(),
    }
}

fn push_frame(text: &mut String, graph: &Graph<'_>, frame: &FlameBox, (x, width): (f64, f64), y: u32) {
    let DrawnFrame { name, sort, .. } = drawn(graph, frame);
    let class = format!("k{}{}", sort.number(), super::palette::name_color(&name) % 4);
    // Writing to a string does not fail.
    let _ = write!(text, "<svg x=\"{x:.3}%\" y=\"{y}\" width=\"{width:.3}%\" height=\"{}\"><title>", ROW - 1);
    let mut hint = format!(
        "{}: {:.2} %",
        without_long_middle(&name),
        share(weight(graph, frame), weight(graph, first(graph, frame)))
    );
    let _ = write!(
        hint,
        ", {}, {}",
        samples(frame.total[0].samples),
        graph.head.quantity.told(frame.total[0].period)
    );
    push_xml(text, &hint);
    let _ = write!(text, "</title><rect class=\"{class}\" width=\"100%\" height=\"100%\"/>");
    if width >= STILL_NAMED {
        text.push_str("<text class=\"name\" x=\"4\" y=\"13\">");
        push_xml(text, &shorten(&name, letters(width)));
        text.push_str("</text>");
    }
    text.push_str("</svg>\n");
}

/// How many letters a frame has room for, of a share of the usual width, in percent.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most some hundreds")]
fn letters(percent: f64) -> usize {
    ((percent / 100.0 * STILL_WIDTH - 6.0) / LETTER).max(0.0) as usize
}

fn first<'g>(graph: &'g Graph<'_>, frame: &'g FlameBox) -> &'g FlameBox {
    graph.frames.list.first().unwrap_or(frame)
}
