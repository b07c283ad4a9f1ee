//! The flame graph: the frames that are wide enough, in the frame that is zoomed to.

use super::Answers;
use crate::query::Query;
use readperf_output::export::flamegraph::{Siblings, write_data};

/// The way to a frame in an address: keys of its callers and its own, separated by dots.
pub(super) fn way(query: &Query, key: &str) -> Result<Vec<u32>, String> {
    let steps = query.get(key).split('.').filter(|step| !step.is_empty());
    steps.map(|step| step.parse().map_err(|_| format!("{key}={}: no way to a frame", query.get(key)))).collect()
}

pub(super) fn answer(answers: &mut Answers<'_, '_>, query: &Query) -> Result<Vec<u8>, String> {
    let zoom = way(query, "zoom")?;
    let siblings = if query.get("order") == "name" { Siblings::ByName } else { Siblings::ByWeight };
    let mut out = Vec::new();
    answers.with_export(siblings, |export| write_data(export, None, &zoom, &mut out)).map_err(|error| error.to_string())?;
    Ok(out)
}
