//! A range of time as users write it.

use anyhow::bail;
use perffile::wire::feature::{Feature, bit};
use perffile::wire::record::kind;
use perffile::{Container, Ordering, Recording};
use std::num::NonZeroU64;
use std::ops::RangeInclusive;

const SECOND_NS: u64 = 1_000_000_000;

/// Percentages are kept in this many parts of the whole: a hundredth of a percent.
const PARTS: u64 = 10_000;

/// A range of time, of the recording's clock or in parts of its length. Both ends belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeRange {
    /// From and to, ns.
    Absolute(u64, u64),
    /// From and to, in ten-thousandths of the time between first and last sample.
    Parts(u64, u64),
}

/// A range of time in ns of the recording's clock; both ends belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Times {
    first_ns: u64,
    last_ns: u64,
}

impl Times {
    /// First and last time, ns.
    pub(crate) fn range(self) -> RangeInclusive<u64> {
        self.first_ns..=self.last_ns
    }

    /// Whether a time lies in it.
    pub(crate) fn contains(self, time_ns: u64) -> bool {
        self.range().contains(&time_ns)
    }
}

impl TimeRange {
    /// `12.5,13.75`, `12.5-13.75`, `12500000000ns,`, `,13`, `10%-20%`, `10%` (the first tenth), `10%/2` (the second tenth).
    pub(crate) fn parse(text: &str) -> Result<TimeRange, String> {
        let range = match (text.split_once(','), text.split_once('/'), text.split_once('-')) {
            (Some((from, to)), ..) => TimeRange::Absolute(time(from, 0)?, time(to, u64::MAX)?),
            (None, Some((part, number)), _) => slice(part, number)?,
            (None, None, Some((from, to))) if !text.contains('%') => {
                TimeRange::Absolute(time(from, 0)?, time(to, u64::MAX)?)
            }
            (None, None, Some((from, to))) => TimeRange::Parts(parts(from, 0)?, parts(to, PARTS)?),
            // As for perf, a part alone is the first one.
            (None, None, None) if text.trim_end().ends_with('%') => TimeRange::Parts(0, parts(text, PARTS)?),
            (None, None, None) => {
                return Err("expected FROM,TO or FROM-TO in seconds, FROM%-TO%, PERCENT% or PERCENT%/NUMBER"
                    .to_owned());
            }
        };
        let (TimeRange::Absolute(from, to) | TimeRange::Parts(from, to)) = range;
        if from > to { Err("that range ends before it begins".to_owned()) } else { Ok(range) }
    }

    /// The range in the time of a recording.
    pub(crate) fn times(self, recording: &Recording) -> anyhow::Result<Times> {
        let (from, to) = match self {
            TimeRange::Absolute(first_ns, last_ns) => return Ok(Times { first_ns, last_ns }),
            TimeRange::Parts(from, to) => (from, to),
        };
        let (first_ns, last_ns) = match told_times(recording) {
            Some(told) => told,
            None => met_times(recording)?,
        };
        let length = u128::from(last_ns.saturating_sub(first_ns));
        let at = |part: u64| {
            let share = length * u128::from(part) / u128::from(PARTS);
            first_ns.saturating_add(u64::try_from(share).unwrap_or(u64::MAX))
        };
        // What begins where another range ends belongs to that one alone.
        let last_ns = if to < PARTS && to > from { at(to).saturating_sub(1) } else { at(to) };
        Ok(Times { first_ns: at(from), last_ns: last_ns.max(at(from)) })
    }
}

/// Several ranges in one word: `0%-10%,30%-40%`, `10%/1,10%/3`, `1-2,5-6`, `1,2 5,6`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TimeRanges(Vec<TimeRange>);

impl TimeRanges {
    /// Ranges are separated by commas or spaces; those that have a comma themselves by spaces.
    pub(crate) fn parse(text: &str) -> Result<TimeRanges, String> {
        let separators: &[char] = if text.contains(['%', '-']) { &[',', ' '] } else { &[' '] };
        let words = text.split(separators).filter(|word| !word.is_empty());
        let ranges: Vec<TimeRange> = words.map(TimeRange::parse).collect::<Result<_, _>>()?;
        if ranges.is_empty() {
            TimeRange::parse(text).map(|range| TimeRanges(vec![range]))
        } else {
            Ok(TimeRanges(ranges))
        }
    }

    /// The ranges.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &TimeRange> {
        self.0.iter()
    }
}

/// `10%/2`: the second tenth.
fn slice(part: &str, number: &str) -> Result<TimeRange, String> {
    let length = parts(part, PARTS)?;
    let bad = || format!("{number} is no number of a part: expected 1 or more, as far as there are any");
    let number: u64 = number.trim().parse().map_err(|_| bad())?;
    let to = length.checked_mul(number).filter(|to| *to <= PARTS && number > 0).ok_or_else(bad)?;
    Ok(TimeRange::Parts(to - length, to))
}

/// First and last sample as the feature SAMPLE_TIME tells them; both are 0 where perf did not look.
fn told_times(recording: &Recording) -> Option<(u64, u64)> {
    match recording.metadata().features.feature(bit::SAMPLE_TIME)?.ok()?.0 {
        Feature::SampleTime(times) if times.last > 0 => Some((times.first, times.last)),
        _ => None,
    }
}

/// First and last sample as they are met.
fn met_times(recording: &Recording) -> anyhow::Result<(u64, u64)> {
    if recording.metadata().container == Container::Pipe {
        bail!("a recording in pipe mode does not tell its length: give --time in seconds or nanoseconds");
    }
    let (mut first, mut last) = (u64::MAX, 0);
    for batch in recording.batches(Ordering::File)? {
        for time in
            batch.iter().filter(|event| event.head().kind == kind::SAMPLE).filter_map(|event| event.time())
        {
            first = first.min(time);
            last = last.max(time);
        }
    }
    Ok((first.min(last), last))
}

/// A length of time, in ns: `10s`, `500ms`, `2.5m`, or seconds without a unit.
pub(crate) fn length_ns(text: &str) -> Result<NonZeroU64, String> {
    const UNITS: [(&str, u64); 6] = [
        ("ns", 1),
        ("us", 1_000),
        ("ms", 1_000_000),
        ("s", SECOND_NS),
        ("m", 60 * SECOND_NS),
        ("h", 3_600 * SECOND_NS),
    ];
    let text = text.trim();
    let (number, unit) = UNITS
        .iter()
        .find_map(|(name, unit)| Some((text.strip_suffix(name)?, *unit)))
        .unwrap_or((text, SECOND_NS));
    let exact = match number.parse::<u64>() {
        Ok(whole) => whole.checked_mul(unit),
        // In billionths of the unit, so that none of the digits is lost.
        Err(_) => decimal(number, SECOND_NS).and_then(|billionths| {
            u64::try_from(u128::from(billionths) * u128::from(unit) / u128::from(SECOND_NS)).ok()
        }),
    };
    exact
        .and_then(NonZeroU64::new)
        .ok_or_else(|| format!("{text} is no length of time: expected 10s, 500ms, 2m, 1h or seconds"))
}

/// A time in seconds, or in ns with that suffix.
fn time(text: &str, default: u64) -> Result<u64, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(default);
    }
    let bad = || format!("{text} is no time: expected seconds as 12.5, or 12500000000ns");
    if let Some(ns) = text.strip_suffix("ns") {
        return ns.parse().map_err(|_| bad());
    }
    let text = text.strip_suffix('s').unwrap_or(text);
    decimal(text, SECOND_NS).ok_or_else(bad)
}

/// A percentage, in [`PARTS`].
fn parts(text: &str, default: u64) -> Result<u64, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(default);
    }
    let percent = text.strip_suffix('%').and_then(|number| decimal(number, PARTS / 100));
    percent
        .filter(|parts| *parts <= PARTS)
        .ok_or_else(|| format!("{text} is no percentage: expected 0% to 100%"))
}

/// A decimal number in units of `1 / unit`, where `unit` is a power of ten; digits below are cut.
fn decimal(text: &str, unit: u64) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty() && fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let (mut value, mut place) = (whole.checked_mul(unit)?, unit);
    for digit in fraction.bytes() {
        place /= 10;
        value = value.checked_add(u64::from(digit - b'0') * place)?;
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_nanoseconds_and_percent() {
        let parse = TimeRange::parse;
        assert_eq!(parse("12.5,13"), Ok(TimeRange::Absolute(12_500_000_000, 13_000_000_000)));
        assert_eq!(parse("2378.098024082,"), Ok(TimeRange::Absolute(2_378_098_024_082, u64::MAX)));
        assert_eq!(parse(",7ns"), Ok(TimeRange::Absolute(0, 7)));
        assert_eq!(parse("5-6.5"), Ok(TimeRange::Absolute(5_000_000_000, 6_500_000_000)));
        assert_eq!(parse("5-"), Ok(TimeRange::Absolute(5_000_000_000, u64::MAX)));
        assert_eq!(parse("7ns-9ns"), Ok(TimeRange::Absolute(7, 9)));
        assert_eq!(parse("10%-20.5%"), Ok(TimeRange::Parts(1000, 2050)));
        assert_eq!(parse("-100%"), Ok(TimeRange::Parts(0, 10_000)));
        assert_eq!(parse("30%"), Ok(TimeRange::Parts(0, 3000)));
        assert_eq!(parse("10%/2"), Ok(TimeRange::Parts(1000, 2000)));
        assert_eq!(parse("25%/4"), Ok(TimeRange::Parts(7500, 10_000)));
    }

    #[test]
    fn several_ranges_in_one_word() {
        let parse = |text| TimeRanges::parse(text).map(|ranges| ranges.0);
        assert_eq!(
            parse("0%-10%,30%-40%"),
            Ok(vec![TimeRange::Parts(0, 1000), TimeRange::Parts(3000, 4000)])
        );
        assert_eq!(parse("10%/1,10%/2").map(|ranges| ranges.len()), Ok(2));
        assert_eq!(
            parse("1,2 3,"),
            Ok(vec![
                TimeRange::Absolute(1_000_000_000, 2_000_000_000),
                TimeRange::Absolute(3_000_000_000, u64::MAX)
            ])
        );
        assert_eq!(
            parse("1-2,3-"),
            Ok(vec![
                TimeRange::Absolute(1_000_000_000, 2_000_000_000),
                TimeRange::Absolute(3_000_000_000, u64::MAX)
            ])
        );
        assert!(parse("").is_err());
        assert!(parse("10%/1,x").is_err());
    }

    #[test]
    fn lengths_of_time() {
        let ns = |text| length_ns(text).map(NonZeroU64::get);
        assert_eq!(ns("10s"), Ok(10 * SECOND_NS));
        assert_eq!(ns("0.25"), Ok(SECOND_NS / 4));
        assert_eq!(ns("2.5m"), Ok(150 * SECOND_NS));
        assert_eq!(ns("1h"), Ok(3_600 * SECOND_NS));
        assert_eq!(ns("1.5ms"), Ok(1_500_000));
        assert_eq!((ns("3us"), ns("27803002273ns")), (Ok(3_000), Ok(27_803_002_273)));
        for bad in ["", "0", "0s", "x", "s", "-1s", "0.1ns", "10 parsecs", "99999999999h"] {
            assert!(ns(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_no_range() {
        for bad in [
            "",
            "5",
            "2,1",
            "x,1",
            "1,2x",
            "6-5",
            "5%-6",
            "20%-10%",
            "10%-200%",
            "1.x-2",
            "99999999999999999999,",
            ".,1",
            "10%/0",
            "50%/3",
            "10/2",
        ] {
            assert!(TimeRange::parse(bad).is_err(), "{bad}");
        }
    }
}
