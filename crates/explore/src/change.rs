//! What has changed since another recording, row by row.

use crate::rows::Rows;
use crate::state::{State, Step, follow};
use readperf_analysis::Analysis;
use readperf_profile::diff::{DiffKey, DiffRow, Normalize, Presence, Tally, compare};
use readperf_profile::frames::{UNKNOWN, unnamed};
use readperf_profile::matching::{Matching, Side, name_by_kind};
use readperf_profile::view::facts::Facts;
use readperf_profile::view::flame_tree::Sum;
use readperf_profile::view::histogram::RowKey;
use readperf_profile::{Profile, SampleFilter, Value, Weight};
use readperf_session::{BinaryId, Session};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// How a row was before. Shares are of the samples taken in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Its share before, in percent.
    pub before: f64,
    /// Its share now.
    pub now: f64,
    /// Probability that a change like this is chance, at the least; `None` where nothing can be said.
    pub p: Option<f64>,
    /// On which sides it is.
    pub presence: Presence,
}

impl Change {
    /// That which a row of a comparison says.
    pub fn of(row: &DiffRow) -> Change {
        Change { before: row.base.mean, now: row.new.mean, p: row.p, presence: row.presence }
    }

    /// How much it is, in points of percent, whichever way.
    pub fn size(&self) -> f64 {
        (self.now - self.before).abs()
    }
}

/// Code of one binary without names: addresses that are rows here, and are compared as one, since they move.
#[derive(Clone, Debug)]
pub struct Unnamed {
    /// What the row is called of which all these are, by its keys.
    pub key: Vec<String>,
    /// The rows, in their order.
    pub rows: Vec<RowKey>,
    /// How it has changed; nothing if no sample of this recording is in it.
    pub change: Option<Change>,
}

/// What has changed.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// The rows that have samples of their own, and names.
    pub rows: FxHashMap<RowKey, Change>,
    /// Rows of code without a name, by binary.
    pub unnamed: Vec<Unnamed>,
    /// What is no row any more, the greatest first.
    pub gone: Vec<DiffRow>,
    /// Names that differ and were taken for one, in a sentence.
    pub matched: Option<String>,
}

/// What the samples of an event add up to; nothing where there is no such event.
pub(crate) fn total_of(profile: &Profile, event: Option<usize>) -> Sum {
    let total = event.and_then(|event| profile.events().get(event));
    total.map_or_else(Sum::default, |total| Sum { period: total.period, samples: total.samples })
}

/// The event of the other recording that is this one.
pub(crate) fn event_of(base: &Profile, new: &Profile, event: usize) -> Option<usize> {
    Matching::of_events(base, new).event_before(base, &new.events().get(event)?.name)
}

/// The recording to compare with.
#[derive(Debug)]
pub(crate) struct Base {
    analysis: Analysis,
}

impl Base {
    pub(crate) fn new(analysis: Analysis) -> Base {
        Base { analysis }
    }

    /// Its processes.
    pub(crate) fn session(&self) -> &Session {
        &self.analysis.session
    }

    /// The samples of it that are looked at in a state: chosen as here, but for times and numbers of processes, threads and CPUs, which
    /// mean nothing there.
    pub(crate) fn chosen(&self, state: &State) -> Profile {
        let steps: Vec<Step> = state.steps.iter().map(elsewhere).collect();
        follow(&self.analysis.profile, &self.analysis.session, &steps, state.weight)
    }

    /// What names of it are called here, of what is looked at of both.
    pub(crate) fn matching(&self, base: &Profile, new: &Profile, session: &Session) -> Matching {
        Matching::of(&Side::of(base, &self.analysis.session), &Side::of(new, session))
    }

    /// The changes of rows; nothing if their keys cannot be compared. `base` is what is [chosen](Base::chosen) of the other recording.
    pub(crate) fn changes(
        &self,
        base: &Profile,
        new: &Profile,
        session: &Session,
        state: &State,
        rows: &Rows<'_>,
    ) -> Option<Changes> {
        let key = |name| match name {
            "comm" => Some(DiffKey::Comm),
            "dso" => Some(DiffKey::Dso),
            "symbol" => Some(DiffKey::Function),
            "srcline" => Some(DiffKey::SourceLine),
            _ => None,
        };
        let keys = state.rows.keys.iter().map(|used| key(used.key.name)).collect::<Option<Vec<DiffKey>>>()?;
        let before = Tally::of(base, &self.analysis.session, &keys, 0.0);
        let now = Tally::of(new, session, &keys, 0.0);
        let normalize = match state.weight {
            Weight::Period => Normalize::Total,
            Weight::Samples => Normalize::Samples,
        };
        let compared = compare(&[before], &[now], normalize);
        let event = new.events().get(state.event)?;
        let matched = compared.matching.told();
        let mut changes = Changes { matched, ..Changes::default() };
        let Some(found) = compared.events.into_iter().find(|other| other.event == event.name) else {
            return Some(changes);
        };
        changes.tell(rows, &found.rows);
        changes.gone = found.rows.into_iter().filter(|row| row.presence == Presence::Gone).collect();
        Some(changes)
    }
}

impl Changes {
    /// Takes in what is said of rows that are here.
    fn tell(&mut self, rows: &Rows<'_>, said: &[DiffRow]) {
        let by_key: FxHashMap<&[String], &DiffRow> = said.iter().map(|row| (&*row.key, row)).collect();
        let mut unnamed: FxHashMap<Vec<String>, usize> = FxHashMap::default();
        for row in &rows.histogram.rows {
            let values = || rows.values.values(row.key);
            let key: Vec<String> = values().map(|value| name(&rows.facts, value)).collect();
            let change = by_key.get(&*key).filter(|_| row.numbers.samples > 0).map(|said| Change::of(said));
            if values().all(|value| has_name(&rows.facts, value)) {
                self.rows.extend(change.map(|change| (row.key, change)));
                continue;
            }
            let at = *unnamed.entry(key.clone()).or_insert(self.unnamed.len());
            match self.unnamed.get_mut(at) {
                Some(known) => {
                    known.rows.push(row.key);
                    known.change = known.change.or(change);
                }
                None => self.unnamed.push(Unnamed { key, rows: vec![row.key], change }),
            }
        }
    }
}

/// Whether a value is more than an address.
fn has_name(facts: &Facts<'_>, value: Value) -> bool {
    match value {
        Value::Function { function, .. } => {
            facts.profile.function(function).is_some_and(|function| function.has_name())
        }
        Value::Code { .. } => false,
        _ => true,
    }
}

/// A step as it is for another recording.
fn elsewhere(step: &Step) -> Step {
    match step.clone() {
        Step::Samples(filter) => Step::Samples(SampleFilter {
            pids: Vec::new(),
            tids: Vec::new(),
            cpus: Vec::new(),
            times_ns: Vec::new(),
            ..filter
        }),
        other => other,
    }
}

/// What a value is called where recordings are compared, see [`Tally`].
fn name(facts: &Facts<'_>, value: Value) -> String {
    let binary = |id: Option<BinaryId>| id.and_then(|id| facts.session.binary(id)).map(name_by_kind);
    let binary = |id| binary(id).unwrap_or(Cow::Borrowed(UNKNOWN));
    match value {
        Value::Comm(comm) => perffile::wire::text::decoded(facts.session.comm(comm)).into_owned(),
        Value::Binary(id) => binary(id).into_owned(),
        Value::Function { function, .. } => {
            let Some(function) = facts.profile.function(function) else { return UNKNOWN.to_owned() };
            match function.name() {
                Some(name) => name.to_owned(),
                None => unnamed(binary(function.binary)).into_owned(),
            }
        }
        Value::Code { binary: id, .. } => unnamed(binary(Some(id))).into_owned(),
        Value::Line { file, line } => {
            format!("{}:{line}", facts.profile.names().file(file).unwrap_or_default())
        }
        _ => String::new(),
    }
}
