//! What there is to choose from: events, processes and threads; and what is chosen.

use super::busy::{Process, busy};
use super::{Answers, with_measure};
use crate::query::Query;
use perffile::{Issue, Severity};
use readperf_output::text::{decoded, shown};
use readperf_session::{Session, ThreadId};
use serde_json::{Value as Json, json};

/// Most processes and threads of each that are listed.
const MOST: usize = 200;

pub(super) fn answer(answers: &mut Answers<'_, '_>, _: &Query) -> Result<Vec<u8>, String> {
    let busy = busy(answers);
    let explorer = &answers.explorer;
    let state = explorer.state();
    let recorded = explorer.whole().recorded().iter();
    let events: Vec<Json> = recorded
        .map(|event| json!({"name": shown(&event.name), "samples": event.samples, "period": event.period}))
        .collect();
    let chosen = explorer.totals().events().get(state.event);
    let analysis = explorer.analysis();
    let is_damage = |issue: &&Issue| issue.kind.severity() == Severity::Damage;
    let damage: Vec<String> = analysis
        .issues
        .iter()
        .filter(is_damage)
        .map(|issue| shown(&issue.to_string()).into_owned())
        .collect();
    let told: Vec<String> = analysis.told().iter().map(|told| shown(told).into_owned()).collect();
    let mut json = json!({
        "damage": damage, "told": told, "origin_ns": answers.origin_ns.to_string(),
        "title": answers.title(), "events": events, "event": state.event, "samples": chosen.map_or(0, |event| event.samples),
        "processes": processes(explorer.session(), &busy.processes),
        "cpus": busy.cpus.iter().map(|(cpu, weight)| json!({"cpu": cpu, "weight": weight})).collect::<Vec<Json>>(),
    });
    if let Some(json) = json.as_object_mut().filter(|_| !answers.fixed.pairs().is_empty()) {
        json.insert("fixed".into(), json!(answers.fixed.pairs()));
    }
    if let (Some(before), Json::Object(json)) = (explorer.total_before(), &mut json) {
        let matched = explorer.changes().and_then(|changes| changes.matched.clone());
        let matched = matched.map(|matched| shown(&matched).into_owned());
        json.insert("before".into(), json!({"samples": before.samples, "matched": matched}));
    }
    with_measure(answers, json)
}

fn processes(session: &Session, busiest: &[Process]) -> Vec<Json> {
    let listed = busiest.iter().take(MOST);
    listed
        .map(|process| {
            let name = name_of(session, process);
            let Process { pid, weight, threads } = process;
            let tid = |id: &ThreadId| session.thread(*id).map_or(0, |thread| thread.tid);
            let threads: Vec<Json> = threads
                .iter()
                .take(MOST)
                .map(|(id, weight)| json!({"tid": tid(id), "comm": comm_of(session, *id), "weight": weight}))
                .collect();
            json!({"pid": pid, "comm": name, "weight": weight, "threads": threads})
        })
        .collect()
}

/// What a process is called: as its main thread, or else as its busiest.
pub(super) fn name_of(session: &Session, Process { pid, threads, .. }: &Process) -> String {
    let is_main = |(id, _): &&(ThreadId, u64)| session.thread(*id).is_some_and(|thread| thread.tid == *pid);
    let main = threads.iter().find(is_main).or(threads.first());
    main.map_or_else(String::new, |(id, _)| comm_of(session, *id))
}

/// What a thread is called.
pub(super) fn comm_of(session: &Session, id: ThreadId) -> String {
    let thread = session.thread(id);
    thread.map_or_else(String::new, |thread| shown(&decoded(session.comm(thread.comm()))).into_owned())
}
