//! Names of functions and binaries, as a page shows them.

use super::Answers;
use readperf_explore::{Flame, Label};
use readperf_output::export::flamegraph::{FrameSort, frame_key};
use readperf_output::names::UNKNOWN;
use readperf_output::text::{decoded, shown};
use readperf_profile::matching::name_by_kind;
use readperf_profile::view::facts::Facts;
use readperf_profile::view::flame_tree::NodeIndex;
use readperf_profile::{CodeKind, FunctionId, Value};
use readperf_session::{Binary, BinaryId, Session};
use std::borrow::Cow;

/// The short name of a binary; empty where none is known.
pub(super) fn binary(session: &Session, binary: Option<BinaryId>) -> String {
    let binary = binary.and_then(|binary| session.binary(binary));
    binary.map_or(String::new(), |binary| shown(&decoded(&binary.short_name)).into_owned())
}

/// What a binary is called where recordings are compared; `name` is that of [`binary`].
pub(super) fn compared_binary(session: &Session, name: &str) -> String {
    let is_it = |other: &Binary| shown(&decoded(&other.short_name)) == name;
    let binary = session.binaries().iter().find(|other| is_it(other));
    binary.map_or_else(|| name.to_owned(), |binary| shown(&name_by_kind(binary)).into_owned())
}

/// What a kind of code is called.
pub(super) fn kind(kind: CodeKind) -> &'static str {
    match kind {
        CodeKind::User => "user",
        CodeKind::Kernel => "kernel",
        CodeKind::Jit => "jit",
        CodeKind::Unknown => "unknown",
    }
}

/// A frame of a flame graph: what it is called, its binary, what it is.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) binary: String,
    pub(super) sort: FrameSort,
    /// Whether a pattern can match it: code without a name is called by its binary.
    pub(super) named: bool,
}

/// What a frame is called.
pub(super) fn name_of(answers: &Answers<'_, '_>, flame: &Flame, node: NodeIndex) -> Named {
    let label = flame.level(node).and_then(|level| flame.label(level));
    let name = label.map_or("all".to_owned(), |label| of_label(answers, label).into_owned());
    let (binary, sort, named) = match label {
        None => (String::new(), FrameSort::All, true),
        Some(Label::Comm(_)) => (String::new(), FrameSort::Thread, true),
        Some(Label::Frame(frame)) => (
            binary(answers.explorer.session(), frame.binary),
            FrameSort::Function(frame.kind, frame.first.inlined),
            frame.named,
        ),
        Some(Label::Compared(frame)) => {
            (shown(&frame.binary).into_owned(), FrameSort::Function(frame.kind, frame.inlined), frame.named)
        }
    };
    Named { name, binary, sort, named }
}

/// What a level of stacks is called.
pub(super) fn of_label<'a>(answers: &'a Answers<'_, '_>, label: Label<'a>) -> Cow<'a, str> {
    let (profile, session) = (answers.explorer.totals(), answers.explorer.session());
    let shown_whole = |name: Cow<'a, str>| match name {
        Cow::Borrowed(name) => shown(name),
        Cow::Owned(name) => Cow::Owned(shown(&name).into_owned()),
    };
    match label {
        Label::Comm(comm) => shown_whole(decoded(session.comm(comm))),
        Label::Frame(frame) => shown_whole(frame.label(profile, session)),
        Label::Compared(frame) => shown(&frame.name),
    }
}

/// The key of a frame in addresses; none of the whole.
pub(super) fn key_of(answers: &Answers<'_, '_>, flame: &Flame, node: NodeIndex) -> Option<u32> {
    flame.level(node).map(|_| frame_key(&name_of(answers, flame, node).name))
}

/// What a frame is, in a word.
pub(super) fn kind_of(sort: FrameSort) -> &'static str {
    match sort {
        FrameSort::All | FrameSort::LeftOut => "all",
        FrameSort::Thread => "thread",
        FrameSort::Function(_, true) => "inlined",
        FrameSort::Function(code, false) => kind(code),
    }
}

/// The name of the function that a value says, its binary, and its kind.
pub(super) fn of_value(facts: &Facts<'_>, value: Value) -> (String, String, &'static str) {
    match value {
        Value::Function { function: id, inlined } => {
            let (name, binary, kind) = of_function(facts, id);
            (name, binary, if inlined { "inlined" } else { kind })
        }
        _ => (UNKNOWN.to_owned(), String::new(), kind(CodeKind::Unknown)),
    }
}

/// The name of the function that a value says, and nothing else: what is searched.
pub(super) fn name_of_value<'f>(facts: &Facts<'f>, value: Value) -> Cow<'f, str> {
    let id = if let Value::Function { function, .. } = value { Some(function) } else { None };
    let function = id.and_then(|id| facts.profile.function(id));
    function.map_or(Cow::Borrowed(UNKNOWN), |function| match function.label() {
        Cow::Borrowed(label) => shown(label),
        // An address is shown as it is.
        Cow::Owned(address) => Cow::Owned(address),
    })
}

/// The name of a function, its binary, and its kind.
pub(super) fn of_function(facts: &Facts<'_>, id: FunctionId) -> (String, String, &'static str) {
    let Some(function) = facts.profile.function(id) else {
        return (UNKNOWN.to_owned(), String::new(), kind(CodeKind::Unknown));
    };
    let of = CodeKind::of_binary(function.binary, facts.session);
    (shown(&function.label()).into_owned(), binary(facts.session, function.binary), kind(of))
}
