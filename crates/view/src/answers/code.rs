//! The code of a function, as `annotate --json` has it.

use super::functions::function;
use super::{Answers, with_measure, written};
use crate::query::Query;
use readperf_output::annotate::{Annotation, Measure, ShareOf, Show, write_json};
use serde_json::json;
use serde_json::value::RawValue;

pub(super) fn answer(answers: &mut Answers<'_, '_>, query: &Query) -> Result<Vec<u8>, String> {
    let row = match function(&answers.explorer, query) {
        Ok(row) => row,
        Err(why) => return written(&json!({"listing": null, "why": why})),
    };
    let Answers { explorer, outside, .. } = answers;
    let Some(function) = row.function else {
        return written(&json!({"listing": null, "why": "It has no name, and so no code."}));
    };
    let Some(listing) = explorer.listing(function, false) else {
        return written(
            &json!({"listing": null, "why": "No sample of what is chosen was taken in it: it only calls others."}),
        );
    };
    let sources = outside.sources(&listing, explorer.session());
    let annotation = Annotation {
        listings: std::slice::from_ref(&listing),
        profile: explorer.totals(),
        session: explorer.session(),
        recorded: explorer.totals().recorded(),
        sources: &sources,
        show: Show::Both,
        measures: &[Measure::Share],
        share_of: ShareOf::default(),
        inclusive: false,
        bytes: false,
        others: 0,
        width: None,
    };
    let mut json = Vec::new();
    write_json(&mut json, &annotation, []).map_err(|error| error.to_string())?;
    let text = String::from_utf8(json).map_err(|error| error.to_string())?;
    let raw = RawValue::from_string(text).map_err(|error| error.to_string())?;
    let event = explorer.state().event;
    with_measure(answers, json!({"event": event, "self": row.own, "annotation": raw}))
}
