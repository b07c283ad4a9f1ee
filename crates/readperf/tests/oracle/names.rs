//! Names made comparable: what two tools may write differently without disagreeing.

/// Any address or "unknown" becomes `?`; parameter lists of C++ names and trailing blanks go.
pub(crate) fn symbol(name: &str) -> String {
    let name = name.trim();
    if name.is_empty() || name.starts_with("0x") || matches!(name, "[unknown]" | "unknown" | "?" | "??") {
        return "?".to_owned();
    }
    if is_linkage(name) {
        return "@plt".to_owned();
    }
    without_parameters(name).to_owned()
}

/// Whether a name is that of something in a procedure linkage table.
pub(crate) fn is_linkage(name: &str) -> bool {
    name.ends_with("@plt") || is_unnamed_linkage(name)
}

/// Whether a name stands for what has none in a procedure linkage table. perf 6.1 knows no names for entries of `.plt.sec`, for the
/// head of a `.plt`, and for what IRELATIVE fills: a bare `@plt`; or it stretches `_init`, which has no size, from the section ahead over
/// them. readperf calls by the section what has no name of its own.
pub(crate) fn is_unnamed_linkage(name: &str) -> bool {
    matches!(name, "@plt" | ".plt" | "_init")
}

/// `f(int) const` → `f`; `operator()(int)` → `operator()`; `(anonymous namespace)::f(int)` keeps its start.
fn without_parameters(name: &str) -> &str {
    let body = name.trim_end_matches(" const");
    let Some(close) = body.strip_suffix(')') else { return name };
    let mut depth = 1_usize;
    for (at, letter) in close.char_indices().rev() {
        match letter {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let front = &close[..at];
            return if front.is_empty() || front.ends_with("operator") { name } else { front };
        }
    }
    name
}

/// The short name that perf prints: the last part of a path; names in brackets as they are.
pub(crate) fn dso(name: &str) -> String {
    if name.is_empty() {
        return "[unknown]".to_owned();
    }
    if name.starts_with('[') || name.starts_with("//") {
        return name.to_owned();
    }
    name.rsplit('/').next().unwrap_or(name).to_owned()
}

/// perf appends modifiers of its own to an event (`cpu-clock:uH`, `cpu-clock:HG`) and keeps terms (`page-faults/period=16/`);
/// two names are the same event when one begins with the other's part before `:` or `/`.
pub(crate) fn same_event(a: &str, b: &str) -> bool {
    let stem = |name: &str| match name.split_once(':') {
        // A tracepoint is `system:name`; a modifier is letters of a short set.
        Some((front, back)) if !back.chars().all(|c| "ukhGHpPSDIWeb".contains(c)) => {
            format!("{front}:{back}")
        }
        Some((front, _)) => front.to_owned(),
        None => name.split('/').next().unwrap_or(name).to_owned(),
    };
    stem(a) == stem(b)
}

#[test]
fn names_are_made_comparable() {
    assert_eq!(symbol("0x00007f11"), "?");
    assert_eq!([symbol("_init"), symbol(".plt"), symbol("free@plt")], ["@plt"; 3]);
    assert!(!is_unnamed_linkage("free@plt"));
    assert_eq!(symbol("forest::Tree<int>::sum(int, char) const"), "forest::Tree<int>::sum");
    assert_eq!(symbol("f<int (*)(char)>(int)"), "f<int (*)(char)>");
    assert_eq!(symbol("Walk::operator()"), "Walk::operator()");
    assert_eq!(symbol("(anonymous namespace)::f()"), "(anonymous namespace)::f");
    assert_eq!(dso("/usr/lib/libc.so.6"), "libc.so.6");
    assert_eq!(dso("[kernel.kallsyms]"), "[kernel.kallsyms]");
    assert!(same_event("cpu-clock:u", "cpu-clock:uH"));
    assert!(same_event("page-faults/period=16/", "page-faults"));
    assert!(!same_event("sched:sched_switch", "sched:sched_wakeup"));
}
