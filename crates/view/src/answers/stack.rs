//! The stack of the sample that is nearest to a time, of those that are chosen: of a thread, a process or of all.

use super::{Answers, names, written};
use crate::query::Query;
use readperf_output::names::UNKNOWN;
use readperf_output::text::{decoded, shown};
use readperf_profile::SampleRow;
use readperf_session::Thread;
use serde_json::{Value as Json, json};

pub(super) fn answer(answers: &mut Answers<'_, '_>, query: &Query) -> Result<Vec<u8>, String> {
    let explorer = &answers.explorer;
    let (profile, session) = (explorer.whole(), explorer.session());
    let at = answers.origin_ns.saturating_add(query.number("at")?.unwrap_or(0));
    let (tid, pid): (Option<u32>, Option<u32>) = (query.number("thread")?, query.number("process")?);
    let is_one = |row: &SampleRow| {
        let thread = row.thread.and_then(|thread| session.thread(thread));
        let process = |of: &Thread| session.process(of.process).map(|process| process.pid);
        (tid.is_none() || thread.map(|thread| thread.tid) == tid)
            && (pid.is_none() || thread.and_then(process) == pid)
    };
    let within: u64 = query.number("within")?.unwrap_or(u64::MAX);
    let far = |row: &SampleRow| row.time_ns.abs_diff(at);
    let near = explorer.samples().filter(|row| far(row) <= within && is_one(row));
    let Some(row) = near.min_by_key(far) else {
        return written(&json!({"thread": null, "frames": []}));
    };
    let frames: Vec<Json> = profile
        .places(&row)
        .flat_map(|place| profile.levels_at(place))
        .map(|level| {
            let function = profile.function(level.function);
            let name = function.map_or(UNKNOWN.to_owned(), |function| shown(&function.label()).into_owned());
            let binary = names::binary(session, function.and_then(|function| function.binary));
            json!({"name": name, "binary": binary, "inlined": level.inlined})
        })
        .collect();
    let tid = row.thread.and_then(|thread| session.thread(thread)).map_or(0, |thread| thread.tid);
    let thread = format!("{} {tid}", shown(&decoded(session.comm(row.comm))));
    written(
        &json!({"thread": thread, "at_ns": row.time_ns.saturating_sub(answers.origin_ns), "frames": frames}),
    )
}
