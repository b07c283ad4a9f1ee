//! Times of day by the calendar, in UTC: the zone of who recorded is not recorded.

/// A time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TimeOfDay {
    /// Year, month from 1, day from 1.
    pub(crate) date: (u64, u64, u64),
    pub(crate) hour: u64,
    pub(crate) minute: u64,
    pub(crate) second: u64,
    /// What is left below a second, ns.
    pub(crate) rest_ns: u64,
}

impl TimeOfDay {
    /// Of nanoseconds since 1970.
    pub(crate) fn of_ns(ns: u64) -> TimeOfDay {
        let (seconds, rest_ns) = (ns / 1_000_000_000, ns % 1_000_000_000);
        TimeOfDay {
            date: date(seconds / 86_400),
            hour: seconds / 3600 % 24,
            minute: seconds / 60 % 60,
            second: seconds % 60,
            rest_ns,
        }
    }

    /// As RFC 3339 writes it.
    pub(crate) fn rfc3339(self) -> String {
        let TimeOfDay { date: (year, month, day), hour, minute, second, rest_ns } = self;
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{rest_ns:09}Z")
    }
}

/// Year, month and day of a number of days since 1970. A u64 of nanoseconds ends in the year 2554.
fn date(mut days: u64) -> (u64, u64, u64) {
    let is_leap = |year: u64| year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected: `date -u -d @SECONDS --iso-8601=seconds`.
    #[test]
    fn times_of_day() {
        let at = |secs: u64| TimeOfDay::of_ns(secs * 1_000_000_000 + 42).rfc3339();
        assert_eq!(at(0), "1970-01-01T00:00:00.000000042Z");
        assert_eq!(at(951_782_399), "2000-02-28T23:59:59.000000042Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00.000000042Z");
        assert_eq!(at(1_795_249_247), "2026-11-21T08:20:47.000000042Z");
        assert_eq!(at(1_798_761_599), "2026-12-31T23:59:59.000000042Z");
        assert_eq!(at(4_107_542_400), "2100-03-01T00:00:00.000000042Z");
        assert_eq!(TimeOfDay::of_ns(u64::MAX).rfc3339(), "2554-07-21T23:34:33.709551615Z");
    }
}
