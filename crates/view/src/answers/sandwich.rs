//! A function: who calls it, and what it calls. By the tree that the flame graph draws: what is inlined is a call, too.

use super::names::{Named, kind_of, name_of};
use super::{Answers, names, with_measure, written};
use crate::query::Query;
use readperf_explore::{Around, Flame, Label};
use readperf_output::text::shown;
use readperf_profile::CodeKind;
use readperf_profile::view::flame_tree::{NodeIndex, Sum};
use serde_json::{Value as Json, json};
use std::cell::Cell;

pub(super) fn answer(answers: &mut Answers<'_, '_>, query: &Query) -> Result<Vec<u8>, String> {
    let (name, binary) = (query.get("function"), query.get("binary"));
    let (profile, session) = (answers.explorer.totals(), answers.explorer.session());
    let flame = answers.explorer.upright_flame();
    let of_it = Cell::new((CodeKind::Unknown, true));
    let is_it = |label: Label<'_>| match label {
        Label::Comm(_) | Label::Compared(_) => false,
        Label::Frame(frame) => {
            let is_it = shown(&frame.label(profile, session)) == name
                && (binary.is_empty() || names::binary(session, frame.binary) == binary);
            if is_it {
                of_it.set((frame.kind, frame.named));
            }
            is_it
        }
    };
    let Around { own, total, callers, callees } = flame.around(is_it);
    if total == Sum::default() {
        // What has no name is a row of its own among the functions, by its address, but no frame.
        let why = format!(
            "{name}: no frame of what is chosen is called so. Code without a name is in the frame of its binary."
        );
        return written(&json!({"function": null, "why": why}));
    }
    let weight = answers.explorer.state().weight;
    let side = |calls: &[(NodeIndex, Sum)]| -> Vec<Json> {
        let calls = calls.iter().filter(|(node, _)| *node != Flame::ROOT);
        let json = |(node, sum): &(NodeIndex, Sum)| {
            let Named { name, binary, sort, named } = name_of(answers, flame, *node);
            json!({"name": name, "binary": binary, "kind": kind_of(sort), "named": named, "total": weight.of_sum(sum)})
        };
        calls.map(json).collect()
    };
    let (kind, named) = of_it.get();
    let function = json!({
        "name": name, "binary": binary, "kind": names::kind(kind), "named": named, "self": weight.of_sum(&own), "total": weight.of_sum(&total),
    });
    with_measure(answers, json!({"function": function, "callers": side(&callers), "callees": side(&callees)}))
}
