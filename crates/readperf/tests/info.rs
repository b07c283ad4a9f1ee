//! `readperf info` says what perf said of the same recordings: in text and in JSON.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod handmade;
mod oracle;

use handmade::{Attr, Pipe, Sample};
use oracle::{fixture, said, scratch, skip, tool};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Recordings whose header perf can read. Those of `killed` and `cut` have none.
const FIXTURES: [&str; 12] = [
    "main",
    "multi",
    "everything",
    "group",
    "tracepoints",
    "kernel",
    "dwarf",
    "rust",
    "zstd",
    "threads",
    "pipe",
    "stat",
];

fn text(kind: &str) -> String {
    tool::answer(&["info".as_ref(), fixture(kind).as_os_str()])
}

fn json(kind: &str) -> Value {
    tool::json("info", &fixture(kind))
}

/// What stands behind a label, with the lines that go on.
fn facts<'t>(text: &'t str, label: &str) -> Vec<&'t str> {
    let lines = text.lines().skip_while(|line| !line.starts_with(&format!("{label:<18}")));
    let lines = lines.enumerate().take_while(|(nr, line)| *nr == 0 || line.starts_with(&" ".repeat(18)));
    lines.map(|(_, line)| line.get(18..).unwrap_or_default()).collect()
}

fn fact<'t>(text: &'t str, label: &str) -> &'t str {
    facts(text, label).first().copied().unwrap_or_else(|| panic!("no {label} in:\n{text}"))
}

/// What perf said: `# name : value` and the like.
fn header(kind: &str) -> String {
    said(kind, "perf.header.txt").unwrap_or_else(|| panic!("{kind} has a header file"))
}

fn said_of<'h>(header: &'h str, name: &str) -> Option<&'h str> {
    let start = format!("# {name}");
    let line = header
        .lines()
        .find(|line| line.strip_prefix(&start).is_some_and(|rest| rest.trim().starts_with(':')))?;
    Some(line.split_once(':')?.1.trim())
}

fn words<'w>(text: &'w str, separator: &str) -> BTreeSet<&'w str> {
    text.split(separator).map(str::trim).filter(|word| !word.is_empty()).collect()
}

#[test]
fn the_machine_in_text() {
    for kind in FIXTURES {
        let (text, header) = (text(kind), header(kind));
        let perf =
            |name: &str| said_of(&header, name).unwrap_or_else(|| panic!("{kind}: perf says no {name}"));
        for (label, name) in [
            ("hostname", "hostname"),
            ("kernel", "os release"),
            ("perf version", "perf version"),
            ("arch", "arch"),
            ("cpu", "cpudesc"),
            ("cpuid", "cpuid"),
        ] {
            assert_eq!(fact(&text, label), perf(name), "{kind}");
        }
        let cpus = format!("{} online of {}", perf("nrcpus online"), perf("nrcpus avail"));
        assert_eq!(fact(&text, "cpus"), cpus, "{kind}");
        let memory = fact(&text, "memory").replace(',', "");
        assert!(
            memory.ends_with(&format!("({} KiB)", perf("total memory").trim_end_matches(" kB"))),
            "{memory}"
        );
        assert_eq!(fact(&text, "command").replace('\'', ""), perf("cmdline").replace('\'', ""), "{kind}");
        let pmus = facts(&text, "pmus").join(" ").replace(", ", "\n");
        let pmus: BTreeSet<String> = pmus.lines().map(|pmu| pmu.trim().replace(' ', " = ")).collect();
        let expected = said_of(&header, "pmu mappings").unwrap();
        assert_eq!(pmus, words(expected, ",").iter().map(|pmu| (*pmu).to_owned()).collect(), "{kind}");
    }
}

#[test]
fn the_machine_in_json() {
    for kind in FIXTURES {
        let (features, header) = (json(kind)["features"].clone(), header(kind));
        let perf =
            |name: &str| said_of(&header, name).unwrap_or_else(|| panic!("{kind}: perf says no {name}"));
        assert_eq!(features["hostname"], perf("hostname"));
        assert_eq!(features["arch"], perf("arch"));
        assert_eq!(features["cpudesc"], perf("cpudesc"));
        assert_eq!(features["nrcpus"]["online"].to_string(), perf("nrcpus online"));
        assert_eq!(features["nrcpus"]["available"].to_string(), perf("nrcpus avail"));
        assert_eq!(format!("{} kB", features["total_mem"]["kib"]), perf("total memory"));
        let command: Vec<&str> =
            features["cmdline"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(command.join(" "), perf("cmdline"));
        no_padding(kind, &features);
    }
}

/// Fields that hold nothing are not shown.
fn no_padding(path: &str, value: &Value) {
    if let Value::Object(fields) = value {
        for (name, value) in fields {
            assert!(!["gap", "reserved", "padding"].contains(&name.as_str()), "{path}.{name}");
            no_padding(&format!("{path}.{name}"), value);
        }
    }
    value.as_array().into_iter().flatten().for_each(|value| no_padding(path, value));
}

#[test]
fn times_and_clocks() {
    let (text, header) = (text("everything"), header("everything"));
    let perf = |name: &str| said_of(&header, name).unwrap();
    let times = fact(&text, "sample time");
    assert!(times.starts_with(perf("time of first sample")), "{times}");
    assert!(times.contains(&format!("s to {}", perf("time of last sample"))), "{times}");
    assert!(times.ends_with(&format!("({})", perf("sample duration"))), "{times}");
    let clock = facts(&text, "clock data");
    assert_eq!(perf("clockid"), "monotonic (1)");
    assert!(clock[0].starts_with("CLOCK_MONOTONIC: 2370.999946802 s"), "{clock:?}");
    // perf, asked in UTC, tells the same moment with a blank instead of the T.
    let (date, rest) = perf("reference time").split_once(" = ").unwrap();
    assert!(clock[0].ends_with(&format!("{}000Z", date.replace(' ', "T"))), "{clock:?}");
    assert!(rest.contains("2370.999946802 (monotonic)"), "{rest}");
    // 2371.045974814 - 2370.999946802 = 0.046028012 s after 47.331046.
    assert_eq!(clock[1], "first sample at 2026-11-21T08:20:47.377074012Z");
    assert_eq!(fact(&text, "clockid"), "resolution 1 ns");
}

#[test]
fn groups_and_compression() {
    let group = text("group");
    let expected = said_of(&header("group"), "group").unwrap().to_owned();
    assert_eq!(fact(&group, "groups").replace(' ', ""), expected);
    assert_eq!(said_of(&header("zstd"), "compressed"), Some("Zstd, level = 1, ratio = 6"));
    assert!(fact(&text("zstd"), "compressed").starts_with("zstd level 1, 6 times smaller"));
}

#[test]
fn build_ids_with_their_files() {
    let mut compared = 0;
    for kind in FIXTURES {
        let Some(list) = said(kind, "perf.buildids.txt") else { continue };
        // A pipe has none before its records.
        let expected: BTreeSet<&str> = list.lines().filter(|line| !line.starts_with(' ')).collect();
        if expected.is_empty() || kind == "pipe" {
            continue;
        }
        compared += 1;
        let features = json(kind)["features"].clone();
        let ids = features["build_id"].as_array().unwrap_or_else(|| panic!("{kind}: {features}"));
        let text_of = |value: &Value| value.as_str().unwrap().to_owned();
        let lines = ids.iter().map(|id| format!("{} {}", text_of(&id["build_id"]), text_of(&id["path"])));
        assert_eq!(
            lines.collect::<BTreeSet<_>>(),
            expected.iter().map(|line| (*line).to_owned()).collect(),
            "{kind}"
        );
        let text = text(kind);
        for id in ids {
            let path = text_of(&id["path"]);
            let mode = if path == "[kernel.kallsyms]" { "kernel" } else { "user" };
            assert_eq!(id["mode"], mode, "{path}");
            assert!(
                text.contains(&format!("\n  {}  {path}  ({mode})\n", text_of(&id["build_id"]))),
                "{text}"
            );
        }
    }
    assert!(compared >= 7, "{compared} recordings with build-ids");
}

/// An event as perf's header tells it: name, then `name = value`.
fn events(header: &str) -> Vec<(String, BTreeMap<String, String>)> {
    let event = |line: &str| {
        let (name, rest) = line.strip_prefix("# event : name = ")?.split_once(", id = {")?;
        let (ids, rest) = rest.split_once('}')?;
        let rest = rest.replace("{ sample_period, sample_freq }", "rate");
        let pairs = rest.split(", ").filter_map(|pair| pair.split_once(" = "));
        let mut fields: BTreeMap<String, String> =
            pairs.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect();
        fields.insert("ids".into(), ids.replace(',', "").trim().to_owned());
        Some((name.trim_end_matches(", ").trim_end_matches(',').to_owned(), fields))
    };
    header.lines().filter_map(event).collect()
}

/// What perf tells beside the flags.
const NO_FLAGS: [&str; 16] = [
    "type",
    "size",
    "config",
    "rate",
    "sample_type",
    "read_format",
    "ids",
    "clockid",
    "sample_regs_user",
    "sample_regs_intr",
    "sample_stack_user",
    "precise_ip",
    "wakeup_events",
    "wakeup_watermark",
    "sample_max_stack",
    "branch_sample_type",
];

#[test]
fn events_in_text() {
    let mut compared = 0;
    for kind in FIXTURES {
        let text = text(kind);
        let blocks: Vec<&str> = text.split("\nevent ").skip(1).collect();
        let events = events(&header(kind));
        assert_eq!(blocks.len(), events.len(), "{kind}: {text}");
        for (block, (name, fields)) in blocks.iter().zip(&events) {
            compared += 1;
            assert_eq!(block.lines().next().unwrap(), name, "{kind}");
            let told = |label: &str| facts(block, label).join(" ");
            assert_eq!(told("  ids"), fields["ids"], "{kind} {name}");
            let number = format!("({}), ", fields["type"]);
            assert!(told("  type").contains(&number), "{kind} {name}: {}", told("  type"));
            let flags = fields.keys().map(String::as_str).filter(|name| !NO_FLAGS.contains(name)).collect();
            assert_eq!(words(&told("  flags"), " "), flags, "{kind} {name}");
            let read = fields.get("read_format").map_or("", String::as_str);
            assert_eq!(words(&told("  read format"), " "), words(read, "|"), "{kind} {name}");
            // perf 6.1 has no name for TRANSACTION.
            let mut sampled = told("  sample fields");
            sampled = sampled.replace("TRANSACTION", "");
            let expected = fields.get("sample_type").map_or("", String::as_str);
            assert_eq!(words(&sampled, " "), words(expected, "|"), "{kind} {name}");
            let rate = fields.get("rate").map_or("0", String::as_str);
            let sampling = told("  sampling").replace(',', "");
            let expected = match (rate, fields.contains_key("freq")) {
                ("0", _) => "none".to_owned(),
                (rate, true) => format!("{rate} Hz"),
                ("1", false) => "every event".to_owned(),
                (rate, false) => format!("every {rate} events"),
            };
            assert!(sampling.starts_with(&expected), "{kind} {name}: {sampling}, not {expected}");
        }
    }
    assert!(compared >= 20, "{compared} events");
    let everything = text("everything");
    let block = everything.split("\nevent ").nth(1).unwrap();
    // --user-regs=ax,bx,sp,ip --intr-regs=ip,sp,flags -k CLOCK_MONOTONIC
    assert_eq!(fact(block, "  user registers"), "0x183: AX BX SP IP");
    assert_eq!(fact(block, "  intr registers"), "0x380: SP IP FLAGS");
    assert_eq!(fact(block, "  clock"), "CLOCK_MONOTONIC");
}

#[test]
fn tracepoints_are_listed_with_their_ids() {
    let data = json("tracepoints")["features"]["tracing_data"].clone();
    let expected: BTreeSet<(String, u64)> = events(&header("tracepoints"))
        .iter()
        .map(|(name, fields)| (name.clone(), u64::from_str_radix(&fields["config"][2..], 16).unwrap()))
        .collect();
    let listed = data["events"].as_array().unwrap().iter().map(|event| {
        let part = |name: &str| event[name].as_str().unwrap().to_owned();
        (format!("{}:{}", part("system"), part("name")), tool::number(&event["id"]))
    });
    assert_eq!(listed.collect::<BTreeSet<_>>(), expected);
    assert_eq!((&data["version"], &data["byte_order"]), (&"0.6".into(), &"little".into()));
    assert_eq!((tool::number(&data["long_size"]), tool::number(&data["page_size"])), (8, 4096));
    assert!(tool::number(&data["printk_bytes"]) > 0);
    let text = text("tracepoints");
    assert!(text.contains("\n  syscalls: sys_enter_openat, sys_exit_openat\n"), "{text}");
}

/// What perf shows only when asked with `-I`: CPUs, nodes, caches, blocks of memory.
#[test]
#[ignore = "live: compares with perf"]
fn topology_and_caches() {
    let path = fixture("everything");
    let Ok(output) = Command::new("perf").args(["report", "--header-only", "-I", "-i"]).arg(&path).output()
    else {
        return skip("topology_and_caches", "no perf");
    };
    let perf = String::from_utf8_lossy(&output.stdout).into_owned();
    if !perf.contains("# CPU cache info:") {
        return skip("topology_and_caches", "perf says nothing of caches");
    }
    let text = text("everything");
    let lists = |start: &str| {
        let lines = perf.lines().filter_map(|line| line.strip_prefix(start)?.split_once(": "));
        lines.map(|(_, list)| list.to_owned()).collect::<Vec<_>>().join("; ")
    };
    let topology = facts(&text, "cpu topology");
    assert_eq!(topology[0], "1 package, 1 die, 2 cores, 2 threads");
    assert_eq!(topology[1], format!("packages: CPUs {}", lists("# sibling sockets ")));
    assert_eq!(topology[2], format!("dies: CPUs {}", lists("# sibling dies ")));
    assert_eq!(topology[3], format!("cores: CPUs {}", lists("# sibling threads ")));

    let expected: BTreeSet<String> =
        perf.lines().filter_map(|line| line.strip_prefix("#  L")).map(squeezed).collect();
    let mut caches = BTreeSet::new();
    for line in facts(&text, "caches") {
        let (kind, cpus) = line.split_once(": CPUs ").unwrap();
        let words: Vec<&str> = kind.split(' ').collect();
        let (level, kind) = words[0].trim_start_matches('L').split_at(1);
        let kind = match kind {
            "d" => "Data",
            "i" => "Instruction",
            _ => "Unified",
        };
        caches.extend(cpus.split("; ").map(|cpus| format!("{level} {kind} {} [{cpus}]", words[1])));
    }
    assert_eq!(caches, expected);

    let node = &json("everything")["features"]["numa_topology"][0];
    let meminfo =
        format!("# node0 meminfo  : total = {} kB, free = {} kB", node["mem_total_kb"], node["mem_free_kb"]);
    assert!(perf.contains(&meminfo), "{meminfo}");
    // 5073100 KiB and 3589892 KiB.
    assert_eq!(facts(&text, "numa nodes"), ["node 0: 4.8 GiB, 3.4 GiB free, CPUs 0-1"]);
    // "0 [24G]: 0-23,32-199" are 24 + 168 blocks of 0x8000000 bytes.
    assert!(perf.contains("#    0 [24G]: 0-23,32-199"), "{perf}");
    assert_eq!(facts(&text, "memory blocks"), ["of 128.0 MiB each", "node 0: 192 blocks, 24.0 GiB"]);
}

fn squeezed(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn lines_fit_and_names_cannot_drive_a_terminal() {
    for kind in FIXTURES {
        let text = text(kind);
        let long = |line: &&str| line.chars().count() > 100 && !line.starts_with("command");
        assert_eq!(text.lines().find(long), None, "{kind}");
    }
    let mut bytes = std::fs::read(fixture("main")).unwrap();
    let at = bytes.windows(8).position(|window| window == b"fixture\0").expect("the host's name");
    bytes[at..at + 7].copy_from_slice(b"\x1b[2Jabc");
    let folder = scratch();
    let path = folder.path().join("perf.data");
    std::fs::write(&path, bytes).unwrap();
    let text = tool::answer(&["info".as_ref(), path.as_os_str()]);
    assert!(!text.contains('\x1b'));
    assert_eq!(fact(&text, "hostname"), "\\x1b[2Jabc");
}

/// In pipes of perf 6.12 zeros fill a feature's record up to 8 bytes; a feature that cannot be read is damage there, as it is
/// in a file.
#[test]
fn features_in_pipes() {
    let dir = scratch();
    let path = dir.path().join("perf.data");
    let info = |payload: &[u8]| {
        let mut pipe = Pipe::sound(&[Attr::default()]);
        pipe.feature(3, payload);
        pipe.samples(3, &Sample::default());
        std::fs::write(&path, &pipe.bytes).unwrap();
        let output = tool::run(&["info".as_ref(), "--json".as_ref(), path.as_os_str()]);
        (serde_json::from_slice::<Value>(&output.stdout).unwrap(), output.status.code())
    };
    let mut name = 12u32.to_le_bytes().to_vec();
    name.extend(b"machine\0\0\0\0\0");
    let (plain, status) = info(&name);
    assert_eq!((&plain["features"]["hostname"], status), (&"machine".into(), Some(0)));
    let mut filled = 64u32.to_le_bytes().to_vec();
    filled.extend(b"machine");
    filled.resize(72, 0);
    let (filled, status) = info(&filled);
    assert_eq!((&filled["features"]["hostname"], status), (&"machine".into(), Some(0)));
    assert_eq!(filled["unknown_bytes"], serde_json::json!({}));
    let (cut, status) = info(&name[..10]);
    assert_eq!((&cut["features"]["hostname"], status), (&Value::Null, Some(3)));
    assert_eq!(cut["issues"][0]["kind"], "bad_feature");
}

/// Registers have the names of the recorded machine: bits 0, 30 and 32 of 64-bit Arm (`asm/perf_regs.h`).
#[test]
fn registers_are_those_of_the_machine() {
    let dir = scratch();
    let path = dir.path().join("perf.data");
    // type 1, size 104, config, period, sample_type REGS_USER, read_format, flags, wakeup and bp_type, config1, config2,
    // branch_sample_type, sample_regs_user, stack and clock, sample_regs_intr
    let attr: [u64; 13] = [104 << 32 | 1, 0, 1, 1 << 12, 0, 0, 0, 0, 0, 0, 1 << 32 | 1 << 30 | 1, 0, 0];
    let mut pipe = Pipe::new(&[]);
    pipe.raw(64, 0, &attr.map(u64::to_le_bytes).concat());
    pipe.feature(6, &[&12u32.to_le_bytes()[..], b"aarch64\0\0\0\0\0"].concat());
    std::fs::write(&path, &pipe.bytes).unwrap();
    let output = tool::run(&["info".as_ref(), path.as_os_str()]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(fact(&text, "  user registers"), "0x140000001: x0 lr pc");
}
