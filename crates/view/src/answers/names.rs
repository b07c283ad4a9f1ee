//! Names of functions and binaries, as a page shows them.

use readperf_output::names::UNKNOWN;
use readperf_output::text::{decoded, shown};
use readperf_profile::view::facts::Facts;
use readperf_profile::{CodeKind, FunctionId, Value};
use readperf_session::{BinaryId, Session};

/// The short name of a binary; empty where none is known.
pub(super) fn binary(session: &Session, binary: Option<BinaryId>) -> String {
    let binary = binary.and_then(|binary| session.binary(binary));
    binary.map_or(String::new(), |binary| shown(&decoded(&binary.short_name)).into_owned())
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

/// The name of the function that a value says, its binary, and its kind.
pub(super) fn of_value(facts: &Facts<'_>, value: Value) -> (String, String, &'static str) {
    match value {
        Value::Function { function: id, .. } => of_function(facts, id),
        _ => (UNKNOWN.to_owned(), String::new(), kind(CodeKind::Unknown)),
    }
}

/// The name of a function, its binary, and its kind.
pub(super) fn of_function(facts: &Facts<'_>, id: FunctionId) -> (String, String, &'static str) {
    let Some(function) = facts.profile.function(id) else {
        return (UNKNOWN.to_owned(), String::new(), kind(CodeKind::Unknown));
    };
    let of = CodeKind::of_binary(function.binary, facts.session);
    (shown(&function.label()).into_owned(), binary(facts.session, function.binary), kind(of))
}
