//! Rows with sums: one for all samples that agree.
//!
//! Samples that agree have the same stack, or were taken in the same place, and stacks and places have numbers already. So
//! rows are found by these, not by a hash of all that they hold: of each stack the newest rows are tried. What is not among
//! them is another row for now; equal rows are added up when they are sorted, at the latest at the end.

use crate::addresses::AddressId;
use crate::detail::DetailId;
use crate::profile::SampleRow;
use crate::rows::{Origin, Origins, Rows};
use crate::stacks::StackId;
use std::hint::black_box;

/// No row.
const NONE: u32 = u32::MAX;

/// How many rows of a stack are tried.
const TRIED: usize = 8;

/// How many rows that may be equal to others there may be before these are put together on the way, so that memory grows with what
/// differs.
const MANY: usize = 1 << 16;

/// A row: of a sample without its time, which is not kept here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SummedRow {
    origin: u32,
    stack: StackId,
    address: AddressId,
    detail: DetailId,
    samples: u64,
    period: u64,
}

/// The rows.
#[derive(Debug, Default)]
pub(crate) struct SummedRows {
    origins: Origins,
    rows: Vec<SummedRow>,
    /// For each row the one before it in the same list.
    before: Vec<u32>,
    /// The newest row of each stack and, of samples without one, of each place.
    of_stack: Vec<u32>,
    of_place: Vec<u32>,
    /// How many rows may be equal to others that were not tried.
    doubtful: usize,
}

impl SummedRows {
    /// Rows of so many samples.
    pub(crate) fn expecting(samples: usize) -> SummedRows {
        let room = || Vec::with_capacity(samples);
        SummedRows {
            rows: Vec::with_capacity(samples),
            before: room(),
            of_stack: room(),
            ..SummedRows::default()
        }
    }

    /// These rows, of which some may be equal.
    pub(crate) fn of(rows: Rows) -> SummedRows {
        let mut summed = SummedRows::expecting(rows.len());
        for row in rows.iter() {
            let row = summed.row(&row);
            summed.push(row, summed.newest(&row));
        }
        summed
    }

    /// Adds samples, whose rows have their sums.
    pub(crate) fn add_all(&mut self, samples: &[SampleRow]) {
        // Touched first, so that the processor waits for many places at once.
        let newest = samples.iter().map(|sample| self.newest_of(sample.stack, sample.address));
        black_box(newest.fold(0, |sum, row| sum ^ self.rows.get(row as usize).map_or(0, |row| row.period)));
        for sample in samples {
            let row = self.row(sample);
            self.add(row);
        }
        if self.doubtful > MANY.max(self.rows.len() / 2) {
            self.put_together();
        }
    }

    /// A sample as a row.
    #[inline]
    fn row(&mut self, sample: &SampleRow) -> SummedRow {
        let SampleRow { stack, address, detail, samples, period, .. } = *sample;
        SummedRow { origin: self.origins.number_of(sample), stack, address, detail, samples, period }
    }

    /// The newest row that this one may agree with.
    #[inline]
    fn newest(&self, row: &SummedRow) -> u32 {
        self.newest_of(row.stack, row.address)
    }

    #[inline]
    fn newest_of(&self, stack: StackId, address: AddressId) -> u32 {
        let newest = match stack.index() {
            Some(stack) => self.of_stack.get(stack),
            None => self.of_place.get(address.index()),
        };
        newest.copied().unwrap_or(NONE)
    }

    #[inline]
    fn add(&mut self, sample: SummedRow) {
        let newest = self.newest(&sample);
        let mut at = newest;
        for _ in 0..TRIED {
            let Some(row) = self.rows.get_mut(at as usize) else { break };
            if row.agrees(&sample) {
                row.add(&sample);
                return;
            }
            at = self.before.get(at as usize).copied().unwrap_or(NONE);
        }
        self.doubtful += usize::from(at != NONE);
        self.push(sample, newest);
    }

    /// Takes in a row; `newest` is the newest one that it may agree with.
    fn push(&mut self, row: SummedRow, newest: u32) {
        let (list, index) = match row.stack.index() {
            Some(stack) => (&mut self.of_stack, stack),
            None => (&mut self.of_place, row.address.index()),
        };
        if list.len() <= index {
            list.resize(index + 1, NONE);
        }
        if let Some(slot) = list.get_mut(index) {
            // Memory is at its end before the numbers are.
            *slot = u32::try_from(self.rows.len()).unwrap_or(NONE);
        }
        self.rows.push(row);
        self.before.push(newest);
    }

    /// Sorts the rows, and adds up those that are equal.
    fn put_together(&mut self) {
        let (origins, rows) = std::mem::take(self).into_sorted();
        self.origins = origins;
        rows.into_iter().for_each(|row| self.push(row, self.newest(&row)));
    }

    /// The rows, sorted by all that they have.
    pub(crate) fn into_rows(self) -> Rows {
        let (origins, rows) = self.into_sorted();
        // There is an origin for every row.
        Rows::of_list(rows, |row| {
            let SummedRow { origin, stack, address, detail, samples, period } = row;
            let Origin { event, comm, thread, cpu } = *origins.as_slice().get(origin as usize)?;
            Some(SampleRow { event, comm, thread, cpu, time_ns: 0, stack, address, detail, samples, period })
        })
    }

    /// The same as they are held; origins have their numbers in order.
    fn into_sorted(self) -> (Origins, Vec<SummedRow>) {
        let SummedRows { origins, mut rows, before, of_stack, of_place, .. } = self;
        // Room for twice as many would stay to the end.
        drop((before, of_stack, of_place));
        let ranks = origins.ranks();
        for row in &mut rows {
            row.origin = ranks.get(row.origin as usize).copied().unwrap_or(row.origin);
        }
        rows.sort_unstable();
        rows.dedup_by(|row, kept| {
            let is_equal = kept.agrees(row);
            if is_equal {
                kept.add(row);
            }
            is_equal
        });
        rows.shrink_to_fit();
        (origins.sorted(), rows)
    }
}

impl SummedRow {
    /// Whether two rows differ in their sums alone.
    #[inline]
    fn agrees(&self, other: &SummedRow) -> bool {
        let SummedRow { origin, stack, address, detail, samples: _, period: _ } = *self;
        (stack, address, origin, detail) == (other.stack, other.address, other.origin, other.detail)
    }

    #[inline]
    fn add(&mut self, other: &SummedRow) {
        self.samples = self.samples.saturating_add(other.samples);
        self.period = self.period.wrapping_add(other.period);
    }
}
