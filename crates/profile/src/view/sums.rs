//! Sums over stacks: of whole ones, and on the tree of calls.

use super::amount::Amount;
use super::calls::{Calls, NONE};
use super::rows::Numbers;
use crate::touch::touch;

/// What samples add up to, by place. Most places have no sums at a time, so those that have any are held one after the other.
#[derive(Debug)]
pub(super) struct PlaceSums {
    places: usize,
    /// For each place, where its sums are; the last entry is of those whose place is not known. Empty until one is looked for.
    slots: Vec<u32>,
    sums: Vec<(u32, Numbers)>,
}

impl PlaceSums {
    pub(super) fn new(places: usize) -> PlaceSums {
        PlaceSums { places, slots: Vec::new(), sums: Vec::new() }
    }

    fn index(&self, place: u32) -> usize {
        (place as usize).min(self.places)
    }

    /// Makes the sums be found.
    #[cold]
    fn index_all(&mut self) {
        self.slots = vec![NONE; self.places + 1];
        for (at, (place, _)) in (0..).zip(&self.sums) {
            let index = self.index(*place);
            if let Some(slot) = self.slots.get_mut(index) {
                *slot = at;
            }
        }
    }

    /// Where the sums of a place are; [`NONE`] if it has none.
    #[inline]
    fn slot(&mut self, place: u32) -> Option<u32> {
        if self.slots.is_empty() {
            self.index_all();
        }
        self.slots.get(self.index(place)).copied()
    }

    /// Adds the sums of a place that has none, and of which no others come before they are taken.
    pub(super) fn push(&mut self, place: u32, numbers: Numbers) {
        let at = u32::try_from(self.sums.len()).unwrap_or(NONE);
        let index = self.index(place);
        if let Some(slot) = self.slots.get_mut(index) {
            *slot = at;
        }
        self.sums.push((place, numbers));
    }

    /// The sums of a place, to add to.
    #[inline]
    pub(super) fn of(&mut self, place: u32) -> Option<&mut Numbers> {
        let mut slot = self.slot(place)? as usize;
        if slot == NONE as usize {
            slot = self.sums.len();
            self.push(place, Numbers::default());
        }
        self.sums.get_mut(slot).map(|(_, numbers)| numbers)
    }

    /// The sums of a place that has some.
    #[inline]
    pub(super) fn of_known(&mut self, place: u32) -> Option<&mut Numbers> {
        let slot = self.slot(place)?;
        self.sums.get_mut(slot as usize).map(|(_, numbers)| numbers)
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
    rows: Vec<WholeSum>,
    /// What the samples amount to that were taken in rows: in few of these was any.
    own: Vec<Amount>,
    /// The same of those whose place is not known.
    unknown: Amount,
    touched: Vec<u32>,
    /// Number of the sample, from 1.
    sample: u32,
    /// Number of the first sample since sums were taken.
    first: u32,
    /// The highest number of a sample; behind it they are numbered anew. There is a higher one.
    most: u32,
}

/// The sum of a row.
#[derive(Clone, Copy, Debug, Default)]
struct WholeSum {
    period: u64,
    /// The sample that added to it last.
    last: u32,
    /// Where its own samples are, from 1; 0 if none was taken there.
    own: u32,
}

impl WholeSums {
    pub(super) fn new(rows: usize) -> WholeSums {
        WholeSums {
            rows: vec![WholeSum::default(); rows],
            own: Vec::new(),
            unknown: Amount::default(),
            touched: Vec::new(),
            sample: 0,
            first: 1,
            most: u32::MAX - 1,
        }
    }

    /// Adds samples. `rows` has the rows of one sample after the other, the first of each where it was taken; of each sample follow where its
    /// rows end, and what it stands for.
    pub(super) fn add_all(&mut self, rows: &[u32], samples: &[(usize, Amount)]) {
        // Touched first, so that the processor waits for many of them at once.
        touch(rows.iter().map(|row| self.rows.get(*row as usize).map_or(0, |row| row.last)));
        let mut start = 0;
        for (end, amount) in samples {
            self.next_sample();
            let of_sample = rows.get(start..*end).unwrap_or_default();
            if let Some(taken_at) = of_sample.first() {
                self.add_own(*taken_at, *amount);
            }
            for row in of_sample {
                self.add(*row, amount.period);
            }
            start = *end;
        }
    }

    /// Takes over the sums of another thread.
    pub(super) fn take_over(&mut self, other: &mut WholeSums) {
        // Each row comes once: as if all were of one more sample.
        self.next_sample();
        other.drain(|row, period, own| {
            self.add_own(row, own);
            self.add(row, period);
        });
    }

    #[inline]
    fn next_sample(&mut self) {
        if self.sample >= self.most {
            self.number_anew();
        }
        self.sample += 1;
    }

    /// All that was added since sums were taken is of one sample from now on, which is not the next one.
    #[cold]
    fn number_anew(&mut self) {
        for row in &mut self.rows {
            row.last = u32::from(row.last >= self.first);
        }
        (self.sample, self.first) = (1, 1);
    }

    #[inline]
    fn add(&mut self, row: u32, period: u64) {
        let Some(sum) = self.rows.get_mut(row as usize) else { return };
        if sum.last == self.sample {
            return;
        }
        if sum.last < self.first {
            sum.period = 0;
            self.touched.push(row);
        }
        sum.last = self.sample;
        sum.period = sum.period.wrapping_add(period);
    }

    #[inline]
    fn add_own(&mut self, row: u32, amount: Amount) {
        let Some(sum) = self.rows.get_mut(row as usize) else { return self.unknown.add(amount) };
        if sum.own == 0 && amount.samples > 0 {
            self.own.push(Amount::default());
            sum.own = u32::try_from(self.own.len()).unwrap_or(0);
        }
        if let Some(own) = (sum.own as usize).checked_sub(1).and_then(|index| self.own.get_mut(index)) {
            own.add(amount);
        }
    }

    /// Takes the sums: of each row that of all samples with it in their stack, and of those that were taken there. A place that is not known is in
    /// no stack.
    pub(super) fn drain(&mut self, mut take: impl FnMut(u32, u64, Amount)) {
        for row in self.touched.drain(..) {
            let Some(sum) = self.rows.get_mut(row as usize) else { continue };
            let own = (std::mem::take(&mut sum.own) as usize).checked_sub(1);
            take(row, sum.period, own.and_then(|index| self.own.get(index)).copied().unwrap_or_default());
        }
        self.own.clear();
        let unknown = std::mem::take(&mut self.unknown);
        if unknown.samples > 0 {
            take(NONE, 0, unknown);
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    const ROWS: u32 = 5;

    /// Where a sample was taken, what else is in its stack, and what it stands for.
    type Sample = (Option<u32>, Vec<u32>, u64, u64);

    fn rows_of((taken_at, stack, ..): &Sample) -> Vec<u32> {
        [&[taken_at.unwrap_or(NONE)][..], stack].concat()
    }

    fn add(sums: &mut WholeSums, samples: &[Sample]) {
        let mut rows = Vec::new();
        let ends: Vec<(usize, Amount)> = samples
            .iter()
            .map(|sample| {
                rows.extend(rows_of(sample));
                (rows.len(), Amount { period: sample.2, samples: sample.3 })
            })
            .collect();
        sums.add_all(&rows, &ends);
    }

    #[test]
    fn sums_that_were_pushed_are_found_and_added_to() {
        let of = |total_period| Numbers { total_period, ..Numbers::default() };
        let mut sums = PlaceSums::new(ROWS as usize);
        // The first time nothing has been looked for before.
        for _ in 0..2 {
            sums.push(3, of(7));
            sums.push(NONE, of(9));
            for (place, total) in [(3, Some(7)), (NONE, Some(9)), (1, None)] {
                assert_eq!(sums.of_known(place).map(|sum| sum.total_period), total, "{place}");
            }
            sums.add_total(1, 5);
            sums.add_total(3, 1);
            let all: Vec<(u32, u64)> =
                sums.take().into_iter().map(|(place, sum)| (place, sum.total_period)).collect();
            assert_eq!(all, [(3, 8), (NONE, 9), (1, 5)]);
        }
    }

    proptest! {
        #[test]
        fn a_sample_counts_once_in_each_row_and_as_its_own_where_it_was_taken(
            groups in prop::collection::vec(
                (prop::collection::vec(
                    (prop::option::of(0..ROWS), prop::collection::vec(0..ROWS, 0..4), 0..100_u64, 1..4_u64), 0..12), 0..12_usize),
                0..6)
        ) {
            // Few enough that they are numbered anew.
            let new = || WholeSums { most: 9, ..WholeSums::new(ROWS as usize) };
            let (mut sums, mut of_other) = (new(), new());
            for (samples, here) in groups {
                let mut expected: BTreeMap<u32, (u64, Amount)> = BTreeMap::new();
                for sample in &samples {
                    let rows: BTreeSet<u32> = rows_of(sample).into_iter().filter(|row| *row != NONE).collect();
                    rows.into_iter().for_each(|row| expected.entry(row).or_default().0 += sample.2);
                    let own = &mut expected.entry(sample.0.unwrap_or(NONE)).or_default().1;
                    own.add(Amount { period: sample.2, samples: sample.3 });
                }
                let (of_this, others) = samples.split_at(here.min(samples.len()));
                add(&mut sums, of_this);
                add(&mut of_other, others);
                sums.take_over(&mut of_other);
                let mut got = BTreeMap::new();
                sums.drain(|row, period, own| assert!(got.insert(row, (period, own)).is_none(), "{row} comes once"));
                prop_assert_eq!(got, expected);
            }
        }
    }
}
