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
use perffile::wire::head::CpuMode;
use perffile::wire::misc::BUILD_ID_SIZE;
use perffile::write::Head;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// What is said of all. Where recordings differ, the first that says something counts, and that is noted.
pub(super) fn merge(
    sources: &[Source<'_>],
    events: &Events,
    clocks: &[Clock],
    own_ids: &[OwnIds],
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
            bit::BUILD_ID => build_ids(sources, own_ids, &mut head.features, notes)?,
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

/// The build-ids of all but those that mappings tell. Of a binary that was another build in some of them, and whose mappings cannot
/// tell, all are told, and that is noted.
fn build_ids(
    sources: &[Source<'_>],
    told: &[OwnIds],
    to: &mut Features,
    notes: &mut Vec<String>,
) -> Result<(), Error> {
    let mut entries: Vec<BuildIdEntry<'_>> = Vec::new();
    let mut several = BTreeSet::new();
    for (source, told) in sources.iter().zip(told) {
        for entry in entries_of(source).into_iter().filter(|entry| !told.contains_key(entry.name())) {
            let mut others = entries.iter().filter(|other| is_same_file(other, &entry));
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
    set(to, bit::BUILD_ID, Feature::BuildId(BuildIds { entries }))
}

fn entries_of<'s>(source: &'s Source<'_>) -> Vec<BuildIdEntry<'s>> {
    source.survey.head.features.build_ids().map_or_else(Vec::new, |ids| ids.entries)
}

fn is_same_file(one: &BuildIdEntry<'_>, other: &BuildIdEntry<'_>) -> bool {
    one.name() == other.name() && one.pid == other.pid
}

/// The bytes of a build-id that count: shorter ones were padded with zeros before entries said their size. Zeros alone are none.
fn known(entry: &BuildIdEntry<'_>) -> Option<Box<[u8]>> {
    /// Size in bytes of an MD5 or UUID build-id.
    const SHORT_ID: usize = 16;
    let id = entry.id();
    let (short, padding) = id.split_at_checked(SHORT_ID).unwrap_or((id, &[]));
    let is_padded = entry.misc & BUILD_ID_SIZE == 0 && padding.iter().all(|byte| *byte == 0);
    let id = if is_padded { short } else { id };
    id.iter().any(|byte| *byte != 0).then(|| id.into())
}

/// Build-ids of files of user code, by name: those that the mappings of a recording tell from now on.
pub(super) type OwnIds = FxHashMap<Box<[u8]>, Box<[u8]>>;

/// Which build-ids the mappings of each recording have to tell: in the one table that there is, a name has one. All of them, if the
/// recordings are of several machines or have a file in several builds; of what the table does not know then, nothing is said.
pub(super) fn own_ids(sources: &[Source<'_>]) -> Vec<OwnIds> {
    let is_one_machine = sources
        .first()
        .is_none_or(|first| sources.iter().all(|other| first.survey.is_of_one_machine(other.survey)));
    let all: Vec<BuildIdEntry<'_>> = sources.iter().flat_map(entries_of).collect();
    let mut builds: FxHashMap<(&[u8], Option<i32>), &[u8]> = FxHashMap::default();
    let is_needed = !is_one_machine
        || all
            .iter()
            .any(|entry| entry.id() != *builds.entry((entry.name(), entry.pid)).or_insert(entry.id()));
    let of = |source: &Source<'_>| -> OwnIds {
        let can = is_needed && !source.survey.has_old_maps;
        let user =
            |entry: &BuildIdEntry<'_>| matches!(CpuMode::of(entry.misc), CpuMode::User | CpuMode::Unknown);
        let entries = entries_of(source).into_iter().filter(|entry| can && user(entry));
        entries.filter_map(|entry| Some((entry.name().into(), known(&entry)?))).collect()
    };
    sources.iter().map(of).collect()
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
    if groups.is_empty() {
        Ok(())
    } else {
        set(to, bit::GROUP_DESC, Feature::GroupDesc(GroupDesc { groups }))
    }
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
