//! A name for an event whose recording tells none, made from its attr.

use crate::wire::attr::EventAttr;

/// `PERF_TYPE_HARDWARE`, by `config`.
const HARDWARE: [&str; 10] = [
    "cycles",
    "instructions",
    "cache-references",
    "cache-misses",
    "branches",
    "branch-misses",
    "bus-cycles",
    "stalled-cycles-frontend",
    "stalled-cycles-backend",
    "ref-cycles",
];

/// `PERF_TYPE_SOFTWARE`, by `config`.
const SOFTWARE: [&str; 12] = [
    "cpu-clock",
    "task-clock",
    "page-faults",
    "context-switches",
    "cpu-migrations",
    "minor-faults",
    "major-faults",
    "alignment-faults",
    "emulation-faults",
    "dummy",
    "bpf-output",
    "cgroup-switches",
];

/// The name that an attr itself suggests.
pub fn from_attr(attr: &EventAttr) -> String {
    let table = |names: &[&str]| {
        usize::try_from(attr.config).ok().and_then(|nr| names.get(nr)).map(|name| (*name).to_owned())
    };
    let known = match attr.kind {
        0 => table(&HARDWARE),
        1 => table(&SOFTWARE),
        2 => Some(format!("tracepoint:{}", attr.config)),
        4 => Some(format!("raw 0x{:x}", attr.config)),
        5 => Some(format!("mem:{:#x}", attr.config1)),
        _ => None,
    };
    known.unwrap_or_else(|| format!("type {} config {:#x}", attr.kind, attr.config))
}
