//! Clocks and times in words.

use super::page::Page;
use crate::calendar::rfc3339;
use crate::text::{grouped, seconds};
use perffile::wire::feature::clock_data::ClockData;
use perffile::wire::feature::clockid::Clockid;
use perffile::wire::feature::sample_time::SampleTime;

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
    let reference = format!("{}: {clock_time} s was {}", clock.clockid, rfc3339(clock.wall_clock_ns));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        let spans = [7, 62_857_653, 1_500, 3_723_004_000_000].map(duration);
        assert_eq!(spans, ["7 ns", "62.858 ms", "1.500 µs", "3,723.004 s"]);
    }
}
