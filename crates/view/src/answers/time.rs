//! Samples by time: of all that is chosen but for the time itself, and of the threads with most of them.

use super::{Answers, with_measure};
use crate::query::Query;
use readperf_output::text::{decoded, shown};
use readperf_profile::view::flame_tree::Sum;
use readperf_profile::view::time_strip::{Parts, Strip};
use serde_json::{Value as Json, json};

/// Tracks of single threads.
const TRACKS: usize = 8;
/// Most parts that time is cut into.
const MOST_PARTS: usize = 4000;

fn counts(parts: &[Sum]) -> Vec<u64> {
    parts.iter().map(|part| part.samples).collect()
}

pub(super) fn answer(answers: &mut Answers<'_, '_>, query: &Query) -> Result<Vec<u8>, String> {
    let explorer = &answers.explorer;
    let (profile, session, state) = (explorer.whole(), explorer.session(), explorer.state());
    let (first, last) = profile.times_ns().unwrap_or((0, 0));
    let length_ns = last.saturating_sub(first);
    let (from, to) = match query.get("seen").split_once('-') {
        Some((from, to)) => {
            let number = |text: &str| text.parse::<u64>().map_err(|_| format!("seen={}: no range", query.get("seen")));
            (number(from)?, number(to)?)
        }
        None => (0, length_ns),
    };
    let range_ns = first.saturating_add(from)..=first.saturating_add(to.max(from));
    let count = query.number("buckets")?.unwrap_or(500).clamp(1, MOST_PARTS);
    let parts = Parts { range_ns, count };
    let strip = profile.strip(state.event, &parts);
    let threads = profile.thread_strips(state.event, &parts, state.weight, TRACKS);
    let json = |strip: &Strip| json!({"samples": counts(&strip.parts), "kernel": strip.kernel});
    let tracks: Vec<Json> = threads
        .threads
        .iter()
        .map(|(id, strip)| {
            let thread = session.thread(*id);
            let comm = thread.map_or_else(String::new, |thread| shown(&decoded(session.comm(thread.comm()))).into_owned());
            let mut track = json(strip);
            if let Json::Object(track) = &mut track {
                track.insert("comm".into(), comm.into());
                track.insert("tid".into(), thread.map_or(0, |thread| thread.tid).into());
            }
            track
        })
        .collect();
    let all = json(&strip);
    with_measure(
        answers,
        json!({
            "length_ns": length_ns, "samples": all["samples"], "kernel": all["kernel"], "tracks": tracks, "threads_left_out": threads.left_out,
        }),
    )
}
