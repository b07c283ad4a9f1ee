//! Call graphs of rows, as text and as chains.

use super::Report;
use super::chains::Chains;
use crate::overview::share;
use crate::short_name::shorten;
use crate::table::NARROWEST;
use crate::text::{grouped, width};
use readperf_profile::view::graph::{Graph, GraphNode, GraphOrder};
use readperf_profile::view::histogram::HistogramRow;
use std::borrow::Cow;
use std::io::{self, Write};

/// How a graph is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// As a tree, with shares of the event.
    #[default]
    Graph,
    /// As a tree, with shares of the frame above.
    Fractal,
    /// Chain by chain, a frame a line.
    Flat,
    /// Chain by chain, each in one line.
    Folded,
}

/// What numbers graphs show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GraphValue {
    /// Shares of the period.
    #[default]
    Percent,
    /// Periods.
    Period,
    /// Numbers of samples.
    Count,
}

/// How graphs are shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct GraphStyle {
    /// How they are drawn.
    pub shape: Shape,
    /// In which order they go.
    pub order: GraphOrder,
    /// What numbers they show.
    pub value: GraphValue,
    /// Most entries of a row; 0 shows all.
    pub most: usize,
}

/// What graphs are indented by.
const INDENT: &str = "          ";

/// Branches farther in than this are not indented more: a deep recursion would fill the disk with space.
const DEEPEST: usize = 60;

/// Writes the graph of a row.
///
/// # Errors
/// What the writer says.
pub(super) fn write(
    out: &mut impl Write,
    report: &Report<'_>,
    row: &HistogramRow,
    graph: &Graph,
    whole: u64,
) -> io::Result<()> {
    let (Graph { frames, left_out }, style) = (graph, report.graph);
    if frames.is_empty() {
        return Ok(());
    }
    match style.shape {
        Shape::Graph | Shape::Fractal => tree(out, report, row, frames, whole)?,
        Shape::Flat | Shape::Folded => {
            let most = if style.most == 0 { usize::MAX } else { style.most };
            for (end, chain) in Chains::new(frames).iter().take(most) {
                let mut names = chain.iter().map(|node| report.frame_name(node.frame));
                let amount = amount(style, (end.own, end.own_samples), whole);
                if style.shape == Shape::Folded {
                    writeln!(out, "{INDENT}{amount} {}", names.collect::<Vec<String>>().join(";"))?;
                    continue;
                }
                writeln!(out, "{INDENT}{amount}")?;
                names.try_for_each(|name| {
                    writeln!(out, "{INDENT}  {}", fitting(report, &name, width(INDENT) + 2))
                })?;
            }
        }
    }
    if left_out.count > 0 {
        let amount = amount(style, (left_out.period, left_out.samples), whole);
        let branches = if left_out.count == 1 { "branch" } else { "branches" };
        writeln!(out, "{INDENT}… and {} more {branches}, {amount}", grouped(left_out.count))?;
    }
    writeln!(out)
}

/// Says how many graphs are not whole.
pub(super) fn write_cut(out: &mut impl Write, rows: u64) -> io::Result<()> {
    if rows > 0 {
        let rows = grouped(rows);
        writeln!(
            out,
            "… and more in the graphs of {rows} rows: they are too large; -g caller,0.5,N shows N entries of every row"
        )?;
    }
    Ok(())
}

fn amount(style: GraphStyle, (period, samples): (u64, u64), whole: u64) -> String {
    match style.value {
        GraphValue::Percent => format!("{:.2} %", share(period, whole)),
        GraphValue::Period => grouped(period),
        GraphValue::Count => grouped(samples),
    }
}

/// A name in the room that is left of the terminal, if there is one, behind so many columns.
fn fitting<'n>(report: &Report<'_>, name: &'n str, before: usize) -> Cow<'n, str> {
    match report.width {
        Some(terminal) => shorten(name, terminal.saturating_sub(before).max(NARROWEST)),
        None => Cow::Borrowed(name),
    }
}

/// Frames that are the only ones behind theirs go on in the same column.
fn tree(
    out: &mut impl Write,
    report: &Report<'_>,
    row: &HistogramRow,
    graph: &[GraphNode],
    whole: u64,
) -> io::Result<()> {
    let style = report.graph;
    let siblings = siblings(graph);
    // For each depth: what its frame is indented by, and its period.
    let mut open: Vec<(String, u64)> = Vec::new();
    let total = match style.order {
        GraphOrder::Caller => row.numbers.total_period.max(row.numbers.self_period),
        GraphOrder::Callee => row.numbers.total_period,
    };
    for (nr, (node, place)) in graph.iter().zip(&siblings).enumerate() {
        if style.most > 0 && nr >= style.most {
            break;
        }
        open.truncate(node.depth as usize);
        let (indent, above) = open.last().map_or((INDENT, total), |(indent, period)| (indent, *period));
        let name = report.frame_name(node.frame);
        let inner = if place.only && node.period == above {
            writeln!(out, "{indent}{}", fitting(report, &name, width(indent)))?;
            indent.to_owned()
        } else {
            let whole = if style.shape == Shape::Fractal { above } else { whole };
            let amount = amount(style, (node.period, node.samples), whole);
            let mark = if place.last { "└─ " } else { "├─ " };
            let before = width(indent) + width(mark) + width(&amount) + 1;
            writeln!(out, "{indent}{mark}{amount} {}", fitting(report, &name, before))?;
            let more = if place.last { "   " } else { "│  " };
            if indent.chars().count() < DEEPEST { format!("{indent}{more}") } else { indent.to_owned() }
        };
        open.push((inner, node.period));
    }
    Ok(())
}

/// Where a frame stands among those of the same depth behind the same frame.
#[derive(Clone, Copy, Debug, Default)]
struct Standing {
    last: bool,
    only: bool,
}

fn siblings(graph: &[GraphNode]) -> Vec<Standing> {
    let mut standings = vec![Standing::default(); graph.len()];
    // From behind: whether a frame of this depth follows under the same parent.
    let mut follows: Vec<bool> = Vec::new();
    for (node, standing) in graph.iter().zip(&mut standings).rev() {
        let depth = node.depth as usize;
        follows.resize(follows.len().max(depth + 1), false);
        follows.truncate(depth + 1);
        if let Some(follows) = follows.last_mut() {
            standing.last = !*follows;
            *follows = true;
        }
    }
    // From the front: whether one came before.
    let mut before: Vec<bool> = Vec::new();
    for (node, standing) in graph.iter().zip(&mut standings) {
        let depth = node.depth as usize;
        before.resize(before.len().max(depth + 1), false);
        before.truncate(depth + 1);
        if let Some(before) = before.last_mut() {
            standing.only = standing.last && !*before;
            *before = true;
        }
    }
    standings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(depth: u32, period: u64, own: u64) -> GraphNode {
        GraphNode { depth, frame: 0, period, samples: 1, own, own_samples: 1 }
    }

    #[test]
    fn standing_among_siblings() {
        let graph = [node(0, 9, 0), node(1, 5, 0), node(2, 5, 5), node(1, 4, 4), node(0, 1, 1)];
        let standings = siblings(&graph);
        let last: Vec<bool> = standings.iter().map(|standing| standing.last).collect();
        let only: Vec<bool> = standings.iter().map(|standing| standing.only).collect();
        assert_eq!(last, [false, false, true, true, true]);
        assert_eq!(only, [false, false, true, false, false]);
    }
}
