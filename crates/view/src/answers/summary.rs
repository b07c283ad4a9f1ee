//! What there is to choose from: events, processes and threads; and what is chosen.

use super::{Answers, with_measure};
use crate::query::Query;
use readperf_output::text::{decoded, shown};
use readperf_profile::view::flame_tree::Sum;
use readperf_session::ThreadId;
use rustc_hash::FxHashMap;
use serde_json::{Value as Json, json};
use std::cmp::Reverse;

/// Most processes and threads of each that are listed.
const MOST: usize = 200;

pub(super) fn answer(answers: &mut Answers<'_, '_>, _: &Query) -> Result<Vec<u8>, String> {
    let explorer = &answers.explorer;
    let state = explorer.state();
    let recorded = explorer.whole().recorded().iter();
    let events: Vec<Json> = recorded
        .map(|event| json!({"name": shown(&event.name), "samples": event.samples, "period": event.period}))
        .collect();
    let chosen = explorer.totals().events().get(state.event);
    let mut json = json!({
        "title": answers.title(), "events": events, "event": state.event, "samples": chosen.map_or(0, |event| event.samples),
        "processes": processes(answers),
    });
    if let (Some(before), Json::Object(json)) = (explorer.total_before(), &mut json) {
        let matched = explorer.changes().and_then(|changes| changes.matched.clone());
        let matched = matched.map(|matched| shown(&matched).into_owned());
        json.insert("before".into(), json!({"samples": before.samples, "matched": matched}));
    }
    with_measure(answers, json)
}

/// Threads with their weights.
type Threads = Vec<(ThreadId, u64)>;

/// The processes with samples of the event, and their threads; those with most first.
fn processes(answers: &Answers<'_, '_>) -> Vec<Json> {
    let (session, state) = (answers.explorer.session(), answers.explorer.state());
    let mut sums: FxHashMap<ThreadId, Sum> = FxHashMap::default();
    for row in answers.explorer.whole().rows_of(state.event) {
        if let Some(thread) = row.thread {
            sums.entry(thread).or_default().add(Sum { period: row.period, samples: row.samples });
        }
    }
    let mut processes: FxHashMap<u32, Threads> = FxHashMap::default();
    for (id, sum) in sums {
        let pid = session
            .thread(id)
            .and_then(|thread| session.process(thread.process))
            .map_or(0, |process| process.pid);
        processes.entry(pid).or_default().push((id, state.weight.of_sum(&sum)));
    }
    let mut list: Vec<(u32, u64, Threads)> = processes
        .into_iter()
        .map(|(pid, mut threads)| {
            threads.sort_by_key(|(id, weight)| (Reverse(*weight), *id));
            (pid, threads.iter().map(|(_, weight)| *weight).fold(0, u64::wrapping_add), threads)
        })
        .collect();
    list.sort_by_key(|(pid, weight, _)| (Reverse(*weight), *pid));
    list.truncate(MOST);
    list.into_iter()
        .map(|(pid, weight, threads)| {
            let comm = |id: &ThreadId| {
                let thread = session.thread(*id);
                thread.map_or_else(String::new, |thread| shown(&decoded(session.comm(thread.comm()))).into_owned())
            };
            let tid = |id: &ThreadId| session.thread(*id).map_or(0, |thread| thread.tid);
            let main = threads.iter().find(|(id, _)| tid(id) == pid).or(threads.first());
            let shown = threads.iter().take(MOST);
            let threads: Vec<Json> =
                shown.map(|(id, weight)| json!({"tid": tid(id), "comm": comm(id), "weight": weight})).collect();
            json!({"pid": pid, "comm": main.map_or_else(String::new, |(id, _)| comm(id)), "weight": weight, "threads": threads})
        })
        .collect()
}
