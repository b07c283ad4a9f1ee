//! A call graph for graphviz: functions as boxes, the larger the more time they took themselves, the redder the more they took
//! with all that they called; calls as arrows.
//!
//! Small functions and calls are left out, and the graph says how many. Where a stack leads through functions that are left
//! out, a dashed arrow stands for the way between those that are shown. A stack counts once for a function or call, however
//! often it is in it.
//!
//! A browser shows the upper left corner of a picture first, as large as the picture says: so the graph is made to fit a screen,
//! and what there is to say about it stands below it, in lines no wider than the graph.

use crate::export::labels::{Labels, Numbered};
use crate::export::quantity::{Quantity, samples};
use crate::export::{Export, Format, Needs, Weight};
use crate::short_name::shorten;
use crate::text::{self, grouped, printable};
use readperf_profile::{AddressId, SampleRow};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::io::{self, Write};

/// The format.
pub const FORMAT: Format = Format {
    name: "dot",
    extensions: &["dot", "gv"],
    help: "call graph of the functions that matter, for graphviz",
    binary: false,
    needs: Needs::STACKS,
    write,
};

/// Functions with less than so many thousandths of the total are left out: pprof's share.
const LEAST_NODE: u64 = 5;
/// Calls with less than so many thousandths of the total are left out: pprof's share.
const LEAST_EDGE: u64 = 1;
/// More functions and calls are no picture, and graphviz takes minutes for them.
const MOST_NODES: usize = 300;
const MOST_EDGES: usize = 1500;
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
    let mut labels = Labels::new(export.options.annotate, |name, text| text.push_str(&text::shown(name)));
    let event = export.event().unwrap_or(usize::MAX);
    let mut numbered = labels.take_in(export, event, |_, _, _| {});
    labels.finish([&mut numbered]);
    let quantity = Quantity::of(export, event);
    let mut graph =
        Graph { nodes: Nodes::of(&labels), weight: export.options.weight, quantity, ..Graph::default() };
    graph.measure(export, event, &numbered);
    graph.leave_out();
    graph.connect(export, event, &numbered);
    graph.write(export, event, &labels, out)
}

/// Functions by number, and which of them a variant of a level is.
#[derive(Debug, Default)]
struct Nodes {
    /// Name and binary, numbers of labels.
    list: Vec<(u32, u32)>,
    of_variant: Vec<u32>,
}

impl Nodes {
    fn of(labels: &Labels) -> Nodes {
        let mut nodes = Nodes::default();
        let mut numbers = FxHashMap::default();
        for variant in (0..).map_while(|number| labels.variant(number)) {
            let node = (variant.label, variant.binary);
            let next = u32::try_from(nodes.list.len()).unwrap_or(u32::MAX);
            let number = *numbers.entry(node).or_insert(next);
            if number == next {
                nodes.list.push(node);
            }
            nodes.of_variant.push(number);
        }
        nodes
    }

    /// The functions of a row's stack, the outermost first.
    fn stack(&self, export: &Export<'_>, numbered: &Numbered, row: &SampleRow, stack: &mut Stack) {
        stack.places.clear();
        stack.places.extend(export.places(row));
        stack.nodes.clear();
        let levels = stack.places.iter().rev().flat_map(|place| numbered.levels.at(*place));
        stack.nodes.extend(levels.filter_map(|level| self.of_variant.get(level.variant as usize)));
    }
}

/// Room for one stack.
#[derive(Debug, Default)]
struct Stack {
    places: Vec<AddressId>,
    nodes: Vec<u32>,
}

/// What a function is worth.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    own: u64,
    total: u64,
    /// The last row that it was met in.
    met: Option<usize>,
    /// Whether it is shown.
    shown: bool,
}

/// What a call is worth.
#[derive(Clone, Copy, Debug, Default)]
struct Edge {
    weight: u64,
    met: Option<usize>,
    /// Whether one called the other itself in some stack.
    direct: bool,
}

#[derive(Debug, Default)]
struct Graph {
    nodes: Nodes,
    worth: Vec<Node>,
    edges: FxHashMap<(u32, u32), Edge>,
    total: u64,
    samples: u64,
    weight: Weight,
    quantity: Quantity,
}

impl Graph {
    /// Adds up what functions are worth.
    fn measure(&mut self, export: &Export<'_>, event: usize, numbered: &Numbered) {
        self.worth = vec![Node::default(); self.nodes.list.len()];
        let mut stack = Stack::default();
        for (nr, row) in export.profile.rows_of(event).iter().enumerate() {
            let weight = export.weight(row);
            self.total = self.total.wrapping_add(weight);
            self.samples = self.samples.wrapping_add(row.samples);
            self.nodes.stack(export, numbered, row, &mut stack);
            for number in &stack.nodes {
                let Some(node) = self.worth.get_mut(*number as usize) else { continue };
                if node.met.replace(nr) != Some(nr) {
                    node.total = node.total.wrapping_add(weight);
                }
            }
            let leaf = stack.nodes.last().and_then(|leaf| self.worth.get_mut(*leaf as usize));
            if let Some(leaf) = leaf {
                leaf.own = leaf.own.wrapping_add(weight);
            }
        }
    }

    /// Decides which functions are shown.
    fn leave_out(&mut self) {
        let reaching =
            |(_, node): &(usize, &Node)| node.met.is_some() && reaches(node.total, LEAST_NODE, self.total);
        let mut shown: Vec<(usize, &Node)> = self.worth.iter().enumerate().filter(reaching).collect();
        let name = |number: usize| self.nodes.list.get(number).copied().unwrap_or_default();
        if shown.len() > MOST_NODES {
            shown.sort_unstable_by_key(|(number, node)| (Reverse((node.total, node.own)), name(*number)));
            shown.truncate(MOST_NODES);
        }
        let shown: Vec<usize> = shown.into_iter().map(|(number, _)| number).collect();
        for number in shown {
            if let Some(node) = self.worth.get_mut(number) {
                node.shown = true;
            }
        }
    }

    /// Adds up the calls between functions that are shown.
    fn connect(&mut self, export: &Export<'_>, event: usize, numbered: &Numbered) {
        let mut stack = Stack::default();
        for (nr, row) in export.profile.rows_of(event).iter().enumerate() {
            let weight = export.weight(row);
            self.nodes.stack(export, numbered, row, &mut stack);
            let mut caller: Option<u32> = None;
            let mut direct = true;
            for number in &stack.nodes {
                if !self.worth.get(*number as usize).is_some_and(|node| node.shown) {
                    direct = false;
                    continue;
                }
                if let Some(caller) = caller {
                    let edge = self.edges.entry((caller, *number)).or_default();
                    edge.direct |= direct;
                    if edge.met.replace(nr) != Some(nr) {
                        edge.weight = edge.weight.wrapping_add(weight);
                    }
                }
                caller = Some(*number);
                direct = true;
            }
        }
    }

    fn write(
        &self,
        export: &Export<'_>,
        event: usize,
        labels: &Labels,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut shown: Vec<(u32, &Node)> = (0..).zip(&self.worth).filter(|(_, node)| node.shown).collect();
        let name = |number: u32| self.nodes.list.get(number as usize).copied().unwrap_or_default();
        shown.sort_by_key(|(number, node)| (Reverse(node.total), name(*number)));
        let mut rank = FxHashMap::default();
        rank.extend((1u32..).zip(&shown).map(|(rank, (number, _))| (*number, rank)));
        let mut edges: Vec<(u32, u32, &Edge)> = self
            .edges
            .iter()
            .filter(|(_, edge)| reaches(edge.weight, LEAST_EDGE, self.total))
            .filter_map(|((from, to), edge)| Some((*rank.get(from)?, *rank.get(to)?, edge)))
            .collect();
        edges.sort_by_key(|(from, to, edge)| (Reverse(edge.weight), *from, *to));
        edges.truncate(MOST_EDGES);
        let title = self.title(export, event, shown.len(), edges.len());
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
        let mut same: FxHashMap<u32, u32> = FxHashMap::default();
        shown.iter().for_each(|(number, _)| *same.entry(name(*number).0).or_default() += 1);
        for (rank, (number, node)) in (1..).zip(&shown) {
            let (label, binary) = name(*number);
            let alone = same.get(&label) == Some(&1);
            self.write_node(rank, node, alone, (labels.name(label), labels.name(binary)), out)?;
        }
        for (from, to, edge) in edges {
            let share = share(edge.weight, self.total);
            let style = if edge.direct { "" } else { ", style=dashed" };
            let worth = quoted(&self.quantity.told_as(export.options.weight, edge.weight));
            let width = 1.0 + 5.0 * share;
            // What matters most is short and straight.
            let weight = 1.0 + 99.0 * share;
            writeln!(
                out,
                "N{from} -> N{to} [label=\" {worth}\", penwidth={width:.2}, weight={weight:.0}, tooltip=\"{}\", \
                 color=\"{}\"{style}];",
                grouped(edge.weight),
                color(share, 0.75)
            )?;
        }
        writeln!(out, "}}")
    }

    /// What the graph shows, and what it does not.
    fn title(&self, export: &Export<'_>, event: usize, nodes: usize, edges: usize) -> String {
        let mut lines: Vec<String> = Vec::new();
        let title = export.options.title.clone().or_else(|| export.command_line());
        lines.extend(title.map(|title| printable(&title).into_owned()));
        let samples = format!("{}: {}", text::shown(export.event_name(event)), samples(self.samples));
        lines.push(match export.options.weight {
            Weight::Period => format!("{samples}, {}", self.quantity.told(self.total)),
            Weight::Samples => samples,
        });
        let all = self.worth.iter().filter(|node| node.met.is_some()).count();
        let own = self.worth.iter().filter(|node| !node.shown);
        let own = own.fold(0u64, |sum, node| sum.wrapping_add(node.own));
        if all > nodes {
            let share = percent(own, self.total);
            let left_out = grouped((all - nodes) as u64);
            let which = if nodes < MOST_NODES { "with less than 0.5 %" } else { "but for the largest" };
            lines.push(format!("{left_out} functions {which} left out; {share} was spent in them"));
        }
        if self.edges.len() > edges {
            let left_out = grouped((self.edges.len() - edges) as u64);
            let which = if edges < MOST_EDGES { "with less than 0.1 %" } else { "but for the largest" };
            lines.push(format!("{left_out} calls {which} left out"));
        }
        let lines = lines.iter().flat_map(|line| wrapped(line));
        lines.map(|line| quoted(&line) + "\\l").collect()
    }

    /// A function; with its binary if another one with its name is shown.
    fn write_node(
        &self,
        rank: u32,
        node: &Node,
        alone: bool,
        (name, binary): (&str, &str),
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut label = shorten(name, SHOWN).into_owned();
        if !alone {
            label.extend([" (", binary, ")"]);
        }
        let label = quoted(&label);
        let hint = quoted(&format!("{name} ({binary})"));
        let exact = format!("{} of {}", grouped(node.own), grouped(node.total));
        let worth = |weight| {
            format!(
                "{} ({})",
                quoted(&self.quantity.told_as(self.weight, weight)),
                percent(weight, self.total)
            )
        };
        let lines = match (node.own, node.total) {
            (own, total) if own == total => worth(own),
            (0, total) => format!("of {}", worth(total)),
            (own, total) => format!("{}\\nof {}", worth(own), worth(total)),
        };
        // The area grows with the weight.
        let size = 8.0 + 16.0 * share(node.own, self.total).sqrt();
        let fill = color(share(node.total, self.total), 1.0);
        writeln!(
            out,
            "N{rank} [label=\"{label}\\n{lines}\", tooltip=\"{hint}\\n{exact}\", fontsize={size:.0}, fillcolor=\"{fill}\"];"
        )
    }
}

/// Whether a weight is at least so many thousandths of the total.
fn reaches(weight: u64, thousandths: u64, total: u64) -> bool {
    u128::from(weight) * 1000 >= u128::from(total) * u128::from(thousandths)
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
    fn limits_are_met_exactly() {
        assert!(reaches(5, LEAST_NODE, 1000) && !reaches(4, LEAST_NODE, 1000));
        assert!(reaches(u64::MAX, 1000, u64::MAX) && reaches(0, LEAST_EDGE, 0));
        assert_eq!((share(0, 0), share(3, 2), percent(1, 3)), (0.0, 1.0, "33.33 %".to_owned()));
    }
}
