//! Where stacks end in a flame tree, worked out once for all samples of a profile: the tree of any choice of them is then made without
//! climbing again.
//!
//! A node of a flame tree is what has one label, and says of its levels the least variant. Which of them that is depends on the samples, so
//! here each variant is a node of its own.

use super::calls::NONE;
use super::flame_growth::Growing;
use super::flame_tree::{FlameLevel, FlameLevels, FlameNode, FlameTree, NodeIndex, ROOT, Sum};
use super::row_paths::{Room, Ways, make_room};
use crate::addresses::AddressId;
use crate::groups::Groups;
use crate::profile::{Profile, SampleRow};
use crate::stacks::{Node, StackId, Stacks};
use std::ops::Range;
use std::sync::Arc;

/// The ways of the samples of an event into a flame tree. Lines of source are not told.
#[derive(Clone, Debug, Default)]
pub struct FlamePaths {
    /// Which groups of samples are those of the event.
    groups: Range<usize>,
    /// Where the stack of each of these groups ends.
    ends: Vec<NodeIndex>,
    parts: Parts,
    /// Where each part ends.
    ends_of_parts: Vec<NodeIndex>,
    tree: Growing,
}

/// Parts of stacks: those that stand on other roots are others. A change of stacks leaves them what they are.
#[derive(Clone, Debug, Default)]
struct Parts {
    /// By group, the part that is its whole stack; [`NONE`] without one.
    of_groups: Arc<Vec<u32>>,
    ways: Arc<Ways>,
    /// From which part on they stand on which node.
    roots: Arc<Vec<(u32, NodeIndex)>>,
}

/// A flame tree of chosen samples.
#[derive(Clone, Debug, Default)]
pub struct ChosenTree {
    /// The tree.
    pub tree: FlameTree,
    /// The number in it of each node here; [`ROOT`] of those without samples.
    numbers: Vec<NodeIndex>,
}

/// Which parts of stacks have been climbed since the root was another.
struct Climbed<'c> {
    stacks: &'c Stacks,
    levels: &'c FlameLevels,
    root: Option<NodeIndex>,
    run: u32,
    /// By part of a stack of the profile: in which run, and which part it is there.
    known: Vec<(u32, u32)>,
    new: Vec<usize>,
    ways: Ways,
    ends: Vec<NodeIndex>,
    roots: Vec<(u32, NodeIndex)>,
}

impl Climbed<'_> {
    /// The part that is a whole stack.
    fn part_of(&mut self, growing: &mut Growing, root: NodeIndex, stack: StackId) -> u32 {
        if self.root.replace(root) != Some(root) {
            self.run += 1;
            self.roots.push((self.next(), root));
        }
        let (mut below, mut part) = (stack, NONE);
        while let (Some(index), Some(node)) = (below.index(), self.stacks.node(below)) {
            if let Some((_, known)) = self.known.get(index).filter(|(run, _)| *run == self.run) {
                part = *known;
                break;
            }
            self.new.push(index);
            below = node.parent;
        }
        let mut here = self.ends.get(part as usize).copied().unwrap_or(root);
        while let Some(index) = self.new.pop() {
            let next = self.next();
            if let (Some(node), Some(known)) = (self.stacks.nodes().get(index), self.known.get_mut(index)) {
                here = growing.climb(here, self.levels.at(node.address));
                self.ways.callers.push(part);
                self.ways.nodes.push(u32::try_from(index).unwrap_or(NONE));
                self.ends.push(here);
                part = next;
                *known = (self.run, part);
            }
        }
        part
    }

    /// The number of the next part.
    fn next(&self) -> u32 {
        u32::try_from(self.ends.len()).unwrap_or(NONE)
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
        let (mut tree, stacks) = (Growing::default(), profile.stacks());
        // There are about as many parts as the profile has: most stacks are those of threads with one name.
        let parts = stacks.nodes().len();
        let mut climbed = Climbed {
            stacks,
            levels,
            root: None,
            run: 0,
            known: vec![(0, NONE); parts],
            new: Vec::new(),
            ways: Ways::with_room(parts),
            ends: Vec::with_capacity(parts),
            roots: Vec::new(),
        };
        let of_event = groups.of_event(event);
        tree.reserve(of_event.len());
        let mut ends = Vec::with_capacity(of_event.len());
        let mut of_groups = Vec::with_capacity(of_event.len());
        for row in groups.rows_of(of_event.clone()) {
            let root = root(&row).map_or(ROOT, |root| tree.child(ROOT, root));
            let part = climbed.part_of(&mut tree, root, row.stack);
            let end = climbed.ends.get(part as usize).copied();
            ends.push(end.unwrap_or_else(|| tree.climb(root, levels.at(row.address))));
            of_groups.push(part);
        }
        let Climbed { ways, ends: ends_of_parts, roots, .. } = climbed;
        let parts = Parts { of_groups: Arc::new(of_groups), ways: Arc::new(ways), roots: Arc::new(roots) };
        FlamePaths { groups: of_event, ends, parts, ends_of_parts, tree: tree.grown() }
    }

    /// The ways behind a change of stacks whose parts kept their numbers. `nodes` are the parts before it, and `groups` those of the
    /// samples now; levels have the labels that they had. The tree has all nodes of these ways, and more.
    pub fn with_changed_stacks(
        &self,
        nodes: &[Node],
        (profile, groups): (&Profile, &Groups),
        levels: &FlameLevels,
        mut root: impl FnMut(&SampleRow) -> Option<FlameLevel>,
    ) -> FlamePaths {
        let Parts { of_groups, ways, roots } = &self.parts;
        let mut tree = self.tree.clone();
        let mut ends_of_parts: Vec<NodeIndex> = Vec::with_capacity(self.ends_of_parts.len());
        // By node before: what it was last put on, before and now, and what became of it there.
        let mut moved = vec![(ROOT, ROOT, ROOT); self.tree.nodes.len()];
        let (mut roots, mut root_here) = (roots.iter().peekable(), ROOT);
        let parts = ways.callers.iter().zip(&ways.nodes).zip(&self.ends_of_parts).zip(0..);
        for (((caller, node), end), part) in parts {
            while let Some((_, root)) = roots.next_if(|(first, _)| *first <= part) {
                root_here = *root;
            }
            let below = |ends: &[NodeIndex]| ends.get(*caller as usize).copied().unwrap_or(root_here);
            let (before, now) = (below(&self.ends_of_parts), below(&ends_of_parts));
            let address =
                |nodes: &[Node]| nodes.get(*node as usize).map_or(AddressId::NONE, |node| node.address);
            let (old, new) = (address(nodes), address(profile.stacks().nodes()));
            let is_same = old == new;
            ends_of_parts.push(if is_same && before == now {
                *end
            } else if new == AddressId::NONE {
                now
            } else if let Some((_, _, end)) =
                moved.get(*end as usize).filter(|known| is_same && (known.0, known.1) == (before, now))
            {
                *end
            } else {
                let here = tree.climb(now, levels.at(new));
                if let Some(moved) = moved.get_mut(*end as usize).filter(|_| is_same) {
                    *moved = (before, now, here);
                }
                here
            });
        }
        let end = |(row, part): (SampleRow, &u32)| match row.stack {
            StackId::EMPTY => {
                let root = root(&row).map_or(ROOT, |root| tree.child(ROOT, root));
                tree.climb(root, levels.at(row.address))
            }
            _ => ends_of_parts.get(*part as usize).copied().unwrap_or(ROOT),
        };
        let ends = groups.rows_of(self.groups.clone()).zip(of_groups.iter()).map(end).collect();
        let (groups, parts, tree) = (self.groups.clone(), self.parts.clone(), tree.grown());
        FlamePaths { groups, ends, parts, ends_of_parts, tree }
    }

    /// The flame tree of some samples: `sums` has what those of each group of the profile add up to. A viewer keeps the room for the
    /// next time.
    pub fn tree(&self, sums: &[Sum], room: &mut Room) -> ChosenTree {
        let own = self.own(sums, room);
        let is_in = self.with_samples(own);
        let mut numbers = vec![ROOT; self.tree.nodes.len()];
        let mut of_merged = vec![ROOT; self.tree.merged_count];
        // The system gives memory when it is written to: room for all costs nothing.
        let mut nodes: Vec<FlameNode> = Vec::with_capacity(self.tree.merged_count);
        let mut merged_own: Vec<Sum> = Vec::with_capacity(self.tree.merged_count);
        let all = self.tree.nodes.iter().zip(self.tree.merged.iter()).zip(own).zip(is_in).enumerate();
        for (at, ((node, merged), own)) in all.filter_map(|(at, (node, is_in))| is_in.then_some((at, node))) {
            let caller = numbers.get(node.parent as usize).copied().unwrap_or(ROOT);
            let Some(number) = of_merged.get_mut(*merged as usize) else { continue };
            if *number == ROOT {
                *number = NodeIndex::try_from(nodes.len()).unwrap_or(ROOT);
                nodes.push(FlameNode { parent: caller, level: node.level });
                merged_own.push(*own);
            } else {
                if let Some(known) = nodes.get_mut(*number as usize) {
                    known.level.variant = known.level.variant.min(node.level.variant);
                }
                if let Some(sum) = merged_own.get_mut(*number as usize) {
                    sum.add(*own);
                }
            }
            if let Some(slot) = numbers.get_mut(at) {
                *slot = *number;
            }
        }
        ChosenTree { tree: FlameTree::of_nodes(nodes, merged_own), numbers }
    }

    /// What some samples add up to in each node where stacks end.
    pub(super) fn own<'r>(&self, sums: &[Sum], room: &'r mut Room) -> &'r [Sum] {
        let own = &mut room.sums;
        let sums = sums.get(self.groups.clone()).unwrap_or_default();
        make_room(own, self.tree.nodes.len());
        own.resize(self.tree.nodes.len(), Sum::default());
        for (end, sum) in self.ends.iter().zip(sums) {
            if let Some(own) = own.get_mut(*end as usize) {
                own.add(*sum);
            }
        }
        own
    }

    /// A node with one variant of its label.
    #[inline]
    pub(super) fn node(&self, node: NodeIndex) -> Option<&FlameNode> {
        self.tree.nodes.get(node as usize)
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
        for (index, node) in (0..self.tree.nodes.len()).rev().zip(self.tree.nodes.iter().rev()) {
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
pub(super) mod tests {
    use super::*;
    use crate::groups::tests::{chosen as chosen_of, profile, samples, some};
    use crate::view::flame_tree::NO_LINE;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// By way, its labels from the outermost: variant, and what was taken there.
    pub(in crate::view) fn ways(tree: &FlameTree) -> BTreeMap<Vec<u32>, (u32, Sum)> {
        let mut ways: Vec<Vec<u32>> = Vec::new();
        let node = |(at, node): (usize, &FlameNode)| {
            let mut way = ways.get(node.parent as usize).cloned().unwrap_or_default();
            way.push(node.level.label);
            ways.push(way.clone());
            (way, (node.level.variant, tree.own(0).get(at).copied().unwrap_or_default()))
        };
        tree.nodes().iter().enumerate().map(node).collect()
    }

    /// Two and three addresses with one label, some with two levels.
    pub(in crate::view) fn levels() -> FlameLevels {
        let mut levels = FlameLevels::default();
        for address in 0..6 {
            let level = FlameLevel { label: address / 2, variant: 10 - address, line: NO_LINE };
            let inlined = FlameLevel { label: 3, variant: address, line: NO_LINE };
            levels.push(std::iter::once(level).chain((address % 3 == 0).then_some(inlined)));
        }
        levels
    }

    /// The names of threads but for one.
    pub(in crate::view) fn root(row: &SampleRow) -> Option<FlameLevel> {
        let comm = u32::try_from(row.comm.index()).unwrap();
        (comm > 0).then_some(FlameLevel { label: 100 + comm, variant: u32::MAX, line: NO_LINE })
    }

    proptest! {
        #[test]
        fn trees_are_those_of_climbing(samples in samples(), step in 1..5_usize, others: bool, event in 0..2_usize) {
            let levels = levels();
            let profile = profile(&samples);
            let (picked, groups) = (some(&profile, step, others), Groups::new(&profile, false, false));
            let paths = FlamePaths::new(&profile, &groups, event, &levels, root);
            let chosen = paths.tree(&groups.sums(profile.rows(), &picked), &mut Room::default());
            let mut climbed = FlameTree::default();
            let mut ends = Vec::new();
            let of_picked = chosen_of(&profile, &groups, &picked);
            climbed.add_telling(&of_picked, event, &levels, root, |end| ends.push(end));
            prop_assert_eq!(ways(&chosen.tree), ways(&climbed));
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

        #[test]
        fn behind_a_change_of_stacks_it_is_as_from_the_start(samples in samples(), fates in proptest::collection::vec(0..4_u8, 6)) {
            // What one address says another two say together, and the last three are places that are made of those with two.
            let labels: [&[u32]; 9] = [&[0], &[1], &[0, 1], &[2], &[1, 2], &[0], &[0], &[1], &[2]];
            let mut levels = FlameLevels::default();
            for of_address in labels {
                levels.push(of_address.iter().map(|label| FlameLevel { label: *label, variant: *label, line: NO_LINE }));
            }
            let fate = |address: AddressId| match (address.0, fates.get(address.index()).copied().unwrap_or(3)) {
                (_, 0) => None,
                (2, 1) => Some(AddressId(6)),
                (2, 2) => Some(AddressId(7)),
                (4, 1) => Some(AddressId(8)),
                _ => Some(address),
            };
            let profile = profile(&samples);
            let groups = Groups::new(&profile, false, false);
            let (mut nodes, mut nearest): (Vec<Node>, Vec<StackId>) = (Vec::new(), Vec::new());
            let behind = |nearest: &[StackId], stack: StackId| stack.index().map_or(StackId::EMPTY, |index| nearest[index]);
            for (at, node) in (0..).zip(profile.stacks().nodes()) {
                let (parent, kept) = (behind(&nearest, node.parent), fate(node.address));
                nodes.push(Node { parent, address: kept.unwrap_or(AddressId::NONE) });
                nearest.push(if kept.is_some() { StackId(at) } else { parent });
            }
            let changed = Profile { stacks: Arc::new(Stacks::of_nodes(nodes)), ..profile.clone() };
            let after = groups.with_stacks(|stack, address| Some((behind(&nearest, stack), address)));
            let root = |row: &SampleRow| {
                let label = 100 + u32::try_from(row.comm.index()).unwrap();
                Some(FlameLevel { label, variant: u32::MAX, line: NO_LINE })
            };
            let sums = after.sums(profile.rows(), &crate::Picked::all(profile.rows().len()));
            for event in 0..2 {
                let paths = FlamePaths::new(&profile, &groups, event, &levels, root);
                let nodes_before = profile.stacks().nodes();
                let paths = paths.with_changed_stacks(nodes_before, (&changed, &after), &levels, root);
                let expected = FlamePaths::new(&changed, &after, event, &levels, root);
                let tree = |paths: &FlamePaths| ways(&paths.tree(&sums, &mut Room::default()).tree);
                prop_assert_eq!(tree(&paths), tree(&expected));
                // Behind one more change, of nothing, it stays so.
                let again = paths.with_changed_stacks(changed.stacks().nodes(), (&changed, &after), &levels, root);
                prop_assert_eq!(tree(&again), tree(&expected));
            }
        }
    }
}
