//! What the call graphs of rows are made from: sums on the tree of calls. They are small beside the graphs of all rows, which
//! where every sample is thousands of functions deep would be thousands of frames each.

use super::amount::Amount;
use super::calls::NONE;
use super::sums::Subtrees;

/// Samples for which the keys of the sample say the same, on the tree of calls.
#[derive(Clone, Debug)]
pub(super) struct GraphSums {
    /// The number of what the keys say.
    pub(super) sample: u32,
    /// The nodes that they came through, ascending; empty if these are all nodes.
    nodes: Vec<u32>,
    /// The sums of the subtrees of these nodes.
    sums: Vec<Amount>,
    /// Rows and their nodes, in order; of each node the index of its sum.
    rows: Vec<(u32, u32)>,
    /// Samples by the row that they were taken in and the node of their innermost place, in order.
    taken: Vec<(u32, u32, Amount)>,
}

impl GraphSums {
    /// Those of the samples that were added up to `subtrees`. `row_of` tells the row of a node.
    pub(super) fn new(
        sample: u32,
        subtrees: &Subtrees<'_>,
        taken: impl Iterator<Item = (u32, u32, Amount)>,
        row_of: impl Fn(u32) -> u32,
    ) -> GraphSums {
        let sum = |node: &u32| subtrees.sums.get(*node as usize).copied().unwrap_or_default();
        let is_all = subtrees.touched.len() == subtrees.sums.len();
        let (nodes, sums) = match is_all {
            true => (Vec::new(), subtrees.sums.clone()),
            false => {
                // They were sorted, the last first.
                let nodes: Vec<u32> = subtrees.touched.iter().rev().copied().collect();
                let sums = nodes.iter().map(sum).collect();
                (nodes, sums)
            }
        };
        let mut sums = GraphSums { sample, nodes, sums, rows: Vec::new(), taken: taken.collect() };
        let indices = 0..u32::try_from(sums.sums.len()).unwrap_or(NONE);
        sums.rows = indices.map(|index| (row_of(sums.node(index)), index)).collect();
        sums.rows.sort_unstable();
        sums.taken.sort_unstable_by_key(|(row, node, _)| (*row, *node));
        sums
    }

    /// The node with this index.
    fn node(&self, index: u32) -> u32 {
        if self.nodes.is_empty() { index } else { self.nodes.get(index as usize).copied().unwrap_or(NONE) }
    }

    /// The sum of the subtree of a node.
    pub(super) fn sum(&self, node: u32) -> Amount {
        let index = match self.nodes.is_empty() {
            true => Some(node as usize),
            false => self.nodes.binary_search(&node).ok(),
        };
        index.and_then(|index| self.sums.get(index)).copied().unwrap_or_default()
    }

    /// The nodes of a row, ascending, and the sums of their subtrees.
    pub(super) fn nodes_of(&self, row: u32) -> impl Iterator<Item = (u32, Amount)> {
        let from = self.rows.partition_point(|(other, _)| *other < row);
        let of_row =
            self.rows.get(from..).unwrap_or_default().iter().take_while(move |(other, _)| *other == row);
        of_row.map(|(_, index)| {
            (self.node(*index), self.sums.get(*index as usize).copied().unwrap_or_default())
        })
    }

    /// The samples that were taken in a row, by the node of their innermost place, ascending.
    pub(super) fn taken_in(&self, row: u32) -> impl Iterator<Item = (u32, Amount)> {
        let from = self.taken.partition_point(|(other, ..)| *other < row);
        let of_row = self.taken.get(from..).unwrap_or_default().iter();
        of_row.take_while(move |(other, ..)| *other == row).map(|(_, node, amount)| (*node, *amount))
    }
}
