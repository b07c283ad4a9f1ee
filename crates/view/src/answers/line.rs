//! The line of source on which a function takes most itself, for a hint.

use super::functions::function;
use super::{Answers, written};
use crate::query::Query;
use readperf_output::text::shown;
use readperf_profile::view::listing::Numbers;
use serde_json::json;
use std::cmp::Reverse;

pub(super) fn answer(answers: &mut Answers<'_, '_>, query: &Query) -> Result<Vec<u8>, String> {
    let nothing = || written(&json!({"place": null}));
    // A frame may be what is inlined, or code without a name.
    let Some(function) = function(&answers.explorer, query).ok().and_then(|row| row.function) else {
        return nothing();
    };
    let Some(listing) = answers.explorer.listing(function, false) else { return nothing() };
    let state = answers.explorer.state();
    let own =
        |numbers: &[Numbers]| numbers.get(state.event).map_or(0, |numbers| state.weight.of_sum(&numbers.own));
    let known = listing.lines.iter().filter(|line| line.line > 0 && own(&line.numbers) > 0);
    let hottest = known.min_by_key(|line| (Reverse(own(&line.numbers)), line.file, line.line));
    let Some((line, file)) = hottest.and_then(|line| Some((line, listing.files.get(line.file?)?))) else {
        return nothing();
    };
    let name = file.path.rsplit('/').next().unwrap_or(&file.path);
    written(&json!({
        "place": format!("{}:{}", shown(name), line.line), "self": own(&line.numbers), "of": own(&listing.numbers),
    }))
}
