//! What is around a function in a flame graph: who calls it, and what it calls.

use crate::flame::{Flame, Label};
use readperf_profile::Weight;
use readperf_profile::view::flame_tree::{FlameLevel, NodeIndex, ROOT, Sum};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// Samples of this recording, and of the one that is compared with; of that none where there is none.
pub type NowAndBefore = [Sum; 2];

/// What is around a function.
#[derive(Clone, Debug, Default)]
pub struct Around {
    /// Samples in the function.
    pub own: NowAndBefore,
    /// Samples with it in their stack.
    pub total: NowAndBefore,
    /// One frame of each caller, and the samples that came from there; the heaviest first. [`Flame::ROOT`] stands for none.
    pub callers: Vec<(NodeIndex, NowAndBefore)>,
    /// One frame of each function that it calls.
    pub callees: Vec<(NodeIndex, NowAndBefore)>,
}

fn add(sums: &mut NowAndBefore, more: NowAndBefore) {
    sums.iter_mut().zip(more).for_each(|(sum, more)| sum.add(more));
}

/// Calls by the label of the other side: a frame of it, and samples.
#[derive(Default)]
struct Calls(FxHashMap<Option<u32>, (NodeIndex, NowAndBefore)>);

impl Calls {
    fn add(&mut self, label: Option<u32>, node: NodeIndex, sums: NowAndBefore) {
        add(&mut self.0.entry(label).or_insert((node, NowAndBefore::default())).1, sums);
    }

    /// The heaviest first, of what is no more that which was; ties by label.
    fn sorted(self, weight: Weight) -> Vec<(NodeIndex, NowAndBefore)> {
        let mut calls: Vec<(Option<u32>, (NodeIndex, NowAndBefore))> = self.0.into_iter().collect();
        let weights = |sums: &NowAndBefore| Reverse(sums.each_ref().map(|sum| weight.of_sum(sum)));
        calls.sort_unstable_by_key(|(label, (_, sums))| (weights(sums), *label));
        calls.into_iter().map(|(_, call)| call).collect()
    }
}

impl Flame {
    /// Who calls a function, and what it calls: the samples of each, with a stack counted once however often the call is in it.
    /// `is_it` says which labels are the function. Calls are told apart by label.
    pub fn around<'s>(&'s self, is_it: impl Fn(Label<'s>) -> bool) -> Around {
        let mut known: FxHashMap<(u32, u32), bool> = FxHashMap::default();
        let mut is_one = |level: FlameLevel| {
            let key = (level.label, level.variant);
            *known.entry(key).or_insert_with(|| self.label(level).is_some_and(&is_it))
        };
        let nodes = self.tree.nodes();
        // Callers come before what they call: what is known of a caller is known here.
        let ones: Vec<bool> = nodes.iter().map(|node| is_one(node.level)).collect();
        let is_function = |node: NodeIndex| ones.get(node as usize).copied().unwrap_or(false);
        let label = |node: NodeIndex| self.level(node).map(|level| level.label);
        let (mut own, mut whole) = (NowAndBefore::default(), NowAndBefore::default());
        let (mut callers, mut callees) = (Calls::default(), Calls::default());
        for (index, node) in (0..).zip(nodes) {
            let ((total, here), (total_before, here_before)) = (self.sums(index), self.sums_before(index));
            let total = [total, total_before];
            if is_function(index) {
                add(&mut own, [here, here_before]);
                if !self.callers_of(index).any(is_function) {
                    add(&mut whole, total);
                }
                let caller = self.callers_of(index).next().and_then(label);
                let is_same = |above: NodeIndex| {
                    is_function(above) && self.callers_of(above).next().and_then(label) == caller
                };
                if !self.callers_of(index).any(is_same) {
                    callers.add(caller, node.parent, total);
                }
            }
            if is_function(node.parent) {
                let is_same = |above: NodeIndex| {
                    label(above) == label(index) && self.callers_of(above).next().is_some_and(is_function)
                };
                if !self.callers_of(index).any(is_same) {
                    callees.add(label(index), index, total);
                }
            }
        }
        let (callers, callees) = (callers.sorted(self.weight), callees.sorted(self.weight));
        Around { own, total: whole, callers, callees }
    }

    /// Of code without a name the samples with it in their stack, by what its frames are called; of two recordings that are compared.
    pub fn unnamed(&self) -> FxHashMap<&str, Sum> {
        let frame = |level| match self.label(level) {
            Some(Label::Compared(frame)) if !frame.named => Some(&*frame.name),
            _ => None,
        };
        let mut sums: FxHashMap<&str, Sum> = FxHashMap::default();
        for (index, node) in (0..).zip(self.tree.nodes()) {
            let Some(name) = frame(node.level) else { continue };
            let is_same = |above| self.level(above).is_some_and(|level| level.label == node.level.label);
            if !self.callers_of(index).any(is_same) {
                sums.entry(name).or_default().add(self.sums(index).0);
            }
        }
        sums
    }

    /// The frames below a frame, the nearest first.
    fn callers_of(&self, node: NodeIndex) -> impl Iterator<Item = NodeIndex> + '_ {
        let parent = |node: &NodeIndex| {
            self.tree.nodes().get(*node as usize).map(|node| node.parent).filter(|parent| *parent != ROOT)
        };
        std::iter::successors(parent(&node), parent)
    }
}
