//! `readperf info` as text: every feature in words, then a block for each event.

mod clock;
mod contents;
mod event;
mod machine;
mod page;
mod pmus;
mod programs;
mod tracing;

use super::features::endian_name;
use crate::text::{self, grouped, printable};
use page::Page;
use perffile::Metadata;
use perffile::wire::feature::{self, Feature};
use perffile::wire::text::HeaderString;
use std::collections::HashMap;
use std::io::{self, Write};

/// The metadata as text.
///
/// # Errors
/// What the writer says.
pub fn write_text(out: &mut impl Write, metadata: &Metadata) -> io::Result<()> {
    let mut page = Page::default();
    let compressed = if metadata.compressed { ", compressed" } else { "" };
    page.fact(
        "recording",
        format!(
            "{} (version {}, {}{compressed})",
            metadata.container,
            metadata.version,
            endian_name(metadata.order)
        ),
    );
    if let Some(path) = &metadata.kcore_dir {
        page.fact("kernel copy", printable(&path.display().to_string()));
    }
    for (pid, path) in &metadata.guest_kcore_dirs {
        page.fact("guest kernel", format!("{} (process {pid})", printable(&path.display().to_string())));
    }
    // What may be long comes behind what is short.
    let (long, short): (Vec<u32>, Vec<u32>) = metadata.features.bits().partition(|bit| LONG.contains(bit));
    for bit in short.into_iter().chain(long) {
        feature(&mut page, metadata, bit);
    }
    for event in metadata.schema.events() {
        event::block(&mut page, metadata, event);
    }
    out.write_all(page.finish().as_bytes())
}

/// Features that may take many lines.
const LONG: [u32; 2] = [feature::bit::BUILD_ID, feature::bit::TRACING_DATA];

fn feature(page: &mut Page, metadata: &Metadata, bit: u32) {
    let name = feature::name(bit).map_or_else(|| format!("feature {bit}"), label);
    let bytes = metadata.features.bytes(bit).unwrap_or_default();
    match metadata.features.feature(bit) {
        Some(Ok((Feature::Raw(_), _))) if bytes.is_empty() => page.fact(&name, "yes"),
        Some(Ok((Feature::Raw(_), _))) if bit == feature::bit::TRACING_DATA => tracing::data(page, bytes),
        Some(Ok((Feature::Raw(_), _))) => {
            page.heading(&format!("{name}: {} bytes", grouped(bytes.len() as u64)));
        }
        Some(Ok((decoded, rest))) => {
            known(page, metadata, &name, &decoded);
            if !rest.is_empty() {
                page.fact("", format!("and {} bytes more that are not known", grouped(rest.len() as u64)));
            }
        }
        Some(Err(error)) => {
            let size = grouped(bytes.len() as u64);
            page.heading(&format!("{name}: {size} bytes, damaged: {}", printable(&error.to_string())));
        }
        None => page.fact(&name, "not available"),
    }
}

/// The label of a feature: its name in the ABI in words of our time.
fn label(name: &str) -> String {
    match name {
        "OSRELEASE" => "kernel".into(),
        "VERSION" => "perf version".into(),
        "CPUDESC" => "cpu".into(),
        "NRCPUS" => "cpus".into(),
        "TOTAL_MEM" => "memory".into(),
        "CMDLINE" => "command".into(),
        "BUILD_ID" => "build-ids".into(),
        "CACHE" => "caches".into(),
        "NUMA_TOPOLOGY" => "numa nodes".into(),
        "MEM_TOPOLOGY" => "memory blocks".into(),
        "PMU_MAPPINGS" => "pmus".into(),
        "GROUP_DESC" => "groups".into(),
        "CLN_SIZE" => "cache line".into(),
        "DIR_FORMAT" => "directory".into(),
        "E_MACHINE" => "program for".into(),
        "CPU_DOMAIN_INFO" => "cpu domains".into(),
        "BPF_PROG_INFO" => "bpf programs".into(),
        "AUXTRACE" => "aux traces".into(),
        "META_INFO" => "simpleperf".into(),
        "FILE" | "FILE2" => "symbol tables".into(),
        name => name.to_lowercase().replace('_', " "),
    }
}

fn known(page: &mut Page, metadata: &Metadata, name: &str, decoded: &Feature<'_>) {
    match decoded {
        Feature::BuildId(ids) => contents::build_ids(page, name, ids),
        Feature::Hostname(text)
        | Feature::Osrelease(text)
        | Feature::Version(text)
        | Feature::Arch(text)
        | Feature::Cpudesc(text)
        | Feature::Cpuid(text) => page.fact(name, shown(text.text)),
        Feature::Nrcpus(cpus) => page.fact(name, format!("{} online of {}", cpus.online, cpus.available)),
        Feature::TotalMem(memory) => page.fact(name, machine::kib(memory.kib)),
        Feature::Cmdline(cmdline) => page.fact(name, contents::command(cmdline)),
        // Told with the events.
        Feature::EventDesc(_) | Feature::Raw(_) => {}
        Feature::CpuTopology(topology) => machine::topology(page, name, topology),
        Feature::NumaTopology(numa) => machine::numa(page, name, numa),
        Feature::PmuMappings(pmus) => pmus::mappings(page, name, pmus),
        Feature::GroupDesc(groups) => pmus::groups(page, name, groups, &metadata.schema),
        Feature::Auxtrace(index) => contents::aux(page, name, index),
        Feature::Cache(caches) => machine::caches(page, name, caches),
        Feature::SampleTime(times) => clock::sample_time(page, name, times),
        Feature::MemTopology(memory) => machine::memory_blocks(page, name, memory),
        Feature::Clockid(clock) => clock::resolution(page, name, clock),
        Feature::DirFormat(format) => page.fact(name, format!("layout {}", format.version)),
        Feature::BpfProgInfo(programs) => programs::programs(page, name, programs, metadata.order),
        Feature::BpfBtf(btf) => programs::types(page, name, btf),
        Feature::Compressed(compression) => contents::compression(page, name, *compression),
        Feature::CpuPmuCaps(caps) => pmus::caps(page, name, &caps.caps),
        Feature::ClockData(clock) => clock::data(page, name, *clock, metadata.features.sample_time()),
        Feature::HybridTopology(hybrid) => pmus::hybrid(page, name, hybrid),
        Feature::PmuCaps(caps) => pmus::all_caps(page, name, caps),
        Feature::CpuDomainInfo(domains) => machine::domains(page, name, domains),
        Feature::EMachine(machine) => programs::machine(page, name, *machine),
        Feature::ClnSize(line) => page.fact(name, format!("{} B", grouped(u64::from(line.cln_size)))),
        Feature::File(files) => contents::files(page, name, files),
        Feature::MetaInfo(meta) => contents::meta(page, name, meta),
        Feature::File2(files) => {
            let bytes: usize = files.files.iter().map(|file| file.message.len()).sum();
            page.fact(
                name,
                format!("{}, {} bytes", counted(files.files.len(), "file"), grouped(bytes as u64)),
            );
        }
    }
}

/// A string of the header, made harmless.
fn shown(text: HeaderString<'_>) -> String {
    printable(&text.display()).into_owned()
}

/// A number and what is counted.
fn counted(number: usize, what: &str) -> String {
    text::counted(number as u64, what)
}

/// Values by their keys, in the order in which the keys come first.
fn by_key<V>(pairs: impl Iterator<Item = (String, V)>) -> Vec<(String, Vec<V>)> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut groups: Vec<(String, Vec<V>)> = Vec::new();
    for (key, value) in pairs {
        let place = *places.entry(key).or_insert_with_key(|key| {
            groups.push((key.clone(), Vec::new()));
            groups.len() - 1
        });
        if let Some((_, values)) = groups.get_mut(place) {
            values.push(value);
        }
    }
    groups
}
