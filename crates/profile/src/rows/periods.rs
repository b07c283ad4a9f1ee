//! A column of what the samples of rows stand for. Where the period is fixed, each stands for the same.

use super::column::{Counts, Narrow};

/// What the samples of each row add up to.
#[derive(Clone, Debug, Default)]
pub(super) struct Periods {
    /// What each sample stands for, as long as that is the same for all: how many there are of a row says the rest.
    of_each: u64,
    /// What those of each row add up to, from where it is not.
    of_rows: Option<Narrow>,
}

/// The rows that are there, and for how many there is room.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before<'r> {
    pub(super) samples: &'r Counts,
    pub(super) rows: usize,
    pub(super) room: usize,
}

impl Periods {
    /// What the samples of a row add up to.
    #[inline(always)]
    pub(super) fn get(&self, at: usize, samples: &Counts) -> u64 {
        match &self.of_rows {
            None => self.of_each.wrapping_mul(samples.get(at)),
            Some(periods) => periods.get(at),
        }
    }

    /// Appends how many samples the next row has, and what they add up to.
    #[inline]
    pub(super) fn push(&mut self, row: (u64, u64), before: Before<'_>) {
        self.extend(std::iter::once(row), before);
    }

    /// Appends the same of the next rows.
    #[inline]
    pub(super) fn extend(&mut self, rows: impl Iterator<Item = (u64, u64)> + Clone, before: Before<'_>) {
        if let (0, Some((samples, period))) = (before.rows, rows.clone().next()) {
            self.of_each = period.checked_div(samples).unwrap_or(0);
        }
        if self.of_rows.is_some() || !rows.clone().all(|row| self.is_usual(row)) {
            self.of_rows(before).extend(rows.map(|(_, period)| period));
        }
    }

    /// Says how many samples a row has from now on, and what they add up to.
    #[inline]
    pub(super) fn set(&mut self, at: usize, row: (u64, u64), before: Before<'_>) {
        if self.of_rows.is_some() || !self.is_usual(row) {
            self.of_rows(before).set(at, row.1);
        }
    }

    /// Whether so many samples add up to what is expected of them.
    #[inline]
    fn is_usual(&self, (samples, period): (u64, u64)) -> bool {
        self.of_each.checked_mul(samples) == Some(period)
    }

    /// What the samples of each row add up to, to be changed.
    #[inline]
    fn of_rows(&mut self, before: Before<'_>) -> &mut Narrow {
        let Before { samples, rows, room } = before;
        let Periods { of_each, of_rows } = self;
        of_rows.get_or_insert_with(|| {
            let mut periods = Narrow::with_capacity(room);
            periods.extend((0..rows).map(|at| of_each.wrapping_mul(samples.get(at))));
            periods
        })
    }

    /// Lets go the room for more.
    pub(super) fn shrink(&mut self) {
        self.of_rows.iter_mut().for_each(Narrow::shrink);
    }

    /// Those of the rows with these indices, in their order.
    pub(super) fn arranged(&self, order: &[u32]) -> Periods {
        let of_rows = self.of_rows.as_ref().map(|periods| periods.arranged(order));
        Periods { of_each: self.of_each, of_rows }
    }
}
