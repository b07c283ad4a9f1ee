//! Numbers in sentences.

pub(crate) use crate::grouped::{counted as count, grouped};

/// The form of a verb or a pronoun that fits a number.
pub(crate) fn plural<'w>(number: u64, one: &'w str, many: &'w str) -> &'w str {
    if number == 1 { one } else { many }
}

/// A part of a whole, from 0 to 1; 0 of nothing.
pub(crate) fn part(number: u64, whole: u64) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    // Counts beyond 2^53 lose digits that a share does not show.
    #[allow(clippy::cast_precision_loss)]
    let part = number as f64 / whole as f64;
    part.min(1.0)
}

/// A share in percent, small ones not rounded to nothing.
pub(crate) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 0.1 { "less than 0.1 %".to_owned() } else { format!("{percent:.1} %") }
}

/// A stretch of time with a fitting unit.
pub(crate) fn duration(ns: u64) -> String {
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{}.{} µs", ns / 1_000, ns % 1_000 / 100),
        1_000_000..1_000_000_000 => format!("{}.{} ms", ns / 1_000_000, ns % 1_000_000 / 100_000),
        _ => format!("{}.{:02} s", ns / 1_000_000_000, ns % 1_000_000_000 / 10_000_000),
    }
}

/// Names in a sentence: all of a few, else the first ones and how many more.
pub(crate) fn list(names: &[String]) -> String {
    const MOST: usize = 3;
    let shown = names.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts() {
        assert_eq!(count(1, "sample"), "1 sample");
        assert_eq!(count(0, "sample"), "0 samples");
        assert_eq!(count(1_234_567, "record"), "1,234,567 records");
        assert_eq!(count(123, "record"), "123 records");
    }

    #[test]
    fn shares() {
        assert_eq!(percent(part(1, 8)), "12.5 %");
        assert_eq!(percent(part(1, 1_000_000)), "less than 0.1 %");
        assert_eq!(percent(part(0, 0)), "0.0 %");
    }

    #[test]
    fn durations() {
        assert_eq!(duration(999), "999 ns");
        assert_eq!(duration(1_500), "1.5 µs");
        assert_eq!(duration(12_340_000), "12.3 ms");
        assert_eq!(duration(61_050_000_000), "61.05 s");
    }

    #[test]
    fn lists_are_cut() {
        let names = ["a", "b", "c", "d", "e"].map(str::to_owned);
        assert_eq!(list(&names), "a, b, c and 2 more");
        assert_eq!(list(&names[..2]), "a, b");
    }
}
