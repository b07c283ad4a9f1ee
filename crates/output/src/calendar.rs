//! Times of day, in UTC: the zone of who recorded is not recorded.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;

/// The date and time of day of nanoseconds since 1970.
pub(crate) fn date_time(ns: u64) -> DateTime {
    // A u64 of nanoseconds ends in the year 2554, which is a time that can be told.
    Offset::UTC.to_datetime(Timestamp::from_nanosecond(ns.into()).unwrap_or(Timestamp::MAX))
}

/// Nanoseconds since 1970 as a date and a time of day in the form of RFC 3339.
pub(crate) fn rfc3339(ns: u64) -> String {
    format!("{:.9}Z", date_time(ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected: `date -u -d @SECONDS --iso-8601=seconds`.
    #[test]
    fn times_of_day() {
        let at = |secs: u64| rfc3339(secs * 1_000_000_000 + 42);
        assert_eq!(at(0), "1970-01-01T00:00:00.000000042Z");
        assert_eq!(at(951_782_399), "2000-02-28T23:59:59.000000042Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00.000000042Z");
        assert_eq!(at(1_795_249_247), "2026-11-21T08:20:47.000000042Z");
        assert_eq!(at(1_798_761_599), "2026-12-31T23:59:59.000000042Z");
        assert_eq!(at(4_107_542_400), "2100-03-01T00:00:00.000000042Z");
        assert_eq!(rfc3339(u64::MAX), "2554-07-21T23:34:33.709551615Z");
    }
}
