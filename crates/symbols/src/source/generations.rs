//! Code that took the place of other code, as generations: of code that shares an address the later one has the greater number.

use std::collections::BTreeMap;

use crate::ids;
use crate::source::layers::Layer;

/// Most generations that are told apart. Runtimes put new code into the same place some dozen times.
const MOST: u32 = 1 << 16;

/// Code that shares addresses with other code of the same dump, and came there at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeChange {
    /// First address.
    pub start: u64,
    /// Address behind the last byte.
    pub end: u64,
    /// When it came, in the unit of the file.
    pub since: u64,
    /// Its generation, from 1. Code of one generation does not overlap.
    pub generation: u32,
}

/// The code that shares addresses with other code.
#[derive(Debug, Default)]
pub(crate) struct Generations {
    /// In order of time.
    changes: Vec<CodeChange>,
    /// By generation and start, with the number of the layer.
    by_place: Vec<(u32, u64, u32)>,
    /// Code of more generations than are told apart.
    beyond: u64,
    /// By the number of a layer, whether it shares addresses with others.
    is_shared: Vec<bool>,
}

/// What is on top at some addresses.
#[derive(Clone, Copy, Debug)]
struct Top {
    end: u64,
    layer: usize,
    generation: u32,
}

impl Generations {
    /// Goes through the layers in order of time.
    pub(crate) fn of(layers: &[Layer]) -> Generations {
        let mut order: Vec<usize> = (0..layers.len()).collect();
        order.sort_by_key(|number| layers.get(*number).map(|layer| layer.since));
        let mut generations = vec![0_u32; layers.len()];
        let mut is_shared = vec![false; layers.len()];
        let mut tops: BTreeMap<u64, Top> = BTreeMap::new();
        for number in &order {
            let Some(layer) = layers.get(*number).filter(|layer| layer.start < layer.end) else { continue };
            let below = take_out(&mut tops, layer);
            let generation = below.iter().map(|top| top.generation).max().unwrap_or(0).saturating_add(1);
            for shared in below.iter().map(|top| top.layer).chain((!below.is_empty()).then_some(*number)) {
                if let Some(flag) = is_shared.get_mut(shared) {
                    *flag = true;
                }
            }
            if let Some(slot) = generations.get_mut(*number) {
                *slot = generation;
            }
            tops.insert(layer.start, Top { end: layer.end, layer: *number, generation });
        }
        Generations { is_shared, ..Generations::default() }.collect(layers, &order, &generations)
    }

    fn collect(self, layers: &[Layer], order: &[usize], generations: &[u32]) -> Generations {
        let mut all = self;
        for number in order {
            if !all.is_shared(*number) {
                continue;
            }
            let (Some(layer), Some(generation)) = (layers.get(*number), generations.get(*number)) else {
                continue;
            };
            if *generation > MOST {
                all.beyond = all.beyond.saturating_add(1);
                continue;
            }
            let Layer { start, end, since } = *layer;
            all.changes.push(CodeChange { start, end, since, generation: *generation });
            all.by_place.push((*generation, start, ids::number(*number)));
        }
        all.by_place.sort_unstable();
        all
    }

    /// All of it, in order of time.
    pub(crate) fn changes(&self) -> &[CodeChange] {
        &self.changes
    }

    /// How much more code shares addresses, but has no generation, because there are too many.
    pub(crate) fn beyond(&self) -> u64 {
        self.beyond
    }

    /// Whether a layer shares addresses with others.
    pub(crate) fn is_shared(&self, number: usize) -> bool {
        self.is_shared.get(number) == Some(&true)
    }

    /// The number of the last layer of a generation that starts at an address or below it.
    pub(crate) fn last_from(&self, generation: u32, address: u64) -> Option<usize> {
        let after = self.by_place.partition_point(|(of, start, _)| (*of, *start) <= (generation, address));
        let (of, _, layer) = self.by_place.get(after.checked_sub(1)?)?;
        usize::try_from(*layer).ok().filter(|_| *of == generation)
    }
}

/// Takes out what is on top where the layer is to lie, and leaves what of it lies beside the layer.
fn take_out(tops: &mut BTreeMap<u64, Top>, layer: &Layer) -> Vec<Top> {
    let mut taken = Vec::new();
    while let Some((start, top)) = tops.range(..layer.end).next_back().map(|(start, top)| (*start, *top)) {
        if top.end <= layer.start {
            break;
        }
        tops.remove(&start);
        if start < layer.start {
            tops.insert(start, Top { end: layer.start, ..top });
        }
        if top.end > layer.end {
            tops.insert(layer.end, top);
        }
        taken.push(top);
        if start <= layer.start {
            break;
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::layers::{Layers, pseudo_random as random};

    #[test]
    fn changes_in_order_of_time_leave_the_layer_of_that_time_on_top() {
        let mut state = 11_u64;
        let mut shared = 0;
        for _ in 0..300 {
            let layers: Vec<Layer> = (0..random(&mut state, 12))
                .map(|_| {
                    let start = random(&mut state, 40);
                    let end = start + random(&mut state, 12);
                    Layer { start, end, since: random(&mut state, 6) }
                })
                .filter(|layer| layer.start < layer.end)
                .collect();
            let built = Layers::new(layers.clone());
            let generations = Generations::of(&layers);
            for time in 0..6 {
                for address in 0..60 {
                    let covers = |change: &&CodeChange| {
                        change.since <= time && change.start <= address && address < change.end
                    };
                    // As mappings are: the last one that was made counts, and where none was made, what is there in the end.
                    let change = generations.changes().iter().rev().find(covers);
                    shared += usize::from(change.is_some());
                    let covering: Vec<usize> = (0..layers.len())
                        .filter(|at| layers[*at].start <= address && address < layers[*at].end)
                        .collect();
                    match change {
                        Some(change) => {
                            let found = generations.last_from(change.generation, address);
                            assert_eq!(found, built.all_at(&[(address, time)])[0], "{layers:?}");
                        }
                        None => assert!(
                            covering.len() < 2 || covering.iter().all(|at| layers[*at].since > time),
                            "{layers:?} {address} {time}"
                        ),
                    }
                }
            }
        }
        assert!(shared > 10_000, "{shared}");
    }

    #[test]
    fn more_generations_than_are_told_apart() {
        let layers: Vec<Layer> =
            (0..u64::from(MOST) + 5).map(|since| Layer { start: 10, end: 20, since }).collect();
        let generations = Generations::of(&layers);
        assert_eq!((generations.changes().len(), generations.beyond()), (1 << 16, 5));
        assert_eq!(generations.last_from(7, 15), Some(6));
        assert_eq!(generations.last_from(7, 9), None);
    }

    #[test]
    fn code_that_nothing_takes_the_place_of_has_no_generation() {
        let layers = [(0, 10, 1), (10, 20, 2), (30, 40, 3), (35, 36, 9)];
        let layers = layers.map(|(start, end, since)| Layer { start, end, since });
        let generations = Generations::of(&layers);
        let change = |start, end, since, generation| CodeChange { start, end, since, generation };
        assert_eq!(generations.changes(), [change(30, 40, 3, 1), change(35, 36, 9, 2)]);
    }
}
