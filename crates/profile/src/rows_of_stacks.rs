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
        RowsOfStacks { rows: Rows::with_capacity(samples), newest: Vec::new() }
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

    /// Adds a sample, whose stack has this number on the way.
    #[inline]
    pub(crate) fn add(&mut self, row: NumberedRow, number: StackId) {
        let Some(number) = number.index() else { return self.rows.push_numbered(row, 0) };
        if self.newest.len() <= number {
            self.newest.resize(number + 1, Newest::default());
        }
        let Some(newest) = self.newest.get_mut(number) else { return };
        if let Some(at) = newest.behind.checked_sub(1)
            && (newest.origin, newest.detail) == (row.origin, row.detail)
        {
            return self.rows.add(at as usize, row.samples, row.period);
        }
        self.rows.push_numbered(row, 0);
        // Memory is at its end before the numbers are.
        let behind = u32::try_from(self.rows.len()).unwrap_or(0);
        *newest = Newest { origin: row.origin, detail: row.detail, behind };
    }
}
