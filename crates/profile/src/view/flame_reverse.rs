//! Stacks from the leaf to the root: who calls what takes the time.
//!
//! Stacks share their outer parts, not their inner ones, so a full tree of reversed stacks is as large as all stacks one
//! after the other. It is therefore grown from the leaves, and only where what is below is worth showing.

use crate::addresses::AddressId;
use crate::profile::{Profile, SampleRow};
use crate::stacks::StackId;
use crate::view::flame_tree::{FlameLevel, FlameLevels, FlameTree, NO_LINE, NodeIndex, ROOT, Sum};

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

/// A row on its way from the leaf to the root.
#[derive(Clone, Copy, Debug)]
struct Walker {
    side: u32,
    /// The stack below the present address.
    below: StackId,
    address: Option<AddressId>,
    /// How many levels of the present address are still to come.
    left: u32,
    root: Option<FlameLevel>,
    sum: Sum,
}

impl Walker {
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
    /// A tree of reversed stacks, one side for each profile. It is grown at most one row higher than `rows`.
    pub fn reversed(sides: &mut [ReversedSide<'_>], rows: u32) -> FlameTree {
        let mut tree = FlameTree::default();
        let mut walkers = Vec::new();
        for (nr, side) in (0u32..).zip(sides.iter_mut()) {
            tree.add_side();
            for row in side.profile.rows_of(side.event) {
                let sum = Sum { period: row.period, samples: row.samples };
                let root = (side.root)(row);
                let mut walker = Walker { side: nr, below: row.stack, address: None, left: 0, root, sum };
                if row.stack == StackId::EMPTY {
                    walker.enter(side, row.address);
                }
                walkers.push((walker, FlameLevel { label: 0, variant: 0, line: NO_LINE }));
            }
        }
        tree.grow(sides, &mut walkers, rows);
        tree.settle_lines();
        tree
    }

    /// Splits the walkers at a node by their next level, again and again.
    fn grow(&mut self, sides: &[ReversedSide<'_>], walkers: &mut [(Walker, FlameLevel)], rows: u32) {
        let mut todo: Vec<(NodeIndex, u32, std::ops::Range<usize>)> = vec![(ROOT, 0, 0..walkers.len())];
        while let Some((parent, row, range)) = todo.pop() {
            let Some(group) = walkers.get_mut(range.clone()) else { continue };
            // Those that are at their end go to the front.
            let mut ended = 0;
            for nr in 0..group.len() {
                let Some((walker, next)) = group.get_mut(nr) else { break };
                let Some(side) = sides.get(walker.side as usize) else { break };
                match walker.step(side) {
                    Some(level) => *next = level,
                    None => {
                        self.add_own(walker.side as usize, parent, walker.sum);
                        group.swap(ended, nr);
                        ended += 1;
                    }
                }
            }
            let Some(going) = group.get_mut(ended..) else { continue };
            going.sort_unstable_by_key(|(_, next)| *next);
            let mut start = range.start + ended;
            for same in going.chunk_by(|a, b| a.1.label == b.1.label) {
                let end = start + same.len();
                if let Some((_, level)) = same.first() {
                    let node = self.child(parent, *level);
                    self.weigh_lines(node, same);
                    if row <= rows && worth_growing(sides, same) {
                        todo.push((node, row + 1, start..end));
                    } else {
                        same.iter()
                            .for_each(|(walker, _)| self.add_own(walker.side as usize, node, walker.sum));
                    }
                }
                start = end;
            }
        }
    }
}

impl FlameTree {
    /// Lines are those of the first side; of the second where the first has none.
    fn weigh_lines(&mut self, node: NodeIndex, walkers: &[(Walker, FlameLevel)]) {
        let is_new = |walker: &Walker| walker.side == 0;
        let any_new = walkers.iter().any(|(walker, _)| is_new(walker));
        for (walker, level) in walkers.iter().filter(|(walker, _)| is_new(walker) || !any_new) {
            self.lines.add(node, level.line, walker.sum.period);
        }
    }
}

fn worth_growing(sides: &[ReversedSide<'_>], walkers: &[(Walker, FlameLevel)]) -> bool {
    (0u32..).zip(sides).any(|(nr, side)| {
        let mut sum = Sum::default();
        walkers.iter().filter(|(walker, _)| walker.side == nr).for_each(|(walker, _)| sum.add(walker.sum));
        sum != Sum::default() && (sum.period >= side.least.period || sum.samples >= side.least.samples)
    })
}
