//! CLOCK_DATA (29): one moment by two clocks, so that times of the recording become times of day (`-k`).

use crate::wire::clock::ClockId;
use crate::wire::declare::fields;

fields! {
    /// One moment by two clocks.
    #[derive(Copy)]
    pub struct ClockData {
        /// Form of the section; 1 so far.
        version: u32,
        /// The clock of the recording.
        clockid: ClockId,
        /// The moment as time of day: ns since 1970, UTC.
        wall_clock_ns: u64,
        /// The same moment by the clock of the recording, ns.
        clockid_time_ns: u64,
    }
}

impl ClockData {
    /// The time of day, ns since 1970, of a time of the recording. `None` outside of what a u64 holds.
    pub fn wall_clock_of(&self, time_ns: u64) -> Option<u64> {
        let shifted = i128::from(self.wall_clock_ns) + i128::from(time_ns) - i128::from(self.clockid_time_ns);
        u64::try_from(shifted).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_of_day_before_and_after() {
        let clock = ClockData {
            version: 1,
            clockid: ClockId::MONOTONIC,
            wall_clock_ns: 1_000_000,
            clockid_time_ns: 500,
        };
        assert_eq!(clock.wall_clock_of(600), Some(1_000_100));
        assert_eq!(clock.wall_clock_of(400), Some(999_900));
        let early = ClockData { wall_clock_ns: 1, ..clock };
        assert_eq!(early.wall_clock_of(0), None);
    }
}
