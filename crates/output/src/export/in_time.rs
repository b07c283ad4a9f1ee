//! The samples of all events as one sequence in order of time.

use readperf_profile::{Profile, SampleRow};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The rows of a profile that keeps times, in their order; at one time in the order of the events, then of the recording.
pub(crate) fn in_time(profile: &Profile) -> impl Iterator<Item = SampleRow> {
    let mut rows: Vec<_> = (0..profile.events().len()).map(|event| profile.rows_of(event).iter()).collect();
    let mut next: Vec<Option<SampleRow>> = rows.iter_mut().map(Iterator::next).collect();
    let first = |(event, row): (usize, &Option<SampleRow>)| row.map(|row| Reverse((row.time_ns, event)));
    let mut heap: BinaryHeap<_> = next.iter().enumerate().filter_map(first).collect();
    std::iter::from_fn(move || {
        let Reverse((_, event)) = heap.pop()?;
        let following = rows.get_mut(event)?.next();
        heap.extend(following.map(|row| Reverse((row.time_ns, event))));
        std::mem::replace(next.get_mut(event)?, following)
    })
}
