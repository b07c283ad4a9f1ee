//! The machine in words: CPUs, caches, memory.

use super::page::Page;
use super::{by_key, counted, shown};
use crate::text::{binary_size, grouped};
use perffile::wire::feature::cache::{Cache, Caches};
use perffile::wire::feature::cpu_domain_info::{CpuDomain, CpuDomainInfo};
use perffile::wire::feature::cpu_topology::CpuTopology;
use perffile::wire::feature::mem_topology::{MemNode, MemTopology};
use perffile::wire::feature::numa_topology::NumaTopology;
use perffile::wire::text::HeaderString;

/// A size that the recording tells in KiB: with a unit that suits it, and as told.
pub(super) fn kib(kib: u64) -> String {
    format!("{} ({} KiB)", binary_size(kib.saturating_mul(1024)), grouped(kib))
}

/// How many packages, dies, cores and threads, and which CPUs each of them has.
pub(super) fn topology(page: &mut Page, name: &str, topology: &CpuTopology<'_>) {
    let dies = topology.dies.as_ref();
    let threads: u64 = topology.threads.iter().map(|list| cpus_in(&list.display())).sum();
    let mut counts = vec![counted(topology.cores.len(), "package")];
    counts.extend(dies.map(|dies| counted(dies.cpus.len(), "die")));
    counts.push(counted(topology.threads.len(), "core"));
    counts.push(counted(usize::try_from(threads).unwrap_or(usize::MAX), "thread"));
    page.fact(name, counts.join(", "));
    let mut list = |head: &str, lists: &[HeaderString<'_>]| {
        let lists: Vec<String> = lists.iter().map(|cpus| shown(*cpus)).collect();
        page.items("", head, "; ", &lists);
    };
    list("packages: CPUs", &topology.cores);
    if let Some(dies) = dies {
        list("dies: CPUs", &dies.cpus);
    }
    list("cores: CPUs", &topology.threads);
}

/// How many CPUs a list such as `0-3,8` names; what is no list names none.
fn cpus_in(list: &str) -> u64 {
    let range = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (first.trim().parse::<u64>().ok()?, last.trim().parse::<u64>().ok()?);
        Some(last.checked_sub(first)?.saturating_add(1))
    };
    list.split(',').filter_map(range).fold(0, u64::saturating_add)
}

/// A line for each node.
pub(super) fn numa(page: &mut Page, name: &str, numa: &NumaTopology<'_>) {
    page.facts(
        name,
        numa.nodes.iter().map(|node| {
            format!(
                "node {}: {}, {} free, CPUs {}",
                node.node,
                binary_size(node.mem_total_kb.saturating_mul(1024)),
                binary_size(node.mem_free_kb.saturating_mul(1024)),
                shown(node.cpulist)
            )
        }),
    );
}

/// Caches that differ only in their CPUs are one line.
pub(super) fn caches(page: &mut Page, name: &str, caches: &Caches<'_>) {
    let kinds = by_key(caches.caches.iter().map(|cache| (kind_of_cache(cache), shown(cache.map))));
    if kinds.is_empty() {
        page.fact(name, other_form(u64::from(caches.version), caches.other.len()));
    }
    for (nr, (kind, cpus)) in kinds.iter().enumerate() {
        page.items(if nr == 0 { name } else { "" }, &format!("{kind}: CPUs"), "; ", cpus);
    }
}

fn kind_of_cache(cache: &Cache<'_>) -> String {
    let suffix = match cache.kind.bytes() {
        b"Data" => "d".to_owned(),
        b"Instruction" => "i".to_owned(),
        b"Unified" => String::new(),
        _ => format!(" {}", shown(cache.kind)),
    };
    format!("L{}{suffix} {} {}-way {} B lines", cache.level, shown(cache.size), cache.ways, cache.line_size)
}

/// How much memory each node has, by its blocks.
pub(super) fn memory_blocks(page: &mut Page, name: &str, memory: &MemTopology<'_>) {
    if !memory.other.is_empty() {
        return page.fact(name, other_form(memory.version, memory.other.len()));
    }
    let node = |node: &MemNode<'_>| {
        let blocks = node.blocks();
        format!(
            "node {}: {} blocks, {}",
            node.node,
            grouped(blocks),
            binary_size(blocks.saturating_mul(memory.block_size))
        )
    };
    let whole = format!("of {} each", binary_size(memory.block_size));
    page.facts(name, [whole].into_iter().chain(memory.nodes.iter().map(node)));
}

/// What is said of a section in a form that is not known.
fn other_form(version: u64, bytes: usize) -> String {
    if bytes == 0 { "none".into() } else { format!("form {version}: {} bytes", grouped(bytes as u64)) }
}

/// The scheduler's domains: a line for each different set of domains, with its CPUs.
pub(super) fn domains(page: &mut Page, name: &str, info: &CpuDomainInfo<'_>) {
    let domains_of = |domains: &[CpuDomain<'_>]| domains.iter().map(domain).collect::<Vec<_>>().join(", ");
    let sets = by_key(info.cpus.iter().map(|cpu| (domains_of(&cpu.domains), cpu.cpu.to_string())));
    page.fact(
        name,
        format!("{}, schedstat version {}", counted(info.cpus.len(), "CPU"), info.schedstat_version),
    );
    for (domains, cpus) in &sets {
        page.inner_items("CPUs", cpus);
        page.heading(&format!("    in {domains}"));
    }
}

fn domain(domain: &CpuDomain<'_>) -> String {
    let name = domain.name.map(|name| format!(" {}", shown(name))).unwrap_or_default();
    format!("domain {}{name}: {}", domain.domain, shown(domain.cpulist))
}

#[cfg(test)]
mod tests {
    use super::cpus_in;

    #[test]
    fn lists_of_cpus_are_counted() {
        assert_eq!(["0-3,8", "7", "", "0-1\n", "3-1", "x"].map(cpus_in), [5, 1, 0, 2, 0, 0]);
    }
}
