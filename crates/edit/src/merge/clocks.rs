//! Clocks: how times of one recording become those of another one.

use super::Source;
use perffile::wire::clock::ClockId;

/// Clocks that say the same within so many ns are one: both moments are read one after the other, and time of day is adjusted.
const SAME_NS: u128 = 1_000_000_000;

/// The clock of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock {
    /// Which one, and what it is behind the time of day, ns; `None` where the recording does not tell.
    told: Option<(ClockId, i128)>,
    /// What is added to times, ns.
    pub(super) shift_ns: u64,
    /// Whether the other clocks are those of this one.
    pub(super) is_reference: bool,
}

impl Clock {
    fn of(source: &Source<'_>) -> Clock {
        let told = source.survey.head.features.clock_data();
        let behind = |wall: u64, clock: u64| i128::from(wall) - i128::from(clock);
        let told = told.map(|told| (told.clockid, behind(told.wall_clock_ns, told.clockid_time_ns)));
        Clock { told, ..Clock::default() }
    }

    /// Whether both may be the same clock, in the same boot.
    pub(super) fn is_that_of(&self, other: &Clock) -> bool {
        match (self.told, other.told) {
            (Some((id, behind)), Some((other_id, other_behind))) => {
                id == other_id && behind.abs_diff(other_behind) < SAME_NS
            }
            (None, None) => true,
            _ => false,
        }
    }
}

/// The clocks of all recordings. The one that began first is what the others are moved to, so that no time becomes negative.
pub(super) fn align(sources: &[Source<'_>], keep_times: bool, notes: &mut Vec<String>) -> Vec<Clock> {
    let mut clocks: Vec<Clock> = sources.iter().map(Clock::of).collect();
    let told = |clock: &Clock| clock.told.map(|(_, behind)| behind);
    let first = (0..)
        .zip(&clocks)
        .filter_map(|(nr, clock)| Some((told(clock)?, nr, *clock)))
        .min_by_key(|first| first.0);
    let Some((first_behind, number, first)) = first.filter(|_| !keep_times) else { return clocks };
    for ((nr, clock), source) in (0..).zip(&mut clocks).zip(sources) {
        clock.is_reference = nr == number;
        match told(clock) {
            Some(behind) if !clock.is_that_of(&first) => {
                clock.shift_ns = u64::try_from(behind - first_behind).unwrap_or(0);
                let seconds = clock.shift_ns / 1_000_000_000;
                notes.push(format!("{}: times are moved by {seconds} s, as CLOCK_DATA has it", source.name));
            }
            Some(_) => {}
            None => notes.push(format!(
                "{}: nothing says how its times follow from those of others (no CLOCK_DATA): they stay",
                source.name
            )),
        }
    }
    clocks
}
