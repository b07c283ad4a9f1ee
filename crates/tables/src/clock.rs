//! Times of a recording as moments.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use perffile::wire::feature::clock_data::ClockData;

const NS_PER_US: u64 = 1000;

/// A time of the recording in microseconds since 1970, if the recording tells how its clock stands to that.
pub(crate) fn moment_us(clock: Option<&ClockData>, time_ns: u64) -> Option<i64> {
    i64::try_from(clock?.wall_clock_of(time_ns)? / NS_PER_US).ok()
}

/// The day of a moment in microseconds since 1970, UTC.
pub(crate) fn day_of(moment_us: i64) -> Option<Date> {
    Some(Timestamp::from_microsecond(moment_us).ok()?.to_zoned(TimeZone::UTC).date())
}
