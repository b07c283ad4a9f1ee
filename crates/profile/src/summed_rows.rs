//! Rows with sums: one for all samples that agree.
//!
//! Samples that agree have the same stack, or were taken in the same place, and stacks and places have numbers already. So
//! rows are found by these, not by a hash of all that they hold: of each stack the newest rows are tried. What is not among
//! them is another row for now; equal rows are added up when they are put in order, at the latest at the end. For that no row is compared with those of other
//! stacks and places: the lists by which rows are found are in order already, and what rows come from are few numbers, by which they are counted.

use crate::addresses::AddressId;
use crate::counted::counted;
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

    /// Adds up the rows that are equal.
    fn put_together(&mut self) {
        let apart = std::mem::take(self);
        apart.sums(&apart.in_order()).for_each(|row| self.push(row, self.newest(&row)));
    }

    /// Gives stacks and places their new numbers, and adds up the rows that are equal then.
    pub(crate) fn renumber(&mut self, moved: &Moved<'_>) {
        for row in std::mem::take(self).rows {
            let row = NumberedRow { stack: moved.stack(row.stack), address: moved.place(row.address), ..row };
            self.push(row, self.newest(&row));
        }
        self.put_together();
    }

    /// The rows, sorted by all that they have. `origins` are what they come from.
    pub(crate) fn into_rows(mut self, origins: Origins) -> Rows {
        let order = self.in_order();
        // Room for twice as many would stay to the end.
        (self.before, self.of_stack, self.of_place) = Default::default();
        self.rows.shrink_to_fit();
        let ranks = origins.ranks();
        for row in &mut self.rows {
            row.origin = ranks.get(row.origin as usize).copied().unwrap_or(0);
        }
        // They lie in another order than they are counted in: close together, more of them are in a cache.
        let origins_of_rows: Vec<u32> = self.rows.iter().map(|row| row.origin).collect();
        let origin = |at: &u32| origins_of_rows.get(*at as usize).map_or(0, |origin| *origin as usize);
        let order = counted(order.iter().copied(), ranks.len(), origin);
        let mut rows = Rows::with_capacity(order.len());
        self.sums(&order).for_each(|row| rows.push_numbered(row, 0));
        rows.shrink();
        rows.set_origins(origins.sorted());
        rows
    }

    /// The rows with these indices; of equal ones behind each other the sum.
    fn sums<'r>(&'r self, order: &'r [u32]) -> impl Iterator<Item = NumberedRow> + 'r {
        let row = |at: &u32| self.rows.get(*at as usize);
        let equal = order.chunk_by(move |a, b| row(a).zip(row(b)).is_some_and(|(a, b)| a.agrees(b)));
        // Rows are touched some time before they are needed: so many are near, and these are next.
        let (mut near, mut next) = (0, order.chunks(AT_ONCE));
        equal.filter_map(move |equal| {
            if near < equal.len() {
                let some = next.next().unwrap_or_default();
                touch(some.iter().map(|at| row(at).map_or(0, |row| row.origin)));
                near += some.len();
            }
            near = near.saturating_sub(equal.len());
            let (first, others) = equal.split_first()?;
            let mut sum = *row(first)?;
            others.iter().filter_map(row).for_each(|other| sum.add(other));
            Some(sum)
        })
    }

    /// The indices of all rows: those of one stack, and of one place where there is no stack, follow each other, and among these those that
    /// are equal. Stacks and places are in order.
    fn in_order(&self) -> Vec<u32> {
        let mut order = Vec::with_capacity(self.rows.len());
        for newest in self.of_stack.iter().chain(&self.of_place) {
            let (start, mut at) = (order.len(), *newest);
            while let Some(before) = self.before.get(at as usize) {
                order.push(at);
                at = *before;
            }
            if let Some(list @ [_, _, ..]) = order.get_mut(start..) {
                list.sort_unstable_by_key(|at| self.rows.get(*at as usize).map(NumberedRow::key));
            }
        }
        order
    }
}
