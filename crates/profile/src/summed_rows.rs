//! Rows with sums: one for all samples that agree.
//!
//! Samples that agree have the same stack, or were taken in the same place, and stacks and places have numbers already. So
//! rows are found by these, not by a hash of all that they hold: of each stack the newest rows are tried. What is not among
//! them is another row for now; equal rows are added up when they are sorted, at the latest at the end.

use crate::addresses::AddressId;
use crate::rows::{NumberedRow, Origins, Rows};
use crate::stacks::StackId;
use crate::together::Moved;
use crate::touch::touch;

/// No row.
const NONE: u32 = u32::MAX;

/// How many rows of a stack are tried.
const TRIED: usize = 8;

/// How many rows that may be equal to others there may be before these are put together on the way, so that memory grows with what
/// differs.
const MANY: usize = 1 << 16;

/// Samples whose rows are touched before they are added up: what so many need fits into a cache close to the processor. Fewer in tests, so that
/// there are more.
const AT_ONCE: usize = if cfg!(debug_assertions) { 16 } else { 1024 };

/// The rows.
#[derive(Debug, Default)]
pub(crate) struct SummedRows {
    rows: Vec<NumberedRow>,
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
        rows.numbered().for_each(|row| summed.push(row, summed.newest(&row)));
        summed
    }

    /// How many there are, equal ones or not.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Adds samples, whose rows have their sums.
    pub(crate) fn add_all(&mut self, samples: &[NumberedRow]) {
        for some in samples.chunks(AT_ONCE) {
            self.touch(some);
            some.iter().for_each(|sample| self.add(*sample));
        }
        if self.doubtful > MANY.max(self.rows.len() / 2) {
            self.put_together();
        }
    }

    /// Touches the rows that these samples may be added to, so that the processor waits for many at once.
    fn touch(&self, samples: &[NumberedRow]) {
        let newest = samples.iter().map(|sample| self.newest(sample));
        touch(newest.clone());
        touch(newest.map(|number| self.rows.get(number as usize).map_or(0, |row| row.origin)));
    }

    /// The newest row that this one may agree with.
    #[inline]
    fn newest(&self, row: &NumberedRow) -> u32 {
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
    fn add(&mut self, sample: NumberedRow) {
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
    fn push(&mut self, row: NumberedRow, newest: u32) {
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
        let rows = std::mem::take(self).into_sorted(|origin| origin);
        rows.into_iter().for_each(|row| self.push(row, self.newest(&row)));
    }

    /// Gives stacks and places their new numbers, and adds up the rows that are equal then.
    pub(crate) fn renumber(&mut self, moved: &Moved<'_>) {
        for row in &mut self.rows {
            (row.stack, row.address) = (moved.stack(row.stack), moved.place(row.address));
        }
        self.put_together();
    }

    /// The rows, sorted by all that they have. `origins` are what they come from.
    pub(crate) fn into_rows(self, origins: Origins) -> Rows {
        let ranks = origins.ranks();
        let rank = |origin: u32| ranks.get(origin as usize).copied().unwrap_or(origin);
        let mut rows = Rows::of_list(self.into_sorted(rank), |rows, row| rows.push_numbered(row, 0));
        rows.set_origins(origins.sorted());
        rows
    }

    /// The same as they are held, with other numbers of what they come from.
    fn into_sorted(self, origin: impl Fn(u32) -> u32) -> Vec<NumberedRow> {
        let SummedRows { mut rows, before, of_stack, of_place, .. } = self;
        // Room for twice as many would stay to the end.
        drop((before, of_stack, of_place));
        rows.iter_mut().for_each(|row| row.origin = origin(row.origin));
        // Equal ones become one, so that their order does not matter.
        rows.sort_unstable_by_key(NumberedRow::key);
        rows.dedup_by(|row, kept| {
            let is_equal = kept.agrees(row);
            if is_equal {
                kept.add(row);
            }
            is_equal
        });
        rows.shrink_to_fit();
        rows
    }
}
