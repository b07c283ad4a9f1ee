//! The call graphs of all rows, packed. There may be a million rows; where samples are thousands of functions deep, nearly all
//! frames of their graphs say what the one before says, one level deeper.

use super::graph::{Branches, Graph, GraphNode};
use serde::{Deserialize, Serialize};

/// Frames of a graph, each behind the other, through which the same samples came.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Stretch {
    /// Of the first frame.
    depth: u32,
    /// By how much the number of each frame is higher than that of the one before: small numbers take one byte.
    steps: Vec<i32>,
    period: u64,
    samples: u64,
    /// What ended in the last frame; nothing did in those before.
    own: u64,
    own_samples: u64,
}

impl Stretch {
    /// Whether a frame goes on with it.
    fn goes_on(&self, node: &GraphNode) -> bool {
        let depth = (self.depth as usize).saturating_add(self.steps.len());
        depth == node.depth as usize
            && (self.period, self.samples) == (node.period, node.samples)
            && (self.own, self.own_samples) == (0, 0)
    }
}

/// A graph as it is packed: its frames, and what is left out, as in [`Branches`].
type Packed = (Vec<Stretch>, (u64, u64, u64));

/// Graphs as bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct PackedGraphs {
    bytes: Vec<u8>,
}

impl PackedGraphs {
    /// Adds a graph: where it is.
    pub(super) fn push(&mut self, graph: &Graph) -> u64 {
        let mut stretches: Vec<Stretch> = Vec::new();
        let mut before = 0u32;
        for node in &graph.frames {
            let GraphNode { depth, frame, period, samples, own, own_samples } = *node;
            let step = frame.wrapping_sub(before).cast_signed();
            before = frame;
            match stretches.last_mut().filter(|stretch| stretch.goes_on(node)) {
                Some(stretch) => {
                    stretch.steps.push(step);
                    (stretch.own, stretch.own_samples) = (own, own_samples);
                }
                None => {
                    stretches.push(Stretch { depth, steps: vec![step], period, samples, own, own_samples });
                }
            }
        }
        let Branches { count, period, samples } = graph.left_out;
        let packed: Packed = (stretches, (count, period, samples));
        let at = self.bytes.len() as u64;
        if let Ok(bytes) = postcard::to_extend(&packed, std::mem::take(&mut self.bytes)) {
            self.bytes = bytes;
        }
        at
    }

    /// The graph that is there; empty if none was added there.
    pub(super) fn get(&self, at: u64) -> Option<Graph> {
        let bytes = usize::try_from(at).ok().and_then(|at| self.bytes.get(at..))?;
        let ((stretches, (count, period, samples)), _) = postcard::take_from_bytes::<Packed>(bytes).ok()?;
        let mut frames = Vec::with_capacity(stretches.iter().map(|stretch| stretch.steps.len()).sum());
        let mut frame = 0u32;
        for Stretch { depth, steps, period, samples, own, own_samples } in stretches {
            for (depth, step) in (depth..).zip(&steps) {
                frame = frame.wrapping_add(step.cast_unsigned());
                frames.push(GraphNode { depth, frame, period, samples, own: 0, own_samples: 0 });
            }
            if let Some(last) = frames.last_mut() {
                (last.own, last.own_samples) = (own, own_samples);
            }
        }
        Some(Graph { frames: frames.into(), left_out: Branches { count, period, samples } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_given_back() {
        let node = |depth, frame, period, own| GraphNode {
            depth,
            frame,
            period,
            samples: period / 10,
            own,
            own_samples: own / 10,
        };
        let branches = vec![
            node(0, 7, 100, 0),
            node(1, u32::MAX, 100, 30),
            node(2, 0, 70, 0),
            node(3, 5, 70, 0),
            node(4, 6, 70, 70),
            node(1, 6, 70, 70),
            node(0, 3, u64::MAX, 10),
        ];
        let left_out = Branches { count: 2, period: 40, samples: 4 };
        let graphs = [
            Graph::default(),
            Graph { frames: branches.into(), left_out },
            Graph { frames: Box::default(), left_out },
        ];
        let mut packed = PackedGraphs::default();
        let places: Vec<u64> = graphs.iter().map(|graph| packed.push(graph)).collect();
        for (place, graph) in places.iter().zip(&graphs) {
            assert_eq!(packed.get(*place).as_ref(), Some(graph));
        }
        assert_eq!(packed.get(u64::MAX), None);
    }

    #[test]
    fn chains_take_a_byte_a_frame() {
        let node = |depth| GraphNode {
            depth,
            frame: 9_000 - depth,
            period: 1 << 40,
            samples: 1 << 20,
            ..GraphNode::default()
        };
        let mut frames: Vec<GraphNode> = (0..8_000).map(node).collect();
        if let Some(last) = frames.last_mut() {
            (last.own, last.own_samples) = (last.period, last.samples);
        }
        let graph = Graph { frames: frames.into(), left_out: Branches::default() };
        let mut packed = PackedGraphs::default();
        let place = packed.push(&graph);
        assert!(packed.bytes.len() < 8_050, "{}", packed.bytes.len());
        assert_eq!(packed.get(place), Some(graph));
    }
}
