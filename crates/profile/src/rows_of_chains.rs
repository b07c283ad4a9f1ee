//! Rows with sums, of samples whose chains come again soon.
//!
//! Where nobody asks how often a stack is there, only that all is added up, it need not be looked for: it is enough to find those that
//! come again at once, by the numbers of their chains, of which a processor's cache holds the last ones.

use crate::known_chains::ChainId;
use crate::profile::SampleRow;
use crate::rows::Rows;

/// No row.
const NONE: u32 = u32::MAX;

/// The rows.
#[derive(Debug, Default)]
pub(crate) struct RowsOfChains {
    rows: Rows,
    epoch: u32,
    /// The newest row of each chain.
    newest: Vec<u32>,
}

impl RowsOfChains {
    /// Rows of so many samples.
    pub(crate) fn expecting(samples: usize) -> RowsOfChains {
        RowsOfChains { rows: Rows::with_capacity(samples), ..RowsOfChains::default() }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The rows, in the order of their first samples.
    pub(crate) fn into_rows(self) -> Rows {
        self.rows
    }

    /// Adds a sample, whose chain has this name if it has one.
    #[inline]
    pub(crate) fn add(&mut self, row: &SampleRow, chain: Option<ChainId>) {
        let Some(ChainId { epoch, number }) = chain else { return self.rows.push(*row) };
        if epoch != self.epoch {
            self.epoch = epoch;
            self.newest.clear();
        }
        let number = number as usize;
        if self.newest.len() <= number {
            self.newest.resize(number + 1, NONE);
        }
        let Some(newest) = self.newest.get_mut(number) else { return };
        if self.rows.agrees(*newest as usize, row) {
            return self.rows.add(*newest as usize, row.samples, row.period);
        }
        // Memory is at its end before the numbers are.
        *newest = u32::try_from(self.rows.len()).unwrap_or(NONE);
        self.rows.push(*row);
    }
}
