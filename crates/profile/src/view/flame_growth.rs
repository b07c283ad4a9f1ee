//! A flame tree with each variant of a label, which grows by the ways of stacks. One that begins with another shares with it where nodes are.

use super::flame_tree::{FlameLevel, FlameNode, NO_LINE, NodeIndex, ROOT};
use crate::grown::Grown;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The nodes of a tree that is growing, callers first.
#[derive(Clone, Debug, Default)]
pub(super) struct Growing {
    pub(super) nodes: Grown<FlameNode>,
    /// For each the node that has all variants of its label, by numbers that are given in the same order.
    pub(super) merged: Grown<NodeIndex>,
    /// How many of these there are.
    pub(super) merged_count: usize,
    /// Where nodes are that were there before, and those that are new.
    before: Vec<Arc<Known>>,
    known: Known,
}

/// Nodes by what they are.
#[derive(Clone, Debug, Default)]
struct Known {
    /// By caller, label and variant.
    nodes: FxHashMap<(NodeIndex, u32, u32), NodeIndex>,
    /// By the merged node of the caller, and label.
    merged: FxHashMap<(NodeIndex, u32), NodeIndex>,
}

impl Growing {
    /// The tree as it is: others may begin with it.
    pub(super) fn grown(mut self) -> Growing {
        self.before.push(Arc::new(std::mem::take(&mut self.known)));
        Growing { nodes: self.nodes.shared(), merged: self.merged.shared(), ..self }
    }

    /// Room for so many nodes.
    pub(super) fn reserve(&mut self, nodes: usize) {
        self.nodes.reserve(nodes);
        self.merged.reserve(nodes);
        self.known.nodes.reserve(nodes);
        self.known.merged.reserve(nodes);
    }

    #[inline]
    pub(super) fn child(&mut self, parent: NodeIndex, level: FlameLevel) -> NodeIndex {
        let key = (parent, level.label, level.variant);
        if let Some(child) = self.before.iter().find_map(|known| known.nodes.get(&key)) {
            return *child;
        }
        let next = NodeIndex::try_from(self.nodes.len()).unwrap_or(ROOT);
        let child = *self.known.nodes.entry(key).or_insert(next);
        if child == next {
            self.nodes.extend([FlameNode { parent, level: FlameLevel { line: NO_LINE, ..level } }]);
            let caller = self.merged.get(parent as usize).copied().unwrap_or(ROOT);
            let key = (caller, level.label);
            let merged = self.before.iter().find_map(|known| known.merged.get(&key)).copied();
            let merged = merged.unwrap_or_else(|| {
                let next = NodeIndex::try_from(self.merged_count).unwrap_or(ROOT);
                let merged = *self.known.merged.entry(key).or_insert(next);
                self.merged_count += usize::from(merged == next);
                merged
            });
            self.merged.extend([merged]);
        }
        child
    }

    pub(super) fn climb(&mut self, from: NodeIndex, levels: &[FlameLevel]) -> NodeIndex {
        levels.iter().fold(from, |here, level| self.child(here, *level))
    }
}
