//! The tree of calls: what is called at the end of a way. It is the tree that the flame graph draws.

use super::flame::frame_at;
use super::names::{Named, kind_of, name_of};
use super::{Answers, with_measure, with_sums};
use crate::query::Query;
use readperf_output::export::flamegraph::frame_key;
use readperf_profile::view::flame_tree::NodeIndex;
use serde_json::{Value as Json, json};
use std::cmp::Reverse;

/// Most calls of an answer.
const MOST: usize = 1000;

pub(super) fn answer(answers: &mut Answers<'_, '_>, query: &Query) -> Result<Vec<u8>, String> {
    let at = frame_at(answers, query, "way")?;
    let (flame, weight) = (answers.flame(), answers.explorer.state().weight);
    let total = |node: NodeIndex| [flame.sums(node).0, flame.sums_before(node).0];
    let mut children = flame.children(at).to_vec();
    let label = |node| flame.level(node).map(|level| level.label);
    children.sort_by_cached_key(|node| (Reverse(total(*node).map(|sum| weight.of_sum(&sum))), label(*node)));
    let left_out = children.len().saturating_sub(MOST);
    children.truncate(MOST);
    let compares = answers.explorer.total_before().is_some();
    let calls: Vec<Json> = children
        .into_iter()
        .map(|node| {
            let Named { name, binary, sort, named } = name_of(answers, flame, node);
            let call = json!({
                "name": name, "binary": binary, "kind": kind_of(sort), "named": named, "self": weight.of_sum(&flame.sums(node).1),
                "calls": !flame.children(node).is_empty(), "key": frame_key(&name).to_string(),
            });
            with_sums(call, weight, compares, &[("total", "before", &total(node))])
        })
        .collect();
    with_measure(answers, json!({"calls": calls, "left_out": left_out}))
}
