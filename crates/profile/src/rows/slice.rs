//! Some of the rows, as they lie: what views go over.

use super::Rows;
use crate::addresses::AddressId;
use crate::profile::SampleRow;
use crate::stacks::StackId;
use std::ops::Range;

/// Some rows that follow each other.
#[derive(Clone, Copy, Debug)]
pub struct RowSlice<'r> {
    rows: &'r Rows,
    start: usize,
    end: usize,
}

/// What is asked of a row by those who add up over stacks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowOfStack {
    pub(crate) stack: StackId,
    pub(crate) address: AddressId,
    pub(crate) samples: u64,
    pub(crate) period: u64,
}

impl<'r> RowSlice<'r> {
    /// All rows.
    pub(super) fn of(rows: &'r Rows) -> RowSlice<'r> {
        RowSlice { rows, start: 0, end: rows.len() }
    }

    /// How many there are.
    pub fn len(self) -> usize {
        self.end - self.start
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The row with this index among these.
    #[inline]
    pub fn get(self, at: usize) -> Option<SampleRow> {
        self.rows.get(self.start.checked_add(at).filter(|at| *at < self.end)?)
    }

    /// The first one.
    pub fn first(self) -> Option<SampleRow> {
        self.get(0)
    }

    /// Those with these indices among these; fewer where there are fewer.
    #[must_use]
    pub fn range(self, range: Range<usize>) -> RowSlice<'r> {
        let bounded = |at: usize| self.start.saturating_add(at).min(self.end);
        let start = bounded(range.start);
        RowSlice { start, end: bounded(range.end).max(start), ..self }
    }

    /// The first ones, and the others.
    pub fn split_at(self, at: usize) -> (RowSlice<'r>, RowSlice<'r>) {
        (self.range(0..at), self.range(at..usize::MAX))
    }

    /// So many at a time.
    pub fn chunks(self, rows: usize) -> impl Iterator<Item = RowSlice<'r>> + Clone {
        (0..self.len()).step_by(rows.max(1)).map(move |start| self.range(start..start.saturating_add(rows)))
    }

    /// All of them, in order.
    pub fn iter(self) -> RowIter<'r> {
        self.into_iter()
    }

    /// Where the samples of each were taken, and their sums: what they come from is not read.
    #[inline]
    pub(crate) fn of_stacks(self) -> impl Iterator<Item = RowOfStack> + Clone + 'r {
        let RowSlice { rows, start, end } = self;
        let stacks = rows.stack.get(start..end).unwrap_or_default();
        let addresses = rows.address.get(start..end).unwrap_or_default();
        (start..).zip(stacks.iter().zip(addresses)).map(|(at, (stack, address))| RowOfStack {
            stack: *stack,
            address: *address,
            samples: rows.samples.get(at),
            period: rows.period.get(at, &rows.samples),
        })
    }

    /// The first index of those for which this does not hold; those for which it holds are the first ones.
    pub fn partition_point(self, holds: impl Fn(&SampleRow) -> bool) -> usize {
        let (mut least, mut most) = (0, self.len());
        while least < most {
            let middle = least.midpoint(most);
            match self.get(middle).is_some_and(|row| holds(&row)) {
                true => least = middle + 1,
                false => most = middle,
            }
        }
        least
    }

    /// How many of the first ones agree in all that they have besides time, place and sums, and if that is asked for in their stacks.
    pub(crate) fn alike(self, in_stacks: bool) -> usize {
        let RowSlice { rows, start, end } = self;
        let stack_at = |at: usize| rows.stack.get(at).filter(|_| in_stacks);
        let parts = |at: usize| (rows.origin.get(at), rows.detail.get(at), stack_at(at));
        let first = parts(start);
        (start..end).take_while(|at| parts(*at) == first).count()
    }

    /// Runs of rows of which each agrees with the one before it.
    pub fn chunk_by(
        self,
        agree: impl Fn(&SampleRow, &SampleRow) -> bool,
    ) -> impl Iterator<Item = RowSlice<'r>> {
        let mut rest = self;
        std::iter::from_fn(move || {
            let mut last = rest.first()?;
            let more = rest.iter().skip(1).take_while(|row| agree(&std::mem::replace(&mut last, *row), row));
            let (run, others) = rest.split_at(1 + more.count());
            rest = others;
            Some(run)
        })
    }
}

impl<'r> IntoIterator for RowSlice<'r> {
    type Item = SampleRow;
    type IntoIter = RowIter<'r>;

    fn into_iter(self) -> RowIter<'r> {
        RowIter(self)
    }
}

/// Rows, one after the other.
#[derive(Clone, Debug)]
pub struct RowIter<'r>(RowSlice<'r>);

impl Iterator for RowIter<'_> {
    type Item = SampleRow;

    #[inline(always)]
    fn next(&mut self) -> Option<SampleRow> {
        let RowSlice { rows, start, end } = self.0;
        if start == end {
            return None;
        }
        self.0.start += 1;
        rows.get(start)
    }

    #[inline]
    fn nth(&mut self, rows: usize) -> Option<SampleRow> {
        self.0 = self.0.range(rows..usize::MAX);
        self.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.len(), Some(self.0.len()))
    }
}

impl DoubleEndedIterator for RowIter<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<SampleRow> {
        let row = self.0.get(self.0.len().checked_sub(1)?)?;
        self.0.end -= 1;
        Some(row)
    }
}

impl ExactSizeIterator for RowIter<'_> {}
