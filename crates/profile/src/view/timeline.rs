//! Samples by time, as a map: columns are seconds (or what suits the length), rows the offset in them.
//!
//! The idea is FlameScope's: what happens for a moment is a spot, what happens every so often is a pattern.

use crate::grain::{FEW_COLUMNS, SECOND_NS, is_long};
use crate::profile::Profile;
use crate::rows::RowSlice;
use crate::view::flame_tree::Sum;
use crate::weight::Weight;
use std::cmp::Reverse;

/// How many ranges are called hottest.
const HOTTEST: usize = 5;

/// What the cells of a map stand for. Times are those of the recording's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Where the first column begins, ns: a multiple of the length of a column.
    pub start_ns: u64,
    /// How long a column is, ns.
    pub column_ns: u64,
    /// How long a cell is, ns.
    pub cell_ns: u64,
    /// How many columns there are.
    pub columns: usize,
    /// How many rows there are.
    pub rows: usize,
}

/// How large a map may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Most columns.
    pub columns: usize,
    /// Rows.
    pub rows: usize,
}

/// A stretch of time; both ends belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Its first ns.
    pub from_ns: u64,
    /// Its last ns.
    pub to_ns: u64,
    /// What the samples in it add up to.
    pub sum: Sum,
}

/// The samples of an event by time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    /// Index of the event in [`Profile::events`].
    pub event: usize,
    /// What samples count for.
    pub weight: Weight,
    /// What the cells stand for.
    pub scale: Scale,
    /// The cells in order of time: column by column.
    pub cells: Vec<Sum>,
    /// Time of the first sample, ns.
    pub first_ns: u64,
    /// Time of the last sample, ns.
    pub last_ns: u64,
    /// What the samples with a time add up to.
    pub total: Sum,
    /// What samples without a time add up to. They are in no cell.
    pub timeless: Sum,
}

impl Scale {
    /// A scale for samples between two times: seconds in the columns if that gives neither too few nor too many, else what comes
    /// next among round numbers.
    pub fn new(first_ns: u64, last_ns: u64, size: Size) -> Scale {
        let most = u64::try_from(size.columns.max(1)).unwrap_or(u64::MAX);
        let rows = u64::try_from(size.rows.max(1)).unwrap_or(1);
        let columns = |column_ns: u64| last_ns / column_ns - first_ns / column_ns + 1;
        let mut column_ns = SECOND_NS;
        if columns(SECOND_NS) > most {
            column_ns = longer().find(|column_ns| columns(*column_ns) <= most).unwrap_or(u64::MAX);
        } else if !is_long(first_ns, last_ns) {
            let shorter = shorter().filter(|shorter| shorter.is_multiple_of(rows) || *shorter >= 1000 * rows);
            column_ns = shorter
                .take_while(|column_ns| columns(*column_ns) <= most)
                .find(|column_ns| columns(*column_ns) >= FEW_COLUMNS)
                .unwrap_or(SECOND_NS);
        }
        Scale {
            start_ns: first_ns / column_ns * column_ns,
            column_ns,
            cell_ns: column_ns.div_ceil(rows),
            columns: usize::try_from(columns(column_ns)).unwrap_or(1),
            rows: size.rows.max(1),
        }
    }

    /// The cell that a time lies in.
    pub fn cell(&self, time_ns: u64) -> Option<usize> {
        let since = time_ns.checked_sub(self.start_ns)?;
        let (column, row) = (since / self.column_ns, since % self.column_ns / self.cell_ns);
        let cell =
            usize::try_from(column).ok()?.checked_mul(self.rows)?.checked_add(usize::try_from(row).ok()?)?;
        (cell < self.columns.saturating_mul(self.rows)).then_some(cell)
    }

    /// First and last ns of a cell.
    pub fn times(&self, cell: usize) -> (u64, u64) {
        let (column, row) = (cell / self.rows, cell % self.rows);
        let at = |nr: usize, unit: u64| u64::try_from(nr).unwrap_or(u64::MAX).saturating_mul(unit);
        let begin = self.start_ns.saturating_add(at(column, self.column_ns));
        let offset = |row: usize| at(row, self.cell_ns).min(self.column_ns);
        // The last cell of all time has no end to stay below of.
        let last = begin.checked_add(offset(row + 1)).map_or(u64::MAX, |end| end.saturating_sub(1));
        (begin.saturating_add(offset(row)), last)
    }
}

/// Lengths of columns below a second, the longest first.
fn shorter() -> impl Iterator<Item = u64> {
    std::iter::successors(Some(SECOND_NS / 10), |unit| (*unit >= 100).then_some(unit / 10))
        .flat_map(|unit| [5 * unit, 2 * unit, unit])
}

/// Lengths of columns above a second, the shortest first.
fn longer() -> impl Iterator<Item = u64> {
    const SECONDS: [u64; 14] = [2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600];
    let days = std::iter::successors(Some(86_400_u64), |days| {
        days.checked_mul(2)?.checked_mul(SECOND_NS).and(Some(days * 2))
    });
    SECONDS.into_iter().chain(days).map(|seconds| seconds.saturating_mul(SECOND_NS))
}

impl Timeline {
    /// What is in a cell.
    pub fn at(&self, column: usize, row: usize) -> Sum {
        self.cells.get(column * self.scale.rows + row).copied().unwrap_or_default()
    }

    /// What a sum counts for.
    pub fn worth(&self, sum: &Sum) -> u64 {
        self.weight.of_sum(sum)
    }

    /// The stretches with the most in a cell, the densest first. Cells belong to one if they are above the middle between the mean
    /// and the most.
    pub fn hottest(&self) -> Vec<Stretch> {
        let weight = |sum: &Sum| self.worth(sum);
        let most = self.cells.iter().map(&weight).max().unwrap_or(0);
        // Only cells that the recording covers count for the mean.
        let covered = |cell: &Option<usize>| cell.unwrap_or(0);
        let (first, last) =
            (covered(&self.scale.cell(self.first_ns)), covered(&self.scale.cell(self.last_ns)));
        let sum: u128 = self.cells.iter().map(|cell| u128::from(weight(cell))).sum();
        let mean = sum / (last.saturating_sub(first) as u128 + 1);
        let least = (mean + u128::from(most)).div_ceil(2).max(1);
        let mut found: Vec<(u128, Stretch)> = Vec::new();
        let mut start = 0;
        for run in
            self.cells.chunk_by(|a, b| (u128::from(weight(a)) >= least) == (u128::from(weight(b)) >= least))
        {
            let end = start + run.len();
            if run.first().is_some_and(|cell| u128::from(weight(cell)) >= least) {
                let mut sum = Sum::default();
                run.iter().for_each(|cell| sum.add(*cell));
                let density = u128::from(weight(&sum)) * 1000 / run.len() as u128;
                let (from_ns, to_ns) = (self.scale.times(start).0, self.scale.times(end - 1).1);
                found.push((density, Stretch { from_ns, to_ns, sum }));
            }
            start = end;
        }
        found.sort_by_key(|(density, stretch)| (Reverse(*density), stretch.from_ns));
        found.into_iter().map(|(_, stretch)| stretch).take(HOTTEST).collect()
    }
}

impl Profile {
    /// A map of the samples of each event that has any, by time. The profile has to have kept times.
    pub fn timelines(&self, size: Size) -> Vec<Timeline> {
        let by_event = self.rows().chunk_by(|a, b| a.event == b.event);
        by_event.filter_map(|rows| self.map_of(rows, size)).collect()
    }

    /// A map of the samples of an event; nothing if it has none.
    pub fn timeline(&self, event: usize, size: Size) -> Option<Timeline> {
        self.map_of(self.rows_of(event), size)
    }

    /// A map of the rows of an event.
    fn map_of(&self, rows: RowSlice<'_>, size: Size) -> Option<Timeline> {
        let event = rows.first()?.event as usize;
        // Rows are in order of time. Samples without one have 0.
        let (timeless, timed) = rows.split_at(rows.partition_point(|row| row.time_ns == 0));
        let first_ns = timed.first().map_or(0, |row| row.time_ns);
        let last_ns = timed.iter().next_back().map_or(0, |row| row.time_ns);
        let scale = Scale::new(first_ns, last_ns, size);
        let mut cells = vec![Sum::default(); scale.columns.saturating_mul(scale.rows)];
        let mut total = Sum::default();
        for row in timed {
            let sum = Sum { period: row.period, samples: row.samples };
            total.add(sum);
            if let Some(cell) = scale.cell(row.time_ns).and_then(|cell| cells.get_mut(cell)) {
                cell.add(sum);
            }
        }
        let mut without = Sum::default();
        timeless.iter().for_each(|row| without.add(Sum { period: row.period, samples: row.samples }));
        Some(Timeline {
            event,
            weight: self.weight,
            scale,
            cells,
            first_ns,
            last_ns,
            total,
            timeless: without,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size { columns: 80, rows: 20 };

    #[test]
    fn columns_are_seconds_if_that_fits() {
        let scale = Scale::new(5_231_400_000_000, 5_290_100_000_000, SIZE);
        assert_eq!(
            (scale.start_ns, scale.column_ns, scale.cell_ns),
            (5_231_000_000_000, SECOND_NS, 50_000_000)
        );
        assert_eq!((scale.columns, scale.rows), (60, 20));
    }

    #[test]
    fn short_and_long_recordings() {
        let column = |length_ns: u64| Scale::new(7_000_000_000, 7_000_000_000 + length_ns, SIZE).column_ns;
        assert_eq!(column(2 * SECOND_NS), 200_000_000);
        assert_eq!(column(574_000_000), 50_000_000);
        assert_eq!(column(3_000_000), 200_000);
        assert_eq!(column(85 * SECOND_NS), 2 * SECOND_NS);
        assert_eq!(column(3600 * SECOND_NS), 60 * SECOND_NS);
        assert_eq!(column(0), SECOND_NS);
        assert!(Scale::new(1, u64::MAX, SIZE).columns <= 80);
    }

    #[test]
    fn every_time_lies_in_the_cell_whose_times_hold_it() {
        for (first, last) in [(5_231_400_000_123, 5_290_100_000_000), (1, 999), (1, u64::MAX), (7, 7)] {
            let scale = Scale::new(first, last, SIZE);
            for part in 0..=97 {
                let time = first + u64::try_from(u128::from(last - first) * part / 97).unwrap();
                let cell = scale.cell(time).unwrap();
                let (from, to) = scale.times(cell);
                assert!((from..=to).contains(&time), "{time} in cell {cell} of {scale:?}: {from}..={to}");
            }
        }
    }

    #[test]
    fn the_hottest_stretch_is_the_burst() {
        let scale = Scale::new(0, 59 * SECOND_NS, SIZE);
        let mut cells = vec![Sum { period: 1, samples: 1 }; scale.columns * scale.rows];
        for cell in &mut cells[403..406] {
            *cell = Sum { period: 90, samples: 90 };
        }
        cells[800].samples = 80;
        let timeline = Timeline {
            event: 0,
            weight: Weight::Samples,
            scale,
            cells,
            first_ns: 1,
            last_ns: 59 * SECOND_NS,
            total: Sum::default(),
            timeless: Sum::default(),
        };
        let hottest = timeline.hottest();
        assert_eq!(
            hottest,
            [
                Stretch {
                    from_ns: 20_150_000_000,
                    to_ns: 20_299_999_999,
                    sum: Sum { period: 270, samples: 270 }
                },
                Stretch {
                    from_ns: 40_000_000_000,
                    to_ns: 40_049_999_999,
                    sum: Sum { period: 1, samples: 80 }
                },
            ]
        );
    }
}
