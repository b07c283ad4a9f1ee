//! Rows of samples, a column each: what all of them leave at its usual value takes no room, and of the rest whoever adds up touches only what
//! it adds up.

mod column;
mod numbered;
mod origin;
mod periods;
mod slice;

use self::column::{Counts, Sparse, arranged};
use self::periods::{Before, Periods};
use crate::addresses::AddressId;
use crate::counted::counted;
use crate::detail::DetailId;
use crate::profile::SampleRow;
use crate::stacks::StackId;
use crate::together::Moved;
pub(crate) use numbered::NumberedRow;
pub(crate) use origin::{Origin, Origins};
pub use slice::{RowIter, RowSlice};

/// So many rows that come from the same make it worth it to leave them where they are. Fewer in tests, so that there are such runs.
const LONG_RUN: usize = if cfg!(debug_assertions) { 2 } else { 16 };

/// Rows of samples. They are handed out by value, put together from the columns.
#[derive(Clone, Debug)]
pub struct Rows {
    origins: Origins,
    origin: Vec<u32>,
    stack: Vec<StackId>,
    address: Vec<AddressId>,
    period: Periods,
    samples: Counts,
    time_ns: Sparse<u64>,
    detail: Sparse<DetailId>,
}

impl Default for Rows {
    fn default() -> Rows {
        Rows {
            origins: Origins::default(),
            origin: Vec::new(),
            stack: Vec::new(),
            address: Vec::new(),
            period: Periods::default(),
            samples: Counts::default(),
            time_ns: Sparse::usually(0),
            detail: Sparse::usually(DetailId::default()),
        }
    }
}

impl Rows {
    /// Room for so many rows.
    pub(crate) fn with_capacity(rows: usize) -> Rows {
        Rows {
            origin: Vec::with_capacity(rows),
            stack: Vec::with_capacity(rows),
            address: Vec::with_capacity(rows),
            ..Rows::default()
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.origin.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.origin.is_empty()
    }

    /// The row with this index. What whoever asks does not look at is not read: only the first column decides whether there is
    /// one.
    #[inline(always)]
    pub fn get(&self, at: usize) -> Option<SampleRow> {
        let Origin { event, comm, thread, cpu } = *self.origins().get(*self.origin.get(at)? as usize)?;
        Some(SampleRow {
            event,
            comm,
            thread,
            cpu,
            time_ns: self.time_ns.get(at),
            stack: self.stack.get(at).copied().unwrap_or(StackId::EMPTY),
            address: self.address.get(at).copied().unwrap_or(AddressId::NONE),
            detail: self.detail.get(at),
            samples: self.samples.get(at),
            period: self.period.get(at, &self.samples),
        })
    }

    /// For how many there is room.
    fn room(&self) -> usize {
        self.origin.capacity()
    }

    /// All of them.
    pub fn as_slice(&self) -> RowSlice<'_> {
        RowSlice::of(self)
    }

    /// All of them, in order.
    pub fn iter(&self) -> RowIter<'_> {
        self.as_slice().iter()
    }

    /// Appends a row.
    pub(crate) fn push(&mut self, row: SampleRow) {
        let SampleRow { event, comm, thread, cpu, time_ns, stack, address, detail, samples, period } = row;
        let origin = self.origins.number(Origin { event, comm, thread, cpu });
        self.push_numbered(NumberedRow { origin, stack, address, detail, samples, period }, time_ns);
    }

    /// Appends a row with its time. What it comes from is one of the origins, at the latest when these are given.
    #[inline]
    pub(crate) fn push_numbered(&mut self, row: NumberedRow, time_ns: u64) {
        let NumberedRow { origin, stack, address, detail, samples, period } = row;
        let before = self.len();
        self.origin.push(origin);
        self.stack.push(stack);
        self.address.push(address);
        self.period
            .push((samples, period), Before { samples: &self.samples, rows: before, room: self.room() });
        self.samples.push(samples, before);
        self.time_ns.push(time_ns, before);
        self.detail.push(detail, before);
    }

    /// Appends rows without times, a column at a time. What they come from is one of the origins, at the latest when these are given.
    pub(crate) fn append_numbered(&mut self, rows: &[NumberedRow]) {
        let before = self.len();
        self.origin.extend(rows.iter().map(|row| row.origin));
        self.stack.extend(rows.iter().map(|row| row.stack));
        self.address.extend(rows.iter().map(|row| row.address));
        let sums = rows.iter().map(|row| (row.samples, row.period));
        self.period.extend(sums, Before { samples: &self.samples, rows: before, room: self.room() });
        self.samples.extend(rows.iter().map(|row| row.samples), before);
        self.time_ns.extend(rows.iter().map(|_| 0), before);
        self.detail.extend(rows.iter().map(|row| row.detail), before);
    }

    /// Adds samples to a row.
    #[inline]
    pub(crate) fn add(&mut self, at: usize, samples: u64, period: u64) {
        if at >= self.len() {
            return;
        }
        let period = self.period.get(at, &self.samples).wrapping_add(period);
        let sum = (self.samples.get(at).saturating_add(samples), period);
        let before = Before { samples: &self.samples, rows: self.len(), room: self.room() };
        self.period.set(at, sum, before);
        self.samples.add(at, samples, self.origin.len());
    }

    /// All of them, in order, with the numbers of what they come from, and without their times.
    pub(crate) fn numbered(&self) -> impl Iterator<Item = NumberedRow> + '_ {
        (0..self.len()).filter_map(|at| self.numbered_at(at))
    }

    /// The one with this index.
    #[inline]
    pub(crate) fn numbered_at(&self, at: usize) -> Option<NumberedRow> {
        Some(NumberedRow {
            origin: *self.origin.get(at)?,
            stack: *self.stack.get(at)?,
            address: *self.address.get(at)?,
            detail: self.detail.get(at),
            samples: self.samples.get(at),
            period: self.period.get(at, &self.samples),
        })
    }

    /// Gives the rows what the numbers stand for that they were pushed with.
    pub(crate) fn set_origins(&mut self, origins: Origins) {
        self.origins = origins;
    }

    /// What rows have in common, each once.
    pub(crate) fn origins(&self) -> &[Origin] {
        self.origins.as_slice()
    }

    /// Which of [`Rows::origins`] a row has.
    #[inline]
    pub(crate) fn origin_at(&self, at: usize) -> usize {
        self.origin.get(at).map_or(usize::MAX, |origin| *origin as usize)
    }

    /// The time of a row.
    #[inline]
    pub(crate) fn time_ns_at(&self, at: usize) -> u64 {
        self.time_ns.get(at)
    }

    /// The detail of a row.
    #[inline]
    pub(crate) fn detail_at(&self, at: usize) -> DetailId {
        self.detail.get(at)
    }

    /// Takes away the rows at whose indices this does not hold.
    pub(crate) fn retain_at(&mut self, passes: impl Fn(&Rows, usize) -> bool) {
        let left = self.indices(passes);
        if left.len() < self.len() {
            self.arrange(&left);
        }
    }

    /// The rows at whose indices this holds.
    pub(crate) fn filtered(&self, passes: impl Fn(&Rows, usize) -> bool) -> Rows {
        let left = self.indices(passes);
        Rows {
            origins: self.origins.clone(),
            origin: arranged(&self.origin, &left, 0),
            stack: arranged(&self.stack, &left, StackId::EMPTY),
            address: arranged(&self.address, &left, AddressId::NONE),
            period: self.period.arranged(&left),
            samples: self.samples.arranged(&left),
            time_ns: self.time_ns.arranged(&left),
            detail: self.detail.arranged(&left),
        }
    }

    fn indices(&self, passes: impl Fn(&Rows, usize) -> bool) -> Vec<u32> {
        (0..).zip(0..self.len()).filter(|(_, at)| passes(self, *at)).map(|(index, _)| index).collect()
    }

    /// Gives each row another stack and another place, or takes it away. Asked for its place, row by row.
    pub(crate) fn place_anew(&mut self, mut place: impl FnMut(AddressId) -> Option<(StackId, AddressId)>) {
        let mut left: Vec<u32> = Vec::with_capacity(self.len());
        for (at, (stack, address)) in (0..).zip(self.stack.iter_mut().zip(&mut self.address)) {
            if let Some(placed) = place(*address) {
                (*stack, *address) = placed;
                left.push(at);
            }
        }
        if left.len() < self.len() {
            self.arrange(&left);
        }
    }

    /// Gives stacks and places their new numbers.
    pub(crate) fn renumber(&mut self, moved: &Moved<'_>) {
        self.stack.iter_mut().for_each(|stack| *stack = moved.stack(*stack));
        self.address.iter_mut().for_each(|address| *address = moved.place(*address));
    }

    /// Puts rows in order of time, event by event. Those of one time stay as they were.
    pub(crate) fn sort_by_time(&mut self) {
        let key = |row: SampleRow| (row.event, row.time_ns);
        // Of one event they mostly come in order.
        if !self.iter().map(key).is_sorted() {
            let mut order: Vec<u32> = (0..).zip(&self.origin).map(|(at, _)| at).collect();
            order.sort_by_key(|at| self.get(*at as usize).map(key));
            self.arrange(&order);
        }
    }

    /// Puts those of one event, thread name, thread and CPU together, in order of these. Otherwise they stay as they were; where they come in
    /// long runs of the same, and their events are in order, all of them do.
    pub(crate) fn sort_by_origin(&mut self) {
        if self.is_of_long_runs() {
            return;
        }
        let ranks = self.origins.ranks();
        let rank = |at: usize| ranks.get(self.origin_at(at)).map_or(0, |rank| *rank as usize);
        let all = (0..).zip(&self.origin).map(|(at, _)| at);
        let order: Vec<u32> = counted(all, ranks.len(), |at| rank(*at as usize));
        self.arrange(&order);
    }

    /// Whether they are long runs that come from the same, in order of their events.
    fn is_of_long_runs(&self) -> bool {
        let event = |origin: &u32| self.origins().get(*origin as usize).map(|origin| origin.event);
        let runs = || self.origin.chunk_by(|a, b| a == b).filter_map(<[u32]>::first);
        runs().count() <= self.len() / LONG_RUN && runs().map(event).is_sorted()
    }

    /// Leaves the rows with these indices, in their order. A column at a time, so that only one is there twice.
    pub(crate) fn arrange(&mut self, order: &[u32]) {
        self.origin = arranged(&self.origin, order, 0);
        self.stack = arranged(&self.stack, order, StackId::EMPTY);
        self.address = arranged(&self.address, order, AddressId::NONE);
        self.period = self.period.arranged(order);
        self.samples = self.samples.arranged(order);
        self.time_ns = self.time_ns.arranged(order);
        self.detail = self.detail.arranged(order);
    }

    /// Lets go the room for more.
    pub(crate) fn shrink(&mut self) {
        self.origin.shrink_to_fit();
        self.stack.shrink_to_fit();
        self.address.shrink_to_fit();
        self.period.shrink();
        self.samples.shrink();
        self.time_ns.shrink();
        self.detail.shrink();
    }

    /// Rows out of a list, which gets smaller as these grow.
    pub(crate) fn of_list<T>(mut list: Vec<T>, push: impl Fn(&mut Rows, T)) -> Rows {
        /// Rows that are moved at a time.
        const SOME: usize = 64 * 1024;
        let mut rows = Rows::with_capacity(list.len());
        // From the end, where a list can be cut off.
        list.reverse();
        while !list.is_empty() {
            let some = list.drain(list.len().saturating_sub(SOME)..).rev();
            some.for_each(|item| push(&mut rows, item));
            list.shrink_to_fit();
        }
        rows
    }
}

impl FromIterator<SampleRow> for Rows {
    fn from_iter<I: IntoIterator<Item = SampleRow>>(rows: I) -> Rows {
        let rows = rows.into_iter();
        let mut collected = Rows::with_capacity(rows.size_hint().0);
        rows.for_each(|row| collected.push(row));
        collected
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use readperf_session::Session;

    /// What tells rows of these tests apart: event, thread name, CPU, time, stack and place, samples, period.
    type Parts = (u32, usize, Option<u32>, u64, u32, u64, u64);

    fn row((event, comm, cpu, time_ns, stack, samples, period): Parts) -> SampleRow {
        let mut session = Session::default();
        let comms = [session.add_comm(b"a"), session.add_comm(b"b")];
        let (stack, address) = (StackId(stack), AddressId(stack + 1));
        let detail = DetailId::default();
        let comm = comms[comm];
        SampleRow { event, comm, thread: None, cpu, time_ns, stack, address, detail, samples, period }
    }

    /// Some have nothing but what is usual, others from some row on.
    fn lists() -> impl Strategy<Value = Vec<SampleRow>> {
        let fixed = proptest::option::of(0..4_u64);
        let shape = (0..2_u64, 1..3_u64, prop_oneof![Just(1_usize), Just(6)], any::<bool>(), fixed);
        shape.prop_flat_map(|(times, most, longest_run, by_event, fixed)| {
            let cpu = proptest::option::of(0..2_u32);
            // Of some there are as many as a byte holds, or more.
            let many = if most > 1 { 253..258_u64 } else { 1..2 };
            let samples = prop_oneof![18 => Just(1_u64), 1 => 1..=most, 1 => many];
            let period = prop_oneof![99 => 0..9_u64, 1 => Just(u64::from(u32::MAX)), 1 => Just(1 << 32)];
            // Each sample stands for the same, or all but a few.
            let sums = (samples, period).prop_map(move |(samples, period)| match fixed {
                Some(fixed) if period <= u64::from(u32::MAX) => (samples, samples * fixed),
                _ => (samples, period),
            });
            let parts = (0..2_u32, 0..2_usize, cpu, 0..=times * 9, 0..5_u32, sums);
            let parts = parts.prop_map(|(event, comm, cpu, time_ns, stack, (samples, period))| {
                (event, comm, cpu, time_ns, stack, samples, period)
            });
            let runs = proptest::collection::vec((parts.prop_map(row), 1..=longest_run), 0..100);
            runs.prop_map(move |runs| {
                let mut rows: Vec<SampleRow> =
                    runs.into_iter().flat_map(|(row, len)| std::iter::repeat_n(row, len)).collect();
                rows.sort_by_key(|row| if by_event { row.event } else { 0 });
                rows
            })
        })
    }

    fn list(rows: &Rows) -> Vec<SampleRow> {
        rows.iter().collect()
    }

    proptest! {
        #[test]
        fn rows_are_what_was_put_in(rows in lists(), at in 0..250_usize, some in 1..50_usize) {
            let columns: Rows = rows.iter().copied().collect();
            prop_assert_eq!(columns.len(), rows.len());
            prop_assert_eq!(columns.get(at), rows.get(at).copied());
            prop_assert_eq!(list(&Rows::of_list(rows.clone(), Rows::push)), rows.clone());
            let mut appended = Rows::default();
            let numbered: Vec<NumberedRow> = columns.numbered().collect();
            numbered.chunks(some).for_each(|rows| appended.append_numbered(rows));
            appended.set_origins(columns.origins.clone());
            prop_assert_eq!(list(&appended), rows.iter().map(|row| SampleRow { time_ns: 0, ..*row }).collect::<Vec<_>>());
            let (all, at) = (columns.as_slice(), at.min(rows.len()));
            let (first, rest) = all.split_at(at);
            prop_assert_eq!(first.iter().chain(rest).collect::<Vec<_>>(), rows.clone());
            prop_assert_eq!(rest.first(), rows.get(at).copied());
            prop_assert_eq!(rest.get(rest.len()), None);
            prop_assert_eq!(all.iter().rev().collect::<Vec<_>>(), rows.iter().rev().copied().collect::<Vec<_>>());
            let chunks: Vec<Vec<SampleRow>> = rest.chunks(some).map(|chunk| chunk.iter().collect()).collect();
            prop_assert_eq!(chunks, rows[at..].chunks(some).map(<[SampleRow]>::to_vec).collect::<Vec<_>>());
            let agree = |a: &SampleRow, b: &SampleRow| a.stack <= b.stack;
            let runs: Vec<Vec<SampleRow>> = all.chunk_by(agree).map(|run| run.iter().collect()).collect();
            prop_assert_eq!(runs, rows.chunk_by(agree).map(<[SampleRow]>::to_vec).collect::<Vec<_>>());
        }

        #[test]
        fn rows_are_put_in_order(rows in lists(), more in 0..9_u64) {
            let columns: Rows = rows.iter().copied().collect();
            let (mut by_time, mut sorted) = (columns.clone(), rows.clone());
            by_time.sort_by_time();
            sorted.sort_by_key(|row| (row.event, row.time_ns));
            prop_assert_eq!(list(&by_time), sorted.clone());
            let second = by_time.as_slice().partition_point(|row| row.event == 0);
            prop_assert_eq!(second, sorted.partition_point(|row| row.event == 0));
            let (mut by_origin, mut sorted) = (columns.clone(), rows.clone());
            by_origin.sort_by_origin();
            let origin = |row: &SampleRow| (row.event, row.comm, row.thread, row.cpu);
            let runs = rows.chunk_by(|a, b| origin(a) == origin(b)).count();
            if runs * LONG_RUN > rows.len() || !rows.is_sorted_by_key(|row| row.event) {
                sorted.sort_by_key(origin);
            } else {
                sorted = rows.clone();
            }
            prop_assert_eq!(list(&by_origin), sorted);
            let (mut left, mut kept) = (columns, rows);
            let passes = |rows: &Rows, at: usize| rows.get(at).is_some_and(|row| row.period > 3);
            prop_assert_eq!(list(&left.filtered(passes)), list(&left).into_iter().filter(|row| row.period > 3).collect::<Vec<_>>());
            left.retain_at(passes);
            kept.retain(|row| row.period > 3);
            prop_assert_eq!(list(&left), kept.clone());
            // What is added to one row is added to no other.
            if let Some(first) = kept.first_mut() {
                left.add(0, 2, more);
                (first.samples, first.period) = (first.samples + 2, first.period + more);
            }
            prop_assert_eq!(list(&left), kept.clone());
            left.place_anew(|address| (address.0 % 2 == 0).then_some((StackId(7), AddressId(address.0 + 1))));
            kept.retain(|row| row.address.0 % 2 == 0);
            let placed = |row: SampleRow| SampleRow { stack: StackId(7), address: AddressId(row.address.0 + 1), ..row };
            prop_assert_eq!(list(&left), kept.into_iter().map(placed).collect::<Vec<_>>());
        }
    }
}
