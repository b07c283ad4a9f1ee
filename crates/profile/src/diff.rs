//! What changed between recordings: by function, binary, thread name or source line.
//!
//! Rows are matched by name, so that addresses may have moved. Every value is a share of its recording (or a rate, or the
//! number itself), so that recordings of different length compare. Whether a change is more than noise is said by a test:
//! with several recordings on both sides Welch's t-test on their values; with one on each a test on the counts of samples, of
//! two proportions where shares are compared, of two sums where the values themselves are; with several on one side only
//! Student's t-test and that on counts, of which the greater p counts. Many rows are tested at once; the p
//! values are adjusted for that (Benjamini and Hochberg, 1995).

use crate::chance::{float, moments, proportions, student, sums, welch};
use crate::profile::Profile;
use readperf_session::Session;
use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// What makes two rows the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DiffKey {
    /// Thread name.
    Comm,
    /// Short name of the binary.
    Dso,
    /// Function.
    Function,
    /// Source file and line.
    SourceLine,
}

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

/// A row's numbers in one recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    samples: u64,
    period: u64,
}

/// The numbers of one recording, by event and key.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    rows: FxHashMap<(String, Vec<String>), Count>,
    totals: BTreeMap<String, Count>,
    seconds: f64,
}

impl Tally {
    /// Adds up a profile by these keys. `seconds` is how long was recorded.
    pub fn of(profile: &Profile, session: &Session, keys: &[DiffKey], seconds: f64) -> Tally {
        let mut tally = Tally { seconds, ..Tally::default() };
        for row in profile.rows() {
            let Some(event) = profile.events().get(row.event as usize) else { continue };
            let key = keys.iter().map(|key| key.of(profile, session, row)).collect();
            let count = tally.rows.entry((event.name.clone(), key)).or_default();
            count.add(row.samples, row.period);
            tally.totals.entry(event.name.clone()).or_default().add(row.samples, row.period);
        }
        tally
    }

    fn value(&self, event: &str, count: Count, normalize: Normalize) -> f64 {
        let total = self.totals.get(event).copied().unwrap_or_default();
        match normalize {
            Normalize::Total => percent(count.period, total.period),
            Normalize::Samples => percent(count.samples, total.samples),
            Normalize::Time if self.seconds > 0.0 => float(count.period) / self.seconds,
            Normalize::Time | Normalize::Nothing => float(count.period),
        }
    }
}

impl Count {
    fn add(&mut self, samples: u64, period: u64) {
        self.samples += samples;
        self.period = self.period.saturating_add(period);
    }
}

impl DiffKey {
    fn of(self, profile: &Profile, session: &Session, row: &crate::SampleRow) -> String {
        let lossy = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let names = profile.names();
        let dso = || {
            let binary = profile.addresses().get(row.address).and_then(|code| session.binary(code.binary?));
            binary.map_or_else(|| "[unknown]".to_owned(), |binary| lossy(&binary.short_name))
        };
        match self {
            DiffKey::Comm => lossy(session.comm(row.comm)),
            DiffKey::Dso => dso(),
            DiffKey::Function => {
                let function = names.function_at(row.address).and_then(|id| profile.function(id));
                // Addresses without a name move: what lies in one binary is one row.
                function
                    .and_then(|function| Some(function.name()?.to_owned()))
                    .unwrap_or_else(|| format!("[{}]", dso()))
            }
            DiffKey::SourceLine => match names.frames_at(row.address).first() {
                Some(frame) if frame.file.is_some() => {
                    let file = frame.file.and_then(|file| names.file(file)).unwrap_or_default();
                    format!("{file}:{}", frame.line)
                }
                _ => DiffKey::Function.of(profile, session, row),
            },
        }
    }
}

/// How sure a change is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// Mean over the recordings of a side.
    pub mean: f64,
    /// Standard deviation over them; 0 of one recording.
    pub deviation: f64,
}

/// What became of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// On both sides.
    Both,
    /// Only in the new recordings.
    New,
    /// Only in the old ones.
    Gone,
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
    /// Probability that a change like this, or a greater one, is chance; adjusted for the number of rows. `None` where
    /// nothing can be said.
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
    /// The rows, the greatest change first; ties by key.
    pub rows: Vec<DiffRow>,
}

impl EventDiff {
    /// A change as a percentage of the total before; of the total after where there was nothing before.
    pub fn percent_of_base(&self, delta: f64) -> f64 {
        let (base, new) = (self.total.0.mean, self.total.1.mean);
        let total = if base > 0.0 { base } else { new };
        if total > 0.0 { delta * 100.0 / total } else { 0.0 }
    }
}

/// Compares recordings, event by event. Events are those of either side, by name.
pub fn compare(base: &[Tally], new: &[Tally], normalize: Normalize) -> Vec<EventDiff> {
    let mut events: Vec<&str> =
        base.iter().chain(new).flat_map(|tally| tally.totals.keys().map(String::as_str)).collect();
    events.sort_unstable();
    events.dedup();
    events.into_iter().map(|event| compare_event(base, new, normalize, event)).collect()
}

fn compare_event(base: &[Tally], new: &[Tally], normalize: Normalize, event: &str) -> EventDiff {
    let mut keys: Vec<&Vec<String>> = base
        .iter()
        .chain(new)
        .flat_map(|tally| tally.rows.keys().filter(|(of, _)| of == event).map(|(_, key)| key))
        .collect();
    keys.sort_unstable();
    keys.dedup();
    let values = |side: &[Tally], count: &dyn Fn(&Tally) -> Count| -> Vec<f64> {
        side.iter().map(|tally| tally.value(event, count(tally), normalize)).collect()
    };
    let total = |tally: &Tally| tally.totals.get(event).copied().unwrap_or_default();
    let sum =
        |side: &[Tally], count: &dyn Fn(&Tally) -> Count| side.iter().map(|tally| count(tally).samples).sum();
    let totals: (u64, u64) = (sum(base, &total), sum(new, &total));
    let mut rows: Vec<DiffRow> = keys
        .into_iter()
        .map(|key| {
            let wanted = (event.to_owned(), key.clone());
            let count = |tally: &Tally| tally.rows.get(&wanted).copied().unwrap_or_default();
            let (before, after) = (values(base, &count), values(new, &count));
            let samples: (u64, u64) = (sum(base, &count), sum(new, &count));
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
            let presence = match samples {
                (0, _) => Presence::New,
                (_, 0) => Presence::Gone,
                _ => Presence::Both,
            };
            DiffRow { key: key.clone(), base: before_spread, new: after_spread, samples, p, presence }
        })
        .collect();
    adjust(&mut rows);
    let by_change = |a: &DiffRow, b: &DiffRow| b.delta().abs().total_cmp(&a.delta().abs());
    rows.sort_by(|a, b| by_change(a, b).then_with(|| a.key.cmp(&b.key)));
    let total = (spread(&values(base, &total)), spread(&values(new, &total)));
    EventDiff { event: event.to_owned(), total, rows }
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
