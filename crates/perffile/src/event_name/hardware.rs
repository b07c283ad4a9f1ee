//! `PERF_TYPE_HARDWARE`: the counters that most CPUs have.

use super::pmu;
use super::sources::NameSources;
use crate::wire::event_type::HardwareEvent;

/// The name by `config`; of one kind of cores as `cpu_core/cycles/`.
pub(super) fn name(config: u64, sources: &NameSources) -> String {
    let base = HardwareEvent::of_config(config).name().unwrap_or("unknown-hardware");
    match pmu::of_config(config) {
        Some(number) => format!("{}/{base}/", sources.pmu(number).unwrap_or("cpu")),
        None => base.to_owned(),
    }
}
