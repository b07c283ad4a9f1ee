//! Stacks merged by what their levels are called: the tree behind folded stacks and flame graphs.
//!
//! What a level is called is the caller's business: it gives each address its levels as numbers ([`FlameLevels`]), and each row
//! the level that its stack stands on (the thread's name). Weights of several profiles can lie in one tree, to compare
//! them: each has a side of its own.

use crate::addresses::AddressId;
use crate::profile::{Profile, SampleRow};
use crate::stacks::StackId;
use crate::view::flame_climb::{Climbed, LineWeights};
use rustc_hash::FxHashMap;

/// One level of a stack: what it is called, and what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FlameLevel {
    /// What it is called: levels with one label and one caller are one node.
    pub label: u32,
    /// What it is besides, as the code of different binaries with one name. A node has the least of its levels.
    pub variant: u32,
    /// Which line of source it is at; [`NO_LINE`] if not known. A node has the one with the most weight.
    pub line: u32,
}

/// The line of levels of which none is known.
pub const NO_LINE: u32 = 0;

/// The levels at each address, the outermost first.
#[derive(Clone, Debug, Default)]
pub struct FlameLevels {
    levels: Vec<FlameLevel>,
    ends: Vec<u32>,
}

impl FlameLevels {
    /// Adds the levels of the next address.
    pub fn push(&mut self, outermost_first: impl Iterator<Item = FlameLevel>) {
        self.levels.extend(outermost_first);
        self.ends.push(u32::try_from(self.levels.len()).unwrap_or(u32::MAX));
    }

    /// How many addresses have levels.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether none has.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The levels at an address, the outermost first.
    #[inline]
    pub fn at(&self, address: AddressId) -> &[FlameLevel] {
        let before = address.index().checked_sub(1).and_then(|index| self.ends.get(index));
        let (start, end) = (before.copied().unwrap_or(0), self.ends.get(address.index()).copied());
        self.levels.get(start as usize..end.unwrap_or(0) as usize).unwrap_or_default()
    }

    /// Whether a line is known of any.
    pub(super) fn have_lines(&self) -> bool {
        self.levels.iter().any(|level| level.line != NO_LINE)
    }

    /// Gives every label another number.
    pub fn renumber(&mut self, number: impl Fn(FlameLevel) -> FlameLevel) {
        for level in &mut self.levels {
            *level = number(*level);
        }
    }
}

/// What samples add up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sum {
    /// Sum of their periods.
    pub period: u64,
    /// How many.
    pub samples: u64,
}

impl Sum {
    /// That of a row.
    #[inline]
    pub fn of(row: &SampleRow) -> Sum {
        Sum { period: row.period, samples: row.samples }
    }

    /// Adds another. Periods wrap, as the totals of events do.
    #[inline]
    pub fn add(&mut self, other: Sum) {
        self.period = self.period.wrapping_add(other.period);
        self.samples = self.samples.wrapping_add(other.samples);
    }

    /// Takes another away, of sums that wrap.
    #[inline]
    pub fn subtract(&mut self, other: Sum) {
        self.period = self.period.wrapping_sub(other.period);
        self.samples = self.samples.wrapping_sub(other.samples);
    }
}

/// Index of a node in [`FlameTree::nodes`].
pub type NodeIndex = u32;

/// The parent of nodes that have none.
pub const ROOT: NodeIndex = u32::MAX;

/// A function called by the chain of functions above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlameNode {
    /// Its caller; [`ROOT`] if there is none.
    pub parent: NodeIndex,
    /// What it is called, and what it is.
    pub level: FlameLevel,
}

/// Stacks merged by their labels. Parents come before their children.
#[derive(Clone, Debug, Default)]
pub struct FlameTree {
    pub(super) nodes: Vec<FlameNode>,
    ids: FxHashMap<(NodeIndex, u32), NodeIndex>,
    /// By side, then by node: the weight of samples taken there.
    own: Vec<Vec<Sum>>,
    /// The weights of the lines of nodes that have none yet.
    pub(super) lines: LineWeights,
}

impl FlameTree {
    /// A tree of one side: its nodes, callers first, and the weight of samples taken in each. No stacks are added to it.
    pub(super) fn of_nodes(nodes: Vec<FlameNode>, own: Vec<Sum>) -> FlameTree {
        FlameTree { nodes, own: vec![own], ..FlameTree::default() }
    }

    /// The nodes.
    pub fn nodes(&self) -> &[FlameNode] {
        &self.nodes
    }

    /// The weight of the samples taken in each node itself, on one side. It may be shorter than the nodes: the rest has none.
    pub fn own(&self, side: usize) -> &[Sum] {
        self.own.get(side).map_or(&[], Vec::as_slice)
    }

    /// Adds the samples of an event, as one more side. `root` says what the stack of a row stands on, if on anything.
    pub fn add(
        &mut self,
        profile: &Profile,
        event: usize,
        levels: &FlameLevels,
        root: impl FnMut(&SampleRow) -> Option<FlameLevel>,
    ) {
        self.add_telling(profile, event, levels, root, |_| ());
    }

    /// The same, and tells of each row of the event the node at the end of its stack.
    pub fn add_telling(
        &mut self,
        profile: &Profile,
        event: usize,
        levels: &FlameLevels,
        mut root: impl FnMut(&SampleRow) -> Option<FlameLevel>,
        mut told: impl FnMut(NodeIndex),
    ) {
        let side = self.add_side();
        let mut climbed = Climbed::new(profile.stacks(), levels);
        for row in profile.rows_of(event) {
            let root = root(&row);
            let mut here = root.map_or(ROOT, |root| self.child(ROOT, root));
            climbed.stand_on(self, here);
            if row.stack == StackId::EMPTY {
                let levels = levels.at(row.address);
                here = self.climb(here, levels);
                self.lines.count(&self.nodes, here, levels, row.period);
            } else {
                here = climbed.end_of(self, &row);
            }
            self.add_own(side, here, Sum { period: row.period, samples: row.samples });
            told(here);
        }
        climbed.count_lines(self);
        self.settle_lines();
    }

    pub(super) fn climb(&mut self, from: NodeIndex, levels: &[FlameLevel]) -> NodeIndex {
        levels.iter().fold(from, |here, level| self.child(here, *level))
    }

    /// A new side without weights.
    pub(super) fn add_side(&mut self) -> usize {
        self.own.push(Vec::new());
        self.own.len() - 1
    }

    /// The child of a node with this label.
    #[inline]
    pub(super) fn child(&mut self, parent: NodeIndex, level: FlameLevel) -> NodeIndex {
        let next = NodeIndex::try_from(self.nodes.len()).unwrap_or(ROOT);
        let child = *self.ids.entry((parent, level.label)).or_insert(next);
        if child == next {
            self.nodes.push(FlameNode { parent, level: FlameLevel { line: NO_LINE, ..level } });
        } else if let Some(node) = self.nodes.get_mut(child as usize) {
            node.level.variant = node.level.variant.min(level.variant);
        }
        child
    }

    /// A child that the node does not have: no stacks are added to such a tree.
    pub(super) fn new_child(&mut self, parent: NodeIndex, level: FlameLevel) -> NodeIndex {
        let child = NodeIndex::try_from(self.nodes.len()).unwrap_or(ROOT);
        self.nodes.push(FlameNode { parent, level });
        child
    }

    #[inline]
    pub(super) fn add_own(&mut self, side: usize, node: NodeIndex, sum: Sum) {
        let index = node as usize;
        if let Some(own) = self.own.get_mut(side) {
            if own.len() <= index {
                own.resize(index.saturating_add(1).max(self.nodes.len()), Sum::default());
            }
            if let Some(own) = own.get_mut(index) {
                own.add(sum);
            }
        }
    }

    /// Forgets what is only needed to add more.
    pub fn freeze(&mut self) {
        self.ids = FxHashMap::default();
    }

    /// Gives nodes that have no line the one that weighs most.
    pub(super) fn settle_lines(&mut self) {
        self.lines.settle(&mut self.nodes);
    }

    /// The weight of each node with all that is above it, on one side.
    pub fn totals(&self, side: usize) -> Vec<Sum> {
        let mut totals = self.own(side).to_vec();
        totals.resize(self.nodes.len(), Sum::default());
        for (index, node) in self.nodes.iter().enumerate().rev() {
            let sum = totals.get(index).copied().unwrap_or_default();
            if let Some(parent) = totals.get_mut(node.parent as usize) {
                parent.add(sum);
            }
        }
        totals
    }

    /// The children of all nodes.
    pub fn children(&self) -> Children {
        let slot = |parent: NodeIndex| if parent == ROOT { 0 } else { parent as usize + 1 };
        let mut ends = vec![0u32; self.nodes.len() + 1];
        for node in &self.nodes {
            if let Some(count) = ends.get_mut(slot(node.parent)) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for end in &mut ends {
            // What comes before: becomes the end while the children are filled in.
            sum += std::mem::replace(end, sum);
        }
        let mut list = vec![0; self.nodes.len()];
        for (index, node) in (0..).zip(&self.nodes) {
            if let Some(next) = ends.get_mut(slot(node.parent)) {
                if let Some(place) = list.get_mut(*next as usize) {
                    *place = index;
                }
                *next += 1;
            }
        }
        Children { ends, list }
    }
}

/// The children of the nodes of a tree, in one list.
#[derive(Clone, Debug)]
pub struct Children {
    ends: Vec<u32>,
    list: Vec<NodeIndex>,
}

impl Children {
    /// The children of a node; of [`ROOT`] the outermost nodes. In the order of the nodes.
    pub fn of(&self, node: NodeIndex) -> &[NodeIndex] {
        let slot = if node == ROOT { 0 } else { node as usize + 1 };
        let end = |slot: usize| self.ends.get(slot).copied().unwrap_or(0) as usize;
        let start = slot.checked_sub(1).map_or(0, end);
        self.list.get(start..end(slot)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(label: u32) -> FlameLevel {
        FlameLevel { label, variant: label, line: NO_LINE }
    }

    fn tree() -> FlameTree {
        let mut tree = FlameTree::default();
        let side = tree.add_side();
        for (path, period) in [(&[1, 2, 3][..], 5), (&[1, 2], 7), (&[1, 4], 1), (&[9], 2), (&[1, 2, 3], 10)] {
            let path: Vec<FlameLevel> = path.iter().map(|label| level(*label)).collect();
            let node = tree.climb(ROOT, &path);
            tree.add_own(side, node, Sum { period, samples: 1 });
        }
        tree
    }

    #[test]
    fn totals_are_those_of_all_above() {
        let tree = tree();
        let labels: Vec<u32> = tree.nodes().iter().map(|node| node.level.label).collect();
        assert_eq!(labels, [1, 2, 3, 4, 9]);
        let periods: Vec<u64> = tree.totals(0).iter().map(|sum| sum.period).collect();
        assert_eq!(periods, [23, 22, 15, 1, 2]);
        assert_eq!(tree.own(0).iter().map(|sum| sum.period).collect::<Vec<_>>(), [0, 7, 15, 1, 2]);
        assert_eq!(tree.totals(0).iter().map(|sum| sum.samples).collect::<Vec<_>>(), [4, 3, 2, 1, 1]);
    }

    #[test]
    fn children_of_every_node() {
        let tree = tree();
        let children = tree.children();
        assert_eq!(children.of(ROOT), [0, 4]);
        assert_eq!(children.of(0), [1, 3]);
        assert_eq!(children.of(1), [2]);
        assert_eq!(children.of(2), [0u32; 0]);
        assert_eq!(children.of(4), [0u32; 0]);
        assert_eq!(FlameTree::default().children().of(ROOT), [0u32; 0]);
    }

    #[test]
    fn the_least_variant_stands_for_a_node() {
        let mut tree = FlameTree::default();
        for variant in [7, 3, 5] {
            tree.child(ROOT, FlameLevel { label: 1, variant, line: NO_LINE });
        }
        assert_eq!(
            tree.nodes(),
            [FlameNode { parent: ROOT, level: FlameLevel { label: 1, variant: 3, line: NO_LINE } }]
        );
    }

    #[test]
    fn sides_are_apart() {
        let mut tree = tree();
        let other = tree.add_side();
        let node = tree.climb(ROOT, &[level(1), level(8)]);
        tree.add_own(other, node, Sum { period: 100, samples: 1 });
        assert_eq!(tree.totals(0).iter().map(|sum| sum.period).collect::<Vec<_>>(), [23, 22, 15, 1, 2, 0]);
        assert_eq!(tree.totals(1).iter().map(|sum| sum.period).collect::<Vec<_>>(), [100, 0, 0, 0, 0, 100]);
    }
}
