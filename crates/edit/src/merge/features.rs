//! What several recordings say of themselves as a whole, as one says it.

use super::clocks::Clock;
use super::events::Events;
use super::{Error, Source};
use perffile::Features;
use perffile::bytes::Bytes;
use perffile::wire::feature::build_id::{BuildIdEntry, BuildIds};
use perffile::wire::feature::group_desc::{EventGroup, GroupDesc};
use perffile::wire::feature::sample_time::SampleTime;
use perffile::wire::feature::{self, Feature, bit};
use perffile::write::Head;
use std::collections::BTreeSet;

/// What is said of all. Where recordings differ, the first that says something counts, and that is noted.
pub(super) fn merge(
    sources: &[Source<'_>],
    events: &Events,
    clocks: &[Clock],
    notes: &mut Vec<String>,
) -> Result<Head, Error> {
    let Some(first) = sources.first() else { return Ok(Head::default()) };
    let mut head = Head { events: events.written.clone(), ..first.survey.head.clone() };
    head.features = Features::new(head.order);
    let bits: BTreeSet<u32> = sources.iter().flat_map(|source| source.survey.head.features.bits()).collect();
    for bit in bits {
        match bit {
            // Names and ids are told anew.
            bit::EVENT_DESC => {}
            bit::BUILD_ID => build_ids(sources, &mut head.features, notes)?,
            bit::GROUP_DESC => groups(sources, events, &mut head.features)?,
            bit::SAMPLE_TIME => sample_time(sources, clocks, &mut head.features)?,
            bit::CLOCK_DATA => {
                let reference = sources.iter().zip(clocks).find(|(_, clock)| clock.is_reference);
                let of = reference.map_or(first, |(source, _)| source);
                copy(of, bit, &mut head.features);
            }
            _ => first_of(sources, bit, &mut head.features, notes),
        }
    }
    Ok(head)
}

fn copy(from: &Source<'_>, bit: u32, to: &mut Features) {
    if let Some(bytes) = from.survey.head.features.bytes(bit) {
        to.insert(bit, Bytes::new(bytes.to_vec()), 0);
    }
}

/// What the first says that says something; notes who says something else.
fn first_of(sources: &[Source<'_>], bit: u32, to: &mut Features, notes: &mut Vec<String>) {
    let mut those = sources.iter().filter(|source| source.survey.head.features.has(bit));
    let Some(first) = those.next() else { return };
    copy(first, bit, to);
    let told = first.survey.head.features.bytes(bit);
    let others: Vec<&str> =
        those.filter(|other| other.survey.head.features.bytes(bit) != told).map(|other| other.name).collect();
    if !others.is_empty() {
        let what = feature::name(bit).map_or_else(|| format!("feature {bit}"), str::to_owned);
        notes.push(format!("{what} is that of {}; another one is in {}", first.name, others.join(", ")));
    }
}

fn set(to: &mut Features, bit: u32, feature: Feature<'_>) -> Result<(), Error> {
    to.set(bit, feature).map_err(|error| Error::Refused(format!("{error}")))
}

/// The build-ids of all. Of a binary that was another build in some of them all are told, and that is noted.
fn build_ids(sources: &[Source<'_>], to: &mut Features, notes: &mut Vec<String>) -> Result<(), Error> {
    let mut entries: Vec<BuildIdEntry<'_>> = Vec::new();
    let mut several = BTreeSet::new();
    for source in sources {
        for entry in source.survey.head.features.build_ids().map_or_else(Vec::new, |ids| ids.entries) {
            let is_same = |other: &&BuildIdEntry<'_>| other.name() == entry.name() && other.pid == entry.pid;
            let mut others = entries.iter().filter(is_same);
            if others.clone().any(|other| other.id() == entry.id()) {
                continue;
            }
            if others.next().is_some() {
                several.insert(String::from_utf8_lossy(entry.name()).into_owned());
            }
            entries.push(entry);
        }
    }
    if !several.is_empty() {
        let names: Vec<&str> = several.iter().take(5).map(String::as_str).collect();
        notes.push(format!(
            "{} binaries are of several builds, and names may be those of another one: {}",
            several.len(),
            names.join(", ")
        ));
    }
    let mut ids = BuildIds::default();
    ids.entries = entries;
    set(to, bit::BUILD_ID, Feature::BuildId(ids))
}

/// The groups whose events are still one behind the other.
fn groups(sources: &[Source<'_>], events: &Events, to: &mut Features) -> Result<(), Error> {
    let mut groups: Vec<EventGroup<'_>> = Vec::new();
    for (source, of) in sources.iter().zip(&events.of) {
        for group in source.survey.head.features.group_desc().map_or_else(Vec::new, |told| told.groups) {
            let now = |member: u32| of.index.get((group.leader_idx + member) as usize).copied();
            let Some(leader) = now(0).and_then(|leader| u32::try_from(leader).ok()) else { continue };
            let follow = (0..group.nr_members).all(|member| now(member) == Some((leader + member) as usize));
            let moved = EventGroup { leader_idx: leader, ..group.clone() };
            if follow && !groups.contains(&moved) {
                groups.push(moved);
            }
        }
    }
    if groups.is_empty() { Ok(()) } else { set(to, bit::GROUP_DESC, Feature::GroupDesc(GroupDesc { groups })) }
}

/// The times of the first and the last sample of all.
fn sample_time(sources: &[Source<'_>], clocks: &[Clock], to: &mut Features) -> Result<(), Error> {
    let times = || {
        let of = |(source, clock): (&Source<'_>, &Clock)| {
            let (first, last) = source.survey.times_ns?;
            Some((first.saturating_add(clock.shift_ns), last.saturating_add(clock.shift_ns)))
        };
        sources.iter().zip(clocks).filter_map(of)
    };
    let first = times().map(|(first, _)| first).min().unwrap_or(0);
    let last = times().map(|(_, last)| last).max().unwrap_or(0);
    set(to, bit::SAMPLE_TIME, Feature::SampleTime(SampleTime { first, last }))
}
