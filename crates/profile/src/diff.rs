//! What changed between recordings: by function, binary, thread name or source line.
//!
//! Rows are matched by name, so that addresses may have moved. Every value is a share of its recording (or a rate, or the
//! number itself), so that recordings of different length compare. Whether a change is more than noise is said by a test:
//! with several recordings on both sides Welch's t-test on their values, else a test of two proportions on the counts of
//! samples. Many rows are tested at once; the p values are adjusted for that (Benjamini and Hochberg, 1995).

use crate::profile::Profile;
use readperf_session::Session;
use rustc_hash::FxHashMap;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
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

    /// After by before; infinite for what is new.
    pub fn ratio(&self) -> f64 {
        self.new.mean / self.base.mean
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
            let p = if before.len() > 1 && after.len() > 1 {
                welch(&before, &after)
            } else {
                proportions(samples, totals)
            };
            let presence = match samples {
                (0, _) => Presence::New,
                (_, 0) => Presence::Gone,
                _ => Presence::Both,
            };
            DiffRow { key: key.clone(), base: spread(&before), new: spread(&after), samples, p, presence }
        })
        .collect();
    adjust(&mut rows);
    let by_change = |a: &DiffRow, b: &DiffRow| b.delta().abs().total_cmp(&a.delta().abs());
    rows.sort_by(|a, b| by_change(a, b).then_with(|| a.key.cmp(&b.key)));
    let total = (spread(&values(base, &total)), spread(&values(new, &total)));
    EventDiff { event: event.to_owned(), total, rows }
}

/// Counts beyond 2^53 lose digits that no comparison shows.
#[allow(clippy::cast_precision_loss)]
fn float(count: u64) -> f64 {
    count as f64
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { float(part) * 100.0 / float(whole) }
}

fn spread(values: &[f64]) -> Spread {
    let count = float(values.len() as u64);
    if values.is_empty() {
        return Spread::default();
    }
    let mean = values.iter().sum::<f64>() / count;
    Spread { mean, deviation: variance(values, mean).sqrt() }
}

/// Of the sample, that is by one less than its size.
fn variance(values: &[f64], mean: f64) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / float(values.len() as u64 - 1)
}

/// Welch's t-test, both sides.
fn welch(before: &[f64], after: &[f64]) -> Option<f64> {
    let side = |values: &[f64]| {
        let count = float(values.len() as u64);
        let mean = values.iter().sum::<f64>() / count;
        (mean, variance(values, mean) / count, count)
    };
    let ((m1, v1, n1), (m2, v2, n2)) = (side(before), side(after));
    let error = v1 + v2;
    if error == 0.0 {
        // No spread at all: equal, or certainly different.
        return Some(if m1 == m2 { 1.0 } else { 0.0 });
    }
    let freedom = error.powi(2) / (v1.powi(2) / (n1 - 1.0) + v2.powi(2) / (n2 - 1.0));
    let t = (m2 - m1) / error.sqrt();
    let distribution = StudentsT::new(0.0, 1.0, freedom).ok()?;
    Some(2.0 * distribution.cdf(-t.abs()))
}

/// The test of two proportions, both sides: how often the row was met among all samples of the event.
fn proportions(met: (u64, u64), of: (u64, u64)) -> Option<f64> {
    if of.0 == 0 || of.1 == 0 {
        return None;
    }
    let (x1, x2, n1, n2) = (float(met.0), float(met.1), float(of.0), float(of.1));
    let pooled = (x1 + x2) / (n1 + n2);
    let error = (pooled * (1.0 - pooled) * (1.0 / n1 + 1.0 / n2)).sqrt();
    if error == 0.0 {
        return Some(1.0);
    }
    let z = (x2 / n2 - x1 / n1) / error;
    Some(2.0 * Normal::standard().cdf(-z.abs()))
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

    fn near(found: Option<f64>, expected: f64) {
        let found = found.unwrap();
        assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
    }

    /// Expected: scipy.stats.ttest_ind(before, after, equal_var=False), version 1.17.
    #[test]
    fn welch_is_as_scipy_has_it() {
        near(welch(&[10.1, 9.8, 10.3, 10.0], &[11.0, 11.4, 10.9, 11.2, 11.1]), 0.000_168_321_325_632_678_05);
        near(welch(&[10.1, 9.8, 10.3], &[10.0, 10.2, 9.9]), 0.855_992_823_711_503_3);
        assert_eq!(welch(&[1.0, 1.0], &[1.0, 1.0]), Some(1.0));
        assert_eq!(welch(&[1.0, 1.0], &[2.0, 2.0]), Some(0.0));
    }

    /// Expected: the formula of the test of two proportions, evaluated with Python's statistics.NormalDist.
    #[test]
    fn proportions_are_as_python_has_them() {
        near(proportions((50, 80), (1000, 1000)), 0.006_506_597_483_637_799);
        near(proportions((50, 52), (1000, 1000)), 0.838_915_399_770_158_6);
        assert_eq!(proportions((0, 5), (0, 100)), None);
        assert_eq!(proportions((100, 100), (100, 100)), Some(1.0));
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
            near(row.p, expected);
        }
    }
}
