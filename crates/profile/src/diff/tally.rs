//! What is compared of one recording: its numbers by event and key.

use super::{Normalize, percent};
use crate::chance::float;
use crate::frames::{Apart, FrameTable, unnamed};
use crate::matching::{Matching, Side, name_by_kind};
use crate::profile::{Profile, SampleRow};
use perffile::wire::text::decoded;
use readperf_session::Session;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// What makes two rows the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DiffKey {
    /// Thread name.
    Comm,
    /// Short name of the binary; of generated code that it is such.
    Dso,
    /// Function.
    Function,
    /// Source file and line.
    SourceLine,
}

/// The value of a key. Names of threads and binaries may be others in the recording that it is compared with.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Name {
    Comm(String),
    Binary(String),
    /// What has no name, in this binary. Addresses without a name move: what lies in one binary is one row.
    UnnamedIn(String),
    Text(String),
}

impl Name {
    /// What it is called on the other side.
    pub(super) fn after(&self, matching: &Matching) -> String {
        match self {
            Name::Comm(name) => matching.comm(name).to_owned(),
            Name::Binary(name) => matching.binary(name).to_owned(),
            Name::UnnamedIn(name) => unnamed(matching.binary(name).into()).into_owned(),
            Name::Text(text) => text.clone(),
        }
    }
}

/// A row's numbers in one recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) samples: u64,
    pub(super) period: u64,
}

impl Count {
    fn add(&mut self, other: Count) {
        self.samples += other.samples;
        self.period = self.period.saturating_add(other.period);
    }
}

/// The numbers of one recording, by event and key.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    rows: FxHashMap<(String, Vec<Name>), Count>,
    totals: BTreeMap<String, Count>,
    seconds: f64,
    pub(super) names: Side,
}

impl Tally {
    /// Adds up a profile by these keys. `seconds` is how long was recorded.
    pub fn of(profile: &Profile, session: &Session, keys: &[DiffKey], seconds: f64) -> Tally {
        let mut tally = Tally { seconds, names: Side::of(profile, session), ..Tally::default() };
        let frames = FrameTable::new(profile, session, Apart::default());
        for row in profile.rows() {
            let Some(event) = profile.events().get(row.event as usize) else { continue };
            let key = keys.iter().map(|key| key.of(profile, session, &frames, &row)).collect();
            let count = Count { samples: row.samples, period: row.period };
            tally.rows.entry((event.name.clone(), key)).or_default().add(count);
            tally.totals.entry(event.name.clone()).or_default().add(count);
        }
        tally
    }

    /// The rows of an event, under the names of the other side.
    pub(super) fn rows_of(&self, event: &str, matching: &Matching) -> FxHashMap<Vec<String>, Count> {
        let mut rows: FxHashMap<Vec<String>, Count> = FxHashMap::default();
        for ((_, key), count) in self.rows.iter().filter(|((of, _), _)| of == event) {
            let key = key.iter().map(|name| name.after(matching)).collect();
            rows.entry(key).or_default().add(*count);
        }
        rows
    }

    /// The names of the events.
    pub(super) fn events(&self) -> impl Iterator<Item = &str> {
        self.totals.keys().map(String::as_str)
    }

    /// All of an event.
    pub(super) fn total(&self, event: &str) -> Count {
        self.totals.get(event).copied().unwrap_or_default()
    }

    pub(super) fn value(&self, event: &str, count: Count, normalize: Normalize) -> f64 {
        let total = self.total(event);
        match normalize {
            Normalize::Total => percent(count.period, total.period),
            Normalize::Samples => percent(count.samples, total.samples),
            Normalize::Time if self.seconds > 0.0 => float(count.period) / self.seconds,
            Normalize::Time | Normalize::Nothing => float(count.period),
        }
    }
}

impl DiffKey {
    fn of(self, profile: &Profile, session: &Session, frames: &FrameTable, row: &SampleRow) -> Name {
        let names = profile.names();
        let binary = || {
            let binary = profile.addresses().get(row.address).and_then(|code| session.binary(code.binary?));
            binary.map_or_else(|| "[unknown]".to_owned(), |binary| name_by_kind(binary).into_owned())
        };
        match self {
            DiffKey::Comm => Name::Comm(decoded(session.comm(row.comm)).into_owned()),
            DiffKey::Dso => Name::Binary(binary()),
            DiffKey::Function => {
                // The outermost level is the symbol.
                let symbol = frames.at(row.address).last().and_then(|id| frames.frames().get(id.index()));
                let name = symbol.and_then(|frame| profile.function(frame.first.function)?.name());
                name.map_or_else(|| Name::UnnamedIn(binary()), |name| Name::Text(name.to_owned()))
            }
            DiffKey::SourceLine => match names.frames_at(row.address).next() {
                Some(frame) if frame.file.is_some() => {
                    let file = frame.file.and_then(|file| names.file(file)).unwrap_or_default();
                    Name::Text(format!("{file}:{}", frame.line))
                }
                _ => DiffKey::Function.of(profile, session, frames, row),
            },
        }
    }
}
