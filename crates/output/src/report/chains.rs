//! Call graphs as chains: those in which samples ended.

use readperf_profile::view::graph::GraphNode;
use std::cmp::Reverse;

/// The chains of a graph. They share their frames: written out, the chains of a deep recursion are many times the graph.
#[derive(Debug)]
pub(super) struct Chains<'g> {
    graph: &'g [GraphNode],
    /// For each frame where the one before it is.
    before: Vec<Option<usize>>,
    /// Where the last frame of each chain is.
    ends: Vec<(usize, &'g GraphNode)>,
}

impl<'g> Chains<'g> {
    /// Those of a graph; the heaviest first, as far as the graph's order has it.
    pub(super) fn new(graph: &'g [GraphNode]) -> Chains<'g> {
        let mut before = Vec::with_capacity(graph.len());
        let mut way: Vec<usize> = Vec::new();
        for (nr, node) in graph.iter().enumerate() {
            way.truncate(node.depth as usize);
            before.push(way.last().copied());
            way.push(nr);
        }
        let mut ends: Vec<_> = graph.iter().enumerate().filter(|(_, node)| node.own > 0).collect();
        ends.sort_by_key(|(_, node)| Reverse(node.own));
        Chains { graph, before, ends }
    }

    /// The chains: the last frame of each, which has what ended there, and all its frames in the order of the graph.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'g GraphNode, Vec<&'g GraphNode>)> {
        self.ends.iter().map(|(end, node)| {
            let way = std::iter::successors(Some(*end), |nr| self.before.get(*nr).copied().flatten());
            let mut frames: Vec<&GraphNode> = way.filter_map(|nr| self.graph.get(nr)).collect();
            frames.reverse();
            (*node, frames)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(frame: u32, depth: u32, own: u64) -> GraphNode {
        GraphNode { depth, frame, period: 9, samples: 1, own, own_samples: 1 }
    }

    #[test]
    fn chains_end_where_samples_do() {
        let graph = [node(0, 0, 2), node(1, 1, 0), node(2, 2, 5), node(3, 1, 2), node(4, 0, 1)];
        let chains: Vec<(u64, Vec<u32>)> = Chains::new(&graph)
            .iter()
            .map(|(end, frames)| (end.own, frames.iter().map(|node| node.frame).collect()))
            .collect();
        let heaviest_first = [(5, vec![0, 1, 2]), (2, vec![0]), (2, vec![0, 3]), (1, vec![4])];
        assert_eq!(chains, heaviest_first);
    }
}
