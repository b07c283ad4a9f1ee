//! Header features in the words of `perf report --header-only -I`, so that they can be compared with what perf said.

use perffile::wire::feature::bit;
use perffile::wire::feature::clock_data::ClockData;
use perffile::wire::feature::pmu_caps::PmuCap;
use perffile::{Features, Metadata};
use std::fmt::Display;

/// Starts of the lines that are compared. Lines about events, the file itself and the time of its making are not.
const COMPARED: &[&str] = &[
    "# hostname :",
    "# os release :",
    "# perf version :",
    "# arch :",
    "# nrcpus online :",
    "# nrcpus avail :",
    "# cpudesc :",
    "# cpuid :",
    "# total memory :",
    "# cmdline :",
    "# sibling ",
    "# CPU ",
    "# node",
    "# pmu mappings:",
    "#  L",
    "#    ",
    "# memory nodes",
    "# clockid",
    "# reference time:",
    "# compressed :",
    "# time of ",
    "# group:",
    "# hybrid cpu",
    "# cpu_",
    "# contains ",
    "# bpf_prog_info ",
];

/// A line of perf's in the form in which it is compared; `None`: it is not.
pub(crate) fn compared(line: &str) -> Option<String> {
    let line = line.trim_end();
    if line == "# CPU cache info:" || line.ends_with("use -I to display") {
        return None;
    }
    // The date is told by the time zone of whoever asked perf.
    if let Some(rest) = line.strip_prefix("# reference time: ") {
        return rest.split_once(" = ").map(|(_, times)| format!("# reference time: {times}"));
    }
    // The rest comes out of the program's type information.
    if let Some(rest) = line.strip_prefix("# bpf_prog_info ") {
        return rest.split_once(':').map(|(id, _)| format!("# bpf_prog_info {id}:"));
    }
    let is_compared =
        COMPARED.iter().any(|start| line.starts_with(start)) || line.contains(" pmu capabilities:");
    is_compared.then(|| line.to_owned())
}

/// The lines that perf prints of these features, in no special order.
pub(crate) fn lines(metadata: &Metadata) -> Vec<String> {
    let features = &metadata.features;
    let mut lines = Vec::new();
    machine(features, &mut lines);
    topology(features, &mut lines);
    memory(features, &mut lines);
    pmus(features, &mut lines);
    clocks(features, &mut lines);
    groups(metadata, &mut lines);
    contents(features, &mut lines);
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}

fn machine(features: &Features, lines: &mut Vec<String>) {
    let texts = [
        ("hostname", features.hostname()),
        ("os release", features.osrelease()),
        ("perf version", features.version()),
        ("arch", features.arch()),
        ("cpudesc", features.cpudesc()),
        ("cpuid", features.cpuid()),
    ];
    lines.extend(texts.iter().filter_map(|(name, text)| Some(format!("# {name} : {}", text.as_ref()?))));
    if let Some(cpus) = features.nrcpus() {
        lines.push(format!("# nrcpus online : {}", cpus.online));
        lines.push(format!("# nrcpus avail : {}", cpus.available));
    }
    lines.extend(features.total_mem_kib().map(|kib| format!("# total memory : {kib} kB")));
    lines.extend(
        features.cmdline().map(|words| format!("# cmdline : {}", words.join(" ").replace('\'', "\\'"))),
    );
}

fn topology(features: &Features, lines: &mut Vec<String>) {
    let Some(topology) = features.cpu_topology() else { return };
    lines.extend(topology.cores.iter().map(|cpus| format!("# sibling sockets : {}", cpus.display())));
    lines.extend(topology.threads.iter().map(|cpus| format!("# sibling threads : {}", cpus.display())));
    for (nr, cpu) in topology.cpus.iter().enumerate() {
        let (core, socket) = (cpu.core_id.cast_signed(), cpu.socket_id.cast_signed());
        let die = topology.dies.as_ref().and_then(|dies| dies.ids.iter().nth(nr));
        let die = die.map(|die| format!("Die ID {}, ", die.die_id.cast_signed())).unwrap_or_default();
        lines.push(format!("# CPU {nr}: Core ID {core}, {die}Socket ID {socket}"));
    }
    for cpus in topology.dies.iter().flat_map(|dies| &dies.cpus) {
        lines.push(format!("# sibling dies    : {}", cpus.display()));
    }
}

fn memory(features: &Features, lines: &mut Vec<String>) {
    for node in features.numa_topology().iter().flat_map(|numa| &numa.nodes) {
        let (nr, total, free) = (node.node, node.mem_total_kb, node.mem_free_kb);
        lines.push(format!("# node{nr} meminfo  : total = {total} kB, free = {free} kB"));
        lines.push(format!("# node{nr} cpu list : {}", node.cpulist.display()));
    }
    for cache in features.caches().iter().flat_map(|caches| &caches.caches) {
        let (kind, size) = (cache.kind.display(), cache.size.display());
        lines.push(format!("#  L{} {kind:<15} {size:>8} [{}]", cache.level, cache.map.display()));
    }
    let Some(memory) = features.mem_topology() else { return };
    lines.push(format!("# memory nodes (nr {}, block size {:#x}):", memory.nodes.len(), memory.block_size));
    for node in &memory.nodes {
        let size = in_units(node.blocks() * memory.block_size);
        let blocks = (0..node.size).filter(|block| {
            let word = node.bitmap.get(usize::try_from(block / 64).unwrap()).unwrap();
            word >> (block % 64) & 1 == 1
        });
        lines.push(format!("#  {:>3} [{size}]: {}", node.node, ranges(blocks)));
    }
}

/// As perf shortens sizes: whole units, the largest that leaves more than 1.
fn in_units(bytes: u64) -> String {
    let (mut value, mut unit) = (bytes, 0);
    while value / 1024 > 0 && unit < 3 {
        value /= 1024;
        unit += 1;
    }
    format!("{value}{}", ["B", "K", "M", "G"][unit])
}

/// Ascending numbers as `0-3,8`.
fn ranges(numbers: impl Iterator<Item = u64>) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for n in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == n => *last = n,
            _ => ranges.push((n, n)),
        }
    }
    let shown = |(first, last): &(u64, u64)| {
        if first == last { format!("{first}") } else { format!("{first}-{last}") }
    };
    ranges.iter().map(shown).collect::<Vec<_>>().join(",")
}

fn pmus(features: &Features, lines: &mut Vec<String>) {
    if let Some(mappings) = features.pmu_mappings() {
        let pmus: Vec<_> =
            mappings.pmus.iter().map(|pmu| format!("{} = {}", pmu.name.display(), pmu.kind.0)).collect();
        if !pmus.is_empty() {
            lines.push(format!("# pmu mappings: {}", pmus.join(", ")));
        }
    }
    let caps = |caps: &[PmuCap<'_>]| {
        let caps: Vec<_> =
            caps.iter().map(|cap| format!("{}={}", cap.name.display(), cap.value.display())).collect();
        if caps.is_empty() { "not available".to_owned() } else { caps.join(", ") }
    };
    if let Some(cpu) = features.cpu_pmu_caps() {
        lines.push(format!("# cpu pmu capabilities: {}", caps(&cpu.caps)));
    }
    for pmu in features.pmu_caps().iter().flat_map(|all| &all.pmus) {
        lines.push(format!("# {} pmu capabilities: {}", pmu.pmu_name.display(), caps(&pmu.caps)));
    }
    let Some(hybrid) = features.hybrid_topology() else { return };
    lines.push("# hybrid cpu system:".to_owned());
    for node in &hybrid.nodes {
        lines.push(format!("# {} cpu list : {}", node.pmu_name.display(), node.cpus.display()));
    }
}

fn clocks(features: &Features, lines: &mut Vec<String>) {
    let micros = |ns: u64| format!("{}.{:06}", ns / 1_000_000_000, ns % 1_000_000_000 / 1000);
    if let Some(times) = features.sample_time() {
        lines.push(format!("# time of first sample : {}", micros(times.first)));
        lines.push(format!("# time of last sample : {}", micros(times.last)));
    }
    lines.extend(
        features.clockid().map(|clock| format!("# clockid frequency: {} MHz", clock.resolution_ns * 1000)),
    );
    if let Some(ClockData { clockid, wall_clock_ns, clockid_time_ns, .. }) = features.clock_data() {
        let name = match clockid.0 {
            0 => "realtime",
            1 => "monotonic",
            4 => "monotonic_raw",
            7 => "boottime",
            _ => "unknown",
        };
        lines.push(format!("# clockid: {name} ({})", clockid.0));
        let nanos = format!("{}.{:09}", clockid_time_ns / 1_000_000_000, clockid_time_ns % 1_000_000_000);
        lines.push(format!("# reference time: (date) = {} (TOD) = {nanos} ({name})", micros(wall_clock_ns)));
    }
}

fn groups(metadata: &Metadata, lines: &mut Vec<String>) {
    for group in metadata.features.group_desc().iter().flat_map(|desc| &desc.groups) {
        let (leader, count) =
            (usize::try_from(group.leader_idx).unwrap(), usize::try_from(group.nr_members).unwrap());
        let members =
            metadata.schema.events()[leader..leader + count].iter().map(|event| event.name.as_str());
        let name = String::from_utf8_lossy(group.given_name().unwrap_or_default());
        lines.push(format!("# group: {name}{{{}}}", members.collect::<Vec<_>>().join(",")));
    }
}

fn contents(features: &Features, lines: &mut Vec<String>) {
    let mut say = |what: &dyn Display| lines.push(format!("# {what}"));
    if features.has(bit::BRANCH_STACK) {
        say(&"contains samples with branch stack");
    }
    if features.has(bit::AUXTRACE) {
        say(&"contains AUX area data (e.g. instruction trace)");
    }
    if features.has(bit::STAT) {
        say(&"contains stat data");
    }
    if let Some(made) = features.compression() {
        let kind = if made.kind.0 == 1 { "Zstd" } else { "Unknown" };
        say(&format!("compressed : {kind}, level = {}, ratio = {}", made.level, made.ratio));
    }
    for program in features.bpf_prog_info().iter().flat_map(|info| &info.programs) {
        say(&format!("bpf_prog_info {}:", program.head(features.order()).unwrap().id));
    }
}
