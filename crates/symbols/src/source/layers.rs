//! Ranges of addresses that were written one over the other: where several cover an address, the last one counts.
//!
//! That is how memory with generated code is used: code is written, thrown away, and other code takes its place.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use crate::ids;

/// A range, in the order of writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layer {
    /// First address.
    pub(crate) start: u64,
    /// Address behind the last byte. A range of no length covers its start, if no other range does.
    pub(crate) end: u64,
    /// When it was written, in any unit. Of two ranges of one time the later one in the list counts.
    pub(crate) since: u64,
}

impl Layer {
    /// The end, for a range of no length one address later.
    fn covered_end(&self) -> u64 {
        if self.end > self.start { self.end } else { self.start.saturating_add(1) }
    }

    /// What decides between two layers; the greater one counts.
    fn rank(&self, number: u32) -> Rank {
        (self.end > self.start, self.since, number)
    }
}

type Rank = (bool, u64, u32);

/// Ranges, ready to be asked.
#[derive(Debug)]
pub(crate) struct Layers {
    layers: Vec<Layer>,
    /// What is on top in the end: disjoint, by start.
    top: Vec<Visible>,
}

#[derive(Clone, Copy, Debug)]
struct Visible {
    start: u64,
    end: u64,
    layer: u32,
}

impl Layers {
    pub(crate) fn new(layers: Vec<Layer>) -> Layers {
        let top = visible(&layers);
        Layers { layers, top }
    }

    /// The number of the layer that covers the address in the end.
    pub(crate) fn last_at(&self, address: u64) -> Option<usize> {
        let after = self.top.partition_point(|piece| piece.start <= address);
        let piece = self.top.get(after.checked_sub(1)?).filter(|piece| address < piece.end)?;
        usize::try_from(piece.layer).ok()
    }

    /// For each address and time the layer that covered the address then.
    pub(crate) fn all_at(&self, questions: &[(u64, u64)]) -> Vec<Option<usize>> {
        let mut order: Vec<usize> = (0..questions.len()).collect();
        order.sort_by_key(|at| questions.get(*at).map(|(address, _)| *address));
        let mut answers = vec![None; questions.len()];
        let mut sweep = Sweep::of(&self.layers);
        for at in order {
            let (Some((address, time)), Some(answer)) = (questions.get(at), answers.get_mut(at)) else {
                continue;
            };
            sweep.go_to(*address);
            *answer = sweep.written_by(*time);
        }
        answers
    }

    /// All layers, in the order given.
    pub(crate) fn layers(&self) -> &[Layer] {
        &self.layers
    }
}

/// Goes over the addresses upwards and knows which layers cover the current one.
struct Sweep<'l> {
    layers: &'l [Layer],
    /// Numbers of layers by start, and how many of them have begun.
    by_start: Vec<u32>,
    begun: usize,
    /// Ends of those that cover the address, the nearest first.
    ends: BinaryHeap<Reverse<(u64, Rank)>>,
    covering: BTreeMap<Rank, u32>,
}

impl<'l> Sweep<'l> {
    fn of(layers: &'l [Layer]) -> Sweep<'l> {
        Sweep {
            layers,
            by_start: by_start(layers),
            begun: 0,
            ends: BinaryHeap::new(),
            covering: BTreeMap::new(),
        }
    }

    fn go_to(&mut self, address: u64) {
        while let Some((number, layer)) = self.next().filter(|(_, layer)| layer.start <= address) {
            self.begun = self.begun.saturating_add(1);
            let rank = layer.rank(number);
            self.ends.push(Reverse((layer.covered_end(), rank)));
            self.covering.insert(rank, number);
        }
        while self.ends.peek().is_some_and(|Reverse((end, _))| *end <= address) {
            if let Some(Reverse((_, rank))) = self.ends.pop() {
                self.covering.remove(&rank);
            }
        }
    }

    fn next(&self) -> Option<(u32, Layer)> {
        let number = *self.by_start.get(self.begun)?;
        Some((number, *self.layers.get(usize::try_from(number).ok()?)?))
    }

    /// The last layer at the current address that was written at `time` or before.
    fn written_by(&self, time: u64) -> Option<usize> {
        let latest = |has_length| {
            let written = (has_length, 0, 0)..=(has_length, time, u32::MAX);
            self.covering.range(written).next_back()
        };
        let (_, number) = latest(true).or_else(|| latest(false))?;
        usize::try_from(*number).ok()
    }
}

fn by_start(layers: &[Layer]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..ids::number(layers.len())).collect();
    order.sort_by_key(|number| {
        usize::try_from(*number).ok().and_then(|at| layers.get(at)).map(|layer| layer.start)
    });
    order
}

/// Cuts the layers at each start and end, and keeps what is on top.
fn visible(layers: &[Layer]) -> Vec<Visible> {
    let mut cuts: Vec<u64> = layers.iter().flat_map(|layer| [layer.start, layer.covered_end()]).collect();
    cuts.sort_unstable();
    cuts.dedup();
    let mut sweep = Sweep::of(layers);
    let mut pieces: Vec<Visible> = Vec::new();
    for pair in cuts.windows(2) {
        let [start, end] = *pair else { continue };
        sweep.go_to(start);
        let Some((_, &layer)) = sweep.covering.last_key_value() else { continue };
        match pieces.last_mut() {
            Some(last) if last.layer == layer && last.end == start => last.end = end,
            _ => pieces.push(Visible { start, end, layer }),
        }
    }
    pieces
}

/// The next one of a fixed sequence of pseudo-random numbers (Knuth's MMIX constants).
#[cfg(test)]
pub(crate) fn pseudo_random(state: &mut u64, below: u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) % below
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The plainest way to say which layer counts.
    fn expected(layers: &[Layer], address: u64, time: u64) -> Option<usize> {
        let covers = |layer: &Layer| layer.start <= address && address < layer.end;
        let best = |covers: &dyn Fn(&Layer) -> bool| {
            let all = layers.iter().enumerate().filter(|(_, layer)| layer.since <= time && covers(layer));
            all.max_by_key(|(number, layer)| (layer.since, *number)).map(|(number, _)| number)
        };
        best(&covers).or_else(|| best(&|layer| layer.end <= layer.start && layer.start == address))
    }

    #[test]
    fn the_last_one_counts_at_each_time() {
        let mut state = 7_u64;
        let mut random = |below: u64| pseudo_random(&mut state, below);
        for _ in 0..200 {
            let layers: Vec<Layer> = (0..random(12))
                .map(|_| {
                    let start = random(40);
                    Layer { start, end: start + random(12), since: random(6) }
                })
                .collect();
            let questions: Vec<(u64, u64)> = (0..60).map(|_| (random(60), random(8))).collect();
            let built = Layers::new(layers.clone());
            for (question, answer) in questions.iter().zip(built.all_at(&questions)) {
                assert_eq!(answer, expected(&layers, question.0, question.1), "{layers:?} {question:?}");
            }
            for address in 0..60 {
                assert_eq!(
                    built.last_at(address),
                    expected(&layers, address, u64::MAX),
                    "{layers:?} {address}"
                );
            }
        }
    }

    #[test]
    fn the_end_of_the_address_space() {
        let whole = Layer { start: 0, end: u64::MAX, since: 0 };
        let point = Layer { start: u64::MAX, end: u64::MAX, since: 1 };
        let layers = Layers::new(vec![whole, point]);
        assert_eq!(layers.last_at(u64::MAX - 1), Some(0));
        assert_eq!(Layers::new(vec![]).last_at(0), None);
    }
}
