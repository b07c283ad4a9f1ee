//! The map of time, as `timeline` has it: what is chosen, whatever range of time is chosen of it.

use super::{Answers, with_measure};
use crate::query::Query;
use readperf_profile::view::timeline::{Size, Timeline};
use serde_json::{Value as Json, json};

/// Most columns and rows of a map.
const MOST: (usize, usize) = (1000, 200);

pub(super) fn answer(answers: &mut Answers<'_, '_>, query: &Query) -> Result<Vec<u8>, String> {
    let chosen = answers.chosen_times();
    answers.go(&query.without(&["from", "to", "time"]))?;
    let explorer = &answers.explorer;
    let size = Size {
        columns: query.number("columns")?.unwrap_or(100).clamp(1, MOST.0),
        rows: query.number("rows")?.unwrap_or(20).clamp(1, MOST.1),
    };
    let Some(map) = explorer.profile().timeline(explorer.state().event, size) else {
        return with_measure(answers, json!({"chosen": chosen, "cells": []}));
    };
    let weight = explorer.state().weight;
    let since = |ns: u64| ns.saturating_sub(answers.origin_ns);
    let columns = map.cells.chunks(map.scale.rows.max(1));
    let cells: Json =
        columns.map(|column| column.iter().map(|sum| weight.of_sum(sum)).collect::<Json>()).collect();
    let hottest = Timeline { weight, ..map.clone() }.hottest();
    let hottest: Vec<Json> = hottest
        .iter()
        .map(|stretch| json!({"from_ns": since(stretch.from_ns), "to_ns": since(stretch.to_ns), "total": weight.of_sum(&stretch.sum)}))
        .collect();
    // The first column begins with a whole unit of time, so before the first sample.
    let before_ns = answers.origin_ns.saturating_sub(map.scale.start_ns);
    let json = json!({
        "chosen": chosen, "before_ns": before_ns, "column_ns": map.scale.column_ns, "cell_ns": map.scale.cell_ns, "cells": cells, "hottest": hottest,
        "samples_without_time": map.timeless.samples,
    });
    with_measure(answers, json)
}
