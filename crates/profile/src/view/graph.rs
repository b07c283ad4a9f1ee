//! Call graphs of the rows of a histogram: who called, or what was called, as far as it matters.
//!
//! A graph is merged from the tree of calls one level at a time, and only where a branch is above the threshold: what is
//! not shown costs nothing.

use super::calls::{Calls, NONE};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// In which order a graph goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GraphOrder {
    /// From callers to callees: below a row is what it called. Samples taken in the row itself are shown with all their
    /// callers, from the outermost one, as perf has it.
    #[default]
    Caller,
    /// From callees to callers: below a row is who called it.
    Callee,
}

/// What makes two frames one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GraphKey {
    /// The function.
    #[default]
    Function,
    /// The address.
    Address,
    /// The source line.
    SourceLine,
}

/// Which call graphs rows get.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GraphOptions {
    /// The order.
    pub order: GraphOrder,
    /// What makes two frames one.
    pub key: GraphKey,
    /// The least share of a branch, in percent: of the event, or of its parent.
    pub percent: f64,
    /// Whether `percent` is of the parent.
    pub of_parent: bool,
}

/// A frame of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphNode {
    /// How far from the row it is, from 0. A graph lists a frame before what is behind it.
    pub depth: u32,
    /// The frame: index in [`super::histogram::Histograms::frames`].
    pub frame: u32,
    /// Sum of the periods of samples that came this way.
    pub period: u64,
    /// Sum of the periods of those that ended here.
    pub own: u64,
}

/// A part of the tree of calls that is in one graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Part {
    node: u32,
    /// In order of callers: whether it is on the way to samples of the row itself.
    to_self: bool,
}

/// A level of a graph: the parts that are one frame, and their weights.
type Level = Vec<(Part, u64)>;

/// What graphs of one sample's rows are made from.
#[derive(Debug)]
pub(super) struct Grapher<'c> {
    /// The tree.
    pub(super) calls: &'c Calls,
    /// Sums of its subtrees.
    pub(super) sums: &'c [u64],
    /// What graphs are wanted.
    pub(super) options: GraphOptions,
    /// The period that is 100 %.
    pub(super) whole: u64,
}

impl Grapher<'_> {
    /// The graph of a row. `nodes` are those of the row in the tree, `taken` the samples of the row itself by the node of
    /// their innermost place; with `children` all samples with the row in their stack count, else only its own.
    pub(super) fn graph(
        &self,
        row: u32,
        nodes: &[u32],
        taken: &[(u32, u64)],
        children: bool,
        mut name: impl FnMut(u32, u32) -> std::cmp::Ordering,
    ) -> Vec<GraphNode> {
        let mut ways: FxHashMap<Part, u64> = FxHashMap::default();
        let start = match self.options.order {
            GraphOrder::Callee => self.callers(row, nodes, taken, children),
            GraphOrder::Caller => self.callees(row, nodes, taken, children, &mut ways),
        };
        let mut graph = Vec::new();
        let total: u64 = start.iter().fold(0, |sum, (_, weight)| sum.wrapping_add(*weight));
        let mut waiting: Vec<(u32, u32, u64, Level)> = Vec::new();
        let first = match self.options.order {
            // The row is no frame of its own graph of callers.
            GraphOrder::Callee => self.next(&start, &ways),
            GraphOrder::Caller => start,
        };
        self.push(&mut waiting, 0, total, first, &mut name);
        while let Some((depth, frame, period, level)) = waiting.pop() {
            let next = self.next(&level, &ways);
            let passed = next.iter().fold(0u64, |sum, (_, weight)| sum.wrapping_add(*weight));
            graph.push(GraphNode { depth, frame, period, own: period.saturating_sub(passed) });
            self.push(&mut waiting, depth.saturating_add(1), period, next, &mut name);
        }
        graph
    }

    /// Puts the frames of a level that matter on the stack, the heaviest on top.
    fn push(
        &self,
        waiting: &mut Vec<(u32, u32, u64, Level)>,
        depth: u32,
        parent: u64,
        level: Level,
        name: &mut impl FnMut(u32, u32) -> std::cmp::Ordering,
    ) {
        let mut frames: FxHashMap<u32, Level> = FxHashMap::default();
        for (part, weight) in level {
            let Some(node) = self.calls.node(part.node) else { continue };
            frames.entry(node.place).or_default().push((part, weight));
        }
        let least = least(self.options.percent, if self.options.of_parent { parent } else { self.whole });
        let sum = |level: &Level| level.iter().fold(0u64, |sum, (_, weight)| sum.wrapping_add(*weight));
        let frames = frames.into_iter().map(|(frame, level)| (depth, frame, sum(&level), level));
        let mut frames: Vec<_> = frames.filter(|(_, _, period, _)| *period >= least.max(1)).collect();
        frames.sort_by(|a, b| Reverse(a.2).cmp(&Reverse(b.2)).then_with(|| name(a.1, b.1)).reverse());
        waiting.extend(frames);
    }

    /// What is behind a level: its callers, or its callees.
    fn next(&self, level: &Level, ways: &FxHashMap<Part, u64>) -> Level {
        match self.options.order {
            GraphOrder::Callee => {
                let mut next: FxHashMap<u32, u64> = FxHashMap::default();
                for (part, weight) in level {
                    let parent = self.calls.node(part.node).map_or(NONE, |node| node.parent);
                    if parent != NONE {
                        let sum = next.entry(parent).or_default();
                        *sum = sum.wrapping_add(*weight);
                    }
                }
                next.into_iter().map(|(node, weight)| (Part { node, to_self: false }, weight)).collect()
            }
            GraphOrder::Caller => {
                let children = level.iter().flat_map(|(part, _)| {
                    let children = self.calls.children_of(part.node).iter();
                    children.map(|node| Part { node: *node, to_self: part.to_self })
                });
                children
                    .map(|part| (part, self.weight(part, ways)))
                    .filter(|(_, weight)| *weight > 0)
                    .collect()
            }
        }
    }

    /// In order of callers: what came through a node on the way to the row itself, or after the row.
    fn weight(&self, part: Part, ways: &FxHashMap<Part, u64>) -> u64 {
        let noted = ways.get(&part).copied().unwrap_or(0);
        match part.to_self {
            true => noted,
            false => self.sum(part.node).saturating_sub(noted),
        }
    }

    fn sum(&self, node: u32) -> u64 {
        self.sums.get(node as usize).copied().unwrap_or(0)
    }

    /// Where graphs of callers begin: at the innermost node of the row in each stack.
    fn callers(&self, row: u32, nodes: &[u32], taken: &[(u32, u64)], children: bool) -> Level {
        let mut weights: FxHashMap<u32, u64> = FxHashMap::default();
        if children {
            for node in nodes {
                let sum = weights.entry(*node).or_default();
                *sum = sum.wrapping_add(self.sum(*node));
                let below = self.calls.same_caller(*node);
                if below != NONE {
                    let sum = weights.entry(below).or_default();
                    *sum = sum.wrapping_sub(self.sum(*node));
                }
            }
        } else {
            for (node, period) in taken {
                let innermost = self.calls.path(*node).find(|(_, node)| self.calls.row_of(*node) == row);
                if let Some((innermost, _)) = innermost {
                    let sum = weights.entry(innermost).or_default();
                    *sum = sum.wrapping_add(*period);
                }
            }
        }
        let part = |(node, weight)| (Part { node, to_self: false }, weight);
        weights.into_iter().filter(|(_, weight)| *weight > 0).map(part).collect()
    }

    /// Where graphs of callees begin: at the root for samples of the row itself, at the outermost node of the row for the
    /// others. Notes the ways of the first, and what they take from the second.
    fn callees(
        &self,
        row: u32,
        nodes: &[u32],
        taken: &[(u32, u64)],
        children: bool,
        ways: &mut FxHashMap<Part, u64>,
    ) -> Level {
        let mut start: FxHashMap<Part, u64> = FxHashMap::default();
        for (leaf, period) in taken {
            let mut note = |node: u32, to_self: bool| {
                let sum = ways.entry(Part { node, to_self }).or_default();
                *sum = sum.wrapping_add(*period);
            };
            let outermost = self.calls.path(*leaf).filter(|(_, node)| self.calls.row_of(*node) == row).last();
            let mut inside = children && outermost.is_some();
            for (index, node) in self.calls.path(*leaf) {
                note(index, true);
                if inside {
                    note(index, false);
                    inside = outermost.is_none_or(|(outermost, _)| outermost != index);
                }
                if node.parent == NONE {
                    let sum = start.entry(Part { node: index, to_self: true }).or_default();
                    *sum = sum.wrapping_add(*period);
                }
            }
        }
        if children {
            for node in nodes.iter().filter(|node| self.calls.is_outermost(**node)) {
                let part = Part { node: *node, to_self: false };
                let weight = self.weight(part, ways);
                if weight > 0 {
                    start.insert(part, weight);
                }
            }
        }
        start.into_iter().collect()
    }
}

/// The least period that is a share of a whole.
pub(super) fn least(percent: f64, whole: u64) -> u64 {
    // Periods beyond 2^53 lose digits that a threshold does not need; a negative or absurd share saturates.
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let least = (whole as f64 * percent / 100.0).ceil() as u64;
    least
}
