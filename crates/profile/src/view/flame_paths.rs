//! Where stacks end in a flame tree, worked out once for all samples of a profile: the tree of any choice of them is then made without
//! climbing again.
//!
//! A node of a flame tree is what has one label, and says of its levels the least variant. Which of them that is depends on the samples, so
//! here each variant is a node of its own.

use super::flame_tree::{FlameLevel, FlameLevels, FlameNode, FlameTree, NO_LINE, NodeIndex, ROOT, Sum};
use crate::groups::Groups;
use crate::profile::{Profile, SampleRow};
use crate::stacks::{StackId, Stacks};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// The ways of the samples of an event into a flame tree. Lines of source are not told.
#[derive(Clone, Debug, Default)]
pub struct FlamePaths {
    /// Which groups of samples are those of the event.
    groups: Range<usize>,
    /// Where the stack of each of these groups ends.
    ends: Vec<NodeIndex>,
    /// The nodes, callers first.
    nodes: Vec<FlameNode>,
    /// For each the node that has all variants of its label, by numbers that are given in the same order.
    merged: Vec<NodeIndex>,
    /// How many of these there are.
    merged_count: usize,
}

/// A flame tree of chosen samples.
#[derive(Clone, Debug, Default)]
pub struct ChosenTree {
    /// The tree.
    pub tree: FlameTree,
    /// The number in it of each node here; [`ROOT`] of those without samples.
    numbers: Vec<NodeIndex>,
}

/// Stacks on their way into the tree.
#[derive(Debug, Default)]
struct Growing {
    nodes: Vec<FlameNode>,
    merged: Vec<NodeIndex>,
    /// By caller, label and variant.
    known: FxHashMap<(NodeIndex, u32, u32), NodeIndex>,
    /// By the merged node of the caller, and label.
    known_merged: FxHashMap<(NodeIndex, u32), NodeIndex>,
}

impl Growing {
    #[inline]
    fn child(&mut self, parent: NodeIndex, level: FlameLevel) -> NodeIndex {
        let next = NodeIndex::try_from(self.nodes.len()).unwrap_or(ROOT);
        let child = *self.known.entry((parent, level.label, level.variant)).or_insert(next);
        if child == next {
            self.nodes.push(FlameNode { parent, level: FlameLevel { line: NO_LINE, ..level } });
            let caller = self.merged.get(parent as usize).copied().unwrap_or(ROOT);
            let next = NodeIndex::try_from(self.known_merged.len()).unwrap_or(ROOT);
            self.merged.push(*self.known_merged.entry((caller, level.label)).or_insert(next));
        }
        child
    }

    fn climb(&mut self, from: NodeIndex, levels: &[FlameLevel]) -> NodeIndex {
        levels.iter().fold(from, |here, level| self.child(here, *level))
    }
}

/// Which parts of stacks have been climbed since the root was another.
struct Climbed<'c> {
    stacks: &'c Stacks,
    levels: &'c FlameLevels,
    root: Option<NodeIndex>,
    run: u32,
    /// By part: in which run, and where it ends.
    known: Vec<(u32, NodeIndex)>,
    new: Vec<usize>,
}

impl Climbed<'_> {
    fn end_of(&mut self, growing: &mut Growing, root: NodeIndex, stack: StackId) -> NodeIndex {
        if self.root.replace(root) != Some(root) {
            self.run += 1;
        }
        let (mut below, mut here) = (stack, root);
        while let (Some(index), Some(node)) = (below.index(), self.stacks.node(below)) {
            if let Some((_, end)) = self.known.get(index).filter(|(run, _)| *run == self.run) {
                here = *end;
                break;
            }
            self.new.push(index);
            below = node.parent;
        }
        for index in self.new.drain(..).rev() {
            if let (Some(node), Some(known)) = (self.stacks.nodes().get(index), self.known.get_mut(index)) {
                here = growing.climb(here, self.levels.at(node.address));
                *known = (self.run, here);
            }
        }
        here
    }
}

impl FlamePaths {
    /// The ways of the samples of an event in a profile whose stacks are a tree. `root` says what the stack of a row stands on, if on
    /// anything.
    pub fn new(
        profile: &Profile,
        groups: &Groups,
        event: usize,
        levels: &FlameLevels,
        mut root: impl FnMut(&SampleRow) -> Option<FlameLevel>,
    ) -> FlamePaths {
        let (mut growing, stacks) = (Growing::default(), profile.stacks());
        let known = vec![(0, ROOT); stacks.nodes().len()];
        let mut climbed = Climbed { stacks, levels, root: None, run: 0, known, new: Vec::new() };
        let of_event = groups.of_event(event);
        let end = |row: SampleRow| {
            let root = root(&row).map_or(ROOT, |root| growing.child(ROOT, root));
            match row.stack {
                StackId::EMPTY => growing.climb(root, levels.at(row.address)),
                stack => climbed.end_of(&mut growing, root, stack),
            }
        };
        let ends = groups.rows_of(of_event.clone()).map(end).collect();
        let Growing { nodes, merged, known_merged, .. } = growing;
        FlamePaths { groups: of_event, ends, nodes, merged, merged_count: known_merged.len() }
    }

    /// The flame tree of some samples: `sums` has what those of each group of the profile add up to.
    pub fn tree(&self, sums: &[Sum]) -> ChosenTree {
        let sums = sums.get(self.groups.clone()).unwrap_or_default();
        let mut own = vec![Sum::default(); self.nodes.len()];
        for (end, sum) in self.ends.iter().zip(sums) {
            if let Some(own) = own.get_mut(*end as usize) {
                own.add(*sum);
            }
        }
        let is_in = self.with_samples(&own);
        let mut numbers = vec![ROOT; self.nodes.len()];
        let mut of_merged = vec![ROOT; self.merged_count];
        let (mut nodes, mut merged_own): (Vec<FlameNode>, Vec<Sum>) = (Vec::new(), Vec::new());
        let all = self.nodes.iter().zip(&self.merged).zip(own).zip(is_in).enumerate();
        for (at, ((node, merged), own)) in all.filter_map(|(at, (node, is_in))| is_in.then_some((at, node))) {
            let caller = numbers.get(node.parent as usize).copied().unwrap_or(ROOT);
            let Some(number) = of_merged.get_mut(*merged as usize) else { continue };
            if *number == ROOT {
                *number = NodeIndex::try_from(nodes.len()).unwrap_or(ROOT);
                nodes.push(FlameNode { parent: caller, level: node.level });
                merged_own.push(own);
            } else {
                if let Some(known) = nodes.get_mut(*number as usize) {
                    known.level.variant = known.level.variant.min(node.level.variant);
                }
                if let Some(sum) = merged_own.get_mut(*number as usize) {
                    sum.add(own);
                }
            }
            if let Some(slot) = numbers.get_mut(at) {
                *slot = *number;
            }
        }
        ChosenTree { tree: FlameTree::of_nodes(nodes, merged_own), numbers }
    }

    /// Where the stack of a group of samples ends in a tree that was made here; [`ROOT`] if it has none in it.
    #[inline]
    pub fn end_of(&self, chosen: &ChosenTree, group: usize) -> NodeIndex {
        let end = group.checked_sub(self.groups.start).and_then(|at| self.ends.get(at));
        end.and_then(|end| chosen.numbers.get(*end as usize)).copied().unwrap_or(ROOT)
    }

    /// The nodes that samples go through.
    fn with_samples(&self, own: &[Sum]) -> Vec<bool> {
        let mut is_in: Vec<bool> = own.iter().map(|own| own.samples > 0).collect();
        for (index, node) in self.nodes.iter().enumerate().rev() {
            if is_in.get(index) == Some(&true)
                && let Some(caller) = is_in.get_mut(node.parent as usize)
            {
                *caller = true;
            }
        }
        is_in
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::groups::tests::{chosen as chosen_of, profile, samples, some};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// By way, its labels from the outermost: variant, and what was taken there.
    fn nodes(tree: &FlameTree) -> BTreeMap<Vec<u32>, (u32, Sum)> {
        let mut ways: Vec<Vec<u32>> = Vec::new();
        let node = |(at, node): (usize, &FlameNode)| {
            let mut way = ways.get(node.parent as usize).cloned().unwrap_or_default();
            way.push(node.level.label);
            ways.push(way.clone());
            (way, (node.level.variant, tree.own(0).get(at).copied().unwrap_or_default()))
        };
        tree.nodes().iter().enumerate().map(node).collect()
    }

    proptest! {
        #[test]
        fn trees_are_those_of_climbing(samples in samples(), step in 1..5_usize, others: bool, event in 0..2_usize) {
            // Two and three addresses with one label, some with two levels.
            let mut levels = FlameLevels::default();
            for address in 0..6 {
                let level = FlameLevel { label: address / 2, variant: 10 - address, line: NO_LINE };
                let inlined = FlameLevel { label: 3, variant: address, line: NO_LINE };
                levels.push(std::iter::once(level).chain((address % 3 == 0).then_some(inlined)));
            }
            let root = |row: &SampleRow| {
                let comm = u32::try_from(row.comm.index()).unwrap();
                (comm > 0).then_some(FlameLevel { label: 100 + comm, variant: u32::MAX, line: NO_LINE })
            };
            let profile = profile(&samples);
            let (picked, groups) = (some(&profile, step, others), Groups::new(&profile, false, false));
            let paths = FlamePaths::new(&profile, &groups, event, &levels, root);
            let chosen = paths.tree(&groups.sums(profile.rows(), &picked));
            let mut climbed = FlameTree::default();
            let mut ends = Vec::new();
            let of_picked = chosen_of(&profile, &groups, &picked);
            climbed.add_telling(&of_picked, event, &levels, root, |end| ends.push(end));
            prop_assert_eq!(nodes(&chosen.tree), nodes(&climbed));
            let way = |tree: &FlameTree, mut at: NodeIndex| {
                let mut way = Vec::new();
                while let Some(node) = tree.nodes().get(at as usize) {
                    way.push(node.level.label);
                    at = node.parent;
                }
                way
            };
            let picked = picked.of(profile.rows()).filter(|(_, row)| row.event as usize == event);
            for ((at, _), end) in picked.zip(ends) {
                let here = paths.end_of(&chosen, groups.of_row(at));
                prop_assert_eq!(way(&chosen.tree, here), way(&climbed, end));
            }
        }
    }
}
