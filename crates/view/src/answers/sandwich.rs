//! A function: who calls it, and what it calls.

use super::functions::{FunctionRow, all};
use super::{Answers, names, with_measure};
use crate::query::Query;
use readperf_explore::Direction;
use serde_json::{Value as Json, json};

/// The function that a query names. Several binaries may have one of that name.
pub(super) fn function(answers: &Answers<'_, '_>, query: &Query) -> Result<FunctionRow, String> {
    let (name, binary) = (query.get("function"), query.get("binary"));
    let found = all(&answers.explorer).into_iter().find(|row| row.name == name && (binary.is_empty() || row.binary == binary));
    found.ok_or_else(|| format!("{name}: it has no samples of what is chosen"))
}

pub(super) fn answer(answers: &mut Answers<'_, '_>, query: &Query) -> Result<Vec<u8>, String> {
    let function = function(answers, query)?;
    let callers = side(answers, &function, Direction::Callers);
    let callees = side(answers, &function, Direction::Below);
    with_measure(answers, json!({"function": function.json(), "callers": callers, "callees": callees}))
}

/// The calls on one side of a function, those with most first.
fn side(answers: &mut Answers<'_, '_>, function: &FunctionRow, direction: Direction) -> Vec<Json> {
    let explorer = &mut answers.explorer;
    let mut calls = explorer.open_calls_in(function.key, direction);
    // The first line is the function itself, the others are behind it.
    calls.open(explorer, 0);
    let lines = calls.lines.iter().filter(|line| line.depth == 1);
    let frames: Vec<(u32, u64, u64)> = lines
        .filter_map(|line| line.frame.as_ref().map(|frame| (frame.frame, frame.own, frame.period)))
        .collect();
    let Some(says) = explorer.frames() else { return Vec::new() };
    let rows = explorer.rows();
    frames
        .into_iter()
        .map(|(frame, own, total)| {
            let (name, binary, kind) = names::of_value(&rows.facts, says.says(frame));
            json!({"name": name, "binary": binary, "kind": kind, "self": own, "total": total})
        })
        .collect()
}
