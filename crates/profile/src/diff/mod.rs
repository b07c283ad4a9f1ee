//! What changed between recordings: by function, binary, thread name or source line.
//!
//! Rows are matched by name, so that addresses may have moved; names of binaries and threads may differ ([`crate::matching`]). Every value is a share of its recording (or a rate, or the
//! number itself), so that recordings of different length compare. Whether a change is more than noise is said by a test:
//! with several recordings on both sides Welch's t-test on their values; with several on one side only Student's t-test and one
//! on the counts of samples, of which the greater p counts. With one recording on each side nobody knows how much runs differ,
//! and that on counts only tells the least that chance can be: of two proportions where shares are compared, of two sums where the
//! values themselves are. Many rows are tested at once; the p values are adjusted for that (Benjamini and Hochberg, 1995).

mod tally;

pub use tally::{DiffKey, Tally};

use crate::chance::{float, moments, proportions, student, sums, welch};
use crate::matching::{Matching, Side};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use tally::Count;

/// What values are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Normalize {
    /// Share of the event's period, in percent.
    #[default]
    Total,
    /// Share of the event's samples, in percent.
    Samples,
    /// Period for each second of the recording.
    Time,
    /// Period as it is.
    Nothing,
}

/// How sure a change is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// Mean over the recordings of a side.
    pub mean: f64,
    /// Standard deviation over them; 0 of one recording.
    pub deviation: f64,
}

/// What became of a row or an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// On both sides.
    Both,
    /// Only in the new recordings.
    New,
    /// Only in the old ones.
    Gone,
}

impl Presence {
    /// Of what has so many samples before and after; on both sides, too, if there are none at all.
    fn of(samples: (u64, u64)) -> Presence {
        match samples {
            (0, 1..) => Presence::New,
            (1.., 0) => Presence::Gone,
            _ => Presence::Both,
        }
    }
}

/// A row of the comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct DiffRow {
    /// The keys, in the order asked for.
    pub key: Vec<String>,
    /// Value before.
    pub base: Spread,
    /// Value after.
    pub new: Spread,
    /// Samples before and after, all recordings of a side together.
    pub samples: (u64, u64),
    /// Probability that a change like this, or a greater one, is chance; adjusted for the number of rows. Where the spread between
    /// runs is not known ([`Comparison::spread_known`]), it is at least this. `None` where nothing can be said.
    pub p: Option<f64>,
    /// On which sides it is.
    pub presence: Presence,
}

impl DiffRow {
    /// After minus before.
    pub fn delta(&self) -> f64 {
        self.new.mean - self.base.mean
    }

    /// After by before; infinite for what is new. Nothing after nothing is no change.
    pub fn ratio(&self) -> f64 {
        if self.new.mean == self.base.mean { 1.0 } else { self.new.mean / self.base.mean }
    }

    /// Weighted difference: after and before, each with its weight.
    pub fn weighted(&self, (base, new): (f64, f64)) -> f64 {
        self.new.mean * new - self.base.mean * base
    }
}

/// The comparison of one event.
#[derive(Clone, Debug, PartialEq)]
pub struct EventDiff {
    /// Its name.
    pub event: String,
    /// The totals before and after, in the units of the rows.
    pub total: (Spread, Spread),
    /// The periods before and after, each the mean over the recordings of its side; in a second if rates are compared.
    pub periods: (f64, f64),
    /// The samples before and after, all recordings of a side together.
    pub samples: (u64, u64),
    /// The rows, the greatest change first; ties by key.
    pub rows: Vec<DiffRow>,
}

impl EventDiff {
    /// On which sides it has samples.
    pub fn presence(&self) -> Presence {
        Presence::of(self.samples)
    }

    /// A change as a percentage of the total before; of the total after where there was nothing before.
    pub fn percent_of_base(&self, delta: f64) -> f64 {
        let (base, new) = (self.total.0.mean, self.total.1.mean);
        let total = if base > 0.0 { base } else { new };
        if total > 0.0 { delta * 100.0 / total } else { 0.0 }
    }
}

/// What came of comparing recordings.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Each event of either side, by name.
    pub events: Vec<EventDiff>,
    /// How many recordings there are before and after.
    pub recordings: (usize, usize),
    /// Names of binaries and threads that were taken for one.
    pub matching: Matching,
}

impl Comparison {
    /// Whether it is known how much runs differ: a side has several recordings.
    pub fn spread_known(&self) -> bool {
        self.recordings.0 > 1 || self.recordings.1 > 1
    }
}

/// Compares recordings, event by event.
pub fn compare(base: &[Tally], new: &[Tally], normalize: Normalize) -> Comparison {
    let side = |tallies: &[Tally]| {
        tallies.iter().fold(Side::default(), |mut side, tally| {
            side.add(&tally.names);
            side
        })
    };
    let matching = Matching::of(&side(base), &side(new));
    let before = base.iter().flat_map(Tally::events).map(|event| matching.event(event));
    let mut events: Vec<&str> = before.chain(new.iter().flat_map(Tally::events)).collect();
    events.sort_unstable();
    events.dedup();
    let of_event = |event: &str| compare_event((base, &matching), new, normalize, event);
    let events = events.into_iter().map(of_event).collect();
    Comparison { events, recordings: (base.len(), new.len()), matching }
}

/// A recording, an event as it is called there, and the rows of it.
struct Rows<'t> {
    tally: &'t Tally,
    event: &'t str,
    rows: FxHashMap<Vec<String>, Count>,
}

impl<'t> Rows<'t> {
    /// Those of each recording of a side; names are those that the matching gives them.
    fn of(side: &'t [Tally], matching: &Matching, event: &'t str) -> Vec<Rows<'t>> {
        let of_tally = |tally: &'t Tally| {
            let own = tally.events().find(|own| matching.event(own) == event).unwrap_or(event);
            Rows { tally, event: own, rows: tally.rows_of(own, matching) }
        };
        side.iter().map(of_tally).collect()
    }

    fn value(&self, count: Count, normalize: Normalize) -> f64 {
        self.tally.value(self.event, count, normalize)
    }

    fn total(&self) -> Count {
        self.tally.total(self.event)
    }
}

fn compare_event(
    (base, matching): (&[Tally], &Matching),
    new: &[Tally],
    normalize: Normalize,
    event: &str,
) -> EventDiff {
    let before = Rows::of(base, matching, event);
    let after = Rows::of(new, &Matching::default(), event);
    let mut keys: Vec<&Vec<String>> = before.iter().chain(&after).flat_map(|of| of.rows.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let values = |side: &[Rows<'_>], count: &dyn Fn(&Rows<'_>) -> Count| -> Vec<f64> {
        side.iter().map(|rows| rows.value(count(rows), normalize)).collect()
    };
    let sum = |side: &[Rows<'_>], count: &dyn Fn(&Rows<'_>) -> Count| {
        side.iter().map(|rows| count(rows).samples).sum()
    };
    let total = |of: &Rows<'_>| of.total();
    let totals: (u64, u64) = (sum(&before, &total), sum(&after, &total));
    let mut rows: Vec<DiffRow> = keys
        .into_iter()
        .map(|key| {
            let count = |of: &Rows<'_>| of.rows.get(key).copied().unwrap_or_default();
            let samples: (u64, u64) = (sum(&before, &count), sum(&after, &count));
            let (before, after) = (values(&before, &count), values(&after, &count));
            let (before_spread, after_spread) = (spread(&before), spread(&after));
            let counts = || match normalize {
                Normalize::Total | Normalize::Samples => proportions(samples, totals),
                Normalize::Time | Normalize::Nothing => {
                    sums((before_spread.mean, after_spread.mean), samples, totals)
                }
            };
            let p = match (before.len(), after.len()) {
                (2.., 2..) => welch(&before, &after),
                // A change has to be more than what recordings of one side differ by, and more than what few samples can tell.
                (2.., _) | (_, 2..) => greater(student(&before, &after), counts()),
                _ => counts(),
            };
            let presence = Presence::of(samples);
            DiffRow { key: key.clone(), base: before_spread, new: after_spread, samples, p, presence }
        })
        .collect();
    adjust(&mut rows);
    let by_change = |a: &DiffRow, b: &DiffRow| b.delta().abs().total_cmp(&a.delta().abs());
    rows.sort_by(|a, b| by_change(a, b).then_with(|| a.key.cmp(&b.key)));
    let periods = |side: &[Rows<'_>]| {
        let unit = if normalize == Normalize::Time { Normalize::Time } else { Normalize::Nothing };
        let periods: Vec<f64> = side.iter().map(|rows| rows.value(total(rows), unit)).collect();
        spread(&periods).mean
    };
    EventDiff {
        event: event.to_owned(),
        total: (spread(&values(&before, &total)), spread(&values(&after, &total))),
        periods: (periods(&before), periods(&after)),
        samples: totals,
        rows,
    }
}

/// The greater of two p values; nothing is said by one that is missing.
fn greater(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.max(other)),
        (one, other) => one.or(other),
    }
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { float(part) * 100.0 / float(whole) }
}

fn spread(values: &[f64]) -> Spread {
    if values.is_empty() {
        return Spread::default();
    }
    let (_, mean, variance) = moments(values);
    Spread { mean, deviation: variance.sqrt() }
}

/// Benjamini and Hochberg's step-up procedure: the adjusted values can be compared with the level wanted.
fn adjust(rows: &mut [DiffRow]) {
    let mut order: Vec<usize> =
        (0..rows.len()).filter(|nr| rows.get(*nr).is_some_and(|row| row.p.is_some())).collect();
    let p = |rows: &[DiffRow], nr: usize| rows.get(nr).and_then(|row| row.p).unwrap_or(1.0);
    order.sort_by(|a, b| p(rows, *b).partial_cmp(&p(rows, *a)).unwrap_or(Ordering::Equal));
    let count = float(order.len() as u64);
    let mut least = 1.0f64;
    for (from_last, nr) in order.iter().enumerate() {
        let rank = count - float(from_last as u64);
        least = least.min(p(rows, *nr) * count / rank);
        if let Some(row) = rows.get_mut(*nr) {
            row.p = Some(least);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_after_nothing_is_no_change() {
        let spread = |mean: f64| Spread { mean, deviation: 0.0 };
        let row = |base: f64, new: f64| DiffRow {
            key: Vec::new(),
            base: spread(base),
            new: spread(new),
            samples: (1, 1),
            p: None,
            presence: Presence::Both,
        };
        assert_eq!([row(0.0, 0.0).ratio(), row(2.0, 1.0).ratio()], [1.0, 0.5]);
        assert_eq!(row(0.0, 1.0).ratio(), f64::INFINITY);
    }

    /// Expected: scipy.stats.false_discovery_control([0.01, 0.04, 0.03, 0.5]).
    #[test]
    fn many_tests_are_adjusted_for() {
        let row = |p: f64| DiffRow {
            key: Vec::new(),
            base: Spread::default(),
            new: Spread::default(),
            samples: (1, 1),
            p: Some(p),
            presence: Presence::Both,
        };
        let mut rows: Vec<DiffRow> = [0.01, 0.04, 0.03, 0.5].map(row).into();
        adjust(&mut rows);
        for (row, expected) in rows.iter().zip([0.04, 0.053_333_333, 0.053_333_333, 0.5]) {
            assert!((row.p.unwrap() - expected).abs() < 1e-6, "{row:?}");
        }
    }
}
