//! The way of stacks into a flame tree: each part of a stack is climbed once, and each line of source weighed once.

use crate::addresses::AddressId;
use crate::profile::SampleRow;
use crate::stacks::Stacks;
use crate::view::flame_tree::{FlameLevel, FlameLevels, FlameNode, FlameTree, NO_LINE, NodeIndex, ROOT};
use rustc_hash::FxHashMap;

/// What lines of source weigh, by node.
#[derive(Clone, Debug, Default)]
pub(super) struct LineWeights {
    weights: FxHashMap<(NodeIndex, u32), u64>,
}

impl LineWeights {
    /// Adds a weight to the lines of the levels that end at a node.
    pub(super) fn count(
        &mut self,
        nodes: &[FlameNode],
        end: NodeIndex,
        outermost_first: &[FlameLevel],
        weight: u64,
    ) {
        let mut here = end;
        for level in outermost_first.iter().rev() {
            self.add(here, level.line, weight);
            here = nodes.get(here as usize).map_or(ROOT, |node| node.parent);
        }
    }

    /// Adds a weight to a line.
    pub(super) fn add(&mut self, node: NodeIndex, line: u32, weight: u64) {
        if line != NO_LINE {
            let sum = self.weights.entry((node, line)).or_default();
            *sum = sum.saturating_add(weight);
        }
    }

    /// Gives nodes that have no line the one that weighs most, of equal ones the first.
    pub(super) fn settle(&mut self, nodes: &mut [FlameNode]) {
        let mut weights: Vec<((NodeIndex, u32), u64)> =
            std::mem::take(&mut self.weights).into_iter().collect();
        weights.sort_unstable_by_key(|((node, line), weight)| (*node, std::cmp::Reverse(*weight), *line));
        for of_node in weights.chunk_by(|(a, _), (b, _)| a.0 == b.0) {
            let Some(((node, line), _)) = of_node.first() else { continue };
            if let Some(node) = nodes.get_mut(*node as usize).filter(|node| node.level.line == NO_LINE) {
                node.level.line = *line;
            }
        }
    }
}

/// A part of a stack that has been climbed.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// In which run of rows with one root.
    run: u32,
    /// Where it ends in the tree.
    end: NodeIndex,
}

/// Where stacks end in the tree. Rows come by root, mostly, so what is known holds for a run of rows with one root.
#[derive(Debug)]
pub(super) struct Climbed<'c> {
    stacks: &'c Stacks,
    levels: &'c FlameLevels,
    run: u32,
    root: Option<NodeIndex>,
    /// By part of a stack.
    known: Vec<Known>,
    /// What was climbed in this run, callers first, for the weights of lines.
    order: Vec<usize>,
    /// The weight of the rows of this run that end in a part, for the same.
    weights: Vec<u64>,
    path: Vec<(usize, AddressId)>,
}

impl<'c> Climbed<'c> {
    pub(super) fn new(stacks: &'c Stacks, levels: &'c FlameLevels) -> Self {
        let parts = stacks.nodes().len();
        Climbed {
            stacks,
            levels,
            run: 0,
            root: None,
            known: vec![Known { run: u32::MAX, end: ROOT }; parts],
            order: Vec::new(),
            weights: vec![0; if levels.have_lines() { parts } else { 0 }],
            path: Vec::new(),
        }
    }

    /// Says what the stacks to come stand on.
    pub(super) fn stand_on(&mut self, tree: &mut FlameTree, root: NodeIndex) {
        if self.root.replace(root) != Some(root) {
            self.count_lines(tree);
            self.run = self.run.wrapping_add(1);
        }
    }

    /// Where the stack of a row ends in the tree.
    pub(super) fn end_of(&mut self, tree: &mut FlameTree, row: &SampleRow) -> NodeIndex {
        let mut here = self.root.unwrap_or(ROOT);
        let mut below = row.stack;
        self.path.clear();
        while let (Some(index), Some(node)) = (below.index(), self.stacks.node(below)) {
            if let Some(known) = self.known.get(index)
                && known.run == self.run
            {
                here = known.end;
                break;
            }
            self.path.push((index, node.address));
            below = node.parent;
        }
        for (index, address) in self.path.iter().rev() {
            here = tree.climb(here, self.levels.at(*address));
            if let Some(known) = self.known.get_mut(*index) {
                *known = Known { run: self.run, end: here };
            }
        }
        if !self.weights.is_empty() {
            self.order.extend(self.path.iter().rev().map(|(index, _)| *index));
            if let Some(weight) = row.stack.index().and_then(|index| self.weights.get_mut(index)) {
                *weight = weight.saturating_add(row.period);
            }
        }
        here
    }

    /// Weighs the lines of this run: what ends in a part of a stack goes through all parts below it.
    pub(super) fn count_lines(&mut self, tree: &mut FlameTree) {
        for index in std::mem::take(&mut self.order).into_iter().rev() {
            let weight = self.weights.get_mut(index).map_or(0, std::mem::take);
            let (Some(node), Some(known)) = (self.stacks.nodes().get(index), self.known.get(index)) else {
                continue;
            };
            tree.lines.count(&tree.nodes, known.end, self.levels.at(node.address), weight);
            if let Some(below) = node.parent.index().and_then(|below| self.weights.get_mut(below)) {
                *below = below.saturating_add(weight);
            }
        }
    }
}
