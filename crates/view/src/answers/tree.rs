//! The tree of calls: what is called at the end of a way. It is the tree that the flame graph draws.

use super::flame::frame_at;
use super::names::{Named, kind_of, name_of};
use super::{Answers, with_measure};
use crate::query::Query;
use readperf_output::export::flamegraph::frame_key;
use readperf_profile::view::flame_tree::NodeIndex;
use serde_json::{Value as Json, json};
use std::cmp::Reverse;

/// Most calls of an answer.
const MOST: usize = 1000;

pub(super) fn answer(answers: &mut Answers<'_, '_>, query: &Query) -> Result<Vec<u8>, String> {
    let at = frame_at(answers, query, "way")?;
    let (flame, weight) = (answers.explorer.flame(), answers.explorer.state().weight);
    let mut children: Vec<(u64, NodeIndex)> =
        flame.children(at).iter().map(|node| (weight.of_sum(&flame.sums(*node).0), *node)).collect();
    children
        .sort_unstable_by_key(|(total, node)| (Reverse(*total), flame.level(*node).map(|level| level.label)));
    let left_out = children.len().saturating_sub(MOST);
    children.truncate(MOST);
    let calls: Vec<Json> = children
        .into_iter()
        .map(|(total, node)| {
            let Named { name, binary, sort } = name_of(answers, flame, node);
            json!({
                "name": name, "binary": binary, "kind": kind_of(sort), "self": weight.of_sum(&flame.sums(node).1), "total": total,
                "calls": !flame.children(node).is_empty(), "key": frame_key(&name).to_string(),
            })
        })
        .collect();
    with_measure(answers, json!({"calls": calls, "left_out": left_out}))
}
