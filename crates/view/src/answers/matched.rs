//! What a search finds: all samples with a match in their stack, each once. The page has only the frames that it shows.

use super::functions::search_pattern;
use super::{Answers, names, with_measure};
use crate::query::Query;
use serde_json::json;

pub(super) fn answer(answers: &mut Answers<'_, '_>, query: &Query) -> Result<Vec<u8>, String> {
    let pattern = search_pattern(query.get("search"))?;
    let weight = answers.explorer.state().weight;
    let found = answers.upright_flame().matching(&pattern, |label| names::of_label(answers, label));
    with_measure(
        answers,
        json!({"matched": weight.of_sum(&found.sum), "matched_before": weight.of_sum(&found.before)}),
    )
}
