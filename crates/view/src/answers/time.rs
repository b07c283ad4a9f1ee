//! Samples by time: all of them and those that are chosen, of all threads and of those with most samples.

use super::{Answers, with_measure};
use crate::query::Query;
use readperf_output::text::{decoded, shown};
use readperf_profile::view::time_strip::{Parts, Strip};
use serde_json::{Map, Value as Json};

/// Tracks of single threads.
const TRACKS: usize = 8;
/// Most parts that time is cut into.
const MOST_PARTS: usize = 4000;

pub(super) fn answer(answers: &mut Answers<'_, '_>, query: &Query) -> Result<Vec<u8>, String> {
    let explorer = &answers.explorer;
    let (profile, session, state) = (explorer.whole(), explorer.session(), explorer.state());
    let (first, last) = profile.times_ns().unwrap_or((0, 0));
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
    let chosen = explorer.profile();
    let strip = json_of(&profile.strip(state.event, &parts), Some(&chosen.strip(state.event, &parts)));
    let threads = profile.thread_strips(state.event, &parts, state.weight, TRACKS);
    let of_chosen = chosen.thread_strips(state.event, &parts, state.weight, usize::MAX);
    let tracks: Vec<Json> = threads
        .threads
        .iter()
        .map(|(id, strip)| {
            let part = of_chosen.threads.iter().find(|(other, _)| other == id).map(|(_, strip)| strip);
            let mut track = json_of(strip, part);
            let thread = session.thread(*id);
            let comm = thread.map_or("".into(), |thread| decoded(session.comm(thread.comm())));
            track.insert("comm".into(), shown(&comm).into());
            track.insert("tid".into(), thread.map_or(0, |thread| thread.tid).into());
            Json::Object(track)
        })
        .collect();
    let mut object = strip;
    object.insert("length_ns".into(), length_ns.into());
    object.insert("tracks".into(), tracks.into());
    object.insert("threads_left_out".into(), threads.left_out.into());
    with_measure(answers, Json::Object(object))
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
