//! The numbers in the file, from which the script draws.

use super::palette::{Colors, STEPS, name_color, sort, sort_names};
use super::{Graph, Page, frame_key};
use crate::export::Weight;
use crate::export::quantity::Quantity;
use crate::short_name::forms;
use crate::text::grouped;
use crate::xml::push_json;
use readperf_profile::view::flame_layout::{BoxContent, FlameBox, Siblings};
use readperf_profile::view::flame_tree::{NO_LINE, Sum};
use rustc_hash::FxHashMap;
use std::fmt::Display;
use std::io::{self, Write};

/// Strings that frames refer to, in the order of first use.
#[derive(Default)]
struct Table<'s> {
    list: Vec<std::borrow::Cow<'s, str>>,
    numbers: FxHashMap<u32, usize>,
}

impl<'s> Table<'s> {
    fn number(&mut self, key: u32, text: &'s str) -> usize {
        *self.numbers.entry(key).or_insert_with(|| {
            self.list.push(text.into());
            self.list.len() - 1
        })
    }

    fn add(&mut self, text: String) -> usize {
        self.list.push(text.into());
        self.list.len() - 1
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut text = String::new();
        for (nr, entry) in self.list.iter().enumerate() {
            text.clear();
            if nr > 0 {
                text.push(',');
            }
            push_json(&mut text, entry);
            out.write_all(text.as_bytes())?;
        }
        Ok(())
    }
}

/// What names become in less room, for the script: how wide a frame is depends on the window. 0 for names that only lose their
/// middle.
fn write_forms(names: &Table<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut text = String::new();
    for (nr, name) in names.list.iter().enumerate() {
        text.clear();
        for (nr, form) in forms(name).iter().enumerate() {
            text.push(if nr == 0 { '[' } else { ',' });
            push_json(&mut text, form);
        }
        text.push(if text.is_empty() { '0' } else { ']' });
        if nr > 0 {
            out.write_all(b",")?;
        }
        out.write_all(text.as_bytes())?;
    }
    Ok(())
}

/// What a frame is called: index into the names.
pub(super) fn left_out_name(count: u64) -> String {
    format!("({} left out)", grouped(count))
}

/// Writes the JSON. It holds nothing that XML or HTML would take for markup. Without a file around it it goes to a page, which also gets
/// the keys of the names.
pub(super) fn write(graph: &Graph<'_>, file: Option<Page>, out: &mut dyn Write) -> io::Result<()> {
    let frames = &graph.frames.list;
    let (mut names, mut binaries, mut places) = (Table::default(), Table::default(), Table::default());
    let mut name_of = Vec::with_capacity(frames.len());
    let mut binary_of = Vec::with_capacity(frames.len());
    let mut place_of = Vec::with_capacity(frames.len());
    for frame in frames {
        let variant = match frame.what {
            BoxContent::Level(level) => graph.labels.variant(level.variant),
            BoxContent::All | BoxContent::LeftOut(_) => None,
        };
        name_of.push(match frame.what {
            BoxContent::All => names.add("all".to_owned()),
            BoxContent::LeftOut(count) => names.add(left_out_name(count)),
            BoxContent::Level(level) => names.number(level.label, graph.labels.name(level.label)),
        });
        let line = match frame.what {
            BoxContent::Level(level) => level.line,
            BoxContent::All | BoxContent::LeftOut(_) => NO_LINE,
        };
        place_of.push(places.number(line, graph.labels.line(line)));
        let binary = variant.map_or("", |variant| graph.labels.name(variant.binary));
        binary_of.push(binaries.number(variant.map_or(u32::MAX, |variant| variant.binary), binary));
    }
    write_head(graph, file, out)?;
    out.write_all(b",\n\"names\":[")?;
    names.write(out)?;
    out.write_all(b"],\n\"forms\":[")?;
    write_forms(&names, out)?;
    out.write_all(b"],\n\"binaries\":[")?;
    binaries.write(out)?;
    out.write_all(b"],\n\"places\":[")?;
    places.write(out)?;
    out.write_all(b"]")?;
    column(out, "nameColor", names.list.iter().map(|name| name_color(name)))?;
    if file.is_none() {
        column(out, "key", names.list.iter().map(|name| frame_key(name)))?;
    }
    column(out, "depth", frames.iter().map(|frame| frame.depth))?;
    column(out, "name", name_of.iter())?;
    column(out, "binary", binary_of.iter())?;
    column(out, "place", place_of.iter())?;
    column(out, "sort", frames.iter().map(|frame| sort(frame.what, variant(graph, frame))))?;
    column(
        out,
        "inlined",
        frames.iter().map(|frame| u8::from(variant(graph, frame).is_some_and(|v| v.inlined))),
    )?;
    let sides: &[&str] = if graph.differs { &["new", "base"] } else { &["new"] };
    for (nr, side) in sides.iter().enumerate() {
        let total = |frame: &FlameBox| frame.total.get(nr).copied().unwrap_or_default();
        let own = |frame: &FlameBox| frame.own.get(nr).copied().unwrap_or_default();
        let other = |sum: Sum| match graph.weight {
            Weight::Period => sum.samples,
            Weight::Samples => sum.period,
        };
        column(out, &format!("{side}Weight"), frames.iter().map(|frame| graph.weight.of_sum(&total(frame))))?;
        column(out, &format!("{side}Own"), frames.iter().map(|frame| graph.weight.of_sum(&own(frame))))?;
        column(out, &format!("{side}Other"), frames.iter().map(|frame| other(total(frame))))?;
    }
    out.write_all(b"}")
}

fn variant<'g>(graph: &Graph<'g>, frame: &FlameBox) -> Option<&'g crate::export::labels::Variant> {
    match frame.what {
        BoxContent::Level(level) => graph.labels.variant(level.variant),
        BoxContent::All | BoxContent::LeftOut(_) => None,
    }
}

fn write_head(graph: &Graph<'_>, file: Option<Page>, out: &mut dyn Write) -> io::Result<()> {
    let mut head = String::from("{");
    for (key, text) in [("title", &graph.title), ("subtitle", &graph.subtitle), ("note", &graph.note)] {
        head.push_str(&format!("\"{key}\":"));
        push_json(&mut head, text);
        head.push(',');
    }
    let (weight, other) = match graph.weight {
        Weight::Period => ("period", "samples"),
        Weight::Samples => ("samples", "period"),
    };
    let mut counted = String::new();
    push_json(&mut counted, if let Quantity::Events(name) = &graph.quantity { name } else { "" });
    let time = graph.quantity == Quantity::Time;
    let colors = match graph.options.colors {
        Colors::Kind => "kind",
        Colors::Name => "name",
    };
    let order = match graph.options.siblings {
        Siblings::ByName => "name",
        Siblings::ByWeight => "weight",
    };
    let page = match file {
        Some(Page::Svg) => "svg",
        Some(Page::Html) | None => "html",
    };
    let sorts: Vec<String> = sort_names().map(|name| format!("\"{name}\"")).collect();
    head.push_str(&format!(
        "\"page\":\"{page}\",\"time\":{time},\"counted\":{counted},\"weight\":\"{weight}\",\"other\":\"{other}\",\"colors\":\"{colors}\",\"inverted\":{},\
         \"differs\":{},\"steps\":{STEPS},\"order\":\"{order}\",\"sorts\":[{}]",
        graph.options.inverted,
        graph.differs,
        sorts.join(",")
    ));
    out.write_all(head.as_bytes())
}

fn column(out: &mut dyn Write, name: &str, values: impl Iterator<Item = impl Display>) -> io::Result<()> {
    write!(out, ",\n\"{name}\":[")?;
    for (nr, value) in values.enumerate() {
        write!(out, "{}{value}", if nr > 0 { "," } else { "" })?;
    }
    out.write_all(b"]")
}
