//! Stacks from the leaf to the root: who calls what takes the time.
//!
//! Stacks share their outer parts, not their inner ones, so a full tree of reversed stacks is as large as all stacks one
//! after the other. It is therefore grown from the leaves, and only where what is below is worth showing.

use crate::addresses::AddressId;
use crate::profile::{Profile, SampleRow};
use crate::stacks::StackId;
use crate::view::flame_leaves::{Limits, Walker};
use crate::view::flame_paths::FlamePaths;
use crate::view::flame_tree::{FlameLevel, FlameLevels, FlameTree, NodeIndex, Sum};
use crate::view::row_paths::Room;

/// One side of a tree of reversed stacks.
pub struct ReversedSide<'r> {
    /// The samples.
    pub profile: &'r Profile,
    /// Their event.
    pub event: usize,
    /// The levels at each address of that profile.
    pub levels: &'r FlameLevels,
    /// What the stack of a row stands on, if on anything: here the last level.
    pub root: &'r mut dyn FnMut(&SampleRow) -> Option<FlameLevel>,
    /// Nodes that weigh less are not grown further: what is above them counts as their own. Of either sort of weight.
    pub least: Sum,
}

impl std::fmt::Debug for ReversedSide<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReversedSide")
            .field("event", &self.event)
            .field("least", &self.least)
            .finish_non_exhaustive()
    }
}

/// Where a row is on its way from the leaf to the root.
#[derive(Clone, Copy, Debug)]
struct StackWay {
    /// The stack below the present address.
    below: StackId,
    address: Option<AddressId>,
    /// How many levels of the present address are still to come.
    left: u32,
    root: Option<FlameLevel>,
}

impl StackWay {
    /// The next level towards the root; none behind the root.
    fn step(&mut self, side: &ReversedSide<'_>) -> Option<FlameLevel> {
        loop {
            if let Some(left) = self.left.checked_sub(1) {
                self.left = left;
                return side.levels.at(self.address?).get(left as usize).copied();
            }
            let Some(node) = side.profile.stacks().node(self.below) else { return self.root.take() };
            self.below = node.parent;
            self.enter(side, node.address);
        }
    }

    fn enter(&mut self, side: &ReversedSide<'_>, address: AddressId) {
        self.address = Some(address);
        self.left = u32::try_from(side.levels.at(address).len()).unwrap_or(u32::MAX);
    }
}

impl FlameTree {
    /// A tree of reversed stacks, one side for each profile: one or two. It is grown at most one row higher than `rows`.
    pub fn reversed(sides: &mut [ReversedSide<'_>], rows: u32) -> FlameTree {
        let mut tree = FlameTree::default();
        let mut walkers = Vec::new();
        for (nr, side) in (0u32..).zip(sides.iter_mut()) {
            tree.add_side();
            for row in side.profile.rows_of(side.event) {
                let sum = Sum::of(&row);
                let root = (side.root)(&row);
                let mut way = StackWay { below: row.stack, address: None, left: 0, root };
                if row.stack == StackId::EMPTY {
                    way.enter(side, row.address);
                }
                walkers.push(Walker::new(way, nr, sum));
            }
        }
        let least: Vec<Sum> = sides.iter().map(|side| side.least).collect();
        let step = |walker: &mut Walker<StackWay>| walker.way.step(sides.get(walker.side as usize)?);
        tree.grow(&mut walkers, step, Limits { least: &least, rows });
        tree.settle_lines();
        tree
    }
}

impl FlamePaths {
    /// The tree of reversed stacks of some samples, to be grown only from nodes that weigh so much; else as [`FlamePaths::tree`].
    pub fn reversed(&self, sums: &[Sum], least: Sum, room: &mut Room) -> FlameTree {
        let own = self.own(sums, room);
        let taken = (0..).zip(own).filter(|(_, own)| own.samples > 0);
        let mut walkers: Vec<Walker<NodeIndex>> = taken.map(|(end, own)| Walker::new(end, 0, *own)).collect();
        let mut tree = FlameTree::default();
        tree.add_side();
        let step = |walker: &mut Walker<NodeIndex>| {
            let node = self.node(walker.way)?;
            walker.way = node.parent;
            Some(node.level)
        };
        tree.grow(&mut walkers, step, Limits { least: &[least], rows: u32::MAX });
        tree
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::groups::Groups;
    use crate::groups::tests::{chosen, profile, samples, some};
    use crate::view::flame_paths::tests::{levels, root, ways};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// The levels of a row from the leaf on.
    fn from_leaf(profile: &Profile, levels: &FlameLevels, row: &SampleRow) -> Vec<FlameLevel> {
        let mut way = Vec::new();
        let mut here = row.stack;
        if here == StackId::EMPTY {
            way.extend(levels.at(row.address).iter().rev());
        }
        while let Some(node) = profile.stacks().node(here) {
            way.extend(levels.at(node.address).iter().rev());
            here = node.parent;
        }
        way.extend(root(row));
        way
    }

    /// What [`ways`] is to be: row by row, with sums by all ways there are.
    fn plain(rows: &[(Vec<FlameLevel>, Sum)], least: Sum) -> BTreeMap<Vec<u32>, (u32, Sum)> {
        let labels = |way: &[FlameLevel]| way.iter().map(|level| level.label).collect::<Vec<u32>>();
        let mut weights: BTreeMap<Vec<u32>, Sum> = BTreeMap::new();
        for (way, sum) in rows {
            (1..=way.len()).for_each(|end| weights.entry(labels(&way[..end])).or_default().add(*sum));
        }
        let mut tree: BTreeMap<Vec<u32>, (u32, Sum)> = BTreeMap::new();
        for (way, sum) in rows {
            for (end, level) in (1..).zip(way) {
                let here = labels(&way[..end]);
                let weight = weights[&here];
                let grows = weight.period >= least.period || weight.samples >= least.samples;
                let node = tree.entry(here).or_insert((level.variant, Sum::default()));
                node.0 = node.0.min(level.variant);
                if end == way.len() || !grows {
                    node.1.add(*sum);
                    break;
                }
            }
        }
        tree
    }

    proptest! {
        #[test]
        fn trees_grow_where_it_is_worth_it(
            samples in samples(),
            step in 1..5_usize,
            others: bool,
            event in 0..2_usize,
            least in (0..40_u64, 0..40_u64),
        ) {
            let (levels, profile) = (levels(), profile(&samples));
            let (picked, groups) = (some(&profile, step, others), Groups::new(&profile, false, false));
            let least = Sum { period: least.0, samples: least.1 };
            let chosen = chosen(&profile, &groups, &picked);
            let sum = |row: &SampleRow| Sum { period: row.period, samples: row.samples };
            let rows: Vec<(Vec<FlameLevel>, Sum)> =
                chosen.rows_of(event).iter().map(|row| (from_leaf(&chosen, &levels, &row), sum(&row))).collect();
            let expected = plain(&rows, least);
            let paths = FlamePaths::new(&profile, &groups, event, &levels, root);
            let sums = groups.sums(profile.rows(), &picked);
            let of_paths = paths.reversed(&sums, least, &mut Room::default());
            prop_assert_eq!(ways(&of_paths), expected.clone());
            let (mut root, profile) = (root, &chosen);
            let side = ReversedSide { profile, event, levels: &levels, root: &mut root, least };
            let of_stacks = FlameTree::reversed(&mut [side], u32::MAX);
            prop_assert_eq!(ways(&of_stacks), expected);
            prop_assert_eq!(of_paths.nodes(), of_stacks.nodes());
        }
    }
}
