//! The tree of calls: what is called at the end of a way. It is the tree that the flame graph draws.

use super::flame::way;
use super::{Answers, names, with_measure};
use crate::query::Query;
use readperf_explore::{Flame, FlameCell, FlameWindow, Label};
use readperf_output::export::flamegraph::frame_key;
use readperf_output::text::{decoded, shown};
use readperf_profile::view::flame_layout::BoxContent;
use serde_json::{Value as Json, json};

/// Calls with less than this share of their caller's weight are only counted: one in so many.
const FINEST: u32 = 100_000;
/// The frame, what it calls, and whether that calls anything.
const LEVELS: u32 = 3;

/// What a level is called.
fn name(answers: &Answers<'_, '_>, flame: &Flame, cell: &FlameCell) -> Option<String> {
    let BoxContent::Level(level) = cell.what else { return None };
    let (profile, session) = (answers.explorer.profile(), answers.explorer.session());
    Some(match flame.label(level)? {
        Label::Comm(comm) => shown(&decoded(session.comm(comm))).into_owned(),
        Label::Frame(frame) => shown(&frame.label(profile, session)).into_owned(),
    })
}

/// The cells of a level of a window, with whether there are any above each.
fn level(window: &FlameWindow, depth: u32) -> impl Iterator<Item = (&FlameCell, bool)> {
    let cells = window.cells.iter().enumerate();
    cells.filter(move |(_, cell)| cell.depth == depth).map(move |(nr, cell)| {
        let above = window.cells.get(nr + 1).is_some_and(|next| next.depth > depth);
        (cell, above)
    })
}

pub(super) fn answer(answers: &mut Answers<'_, '_>, query: &Query) -> Result<Vec<u8>, String> {
    let flame = answers.explorer.flame();
    let mut window = flame.window(Flame::ROOT, FINEST, LEVELS);
    for step in way(query, "way")? {
        let is_it = |cell: &&FlameCell| name(answers, flame, cell).is_some_and(|name| frame_key(&name) == step);
        let next = level(&window, 1).map(|(cell, _)| cell).find(is_it).and_then(|cell| cell.node);
        let Some(next) = next else { return Err(format!("way={}: no such call", query.get("way"))) };
        window = flame.window(next, FINEST, LEVELS);
    }
    let weight = answers.explorer.state().weight;
    let calls: Vec<Json> = level(&window, 1)
        .filter_map(|(cell, has_calls)| {
            let name = name(answers, flame, cell)?;
            let BoxContent::Level(level) = cell.what else { return None };
            let (binary, kind) = match flame.label(level)? {
                Label::Comm(_) => (String::new(), "thread"),
                Label::Frame(frame) => (names::binary(answers.explorer.session(), frame.binary), names::kind(frame.kind)),
            };
            Some(json!({
                "name": name, "binary": binary, "kind": kind, "self": weight.of_sum(&cell.own), "total": cell.weight,
                "calls": has_calls, "key": frame_key(&name).to_string(),
            }))
        })
        .collect();
    let left_out = window.left_out;
    with_measure(answers, json!({"calls": calls, "left_out": left_out}))
}
