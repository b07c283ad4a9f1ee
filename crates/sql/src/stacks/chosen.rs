//! The samples that a condition chooses, and what they add up to.

use super::Event;
use super::columns::Columns;
use crate::engine::Engine;
use crate::error::Result;
use readperf_profile::profile::EventTotal;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Samples of one thread name at one place with one stack.
#[derive(Clone, Debug)]
pub(super) struct Sum {
    pub(super) comm: String,
    pub(super) stack: i64,
    pub(super) frame: i64,
    pub(super) samples: u64,
    pub(super) period: u64,
}

/// What the chosen samples amount to.
pub(super) struct Totals {
    /// In the order of the recordings: by the least number that an event has in one.
    pub(super) events: Vec<Event>,
    pub(super) recordings: usize,
    pub(super) hosts: usize,
}

/// The samples that were chosen, as a part of queries.
pub(super) struct Chosen<'e> {
    engine: &'e Engine,
    from: String,
}

impl<'e> Chosen<'e> {
    pub(super) fn new(engine: &'e Engine, condition: Option<&str>) -> Result<Chosen<'e>> {
        let Some(condition) = condition else { return Ok(Chosen { engine, from: "samples".to_owned() }) };
        // On a line of its own, so that an error shows the line as it was written, and a comment ends with it.
        let condition = format!("WHERE (\n{condition}\n)");
        let alone = format!("SELECT * FROM samples {condition}");
        // Joined only if columns of `profiles` are named.
        let query = if engine.plans(&alone).is_ok() { alone } else { joined(engine, &condition) };
        engine.plans(&query)?;
        Ok(Chosen { engine, from: format!("({query}) AS samples") })
    }

    /// What the samples amount to. Work for each recording is here that of a row an event.
    pub(super) fn totals(&self) -> Result<Totals> {
        let mut described = self.described()?;
        let query = format!(
            "SELECT profile_id, event, min(event_id), count(*), sum(period) FROM {} GROUP BY profile_id, event",
            self.from
        );
        let mut recordings = HashSet::new();
        let mut sums: BTreeMap<String, (i64, u64, u64)> = BTreeMap::new();
        for rows in self.engine.in_any_order(&query)? {
            let rows = rows?;
            let mut columns = Columns::of(&rows);
            let (profile, event) = (columns.numbers()?, columns.texts()?);
            let (number, samples, period) = (columns.numbers()?, columns.numbers()?, columns.numbers()?);
            for row in 0..rows.num_rows() {
                recordings.extend(profile.get(row));
                let number = number.get(row).unwrap_or(i64::MAX);
                let sum = sums.entry(event.get(row).unwrap_or_default().to_owned()).or_insert((number, 0, 0));
                *sum = (
                    sum.0.min(number),
                    sum.1.saturating_add(samples.bits(row)),
                    sum.2.wrapping_add(period.bits(row)),
                );
            }
        }
        let mut events: Vec<(i64, Event)> = sums
            .into_iter()
            .map(|(name, (number, samples, period))| {
                let known = described.remove(&name).unwrap_or_default();
                let Described { kind, config, sample_type, by_frequency } = known;
                let total = EventTotal { name, samples, period };
                (number, Event { total, kind, config, sample_type, by_frequency })
            })
            .collect();
        // Those of one number stay in the order of their names.
        events.sort_by_key(|(number, _)| *number);
        let events = events.into_iter().map(|(_, event)| event).collect();
        Ok(Totals { events, recordings: recordings.len(), hosts: self.hosts(&recordings)? })
    }

    /// How the events were opened, by name. Where recordings differ, all of them decide, not the one that comes first.
    fn described(&self) -> Result<HashMap<String, Described>> {
        let query = "SELECT event, min(type), min(config), bit_and(sample_type), bool_or(sample_frequency IS NOT NULL) \
                     FROM events GROUP BY event";
        let mut described = HashMap::new();
        for rows in self.engine.in_any_order(query)? {
            let rows = rows?;
            let mut columns = Columns::of(&rows);
            let (event, kind, config) = (columns.texts()?, columns.numbers()?, columns.numbers()?);
            let (sample_type, by_frequency) = (columns.numbers()?, columns.truths()?);
            for row in 0..rows.num_rows() {
                let known = Described {
                    kind: u32::try_from(kind.bits(row)).unwrap_or(u32::MAX),
                    config: config.bits(row),
                    sample_type: sample_type.bits(row),
                    by_frequency: by_frequency.iter().nth(row).flatten().unwrap_or(false),
                };
                described.insert(event.get(row).unwrap_or_default().to_owned(), known);
            }
        }
        Ok(described)
    }

    /// On how many machines recordings were made.
    fn hosts(&self, recordings: &HashSet<i64>) -> Result<usize> {
        let mut hosts = HashSet::new();
        for rows in self.engine.in_any_order("SELECT profile_id, host FROM profiles")? {
            let rows = rows?;
            let mut columns = Columns::of(&rows);
            let (profile, host) = (columns.numbers()?, columns.texts()?);
            let of_chosen = |row: &usize| profile.get(*row).is_some_and(|id| recordings.contains(&id));
            hosts.extend(
                (0..rows.num_rows()).filter(of_chosen).filter_map(|row| host.get(row).map(str::to_owned)),
            );
        }
        Ok(hosts.len())
    }

    /// The samples of an event, added up.
    pub(super) fn sums(&self, event: &str) -> Result<Vec<Sum>> {
        let query = format!(
            "SELECT comm, stack_id, frame_id, count(*), sum(period) FROM {} WHERE coalesce(event, '') = '{}' \
             GROUP BY comm, stack_id, frame_id",
            self.from,
            event.replace('\'', "''")
        );
        let mut sums = Vec::new();
        for rows in self.engine.in_any_order(&query)? {
            let rows = rows?;
            let mut columns = Columns::of(&rows);
            let (comm, stack, frame) = (columns.texts()?, columns.numbers()?, columns.numbers()?);
            let (samples, period) = (columns.numbers()?, columns.numbers()?);
            sums.extend((0..rows.num_rows()).map(|row| Sum {
                comm: comm.get(row).unwrap_or_default().to_owned(),
                stack: stack.get(row).unwrap_or_default(),
                frame: frame.get(row).unwrap_or_default(),
                samples: samples.bits(row),
                period: period.bits(row),
            }));
        }
        Ok(sums)
    }
}

/// How an event was opened.
#[derive(Debug, Default)]
struct Described {
    kind: u32,
    config: u64,
    sample_type: u64,
    by_frequency: bool,
}

/// Samples with the columns of their recordings. What both have is taken from the samples, so that no name is of two columns.
fn joined(engine: &Engine, condition: &str) -> String {
    let of_samples = engine.column_names("samples");
    let columns = engine.column_names("profiles").into_iter();
    let own = columns.filter(|name| !of_samples.contains(name)).map(|name| format!("\"{name}\""));
    let own = own.collect::<Vec<_>>().join(", ");
    format!(
        "SELECT samples.* FROM samples JOIN (SELECT profile_id, {own} FROM profiles) AS profiles USING (profile_id) {condition}"
    )
}
