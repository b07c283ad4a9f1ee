//! PMUs in words: their names, what they can do, and groups of events.

use super::page::Page;
use super::shown;
use crate::text::printable;
use perffile::Schema;
use perffile::wire::feature::group_desc::{EventGroup, GroupDesc};
use perffile::wire::feature::hybrid_topology::HybridTopology;
use perffile::wire::feature::pmu_caps::{PmuCap, PmuCaps};
use perffile::wire::feature::pmu_mappings::PmuMappings;

/// Every PMU with its number, by number.
pub(super) fn mappings(page: &mut Page, name: &str, pmus: &PmuMappings<'_>) {
    let mut sorted = pmus.pmus.clone();
    sorted.sort_by_key(|pmu| (pmu.kind, pmu.name.bytes()));
    let items: Vec<String> = sorted.iter().map(|pmu| format!("{} {}", shown(pmu.name), pmu.kind.0)).collect();
    page.items(name, "", ", ", &items);
}

fn cap_items(caps: &[PmuCap<'_>]) -> Vec<String> {
    caps.iter().map(|cap| format!("{}={}", shown(cap.name), shown(cap.value))).collect()
}

/// What the PMU `cpu` can do.
pub(super) fn caps(page: &mut Page, name: &str, caps: &[PmuCap<'_>]) {
    page.items(name, "", ", ", &cap_items(caps));
}

/// What each of the other PMUs can do.
pub(super) fn all_caps(page: &mut Page, name: &str, caps: &PmuCaps<'_>) {
    for (nr, pmu) in caps.pmus.iter().enumerate() {
        let head = format!("{}:", shown(pmu.pmu_name));
        page.items(if nr == 0 { name } else { "" }, &head, ", ", &cap_items(&pmu.caps));
    }
}

/// The CPUs of each kind of cores.
pub(super) fn hybrid(page: &mut Page, name: &str, hybrid: &HybridTopology<'_>) {
    let line = |pmu: &perffile::wire::feature::hybrid_topology::HybridNode<'_>| {
        format!("{}: CPUs {}", shown(pmu.pmu_name), shown(pmu.cpus))
    };
    page.facts(name, hybrid.nodes.iter().map(line));
}

/// The names of the events of each group, the leader first.
pub(super) fn groups(page: &mut Page, name: &str, groups: &GroupDesc<'_>, schema: &Schema) {
    page.facts(name, groups.groups.iter().map(|group| group_words(group, schema)));
}

fn group_words(group: &EventGroup<'_>, schema: &Schema) -> String {
    let index = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let members = schema.events().iter().skip(index(group.leader_idx)).take(index(group.nr_members));
    let names: Vec<_> = members.map(|event| printable(&event.name)).collect();
    let given = group.given_name().map(|_| format!("{} ", shown(group.name))).unwrap_or_default();
    format!("{given}{{{}}}", names.join(", "))
}
