//! How a tree of reversed stacks grows from where samples were taken: they are split by their next level, again and again, as long as they
//! are worth it.

use super::flame_tree::{FlameLevel, FlameTree, NO_LINE, NodeIndex, ROOT, Sum};
use std::ops::Range;

/// Samples on their way from the leaf to the root.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walker<W> {
    /// Where they are.
    pub(super) way: W,
    pub(super) side: u32,
    pub(super) sum: Sum,
    /// The level that is next.
    next: FlameLevel,
}

impl<W> Walker<W> {
    pub(super) fn new(way: W, side: u32, sum: Sum) -> Walker<W> {
        Walker { way, side, sum, next: FlameLevel { label: 0, variant: 0, line: NO_LINE } }
    }
}

/// How far a tree grows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits<'l> {
    /// By side, what a node weighs at least to be grown further, of either sort of weight.
    pub(super) least: &'l [Sum],
    /// How many rows below the highest there are at most.
    pub(super) rows: u32,
}

impl Limits<'_> {
    fn worth_growing(&self, sums: &[Sum; 2]) -> bool {
        self.least.iter().zip(sums).any(|(least, sum)| {
            *sum != Sum::default() && (sum.period >= least.period || sum.samples >= least.samples)
        })
    }
}

/// What is next for those that have one label next.
#[derive(Clone, Copy, Debug, Default)]
struct Branch {
    /// In which split.
    split: u32,
    /// How many walkers take it.
    count: usize,
    /// What they weigh, by side.
    sums: [Sum; 2],
    /// The least variant of the label.
    variant: u32,
    /// Whether any of them is of the first side.
    of_first: bool,
    node: NodeIndex,
    /// Where the next of them belongs; nothing if it is not worth growing.
    place: Option<usize>,
}

/// The branches of a split, by label. They are not cleared for the next one.
#[derive(Clone, Debug, Default)]
struct Split {
    number: u32,
    branches: Vec<Branch>,
    /// The labels that are met.
    labels: Vec<u32>,
}

impl Split {
    fn begin(&mut self) {
        self.number += 1;
        self.labels.clear();
    }

    #[inline]
    fn count<W>(&mut self, walker: &Walker<W>) {
        let FlameLevel { label, variant, .. } = walker.next;
        if self.branches.len() <= label as usize {
            self.branches.resize(label as usize + 1, Branch::default());
        }
        let Some(branch) = self.branches.get_mut(label as usize) else { return };
        if branch.split != self.number {
            *branch = Branch { split: self.number, variant, ..Branch::default() };
            self.labels.push(label);
        }
        branch.count += 1;
        branch.variant = branch.variant.min(variant);
        branch.of_first |= walker.side == 0;
        if let Some(sum) = branch.sums.get_mut(walker.side as usize) {
            sum.add(walker.sum);
        }
    }

    #[inline]
    fn branch(&mut self, label: u32) -> Option<&mut Branch> {
        self.branches.get_mut(label as usize)
    }
}

impl FlameTree {
    /// Grows an empty tree of walkers of one side or two. `step` takes one to its next level; there is none behind the root.
    pub(super) fn grow<W: Copy>(
        &mut self,
        walkers: &mut [Walker<W>],
        mut step: impl FnMut(&mut Walker<W>) -> Option<FlameLevel>,
        limits: Limits<'_>,
    ) {
        let mut split = Split::default();
        let mut sorted: Vec<Walker<W>> = Vec::new();
        let mut todo: Vec<(NodeIndex, u32, Range<usize>)> = vec![(ROOT, 0, 0..walkers.len())];
        while let Some((parent, row, range)) = todo.pop() {
            let Some(here) = walkers.get_mut(range.clone()) else { continue };
            split.begin();
            // Those that go on are in front.
            let mut going = 0;
            for nr in 0..here.len() {
                let Some(mut walker) = here.get(nr).copied() else { break };
                let Some(next) = step(&mut walker) else {
                    self.add_own(walker.side as usize, parent, walker.sum);
                    continue;
                };
                walker.next = next;
                split.count(&walker);
                if let Some(slot) = here.get_mut(going) {
                    *slot = walker;
                }
                going += 1;
            }
            let growing = self.branch_off(&mut split, parent, row <= limits.rows, limits, |node, part| {
                todo.push((node, row + 1, range.start + part.start..range.start + part.end));
            });
            let Some(going) = here.get_mut(..going) else { continue };
            sorted.clear();
            sorted.extend(going.iter().take(growing).copied());
            self.sort(&mut split, going, &mut sorted);
            if let Some(here) = going.get_mut(..growing) {
                here.copy_from_slice(&sorted);
            }
        }
    }

    /// Adds the nodes of a split, by label, and tells which part of the walkers is to grow each further; how many these are.
    fn branch_off(
        &mut self,
        split: &mut Split,
        parent: NodeIndex,
        has_room: bool,
        limits: Limits<'_>,
        mut told: impl FnMut(NodeIndex, Range<usize>),
    ) -> usize {
        split.labels.sort_unstable();
        let mut growing = 0;
        for label in &split.labels {
            let Some(branch) = split.branches.get_mut(*label as usize) else { continue };
            branch.node =
                self.new_child(parent, FlameLevel { label: *label, variant: branch.variant, line: NO_LINE });
            if has_room && limits.worth_growing(&branch.sums) {
                branch.place = Some(growing);
                told(branch.node, growing..growing + branch.count);
                growing += branch.count;
            }
        }
        growing
    }

    /// Puts walkers that grow further where they belong; the others count in their node.
    fn sort<W: Copy>(&mut self, split: &mut Split, walkers: &[Walker<W>], sorted: &mut [Walker<W>]) {
        for walker in walkers {
            let Some(branch) = split.branch(walker.next.label) else { continue };
            // Lines are those of the first side; of the second where the first has none.
            if walker.side == 0 || !branch.of_first {
                self.lines.add(branch.node, walker.next.line, walker.sum.period);
            }
            match &mut branch.place {
                None => self.add_own(walker.side as usize, branch.node, walker.sum),
                Some(place) => {
                    if let Some(slot) = sorted.get_mut(*place) {
                        *slot = *walker;
                    }
                    *place += 1;
                }
            }
        }
    }
}
