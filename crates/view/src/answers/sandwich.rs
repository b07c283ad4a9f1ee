//! A function: who calls it, and what it calls. By the tree that the flame graph draws: what is inlined is a call, too.

use super::names::{Named, kind_of, name_of};
use super::{Answers, names, with_measure, with_sums, written};
use crate::query::Query;
use readperf_explore::{Around, Flame, Label, NowAndBefore};
use readperf_output::text::shown;
use readperf_profile::CodeKind;
use readperf_profile::view::flame_tree::NodeIndex;
use serde_json::{Value as Json, json};
use std::cell::Cell;

pub(super) fn answer(answers: &mut Answers<'_, '_>, query: &Query) -> Result<Vec<u8>, String> {
    let (name, binary) = (query.get("function"), query.get("binary"));
    let (profile, session) = (answers.explorer.totals(), answers.explorer.session());
    let flame = answers.upright_flame();
    let compared_binary = names::compared_binary(session, binary);
    let of_it = Cell::new((CodeKind::Unknown, true));
    let is_it = |label: Label<'_>| {
        let (is_it, kind, named) = match label {
            Label::Comm(_) => return false,
            Label::Frame(frame) => {
                let is_called = shown(&frame.label(profile, session)) == name;
                let is_of = || binary.is_empty() || names::binary(session, frame.binary) == binary;
                (is_called && is_of(), frame.kind, frame.named)
            }
            Label::Compared(frame) => {
                let is_of = || binary.is_empty() || shown(&frame.binary) == compared_binary;
                (shown(&frame.name) == name && is_of(), frame.kind, frame.named)
            }
        };
        if is_it {
            of_it.set((kind, named));
        }
        is_it
    };
    let Around { own, total, callers, callees } = flame.around(is_it);
    if total == NowAndBefore::default() {
        // What has no name is a row of its own among the functions, by its address, but no frame.
        let why = format!(
            "{name}: no frame of what is chosen is called so. Code without a name is in the frame of its binary."
        );
        return written(&json!({"function": null, "why": why}));
    }
    let weight = answers.explorer.state().weight;
    let compares = answers.explorer.total_before().is_some();
    let side = |calls: &[(NodeIndex, NowAndBefore)]| -> Vec<Json> {
        let calls = calls.iter().filter(|(node, _)| *node != Flame::ROOT);
        let json = |(node, sums): &(NodeIndex, NowAndBefore)| {
            let Named { name, binary, sort, named } = name_of(answers, flame, *node);
            let call = json!({"name": name, "binary": binary, "kind": kind_of(sort), "named": named});
            with_sums(call, weight, compares, &[("total", "before", sums)])
        };
        calls.map(json).collect()
    };
    let (kind, named) = of_it.get();
    let function = json!({"name": name, "binary": binary, "kind": names::kind(kind), "named": named});
    let sums = [("self", "self_before", &own), ("total", "before", &total)];
    let function = with_sums(function, weight, compares, &sums);
    with_measure(answers, json!({"function": function, "callers": side(&callers), "callees": side(&callees)}))
}
