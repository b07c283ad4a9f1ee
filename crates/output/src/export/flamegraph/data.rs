//! The numbers in the file, from which the script draws.

use super::palette::{Colors, FrameSort, STEPS, name_color, sort_names};
use super::{Page, frame_key};
use crate::export::Weight;
use crate::export::quantity::Quantity;
use crate::short_name::forms;
use crate::text::grouped;
use crate::xml::push_json;
use readperf_profile::view::flame_layout::Siblings;
use readperf_profile::view::flame_tree::Sum;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, Write};

/// A frame, as it is drawn.
#[derive(Clone, Debug)]
pub struct DrawnFrame<'d> {
    /// How many frames are below it.
    pub depth: u32,
    /// What it is called.
    pub name: Cow<'d, str>,
    /// Short name of its binary; empty if it has none.
    pub binary: Cow<'d, str>,
    /// The line of source, as `file:line`; empty if it is not known.
    pub place: &'d str,
    /// What decides its colour.
    pub sort: FrameSort,
    /// Whether the function is inlined.
    pub inlined: bool,
    /// Whether it has a name: code without one is called by its binary.
    pub named: bool,
    /// Its weight, on both sides.
    pub total: [Sum; 2],
    /// The weight of samples in the function itself, on both sides.
    pub own: [Sum; 2],
}

/// What is said of all frames.
#[derive(Clone, Debug, Default)]
pub struct Head {
    /// Program, host, date, event.
    pub title: String,
    /// Samples, what they add up to, the command.
    pub subtitle: String,
    /// What is not shown.
    pub note: String,
    /// What widths are.
    pub weight: Weight,
    /// What periods are sums of.
    pub quantity: Quantity,
    /// What colours mean.
    pub colors: Colors,
    /// How siblings are ordered.
    pub siblings: Siblings,
    /// Whether the roots are at the top.
    pub inverted: bool,
    /// Whether two recordings are compared.
    pub differs: bool,
}

/// Strings that frames refer to, in the order of first use.
#[derive(Default)]
struct Table<'s> {
    list: Vec<Cow<'s, str>>,
    numbers: FxHashMap<Cow<'s, str>, usize>,
}

impl<'s> Table<'s> {
    fn number(&mut self, text: Cow<'s, str>) -> usize {
        if let Some(number) = self.numbers.get(&text) {
            return *number;
        }
        self.list.push(text.clone());
        self.numbers.insert(text, self.list.len() - 1);
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

/// What the frame is called that stands for some that are left out.
pub fn left_out_name(count: u64) -> String {
    format!("({} left out)", grouped(count))
}

/// Writes the numbers alone, as JSON, for pages that draw with [`module`](super::module). Frames stand in preorder, the whole first.
///
/// # Errors
/// What the writer says.
pub fn write_data<'d>(
    head: &Head,
    frames: impl Iterator<Item = DrawnFrame<'d>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    write(head, frames, None, out)
}

/// Writes the JSON. It holds nothing that XML or HTML would take for markup. Without a file around it it goes to a page, which also gets
/// the keys of the names, and which frames have one.
pub(super) fn write<'d>(
    head: &Head,
    frames: impl Iterator<Item = DrawnFrame<'d>>,
    file: Option<Page>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let frames: Vec<DrawnFrame<'d>> = frames.collect();
    let (mut names, mut binaries, mut places) = (Table::default(), Table::default(), Table::default());
    let name_of: Vec<usize> = frames.iter().map(|frame| names.number(frame.name.clone())).collect();
    let binary_of: Vec<usize> = frames.iter().map(|frame| binaries.number(frame.binary.clone())).collect();
    let place_of: Vec<usize> = frames.iter().map(|frame| places.number(frame.place.into())).collect();
    write_head(head, file, out)?;
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
        column(out, "named", frames.iter().map(|frame| u8::from(frame.named)))?;
    }
    column(out, "depth", frames.iter().map(|frame| frame.depth))?;
    column(out, "name", name_of.iter())?;
    column(out, "binary", binary_of.iter())?;
    column(out, "place", place_of.iter())?;
    column(out, "sort", frames.iter().map(|frame| frame.sort.number()))?;
    column(out, "inlined", frames.iter().map(|frame| u8::from(frame.inlined)))?;
    let sides: &[&str] = if head.differs { &["new", "base"] } else { &["new"] };
    for (nr, side) in sides.iter().enumerate() {
        let total = |frame: &DrawnFrame<'_>| frame.total.get(nr).copied().unwrap_or_default();
        let own = |frame: &DrawnFrame<'_>| frame.own.get(nr).copied().unwrap_or_default();
        let other = |sum: Sum| match head.weight {
            Weight::Period => sum.samples,
            Weight::Samples => sum.period,
        };
        column(out, &format!("{side}Weight"), frames.iter().map(|frame| head.weight.of_sum(&total(frame))))?;
        column(out, &format!("{side}Own"), frames.iter().map(|frame| head.weight.of_sum(&own(frame))))?;
        column(out, &format!("{side}Other"), frames.iter().map(|frame| other(total(frame))))?;
    }
    out.write_all(b"}")
}

fn write_head(about: &Head, file: Option<Page>, out: &mut dyn Write) -> io::Result<()> {
    let mut head = String::from("{");
    for (key, text) in [("title", &about.title), ("subtitle", &about.subtitle), ("note", &about.note)] {
        head.push_str(&format!("\"{key}\":"));
        push_json(&mut head, text);
        head.push(',');
    }
    let (weight, other) = match about.weight {
        Weight::Period => ("period", "samples"),
        Weight::Samples => ("samples", "period"),
    };
    let mut counted = String::new();
    push_json(&mut counted, if let Quantity::Events(name) = &about.quantity { name } else { "" });
    let time = about.quantity == Quantity::Time;
    let colors = match about.colors {
        Colors::Kind => "kind",
        Colors::Name => "name",
    };
    let order = match about.siblings {
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
        about.inverted,
        about.differs,
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
