//! Rows with times, of which no more is wanted than what maps show: a row for the samples of one event and stack in a stretch of time.
//!
//! Which samples share a cell of all maps is known of an event as soon as its samples are far enough from each other. So at first each has a row
//! of its own. When these are many, those that can be one are put together, and again whenever there are twice as many as were left. Memory
//! grows with the time that a recording takes, and with the stacks that differ, not with the samples.

use crate::counted::counted;
use crate::grain::{self, Grain};
use crate::rows::{NumberedRow, Rows};
use crate::together::Moved;

/// How many rows there are, at least, before some are put together. Fewer in tests, so that some are.
const MANY: usize = if cfg!(debug_assertions) { 64 } else { 1 << 18 };

/// The rows.
#[derive(Debug)]
pub(crate) struct TimedRows {
    rows: Rows,
    grain: Grain,
    /// So many were left when some were put together.
    left: usize,
    /// So many are held before that is done again.
    most: usize,
}

impl TimedRows {
    /// No rows so far.
    pub(crate) fn new(grain: Grain) -> TimedRows {
        TimedRows { rows: Rows::default(), grain, left: 0, most: MANY }
    }

    /// How many there are.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Adds rows with their times; 0 stands for none.
    pub(crate) fn add_all(&mut self, rows: impl Iterator<Item = (NumberedRow, u64)>) {
        rows.for_each(|(row, time_ns)| self.rows.push_numbered(row, time_ns));
        let before = self.rows.len();
        if before > self.most {
            let is_tried = self.put_together();
            let left = self.rows.len();
            // Where samples are few, or their stacks differ, it is not worth it to try that often.
            let is_little = is_tried && before - left < (before - self.left) / 2;
            self.most = if is_little { 8 * before } else { MANY.max(2 * left) };
            self.left = left;
        }
    }

    /// Gives stacks and places their new numbers.
    pub(crate) fn renumber(&mut self, moved: &Moved<'_>) {
        self.rows.renumber(moved);
    }

    /// The rows, in no order.
    pub(crate) fn into_rows(self) -> Rows {
        self.rows
    }

    /// Puts rows together; false, and nothing happens, if it is not known yet which can be.
    fn put_together(&mut self) -> bool {
        let mut order = self.in_order();
        let Some(ends) = self.sums(&mut order) else { return false };
        let (mut left, mut start) = (Vec::with_capacity(ends.len()), 0);
        for end in ends {
            let equal = order.get(start..end as usize).unwrap_or_default();
            start = end as usize;
            let Some((first, others)) = equal.split_first() else { continue };
            for other in others {
                let Some(row) = self.rows.numbered_at(*other as usize) else { continue };
                self.rows.add(*first as usize, row.samples, row.period);
            }
            left.push(*first);
        }
        // In the order in which they came, which mostly is that of time.
        left.sort_unstable();
        self.rows.arrange(&left);
        true
    }

    /// The indices of all rows by what they come from, in order of time.
    fn in_order(&self) -> Vec<u32> {
        let origin = |at: &u32| self.rows.origin_at(*at as usize);
        let all = (0_u32..).zip(0..self.rows.len()).map(|(at, _)| at);
        let origins = all.clone().map(|at| origin(&at) + 1).max().unwrap_or(0);
        let mut order = counted(all, origins, origin);
        for of_one in order.chunk_by_mut(|a, b| origin(a) == origin(b)) {
            let time_ns = |at: &u32| self.rows.time_ns_at(*at as usize);
            // They mostly come so.
            if !of_one.is_sorted_by_key(time_ns) {
                of_one.sort_by_key(time_ns);
            }
        }
        order
    }

    /// Puts those behind each other that can be one, the first of them in front, and returns where these sums end; nothing if it is not known
    /// yet of any event.
    fn sums(&self, order: &mut [u32]) -> Option<Vec<u32>> {
        let origin = |at: &u32| self.rows.origin_at(*at as usize);
        let time_ns = |at: &u32| self.rows.time_ns_at(*at as usize);
        let stretch = |at: &u32| self.grain.stretch(time_ns(at));
        let key = |at: &u32| self.rows.numbered_at(*at as usize).map(|row| row.key());
        let (mut ends, mut end, mut is_any_long) = (Vec::new(), 0_u32, false);
        for of_one in order.chunk_by_mut(|a, b| origin(a) == origin(b)) {
            let (timeless, timed) = of_one.split_at_mut(of_one.partition_point(|at| time_ns(at) == 0));
            // The time of the last one is to be told; that of the first is the time of a sum.
            let (others, last) = timed.split_at_mut(timed.len().saturating_sub(1));
            let first_and_last = others.first().zip(last.first());
            let is_long =
                first_and_last.is_some_and(|(first, last)| grain::is_long(time_ns(first), time_ns(last)));
            is_any_long |= is_long;
            let are_in_one = |a: &u32, b: &u32| is_long && stretch(a) == stretch(b);
            for stretch in [timeless].into_iter().chain(others.chunk_by_mut(are_in_one)).chain([last]) {
                stretch.sort_by_key(key);
                for equal in stretch.chunk_by(|a, b| key(a) == key(b)) {
                    end = equal.iter().fold(end, |end, _| end + 1);
                    ends.push(end);
                }
            }
        }
        is_any_long.then_some(ends)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addresses::AddressId;
    use crate::detail::DetailId;
    use crate::profile::Profile;
    use crate::rows::{Origin, Origins};
    use crate::stacks::StackId;
    use crate::view::timeline::{Size, Timeline};
    use proptest::prelude::*;
    use readperf_session::Session;
    use std::sync::Arc;

    /// A sample: its event, its time, its stack and its period.
    type Sample = (u32, u64, u32, u64);

    fn origins() -> Origins {
        let comm = Session::default().add_comm(b"a");
        let mut origins = Origins::default();
        for event in 0..3 {
            origins.number(Origin { event, comm, thread: None, cpu: None });
        }
        origins
    }

    fn row((origin, time_ns, stack, period): Sample) -> (NumberedRow, u64) {
        let (stack, address, detail) = (StackId(stack), AddressId::NONE, DetailId::default());
        (NumberedRow { origin, stack, address, detail, samples: 1, period }, time_ns)
    }

    fn maps(mut rows: Rows, size: Size) -> Vec<Timeline> {
        rows.set_origins(origins());
        rows.sort_by_time();
        Profile { rows: Arc::new(rows), ..Profile::default() }.timelines(size)
    }

    /// Samples of three events, of which the last ones may be short; some have no time, and some come late.
    fn samples() -> impl Strategy<Value = Vec<Sample>> {
        let step = prop_oneof![4 => 0..20_000_000_u64, 1 => 0..3_000_000_000_u64];
        let of_one = (0..20_u32, step, 0..3_u32, 0..9_u64, 0..10_u32);
        (0..12_000_000_000_u64, proptest::collection::vec(of_one, 0..900)).prop_map(|(first, list)| {
            let (mut now, count) = (first, list.len());
            let each = list.into_iter().enumerate().map(|(nr, (event, step, stack, period, how))| {
                now += step;
                let time_ns = match how {
                    0 => 0,
                    1 => now.saturating_sub(60_000_000),
                    _ => now,
                };
                // One event is there from begin to end, one rarely, one at the end alone.
                let event = if event == 0 { 1 } else { 2 * u32::from(nr * 6 > count * 5) };
                (event, time_ns, stack, period)
            });
            each.collect()
        })
    }

    proptest! {
        #[test]
        fn maps_are_those_of_each_sample(samples in samples(), at_once in 1..200_usize, columns in 1..90_usize, rows in 1..41_usize) {
            let each: Rows = {
                let mut each = Rows::default();
                samples.iter().copied().map(row).for_each(|(row, time_ns)| each.push_numbered(row, time_ns));
                each
            };
            let size = Size { columns, rows };
            let Some(grain) = Grain::of(rows) else { return Ok(()) };
            let mut timed = TimedRows::new(grain);
            samples.chunks(at_once).for_each(|some| timed.add_all(some.iter().copied().map(row)));
            prop_assert_eq!(maps(timed.into_rows(), size), maps(each, size));
        }
    }

    #[test]
    fn a_long_recording_takes_no_more_than_its_cells() {
        let mut timed = TimedRows::new(Grain::of(20).unwrap());
        // 500 samples in each cell of 20 seconds, of two stacks: 400 cells, two rows in each.
        for nr in 0..200_000_u64 {
            timed.add_all(std::iter::once(row((0, 1 + nr * 100_000, u32::from(nr % 3 == 0), 1))));
        }
        let left = timed.len();
        assert!((800..=2 * 800 + 2).contains(&left), "{left}");
        let rows = timed.into_rows();
        assert_eq!(rows.numbered().map(|row| row.samples).sum::<u64>(), 200_000);
    }
}
