//! `PERF_TYPE_HW_CACHE`: caches, what is done to them, and with which result.
//!
//! `config` holds them in its three lowest bytes (`enum perf_hw_cache_id`, `..._op_id`, `..._op_result_id`).

use super::pmu;
use super::sources::NameSources;

/// A cache, and which operations there are: of the instruction caches no stores, of the branch unit loads only.
struct CacheLevel {
    name: &'static str,
    stores: bool,
    prefetches: bool,
}

const fn cache(name: &'static str, stores: bool, prefetches: bool) -> CacheLevel {
    CacheLevel { name, stores, prefetches }
}

const CACHES: [CacheLevel; 7] = [
    cache("L1-dcache", true, true),
    cache("L1-icache", false, true),
    cache("LLC", true, true),
    cache("dTLB", true, true),
    cache("iTLB", false, false),
    cache("branch", false, false),
    cache("node", true, true),
];

/// The name by `config`. perf says nothing of the kind of cores; here it is told if the recording names it, since otherwise
/// the events of both kinds look the same.
pub(super) fn name(config: u64, sources: &NameSources) -> String {
    let name = plain(config);
    match pmu::of_config(config).and_then(|number| sources.pmu(number)) {
        Some(pmu) => format!("{pmu}/{name}/"),
        None => name,
    }
}

/// The name of the combination: `L1-dcache-loads`, `L1-dcache-load-misses`; an impossible combination is named by its fault.
fn plain(config: u64) -> String {
    let [cache, operation, result, ..] = config.to_le_bytes();
    let Some(cache) = CACHES.get(usize::from(cache)) else {
        return "unknown-ext-hardware-cache-type".to_owned();
    };
    let (there, one, many) = match operation {
        0 => (true, "load", "loads"),
        1 => (cache.stores, "store", "stores"),
        2 => (cache.prefetches, "prefetch", "prefetches"),
        _ => return "unknown-ext-hardware-cache-op".to_owned(),
    };
    match result {
        0 | 1 if !there => "invalid-cache".to_owned(),
        0 => format!("{}-{many}", cache.name),
        1 => format!("{}-{one}-misses", cache.name),
        _ => "unknown-ext-hardware-cache-result".to_owned(),
    }
}
