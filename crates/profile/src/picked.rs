//! Which rows of a profile are chosen: a bit each, so that a choice costs no copy of them.

use crate::profile::{EventTotal, SampleRow};
use crate::rows::RowSlice;
use std::iter;

/// Some of the rows of a profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picked {
    words: Vec<u64>,
    rows: usize,
    count: usize,
}

impl Picked {
    /// All of so many rows.
    pub fn all(rows: usize) -> Picked {
        let mut words = vec![u64::MAX; rows / 64];
        let rest = rows % 64;
        words.extend((rest > 0).then(|| (1 << rest) - 1));
        Picked { words, rows, count: rows }
    }

    /// How many are chosen.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether none is left out.
    pub fn is_all(&self) -> bool {
        self.count == self.rows
    }

    /// Whether the row with this index is chosen.
    #[inline]
    pub fn has(&self, row: usize) -> bool {
        self.words.get(row / 64).is_some_and(|word| word >> (row % 64) & 1 == 1)
    }

    /// Of those that are chosen, leaves what passes by its index.
    pub(crate) fn retain_at(&mut self, passes: impl Fn(usize) -> bool) {
        for (word, first) in self.words.iter_mut().zip((0..).step_by(64)) {
            let keep = |kept: u64, at: u32| kept | u64::from(passes(first + at as usize)) << at;
            *word = bits(*word).fold(0, keep);
        }
        self.count = self.words.iter().map(|word| word.count_ones() as usize).sum();
    }

    /// The rows that are chosen, of all with their indices.
    pub fn of<'r>(
        &self,
        rows: RowSlice<'r>,
    ) -> impl Iterator<Item = (usize, SampleRow)> + Clone + use<'_, 'r> {
        some(rows, self.words.iter().copied())
    }

    /// The rows that are not.
    pub(crate) fn left_out<'r>(
        &self,
        rows: RowSlice<'r>,
    ) -> impl Iterator<Item = (usize, SampleRow)> + use<'_, 'r> {
        some(rows, self.words.iter().map(|word| !word))
    }

    /// What is left of the totals of events, whose rows these are. The work is that of the rows that are chosen, or of the others: the
    /// fewer of both.
    pub(crate) fn totals(&self, rows: RowSlice<'_>, all: &[EventTotal]) -> Vec<EventTotal> {
        let mut totals = all.to_vec();
        if self.count > self.rows / 2 {
            for (_, row) in self.left_out(rows) {
                if let Some(total) = totals.get_mut(row.event as usize) {
                    total.samples = total.samples.wrapping_sub(row.samples);
                    total.period = total.period.wrapping_sub(row.period);
                }
            }
            return totals;
        }
        totals.iter_mut().for_each(|total| (total.samples, total.period) = (0, 0));
        for (_, row) in self.of(rows) {
            if let Some(total) = totals.get_mut(row.event as usize) {
                total.samples = total.samples.wrapping_add(row.samples);
                total.period = total.period.wrapping_add(row.period);
            }
        }
        totals
    }
}

/// The rows whose bits are set.
fn some<W: Iterator<Item = u64> + Clone>(
    rows: RowSlice<'_>,
    words: W,
) -> impl Iterator<Item = (usize, SampleRow)> + Clone + use<'_, W> {
    words.zip((0..).step_by(64)).flat_map(move |(word, first): (_, usize)| {
        bits(word).map(move |bit| first + bit as usize).filter_map(move |at| Some((at, rows.get(at)?)))
    })
}

/// The bits of a word that are set, from the lowest on.
fn bits(word: u64) -> impl Iterator<Item = u32> + Clone {
    let rest = |left: &u64| Some(left & (left - 1)).filter(|left| *left != 0);
    iter::successors(Some(word).filter(|word| *word != 0), rest).map(u64::trailing_zeros)
}
