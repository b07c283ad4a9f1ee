//! Call graphs of the rows of a histogram: who called, or what was called, as far as it matters.
//!
//! A graph is merged from the tree of calls one level at a time, and only where a branch is above the threshold: what is
//! not shown costs nothing.

use super::amount::Amount;
use super::calls::{Calls, NONE};
use super::facts::{Facts, Place};
use super::keys::code;
use crate::value::Value;
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

impl GraphKey {
    /// What a frame says.
    pub(super) fn of(self, facts: &mut Facts<'_>, place: &Place) -> Value {
        match self {
            GraphKey::Function => code::inlined(facts, place),
            GraphKey::Address => code::symoff(facts, place),
            GraphKey::SourceLine => code::srcline(facts, place),
        }
    }
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
    /// How many frames a row's graph has at most; 0 bounds it, and all graphs together, by what is worth reading.
    pub most: usize,
}

/// Frames of one graph, if nobody says: more than anybody reads.
const MOST_FRAMES: usize = 10_000;
/// Frames of all graphs of an event for each node of the tree of calls, if nobody says. Where every sample is thousands of
/// functions deep, each of these is a row, and its graph thousands of frames: the graphs of all rows are quadratic in the depth.
const MOST_FRAMES_A_NODE: usize = 2;
/// So many frames may graphs have in any case.
const ALWAYS: usize = 100_000;

/// A call graph, as far as it is not left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// The frames, each before what is behind it.
    pub frames: Box<[GraphNode]>,
    /// What is left out, since the graph, or all of them, would be too large.
    pub left_out: Branches,
}

/// Branches of a call graph, each with all that is behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Branches {
    /// How many.
    pub count: u64,
    /// Sum of the periods of samples that came this way.
    pub period: u64,
    /// How many samples came this way.
    pub samples: u64,
}

/// How many frames graphs may still have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    of_row: usize,
    of_all: usize,
}

impl Room {
    /// That of the graphs of an event, whose tree of calls has so many nodes.
    pub(super) fn new(options: GraphOptions, nodes: usize) -> Room {
        match options.most {
            0 => Room {
                of_row: MOST_FRAMES,
                of_all: nodes.saturating_mul(MOST_FRAMES_A_NODE).saturating_add(ALWAYS),
            },
            most => Room { of_row: most, of_all: usize::MAX },
        }
    }
}

/// A frame of a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GraphNode {
    /// How far from the row it is, from 0. A graph lists a frame before what is behind it.
    pub depth: u32,
    /// The frame: see [`super::histogram::Histograms::frame`].
    pub frame: u32,
    /// Sum of the periods of samples that came this way.
    pub period: u64,
    /// How many samples came this way.
    pub samples: u64,
    /// Sum of the periods of those that ended here.
    pub own: u64,
    /// How many ended here.
    pub own_samples: u64,
}

/// A part of the tree of calls that is in one graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Part {
    node: u32,
    /// In order of callers: whether it is on the way to samples of the row itself.
    to_self: bool,
}

/// A level of a graph: the parts that are one frame, and their weights.
pub(super) type Level = Vec<(Part, Amount)>;

/// In order of callers: the ways to samples of the row itself.
pub(super) type Ways = FxHashMap<Part, Amount>;

/// A frame that waits for what is behind it: its depth, its number, what came this way.
type Waiting = (u32, u32, Amount, Level);

/// What graphs of one sample's rows are made from.
#[derive(Debug)]
pub(super) struct Grapher<'c> {
    /// The tree.
    pub(super) calls: &'c Calls,
    /// Sums of its subtrees.
    pub(super) sums: &'c [Amount],
    /// What graphs are wanted.
    pub(super) options: GraphOptions,
    /// The period that is 100 %.
    pub(super) whole: u64,
}

impl Grapher<'_> {
    /// The graph of a row. `nodes` are those of the row in the tree, `taken` the samples of the row itself by the node of
    /// their innermost place; with `children` all samples with the row in their stack count, else only its own. It takes its frames
    /// out of `room`.
    pub(super) fn graph(
        &self,
        row: u32,
        nodes: &[u32],
        taken: &[(u32, Amount)],
        children: bool,
        room: &mut Room,
        mut name: impl FnMut(u32, u32) -> std::cmp::Ordering,
    ) -> Graph {
        let (first, total, ways) = self.start(row, nodes, taken, children);
        let mut graph = Vec::new();
        let mut waiting: Vec<Waiting> = Vec::new();
        self.push(&mut waiting, 0, total, first, &mut name);
        let most = room.of_row.min(room.of_all);
        while graph.len() < most
            && let Some((depth, frame, amount, level)) = waiting.pop()
        {
            let next = self.next(&level, &ways);
            let own = amount.without(Amount::total(next.iter().map(|(_, weight)| *weight)));
            let Amount { period, samples } = amount;
            graph.push(GraphNode {
                depth,
                frame,
                period,
                samples,
                own: own.period,
                own_samples: own.samples,
            });
            self.push(&mut waiting, depth.saturating_add(1), period, next, &mut name);
        }
        room.of_all -= graph.len();
        let left_out = Amount::total(waiting.iter().map(|(_, _, amount, _)| *amount));
        let left_out =
            Branches { count: waiting.len() as u64, period: left_out.period, samples: left_out.samples };
        Graph { frames: graph.into(), left_out }
    }

    /// Puts the frames of a level that matter on the stack, the heaviest on top.
    fn push(
        &self,
        waiting: &mut Vec<Waiting>,
        depth: u32,
        parent: u64,
        level: Level,
        name: &mut impl FnMut(u32, u32) -> std::cmp::Ordering,
    ) {
        let least = least(self.options.percent, if self.options.of_parent { parent } else { self.whole });
        // Most of a deep stack is a chain: there is nothing to merge and to sort.
        if let [(part, weight)] = level.as_slice() {
            if let Some(node) = self.calls.node(part.node).filter(|_| weight.period >= least.max(1)) {
                waiting.push((depth, node.place, *weight, level));
            }
            return;
        }
        let mut frames = self.frames(level, name);
        frames.retain(|(_, amount, _)| amount.period >= least.max(1));
        waiting.extend(frames.into_iter().rev().map(|(frame, amount, level)| (depth, frame, amount, level)));
    }

    /// The frames of a level, the heaviest first.
    pub(super) fn frames(
        &self,
        level: Level,
        name: &mut impl FnMut(u32, u32) -> std::cmp::Ordering,
    ) -> Vec<(u32, Amount, Level)> {
        let mut frames: FxHashMap<u32, Level> = FxHashMap::default();
        for (part, weight) in level {
            let Some(node) = self.calls.node(part.node) else { continue };
            frames.entry(node.place).or_default().push((part, weight));
        }
        let sum = |level: &Level| Amount::total(level.iter().map(|(_, weight)| *weight));
        let frames = frames.into_iter().map(|(frame, level)| (frame, sum(&level), level));
        let mut frames: Vec<_> = frames.collect();
        frames.sort_by(|a, b| Reverse(a.1.period).cmp(&Reverse(b.1.period)).then_with(|| name(a.0, b.0)));
        frames
    }

    /// A row as the beginning of what it calls, wherever it was called: the outermost of its nodes in each stack.
    pub(super) fn below(&self, nodes: &[u32]) -> Level {
        let outermost = nodes.iter().filter(|node| self.calls.is_outermost(**node));
        outermost.map(|node| (Part { node: *node, to_self: false }, self.sum(*node))).collect()
    }

    /// The first level of the graph of a row, the period of all its samples, and in order of callers the ways to its own.
    pub(super) fn start(
        &self,
        row: u32,
        nodes: &[u32],
        taken: &[(u32, Amount)],
        children: bool,
    ) -> (Level, u64, Ways) {
        let mut ways = Ways::default();
        let start = match self.options.order {
            GraphOrder::Callee => self.callers(row, nodes, taken, children),
            GraphOrder::Caller => self.callees(row, nodes, taken, children, &mut ways),
        };
        let total = Amount::total(start.iter().map(|(_, weight)| *weight)).period;
        let first = match self.options.order {
            // The row is no frame of its own graph of callers.
            GraphOrder::Callee => self.next(&start, &ways),
            GraphOrder::Caller => start,
        };
        (first, total, ways)
    }

    /// What is behind a level: its callers, or its callees.
    pub(super) fn next(&self, level: &Level, ways: &Ways) -> Level {
        match self.options.order {
            GraphOrder::Callee => {
                let parent = |part: &Part| self.calls.node(part.node).map_or(NONE, |node| node.parent);
                if let [(part, weight)] = level.as_slice() {
                    let node = parent(part);
                    let part = Part { node, to_self: false };
                    return if node == NONE { Level::new() } else { vec![(part, *weight)] };
                }
                let mut next: FxHashMap<u32, Amount> = FxHashMap::default();
                for (part, weight) in level {
                    let parent = parent(part);
                    if parent != NONE {
                        next.entry(parent).or_default().add(*weight);
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
                    .filter(|(_, weight)| weight.period > 0)
                    .collect()
            }
        }
    }

    /// In order of callers: what came through a node on the way to the row itself, or after the row.
    fn weight(&self, part: Part, ways: &Ways) -> Amount {
        let noted = ways.get(&part).copied().unwrap_or_default();
        match part.to_self {
            true => noted,
            false => self.sum(part.node).without(noted),
        }
    }

    fn sum(&self, node: u32) -> Amount {
        self.sums.get(node as usize).copied().unwrap_or_default()
    }

    /// Where graphs of callers begin: at the innermost node of the row in each stack.
    fn callers(&self, row: u32, nodes: &[u32], taken: &[(u32, Amount)], children: bool) -> Level {
        let mut weights: FxHashMap<u32, Amount> = FxHashMap::default();
        if children {
            for node in nodes {
                weights.entry(*node).or_default().add(self.sum(*node));
                let below = self.calls.same_caller(*node);
                if below != NONE {
                    weights.entry(below).or_default().subtract(self.sum(*node));
                }
            }
        } else {
            for (node, amount) in taken {
                let innermost = self.calls.path(*node).find(|(_, node)| self.calls.row_of(*node) == row);
                if let Some((innermost, _)) = innermost {
                    weights.entry(innermost).or_default().add(*amount);
                }
            }
        }
        let part = |(node, weight)| (Part { node, to_self: false }, weight);
        weights.into_iter().filter(|(_, weight)| weight.period > 0).map(part).collect()
    }

    /// Where graphs of callees begin: at the root for samples of the row itself, at the outermost node of the row for the
    /// others. Notes the ways of the first, and what they take from the second.
    fn callees(
        &self,
        row: u32,
        nodes: &[u32],
        taken: &[(u32, Amount)],
        children: bool,
        ways: &mut Ways,
    ) -> Level {
        let mut start: FxHashMap<Part, Amount> = FxHashMap::default();
        for (leaf, amount) in taken {
            let mut note = |node: u32, to_self: bool| {
                ways.entry(Part { node, to_self }).or_default().add(*amount);
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
                    start.entry(Part { node: index, to_self: true }).or_default().add(*amount);
                }
            }
        }
        if children {
            for node in nodes.iter().filter(|node| self.calls.is_outermost(**node)) {
                let part = Part { node: *node, to_self: false };
                let weight = self.weight(part, ways);
                if weight.period > 0 {
                    start.insert(part, weight);
                }
            }
        }
        start.into_iter().collect()
    }
}

/// The least period that is a share of a whole, in percent.
pub fn least(percent: f64, whole: u64) -> u64 {
    // Periods beyond 2^53 lose digits that a threshold does not need; a negative or absurd share saturates.
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let least = (whole as f64 * percent / 100.0).ceil() as u64;
    least
}
