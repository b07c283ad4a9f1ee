//! `PERF_TYPE_HARDWARE`: the counters that most CPUs have.

use super::pmu;
use super::sources::NameSources;

/// `enum perf_hw_id`, by number, as perf spells them.
const NAMES: [&str; 10] = [
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

/// The low half, which then holds the event (`PERF_HW_EVENT_MASK`).
const EVENT_MASK: u64 = 0xffff_ffff;

/// The name by `config`; of one kind of cores as `cpu_core/cycles/`.
pub(super) fn name(config: u64, sources: &NameSources) -> String {
    let event = usize::try_from(config & EVENT_MASK).ok();
    let base = event.and_then(|nr| NAMES.get(nr)).copied().unwrap_or("unknown-hardware");
    match pmu::of_config(config) {
        Some(number) => format!("{}/{base}/", sources.pmu(number).unwrap_or("cpu")),
        None => base.to_owned(),
    }
}
