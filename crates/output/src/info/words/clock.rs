//! Clocks and times in words.

use super::page::Page;
use crate::text::{grouped, seconds};
use perffile::wire::feature::clock_data::ClockData;
use perffile::wire::feature::clockid::Clockid;
use perffile::wire::feature::sample_time::SampleTime;

/// Names of the kernel's clocks (`linux/time.h`), by number.
const CLOCKS: [&str; 12] = [
    "CLOCK_REALTIME",
    "CLOCK_MONOTONIC",
    "CLOCK_PROCESS_CPUTIME_ID",
    "CLOCK_THREAD_CPUTIME_ID",
    "CLOCK_MONOTONIC_RAW",
    "CLOCK_REALTIME_COARSE",
    "CLOCK_MONOTONIC_COARSE",
    "CLOCK_BOOTTIME",
    "CLOCK_REALTIME_ALARM",
    "CLOCK_BOOTTIME_ALARM",
    "CLOCK_SGI_CYCLE",
    "CLOCK_TAI",
];

/// A clock by its name.
pub(super) fn clock_name(number: i64) -> String {
    let known = usize::try_from(number).ok().and_then(|number| CLOCKS.get(number));
    known.map_or_else(|| format!("clock {number}"), |name| (*name).to_owned())
}

/// Times of the first and the last sample, and what lies between.
pub(super) fn sample_time(page: &mut Page, name: &str, times: &SampleTime) {
    if (times.first, times.last) == (0, 0) {
        return page.fact(name, "not noted");
    }
    let span = times.last.checked_sub(times.first).map(|span| format!(" ({})", duration(span)));
    let (first, last) = (seconds(times.first), seconds(times.last));
    page.fact(name, format!("{first} s to {last} s{}", span.unwrap_or_default()));
}

/// How fine the clock is.
pub(super) fn resolution(page: &mut Page, name: &str, clock: &Clockid) {
    page.fact(name, format!("resolution {} ns", grouped(clock.resolution_ns)));
}

/// Which clock, and which time of day its times are.
pub(super) fn data(page: &mut Page, name: &str, clock: ClockData, samples: Option<SampleTime>) {
    let clock_time = seconds(clock.clockid_time_ns);
    let reference = format!(
        "{}: {clock_time} s was {}",
        clock_name(i64::from(clock.clockid)),
        rfc3339(clock.wall_clock_ns)
    );
    let first = samples.filter(|times| (times.first, times.last) != (0, 0));
    let first = first.and_then(|times| clock.wall_clock_of(times.first));
    page.facts(
        name,
        [reference].into_iter().chain(first.map(|ns| format!("first sample at {}", rfc3339(ns)))),
    );
}

/// A span of time with a unit that suits it, to the nearest thousandth of that.
fn duration(ns: u64) -> String {
    let (thousandth, unit) = match ns {
        0..1_000 => return format!("{ns} ns"),
        1_000..1_000_000 => (1, "µs"),
        1_000_000..1_000_000_000 => (1_000, "ms"),
        _ => (1_000_000, "s"),
    };
    let rounded = ns.saturating_add(thousandth / 2) / thousandth;
    format!("{}.{:03} {unit}", grouped(rounded / 1000), rounded % 1000)
}

/// A time of day, ns since 1970 UTC, as RFC 3339 writes it.
fn rfc3339(ns: u64) -> String {
    let (secs, fraction) = (ns / 1_000_000_000, ns % 1_000_000_000);
    let (year, month, day) = date(secs / 86_400);
    let (hour, minute, second) = (secs / 3600 % 24, secs / 60 % 60, secs % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:09}Z")
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
        let at = |secs: u64| rfc3339(secs * 1_000_000_000 + 42);
        assert_eq!(at(0), "1970-01-01T00:00:00.000000042Z");
        assert_eq!(at(951_782_399), "2000-02-28T23:59:59.000000042Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00.000000042Z");
        assert_eq!(at(1_795_249_247), "2026-11-21T08:20:47.000000042Z");
        assert_eq!(at(1_798_761_599), "2026-12-31T23:59:59.000000042Z");
        assert_eq!(at(4_107_542_400), "2100-03-01T00:00:00.000000042Z");
        assert_eq!(rfc3339(u64::MAX), "2554-07-21T23:34:33.709551615Z");
    }

    #[test]
    fn durations_have_units() {
        let spans = [7, 62_857_653, 1_500, 3_723_004_000_000].map(duration);
        assert_eq!(spans, ["7 ns", "62.858 ms", "1.500 µs", "3,723.004 s"]);
    }
}
