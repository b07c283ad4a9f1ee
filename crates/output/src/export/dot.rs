//! A call graph for graphviz: functions as boxes, the larger the more time they took themselves, the redder the more they took
//! with all that they called; calls as arrows.
//!
//! Small functions and calls are left out, and the graph says how many. Where a stack leads through functions that are left
//! out, a dashed arrow stands for the way between those that are shown. A stack counts once for a function or call, however
//! often it is in it.
//!
//! A browser shows the upper left corner of a picture first, as large as the picture says: so the graph is made to fit a screen,
//! and what there is to say about it stands below it, in lines no wider than the graph.

use crate::export::labels::mark;
use crate::export::quantity::{Quantity, samples};
use crate::export::{Export, Flag, Format, Needs, Weight, Writing};
use crate::short_name::shorten;
use crate::text::{self, grouped, printable};
use readperf_profile::view::call_graph::{CallGraph, CallGraphFunction, CallGraphLimits};
use readperf_profile::{AddressId, Apart, FrameId, UniqueFrame};
use rustc_hash::FxHashMap;
use std::io::{self, Write};

/// The format.
pub const FORMAT: Format = Format {
    name: "dot",
    extensions: &["dot", "gv"],
    help: "call graph of the functions that matter, for graphviz",
    binary: false,
    needs: Needs::STACKS,
    one_event: true,
    pictures_time: false,
    no_place_for: &[Flag::WithPid, Flag::WithTid, Flag::WithCpu, Flag::Drawing],
    difference: None,
    write: Writing::Profile(write),
};

/// The least shares are pprof's. With more functions and calls it is no picture, and graphviz takes minutes.
const LIMITS: CallGraphLimits =
    CallGraphLimits { least_function: 5, least_call: 1, most_functions: 300, most_calls: 1500 };
/// Names are at most so wide in their boxes; in the hints they are whole.
const SHOWN: usize = 60;

/// Inches of paper that the graph is scaled down to: a window of a full HD screen, at the 96 dots that browsers give an inch.
const SIZE: &str = "20,10";
/// Letters in a line below the graph.
const LINE: usize = 100;

/// Writes it.
///
/// # Errors
/// What the writer says.
pub fn write(export: &Export<'_>, out: &mut dyn Write) -> io::Result<()> {
    let annotate = export.options.annotate;
    let table = export.frame_table(Apart { variants: annotate, ..Apart::default() });
    let mut boxes: Vec<(Name, FrameId)> =
        table.ids().zip(table.frames()).map(|(id, frame)| (Name::of(export, frame), id)).collect();
    boxes.sort_unstable();
    let mut of_frame = vec![0; boxes.len()];
    for (number, (_, id)) in (0..).zip(&boxes) {
        if let Some(of_frame) = of_frame.get_mut(id.index()) {
            *of_frame = number;
        }
    }
    let functions_at = |address: AddressId, functions: &mut Vec<u32>| {
        let outermost_first = table.at(address).iter().rev();
        functions.extend(outermost_first.filter_map(|id| of_frame.get(id.index())));
    };
    let event = export.event().unwrap_or(usize::MAX);
    let weight = export.profile.weight();
    let graph = CallGraph::new(export.profile, event, weight, boxes.len(), functions_at, LIMITS);
    let quantity = Quantity::of(export, event);
    let names = boxes.into_iter().map(|(name, _)| name).collect();
    Picture { graph, names, weight, quantity }.write(export, event, out)
}

/// What a box is called, as shown.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Name {
    function: String,
    binary: String,
}

impl Name {
    fn of(export: &Export<'_>, frame: &UniqueFrame) -> Name {
        let mut function = text::shown(&export.label(frame)).into_owned();
        if export.options.annotate {
            function.push_str(mark(frame.kind, frame.first.inlined));
        }
        Name { function, binary: text::shown(&export.binary_name(frame.first.address)).into_owned() }
    }
}

/// The graph, and what it is drawn with.
struct Picture {
    graph: CallGraph,
    /// Of the functions, by number.
    names: Vec<Name>,
    weight: Weight,
    quantity: Quantity,
}

impl Picture {
    /// The names of a function and of its binary.
    fn name(&self, function: &CallGraphFunction) -> (&str, &str) {
        let name = self.names.get(function.function as usize);
        name.map_or(("", ""), |name| (&name.function, &name.binary))
    }

    fn write(&self, export: &Export<'_>, event: usize, out: &mut dyn Write) -> io::Result<()> {
        let title = self.title(export, event);
        writeln!(out, "digraph \"{}\" {{", quoted(&text::shown(export.event_name(event))))?;
        writeln!(
            out,
            "// In a bitmap of a large graph, letters may be too small: dot -Gsize=60 draws it larger."
        )?;
        writeln!(
            out,
            "graph [label=\"{title}\", labelloc=b, labeljust=l, fontname=\"sans-serif\", fontsize=11, size=\"{SIZE}\", \
             ranksep=0.35, nodesep=0.2, pad=0.15];"
        )?;
        writeln!(
            out,
            "node [shape=box, style=filled, margin=\"0.1,0.05\", fontname=\"sans-serif\", fontcolor=\"#000000\"];"
        )?;
        writeln!(out, "edge [fontname=\"sans-serif\", fontsize=9];")?;
        let mut same: FxHashMap<&str, u32> = FxHashMap::default();
        let CallGraph { functions, calls, total, .. } = &self.graph;
        functions.iter().for_each(|function| *same.entry(self.name(function).0).or_default() += 1);
        for (number, function) in (1..).zip(functions) {
            let alone = same.get(&self.name(function).0) == Some(&1);
            self.write_function(number, function, alone, out)?;
        }
        for call in calls {
            // Boxes are numbered from 1.
            let (from, to) = (call.from + 1, call.to + 1);
            let share = share(call.weight, *total);
            let style = if call.direct { "" } else { ", style=dashed" };
            let worth = quoted(&self.quantity.told_as(self.weight, call.weight));
            let width = 1.0 + 5.0 * share;
            // What matters most is short and straight.
            let weight = 1.0 + 99.0 * share;
            writeln!(
                out,
                "N{from} -> N{to} [label=\" {worth}\", penwidth={width:.2}, weight={weight:.0}, tooltip=\"{}\", \
                 color=\"{}\"{style}];",
                grouped(call.weight),
                color(share, 0.75)
            )?;
        }
        writeln!(out, "}}")
    }

    /// What the graph shows, and what it does not.
    fn title(&self, export: &Export<'_>, event: usize) -> String {
        let graph = &self.graph;
        let mut lines: Vec<String> = Vec::new();
        lines.push(printable(&export.title()).into_owned());
        let samples = format!("{}: {}", text::shown(export.event_name(event)), samples(graph.samples));
        lines.push(match self.weight {
            Weight::Period => format!("{samples}, {}", self.quantity.told(graph.total)),
            Weight::Samples => samples,
        });
        if graph.functions_left_out > 0 {
            let share = percent(graph.own_left_out, graph.total);
            let left_out = grouped(graph.functions_left_out as u64);
            let is_full = graph.functions.len() >= LIMITS.most_functions;
            let which = if is_full { "but for the largest" } else { "with less than 0.5 %" };
            lines.push(format!("{left_out} functions {which} left out; {share} was spent in them"));
        }
        if graph.calls_left_out > 0 {
            let left_out = grouped(graph.calls_left_out as u64);
            let is_full = graph.calls.len() >= LIMITS.most_calls;
            let which = if is_full { "but for the largest" } else { "with less than 0.1 %" };
            lines.push(format!("{left_out} calls {which} left out"));
        }
        let lines = lines.iter().flat_map(|line| wrapped(line));
        lines.map(|line| quoted(&line) + "\\l").collect()
    }

    /// A function; with its binary if another one with its name is shown.
    fn write_function(
        &self,
        number: u32,
        function: &CallGraphFunction,
        alone: bool,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let (name, binary) = self.name(function);
        let all = self.graph.total;
        let mut label = shorten(name, SHOWN).into_owned();
        if !alone {
            label.extend([" (", binary, ")"]);
        }
        let label = quoted(&label);
        let hint = quoted(&format!("{name} ({binary})"));
        let exact = format!("{} of {}", grouped(function.own), grouped(function.total));
        let worth = |weight| {
            format!("{} ({})", quoted(&self.quantity.told_as(self.weight, weight)), percent(weight, all))
        };
        let lines = match (function.own, function.total) {
            (own, total) if own == total => worth(own),
            (0, total) => format!("of {}", worth(total)),
            (own, total) => format!("{}\\nof {}", worth(own), worth(total)),
        };
        // The area grows with the weight.
        let size = 8.0 + 16.0 * share(function.own, all).sqrt();
        let fill = color(share(function.total, all), 1.0);
        writeln!(
            out,
            "N{number} [label=\"{label}\\n{lines}\", tooltip=\"{hint}\\n{exact}\", fontsize={size:.0}, fillcolor=\"{fill}\"];"
        )
    }
}

/// A weight as a share of the total: 0 to 1.
#[expect(clippy::cast_precision_loss, reason = "a share for eyes")]
fn share(weight: u64, total: u64) -> f64 {
    if total == 0 { 0.0 } else { (weight as f64 / total as f64).min(1.0) }
}

fn percent(weight: u64, total: u64) -> String {
    format!("{:.2} %", share(weight, total) * 100.0)
}

/// From gray to red, as graphviz takes it: hue, saturation, value.
fn color(share: f64, value: f64) -> String {
    format!("0.040 {:.3} {:.3}", 0.8 * share.sqrt(), value - 0.1 * (1.0 - share))
}

/// A text in lines that are not too long, broken between words where that is possible.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > LINE {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        while let Some((end, _)) = line.char_indices().nth(LINE) {
            let rest = line.split_off(end);
            lines.push(std::mem::replace(&mut line, rest));
        }
    }
    lines.push(line);
    lines
}

/// A text for between quotation marks. Graphviz reads escapes and entities in labels.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '&' => quoted.push_str("&amp;"),
            _ => quoted.push(c),
        }
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_a_label() {
        assert_eq!(quoted("a\"];\\N<b>&lt;{|}"), "a\\\"];\\\\N<b>&amp;lt;{|}");
    }

    #[test]
    fn lines_are_not_wider_than_a_graph() {
        assert_eq!(wrapped("perf record"), ["perf record"]);
        let long = format!("perf record {} -- ./work", "ß".repeat(250));
        assert_eq!(wrapped(&long).concat().replace(' ', ""), long.replace(' ', ""));
        assert_eq!(
            wrapped(&long).iter().map(|line| line.chars().count()).collect::<Vec<_>>(),
            [11, 100, 100, 60]
        );
    }

    #[test]
    fn shares_have_bounds() {
        assert_eq!((share(0, 0), share(3, 2), percent(1, 3)), (0.0, 1.0, "33.33 %".to_owned()));
    }
}
