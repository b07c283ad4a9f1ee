//! `PERF_TYPE_SOFTWARE`: what the kernel itself counts.

/// `enum perf_sw_ids`, by number, as perf spells them. perf 6.1 has no name for the last two, which the kernel has.
const NAMES: [&str; 12] = [
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

/// The name by `config`.
pub(super) fn name(config: u64) -> &'static str {
    usize::try_from(config).ok().and_then(|nr| NAMES.get(nr)).copied().unwrap_or("unknown-software")
}
