//! The flame graph in order of time: of all threads as one sequence, or each on its own.

use super::flame::{COLUMNS, MOST_COLUMNS, MOST_ROWS};
use super::names::{Named, name_of};
use super::{Answers, written, written_by};
use crate::query::Query;
use readperf_explore::{Flame, Label, TimeAsked, TimeCell};
use readperf_output::export::flamegraph::{DrawnFrame, FrameSort, left_out_name, write_data};
use readperf_output::text::grouped;
use readperf_profile::view::flame_tree::Sum;
use readperf_session::ThreadId;
use serde_json::value::RawValue;
use serde_json::{Value as Json, json};
use std::ops::RangeInclusive;

/// The picture as the drawing takes it, and of each frame where it begins (in the weight of what comes before), its times in ns since the
/// first sample, and its thread.
pub(super) fn answer(answers: &mut Answers<'_, '_>, query: &Query) -> Result<Vec<u8>, String> {
    let by_thread = query.get("order") == "threads";
    let (range_ns, thread) = part(answers, query)?;
    let columns = query.number("columns")?.unwrap_or(COLUMNS).clamp(1, MOST_COLUMNS);
    let asked = TimeAsked { by_thread, thread, range_ns, columns, rows: MOST_ROWS };
    let explorer = &answers.explorer;
    let time = explorer.flame_in_time();
    let window = explorer.window_in_time(&asked);
    let note = match window.left_out {
        0 => String::new(),
        count => format!("{} frames are too short to be shown one by one.", grouped(count)),
    };
    let head = answers.head(note);
    let frames = window.cells.iter().map(|cell| drawn(answers, &time.flame, cell, by_thread));
    let picture = written_by(|out| write_data(&head, frames, out))?;
    let picture = String::from_utf8(picture).map_err(|error| error.to_string())?;
    let picture = RawValue::from_string(picture).map_err(|error| error.to_string())?;
    let since = |ns: u64| ns.saturating_sub(answers.origin_ns);
    let tid = |cell: &TimeCell| {
        cell.thread.and_then(|thread| explorer.session().thread(thread)).map(|thread| thread.tid)
    };
    let spans: Vec<Json> = window
        .cells
        .iter()
        .map(|cell| json!([cell.from, since(cell.times_ns.0), since(cell.times_ns.1), tid(cell)]))
        .collect();
    written(&json!({"picture": picture, "spans": spans}))
}

/// The part that is zoomed to: `FROM-TO` in ns since the first sample, with `@TID` of one thread.
fn part(answers: &Answers<'_, '_>, query: &Query) -> Result<(RangeInclusive<u64>, Option<ThreadId>), String> {
    let zoom = query.get("zoom");
    if zoom.is_empty() {
        return Ok((0..=u64::MAX, None));
    }
    let wrong = || format!("zoom={zoom}: expected FROM-TO in ns, as 0-1000 or 0-1000@TID");
    let (times, tid) = zoom.split_once('@').map_or((zoom, None), |(times, tid)| (times, Some(tid)));
    let (from, to) = times.split_once('-').ok_or_else(wrong)?;
    let at =
        |text: &str| text.parse().map(|ns: u64| answers.origin_ns.saturating_add(ns)).map_err(|_| wrong());
    let tid: Option<u32> = tid.map(str::parse).transpose().map_err(|_| wrong())?;
    let session = answers.explorer.session();
    // A number may have been of several threads, one after the other: that which has samples there.
    let range_ns = at(from)?..=at(to)?;
    let rows = || answers.explorer.samples();
    let thread = tid.and_then(|tid| {
        let is_it = |id: &ThreadId| session.thread(*id).is_some_and(|thread| thread.tid == tid);
        rows().filter(|row| range_ns.contains(&row.time_ns)).filter_map(|row| row.thread).find(is_it)
    });
    Ok((range_ns, thread))
}

fn drawn<'a>(answers: &Answers<'_, '_>, flame: &Flame, cell: &TimeCell, by_thread: bool) -> DrawnFrame<'a> {
    let Named { mut name, binary, sort, named } = match cell.node {
        Some(node) => name_of(answers, flame, node),
        None => {
            let name = left_out_name(cell.count);
            Named { name, binary: String::new(), sort: FrameSort::LeftOut, named: true }
        }
    };
    let is_root =
        |node| matches!(flame.level(node).and_then(|level| flame.label(level)), Some(Label::Comm(_)));
    let thread = cell.thread.and_then(|thread| answers.explorer.session().thread(thread));
    if let (true, Some(thread)) = (by_thread && cell.node.is_some_and(is_root), thread) {
        name = format!("{name} {}", thread.tid);
    }
    DrawnFrame {
        depth: cell.depth,
        name: name.into(),
        binary: binary.into(),
        place: "",
        sort,
        inlined: matches!(sort, FrameSort::Function(_, true)),
        named,
        total: [cell.total, Sum::default()],
        own: [cell.own, Sum::default()],
    }
}
