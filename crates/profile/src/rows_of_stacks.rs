//! Rows with sums, of samples whose stacks come again soon.
//!
//! Where nobody asks how often a stack is there, only that all is added up, it need not be looked for: it is enough to find those that
//! come again at once, by the numbers that they have on the way, of which a processor's cache holds the last ones.

use crate::detail::DetailId;
use crate::rows::{NumberedRow, Rows};
use crate::stacks::StackId;

/// The rows.
#[derive(Debug, Default)]
pub(crate) struct RowsOfStacks {
    rows: Rows,
    /// The newest row of each stack, by the number that this has on the way.
    newest: Vec<Newest>,
    /// Rows that are on their way behind the others.
    fresh: Vec<NumberedRow>,
}

/// A row, and what tells it from others of the same stack: where the sample was taken goes with the stack.
#[derive(Clone, Copy, Debug, Default)]
struct Newest {
    origin: u32,
    detail: DetailId,
    /// Its index, and 1; 0 where there is no row.
    behind: u32,
}

impl RowsOfStacks {
    /// Rows of so many samples.
    pub(crate) fn expecting(samples: usize) -> RowsOfStacks {
        RowsOfStacks { rows: Rows::with_capacity(samples), ..RowsOfStacks::default() }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The rows, in the order of their first samples.
    pub(crate) fn into_rows(self) -> Rows {
        self.rows
    }

    /// Stacks are numbered anew.
    pub(crate) fn begin(&mut self) {
        self.newest.clear();
    }

    /// Adds samples, each with the number that its stack has on the way.
    pub(crate) fn add_all(&mut self, samples: impl Iterator<Item = (NumberedRow, StackId)>) {
        samples.for_each(|(row, number)| self.add(row, number));
        self.rows.append_numbered(&self.fresh);
        self.fresh.clear();
    }

    #[inline]
    fn add(&mut self, row: NumberedRow, number: StackId) {
        let Some(number) = number.index() else { return self.fresh.push(row) };
        // Memory is at its end before the numbers are.
        let behind = u32::try_from(self.rows.len() + self.fresh.len() + 1).unwrap_or(0);
        let this = Newest { origin: row.origin, detail: row.detail, behind };
        match self.newest.get_mut(number) {
            Some(newest) => match newest.behind.checked_sub(1) {
                Some(at) if (newest.origin, newest.detail) == (row.origin, row.detail) => {
                    return self.add_to(at as usize, &row);
                }
                _ => *newest = this,
            },
            None => {
                // Mostly it is the next one.
                self.newest.resize(number, Newest::default());
                self.newest.push(this);
            }
        }
        self.fresh.push(row);
    }

    /// Adds a sample to the row with this index.
    #[inline]
    fn add_to(&mut self, at: usize, row: &NumberedRow) {
        match at.checked_sub(self.rows.len()).map(|at| self.fresh.get_mut(at)) {
            None => self.rows.add(at, row.samples, row.period),
            Some(fresh) => fresh.into_iter().for_each(|fresh| fresh.add(row)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addresses::AddressId;

    #[test]
    fn samples_that_agree_share_a_row_whether_they_come_together_or_later() {
        let sample = |(origin, number): (u32, u32)| {
            let (stack, address) = (StackId(number), AddressId(number));
            let row =
                NumberedRow { origin, stack, address, detail: DetailId::default(), samples: 1, period: 5 };
            (row, StackId(number))
        };
        let mut rows = RowsOfStacks::default();
        // The origin and the number of the stack of each sample. Of a stack the newest row alone is found.
        rows.add_all([(0, 0), (0, 0), (0, 1), (1, 1), (0, 0), (1, 1), (0, 1)].map(sample).into_iter());
        rows.add_all([(0, 0), (0, 1), (1, 1), (0, 2), (0, 2)].map(sample).into_iter());
        rows.begin();
        rows.add_all([(0, 0), (0, 0)].map(sample).into_iter());
        let sums: Vec<_> = rows
            .into_rows()
            .numbered()
            .map(|row| (row.origin, row.address.0, row.samples, row.period))
            .collect();
        assert_eq!(
            sums,
            [
                (0, 0, 4, 20),
                (0, 1, 1, 5),
                (1, 1, 2, 10),
                (0, 1, 2, 10),
                (1, 1, 1, 5),
                (0, 2, 2, 10),
                (0, 0, 2, 10)
            ]
        );
    }
}
