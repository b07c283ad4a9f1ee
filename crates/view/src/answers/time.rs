//! What happened by time: all samples and those that are chosen, of all threads and of those with most of them; when these had a CPU; and the
//! samples of other events.

use super::busy::{Process, busy};
use super::summary::{comm_of, name_of};
use super::{Answers, with_measure};
use crate::query::Query;
use readperf_profile::Schedule;
use readperf_profile::counters::Counters;
use readperf_profile::profile::EventTotal;
use readperf_profile::view::counter_strip::CounterStrip;
use readperf_profile::view::running_strip::RunningStrip;
use readperf_profile::view::time_strip::{Parts, Strip, ThreadStrips};
use readperf_session::ThreadId;
use serde_json::{Map, Value as Json, json};
use std::cmp::Reverse;

/// Tracks of single threads, if nobody asks for more.
const TRACKS: usize = 8;
/// Most tracks of threads or processes.
const MOST_TRACKS: usize = 100;
/// Most tracks of other events.
const MOST_EVENTS: usize = 50;
/// Most parts that time is cut into.
const MOST_PARTS: usize = 4000;

pub(super) fn answer(answers: &mut Answers<'_, '_>, query: &Query) -> Result<Vec<u8>, String> {
    let busy = busy(answers);
    let explorer = &answers.explorer;
    let profile = explorer.whole();
    let counters = answers.records.counters().filter(|_| profile.times_ns().is_none());
    let (first, last) = profile.times_ns().unwrap_or((0, counters.map_or(0, Counters::elapsed_ns)));
    let length_ns = last.saturating_sub(first);
    let (from, to) = match query.get("seen").split_once('-') {
        Some((from, to)) => {
            let number =
                |text: &str| text.parse::<u64>().map_err(|_| format!("seen={}: no range", query.get("seen")));
            (number(from)?, number(to)?)
        }
        None => (0, length_ns),
    };
    let range_ns = first.saturating_add(from)..=first.saturating_add(to.max(from));
    let count = query.number("buckets")?.unwrap_or(500).clamp(1, MOST_PARTS);
    let parts = Parts { range_ns, count };
    let most = if query.get("of") == "threads" { MOST_TRACKS } else { TRACKS };
    let whole = explorer.whole_strips(&parts, most);
    let chosen = (!explorer.looks_at_all()).then(|| explorer.strip(&parts));
    let strip = json_of(&whole.all, chosen.as_ref().or(Some(&whole.all)));
    let tracks = match query.get("of") {
        "processes" => of_processes(answers, &parts, &busy.processes),
        _ => of_threads(answers, &parts, &whole.threads, chosen.is_some()),
    };
    let mut object = strip;
    object.insert("chosen".into(), json!(answers.chosen_times()));
    object.insert("length_ns".into(), length_ns.into());
    object.insert("tracks".into(), tracks.into());
    object.insert("threads".into(), (whole.threads.threads.len() + whole.threads.left_out).into());
    object.insert("processes".into(), busy.processes.len().into());
    object.insert("running_note".into(), answers.with_export(|export| export.schedule_note()).into());
    object.extend(match counters {
        Some(counters) => counted(answers, counters, &parts),
        None => other_events(answers, &parts, query)?,
    });
    with_measure(answers, Json::Object(object))
}

/// Tracks of threads; `is_part` if not all samples are chosen.
fn of_threads(answers: &Answers<'_, '_>, parts: &Parts, whole: &ThreadStrips, is_part: bool) -> Vec<Json> {
    let (explorer, session) = (&answers.explorer, answers.explorer.session());
    let ids: Vec<ThreadId> = whole.threads.iter().map(|(id, _)| *id).collect();
    let of_chosen = match is_part {
        true => explorer.strips_of_threads(parts, &ids),
        false => whole.threads.iter().map(|(_, strip)| strip.clone()).collect(),
    };
    let tracks = whole.threads.iter().zip(&of_chosen).map(|((id, strip), part)| {
        let mut track = json_of(strip, Some(part).filter(|part| part.total.samples > 0));
        track.insert("comm".into(), comm_of(session, *id).into());
        track.insert("tid".into(), session.thread(*id).map_or(0, |thread| thread.tid).into());
        track.extend(running(&explorer.analysis().marks.schedule, *id, parts));
        Json::Object(track)
    });
    tracks.collect()
}

/// Tracks of the processes with most samples.
fn of_processes(answers: &Answers<'_, '_>, parts: &Parts, busiest: &[Process]) -> Vec<Json> {
    let session = answers.explorer.session();
    let busiest = || busiest.iter().take(MOST_TRACKS);
    let groups: Vec<Vec<ThreadId>> =
        busiest().map(|process| process.threads.iter().map(|(id, _)| *id).collect()).collect();
    let (whole, chosen) = answers.explorer.strips_of_groups(parts, &groups);
    let tracks = busiest().zip(whole.iter().zip(&chosen)).map(|(process, (strip, part))| {
        let mut track = json_of(strip, Some(part).filter(|part| part.total.samples > 0));
        track.insert("comm".into(), name_of(session, process).into());
        track.insert("pid".into(), process.pid.into());
        Json::Object(track)
    });
    tracks.collect()
}

/// How long a thread had a CPU, and how long it waited for one, in thousandths of each part and in ns of all; nothing if that is not recorded.
fn running(schedule: &Schedule, thread: ThreadId, parts: &Parts) -> Map<String, Json> {
    let mut object = Map::new();
    if schedule.of(thread).is_empty() {
        return object;
    }
    let RunningStrip { running_ns, preempted_ns } = schedule.strip(thread, parts);
    for (name, list) in [("running", running_ns), ("preempted", preempted_ns)] {
        let share = |(part, ns): (usize, &u64)| {
            let times = parts.times(part);
            let length = u128::from(times.end().saturating_sub(*times.start())) + 1;
            u64::try_from(u128::from(*ns) * 1000 / length).unwrap_or(1000)
        };
        object.insert(name.into(), list.iter().enumerate().map(share).collect());
        object.insert(format!("{name}_ns"), list.iter().sum::<u64>().into());
    }
    object
}

/// What `perf stat` counted by time.
fn counted(answers: &Answers<'_, '_>, counters: &Counters, parts: &Parts) -> Map<String, Json> {
    let schema = &answers.explorer.analysis().metadata.schema;
    let track = |strip: CounterStrip| {
        let name = schema.event(strip.event).map_or("", |event| &event.name);
        json!({
            "event": strip.event, "name": readperf_output::text::shown(name), "all": strip.parts, "samples_seen": null,
            "period_seen": strip.total,
        })
    };
    let mut object = Map::new();
    object.insert("events".into(), counters.strips(parts).into_iter().map(track).collect());
    object.insert("events_left_out".into(), 0.into());
    let rounds = counters.rounds.len();
    let counts = readperf_output::text::counted(rounds as u64, "count");
    let note = format!("perf stat has written no samples but {counts} of each event, one after the other.");
    object.insert("running_note".into(), note.into());
    object
}

/// What the other events count by time: of those with most samples, and how many more there are.
fn other_events(
    answers: &Answers<'_, '_>,
    parts: &Parts,
    query: &Query,
) -> Result<Map<String, Json>, String> {
    let most = query.number("events")?.unwrap_or(0).min(MOST_EVENTS);
    let (whole, shown) = (answers.explorer.whole(), answers.explorer.state().event);
    let mut others: Vec<(usize, &EventTotal)> = whole
        .recorded()
        .iter()
        .enumerate()
        .filter(|(event, total)| *event != shown && total.samples > 0)
        .collect();
    others.sort_by_key(|(event, total)| (Reverse(total.samples), *event));
    let left_out = others.len().saturating_sub(most);
    let tracks = others.iter().take(most).map(|(event, total)| {
        let strip = whole.strip(*event, parts);
        let counts: Json = strip.parts.iter().map(|sum| sum.period).collect();
        json!({
            "event": event, "name": readperf_output::text::shown(&total.name), "all": counts, "samples_seen": strip.total.samples,
            "period_seen": strip.total.period,
        })
    });
    let mut object = Map::new();
    object.insert("events".into(), tracks.collect());
    object.insert("events_left_out".into(), left_out.into());
    Ok(object)
}

/// All samples, those of them that are chosen, and how many of these were taken in the kernel.
fn json_of(all: &Strip, chosen: Option<&Strip>) -> Map<String, Json> {
    let counts = |strip: &Strip| -> Json { strip.parts.iter().map(|part| part.samples).collect() };
    let mut object = Map::new();
    object.insert("all".into(), counts(all));
    object.insert("samples".into(), chosen.map_or(Json::Null, counts));
    object.insert("kernel".into(), chosen.map_or(Json::Null, |strip| strip.kernel.iter().copied().collect()));
    object
}
