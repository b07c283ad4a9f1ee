//! Sums over stacks: of whole ones, and on the tree of calls.

use super::amount::Amount;
use super::calls::{Calls, NONE};
use super::rows::Numbers;
use crate::touch::touch;

/// What samples add up to, by place. Most places have no sums at a time, so those that have any are held one after the other.
#[derive(Debug)]
pub(super) struct PlaceSums {
    /// For each place, where its sums are; the last entry is of those whose place is not known.
    slots: Vec<u32>,
    sums: Vec<(u32, Numbers)>,
}

impl PlaceSums {
    pub(super) fn new(places: usize) -> PlaceSums {
        PlaceSums { slots: vec![NONE; places + 1], sums: Vec::new() }
    }

    fn index(&self, place: u32) -> usize {
        (place as usize).min(self.slots.len().saturating_sub(1))
    }

    /// Whether a place has sums.
    #[inline]
    pub(super) fn has(&self, place: u32) -> bool {
        self.slots.get(self.index(place)).is_some_and(|slot| *slot != NONE)
    }

    /// The sums of a place, to add to.
    #[inline]
    pub(super) fn of(&mut self, place: u32) -> Option<&mut Numbers> {
        let index = self.index(place);
        let slot = self.slots.get_mut(index)?;
        if *slot == NONE {
            *slot = u32::try_from(self.sums.len()).unwrap_or(NONE);
            self.sums.push((place, Numbers::default()));
        }
        self.sums.get_mut(*slot as usize).map(|(_, numbers)| numbers)
    }

    /// Adds what samples with the place in their stack stand for.
    #[inline]
    pub(super) fn add_total(&mut self, place: u32, period: u64) {
        if let Some(numbers) = self.of(place) {
            numbers.total_period = numbers.total_period.wrapping_add(period);
        }
    }

    /// Takes the sums of all places, in the order in which they came.
    pub(super) fn take(&mut self) -> Vec<(u32, Numbers)> {
        let sums = std::mem::take(&mut self.sums);
        for (place, _) in &sums {
            let index = self.index(*place);
            if let Some(slot) = self.slots.get_mut(index) {
                *slot = NONE;
            }
        }
        sums
    }
}

/// Sums of rows to which every sample adds once, however often it comes.
#[derive(Debug)]
pub(super) struct WholeSums {
    /// For each row the sum, and the sample that added to it last.
    rows: Vec<(u64, u64)>,
    touched: Vec<u32>,
    /// Number of the sample, from 1.
    sample: u64,
    /// Number of the first sample since sums were taken.
    first: u64,
}

impl WholeSums {
    pub(super) fn new(rows: usize) -> WholeSums {
        WholeSums { rows: vec![(0, 0); rows], touched: Vec::new(), sample: 0, first: 1 }
    }

    /// Adds samples. `rows` has the rows of one sample after the other; of each sample follow where its rows end, and its
    /// period.
    pub(super) fn add_all(&mut self, rows: &[u32], samples: &[(usize, u64)]) {
        // Touched first, so that the processor waits for many of them at once.
        touch(rows.iter().map(|row| self.rows.get(*row as usize).map_or(0, |row| row.1)));
        let mut start = 0;
        for (end, period) in samples {
            self.sample += 1;
            for row in rows.get(start..*end).unwrap_or_default() {
                self.add(*row, *period);
            }
            start = *end;
        }
    }

    /// Takes over the sums of another thread.
    pub(super) fn take_over(&mut self, other: &mut WholeSums) {
        // Each row comes once: as if all were of one more sample.
        self.sample += 1;
        other.drain(|row, period| self.add(row, period));
    }

    #[inline]
    fn add(&mut self, row: u32, period: u64) {
        let Some((sum, last)) = self.rows.get_mut(row as usize) else { return };
        if *last == self.sample {
            return;
        }
        if *last < self.first {
            *sum = 0;
            self.touched.push(row);
        }
        *last = self.sample;
        *sum = sum.wrapping_add(period);
    }

    /// Takes the sums.
    pub(super) fn drain(&mut self, mut take: impl FnMut(u32, u64)) {
        for row in self.touched.drain(..) {
            take(row, self.rows.get(row as usize).map_or(0, |(sum, _)| *sum));
        }
        self.first = self.sample + 1;
    }
}

/// Sums of the subtrees of a tree of calls, as far as there are any.
#[derive(Debug)]
pub(super) struct Subtrees<'c> {
    calls: &'c Calls,
    pub(super) sums: Vec<Amount>,
    /// Whether a node is among `touched`.
    seen: Vec<bool>,
    pub(super) touched: Vec<u32>,
}

impl<'c> Subtrees<'c> {
    pub(super) fn new(calls: &'c Calls) -> Subtrees<'c> {
        let len = calls.nodes.len();
        Subtrees { calls, sums: vec![Amount::default(); len], seen: vec![false; len], touched: Vec::new() }
    }

    /// Forgets all sums, and adds up others.
    pub(super) fn add_up(&mut self, weights: impl Iterator<Item = (u32, Amount)>) {
        for node in self.touched.drain(..) {
            if let (Some(sum), Some(seen)) =
                (self.sums.get_mut(node as usize), self.seen.get_mut(node as usize))
            {
                (*sum, *seen) = (Amount::default(), false);
            }
        }
        for (node, weight) in weights {
            if let Some(sum) = self.sums.get_mut(node as usize) {
                sum.add(weight);
            }
            for (index, _) in self.calls.path(node) {
                match self.seen.get_mut(index as usize) {
                    Some(seen) if !*seen => *seen = true,
                    _ => break,
                }
                self.touched.push(index);
            }
        }
        // Children come behind their parents.
        self.touched.sort_unstable_by_key(|node| std::cmp::Reverse(*node));
        for node in &self.touched {
            let sum = self.sums.get(*node as usize).copied().unwrap_or_default();
            let parent = self.calls.node(*node).map_or(NONE, |node| node.parent);
            if let Some(of_parent) = self.sums.get_mut(parent as usize) {
                of_parent.add(sum);
            }
        }
    }

    /// The nodes that have a sum, with the sum of their periods.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.touched.iter().map(|node| (*node, self.sums.get(*node as usize).map_or(0, |sum| sum.period)))
    }
}
