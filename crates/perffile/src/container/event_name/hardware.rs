//! `PERF_TYPE_HARDWARE`: the counters that most CPUs have.

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

/// `PERF_PMU_TYPE_SHIFT`: on machines with several kinds of cores, `config` has the number of the PMU from this bit on.
const PMU_SHIFT: u32 = 32;

/// The low half, which then holds the event (`PERF_HW_EVENT_MASK`).
const EVENT_MASK: u64 = 0xffff_ffff;

/// The name by `config`; of one kind of cores as `cpu_core/cycles/`.
pub(super) fn name(config: u64, sources: &NameSources) -> String {
    let event = usize::try_from(config & EVENT_MASK).ok();
    let base = event.and_then(|nr| NAMES.get(nr)).copied().unwrap_or("unknown-hardware");
    match u32::try_from(config >> PMU_SHIFT) {
        Ok(0) | Err(_) => base.to_owned(),
        Ok(pmu) => format!("{}/{base}/", sources.pmu(pmu).unwrap_or("cpu")),
    }
}
