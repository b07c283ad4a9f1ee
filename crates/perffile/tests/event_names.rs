//! Names of events against what perf calls them: attrs of every kind, recordings robbed of their names, fresh ones, and
//! names that only other parts of a recording tell.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod event_names_support;

use event_names_support::crafted::{Attr, file, pipe, pmu_mappings, record, string};
use event_names_support::robbed::without_event_desc;
use event_names_support::{corpus, files, names, perf, skip};
use perffile::bytes::Bytes;
use perffile::{Ordering, Recording};
use std::path::Path;

const HOSTNAME: u32 = 3;
const PMU_MAPPINGS: u32 = 16;

/// perf's names of some 280 attrs, asked once with perf 6.1.187; see the table's head.
const GOLDEN: &str = include_str!("event_names_support/golden.tsv");

fn golden() -> Vec<(Attr, &'static str)> {
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).unwrap(),
        None => text.parse().unwrap(),
    };
    let row = |line: &'static str| {
        let [kind, config, flags, bp_type, config1, name] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("six cells, not {line}");
        };
        let narrow = |text| u32::try_from(number(text)).unwrap();
        let attr = Attr {
            kind: narrow(kind),
            config: number(config),
            flags: number(flags),
            bp_type: narrow(bp_type),
            config1: number(config1),
            config2: 0,
        };
        (attr, name)
    };
    GOLDEN.lines().filter(|line| !line.starts_with('#')).map(row).collect()
}

fn check(what: &str, mine: &[String], perf: &[String]) {
    assert_eq!(mine.len(), perf.len(), "{what}: as many events as perf has: {mine:?} {perf:?}");
    for (mine, perf) in mine.iter().zip(perf) {
        // Names that perf 6.1 does not know although the kernel and the recording have them.
        let after_pmu = |name: &str| name.split_once('/').map(|(_, rest)| rest.to_owned());
        let known_better = (perf.starts_with("cpu/") && after_pmu(mine) == after_pmu(perf))
            || (perf.starts_with("unknown attr type:") && mine.contains("/config="))
            || (perf.starts_with("unknown-software")
                && (mine.starts_with("bpf-output") || mine.starts_with("cgroup-switches")))
            || perf == "unknown tracepoint";
        assert!(mine == perf || known_better, "{what}: readperf says {mine}, perf {perf}");
    }
}

#[test]
fn attrs_have_the_names_perf_gives_them() {
    let golden = golden();
    assert!(golden.len() > 250);
    let attrs: Vec<Attr> = golden.iter().map(|(attr, _)| *attr).collect();
    for big in [false, true] {
        let features = [(HOSTNAME, string(big, "host"))];
        for recording in [file(big, &attrs, &features), pipe(big, &attrs, &features, &[])] {
            let names = names(&recording);
            assert_eq!(names.len(), golden.len());
            for (mine, (attr, name)) in names.iter().zip(&golden) {
                assert_eq!(mine, name, "{attr:?}, big-endian {big}");
            }
        }
    }
}

#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn the_golden_names_are_still_perfs() {
    if !perf::speaks_our_spelling() {
        return skip("the_golden_names_are_still_perfs", "perf 6.1 is not installed");
    }
    let golden = golden();
    let attrs: Vec<Attr> = golden.iter().map(|(attr, _)| *attr).collect();
    let said = perf::names(&file(false, &attrs, &[(HOSTNAME, string(false, "host"))]));
    assert_eq!(said, golden.iter().map(|(_, name)| (*name).to_owned()).collect::<Vec<_>>());
}

/// Events of PMUs that only the recording names, in every place such a thing can be told.
#[test]
fn pmus_are_named_by_the_recording() {
    let attr = |kind, config| Attr { kind, config, ..Attr::default() };
    let attrs = [
        Attr { flags: 6 << 4, ..attr(8, 0x11) },
        Attr { config1: 3, config2: 0x10, ..attr(9, 2) },
        attr(24, 0x3c),
        attr(0, 10 << 32 | 1),
        attr(0, 11 << 32),
        attr(3, 10 << 32 | 0x10000),
        attr(3, 11 << 32 | 0x10000),
    ];
    let expected = [
        "armv8_pmuv3/config=0x11/u",
        "uncore_imc_0/config=0x2,config1=0x3,config2=0x10/",
        "unknown attr type: 24",
        "cpu_atom/instructions/:HG",
        "cpu/cycles/:HG",
        "cpu_atom/L1-dcache-load-misses/:HG",
        "L1-dcache-load-misses:HG",
    ];
    for big in [false, true] {
        let pmus = [(4, "cpu"), (8, "armv8_pmuv3"), (9, "uncore_imc_0"), (10, "cpu_atom"), (8, "another")];
        let features = [(HOSTNAME, string(big, "host")), (PMU_MAPPINGS, pmu_mappings(big, &pmus))];
        assert_eq!(names(&file(big, &attrs, &features)), expected);
        assert_eq!(names(&pipe(big, &attrs, &features, &[record(big, 68, &[])])), expected);
    }
}

/// A table that is cut names what it has; one that claims four thousand million entries costs nothing.
#[test]
fn cut_tables_of_pmus_do_no_harm() {
    let attrs = [Attr { kind: 8, ..Attr::default() }, Attr { kind: 9, ..Attr::default() }];
    let whole = pmu_mappings(false, &[(8, "first"), (9, "second")]);
    for len in 0..whole.len() {
        let names = names(&file(false, &attrs, &[(PMU_MAPPINGS, whole[..len].to_vec())]));
        let first = if len < 4 + 8 + 64 { "unknown attr type: 8" } else { "first/config=0x0/" };
        assert_eq!(names, [first, "unknown attr type: 9"], "{len} bytes");
    }
    let mut many = whole;
    many[..4].fill(0xff);
    let expected = ["first/config=0x0/", "second/config=0x0/"];
    assert_eq!(names(&file(false, &attrs, &[(PMU_MAPPINGS, many)])), expected);
}

/// What a recording says wins over what its attrs suggest, letter by letter.
#[test]
fn recorded_names_stay_as_they_are() {
    let attrs = [Attr { kind: 1, ..Attr::default() }, Attr { kind: 1, config: 2, ..Attr::default() }];
    let mut body = Vec::new();
    for word in [2_u64, 2] {
        body.extend(word.to_le_bytes());
    }
    body.extend(b"my faults:u\0\0\0\0\0");
    let update = record(false, 78, &body);
    let pmus = (PMU_MAPPINGS, pmu_mappings(false, &[(8, "x")]));
    let recording = pipe(
        false,
        &attrs,
        &[],
        &[update, record(false, 80, &[&16_u64.to_le_bytes()[..], &pmus.1].concat())],
    );
    assert_eq!(names(&recording), ["cpu-clock:HG", "my faults:u"]);
}

#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn fixtures_without_their_names() {
    if !perf::speaks_our_spelling() {
        return skip("fixtures_without_their_names", "perf 6.1 is not installed");
    }
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures"));
    let robbed = check_robbed(&files(folder));
    assert!(robbed >= 8, "{robbed} recordings had names to rob");
}

#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn other_machines_recordings_without_their_names() {
    let test = "other_machines_recordings_without_their_names";
    let Some(corpus) = corpus() else { return skip(test, "no corpus; set READPERF_CORPUS") };
    if !perf::speaks_our_spelling() {
        return skip(test, "perf 6.1 is not installed");
    }
    let robbed = check_robbed(&files(&corpus));
    assert!(robbed >= 40, "{robbed} recordings had names to rob");
}

/// With their names, and of kinds that have none: pipes, simpleperf's, the first version's.
#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn other_machines_recordings_as_they_are() {
    let test = "other_machines_recordings_as_they_are";
    let Some(corpus) = corpus() else { return skip(test, "no corpus; set READPERF_CORPUS") };
    if !perf::speaks_our_spelling() {
        return skip(test, "perf 6.1 is not installed");
    }
    let mut compared = 0;
    for path in files(&corpus) {
        let bytes = std::fs::read(&path).unwrap();
        let is_recording = bytes.starts_with(b"PERF") || bytes.starts_with(b"2ELIFREP");
        let said = if is_recording { perf::evlist(&path) } else { Vec::new() };
        if said.is_empty() || path.starts_with(corpus.join("quipper-fuzz")) {
            continue;
        }
        compared += 1;
        // In a pipe perf makes names of its own although the recording tells them; the recording's word wins here.
        let is_pipe = bytes.get(8..16).is_some_and(|size| [[16, 0], [0, 16]].contains(&[size[0], size[7]]));
        let stem = |name: &String| name.split(':').next().unwrap_or_default().to_owned();
        let (mine, said) = match (names(&bytes), said) {
            (mine, said) if is_pipe => (mine.iter().map(stem).collect(), said.iter().map(stem).collect()),
            both => both,
        };
        check(&path.display().to_string(), &mine, &said);
    }
    assert!(compared >= 80, "{compared} recordings were compared");
}

/// How many recordings perf read both with and without their names; each has perf's names without.
fn check_robbed(files: &[std::path::PathBuf]) -> usize {
    let mut robbed = 0;
    for path in files {
        let bytes = std::fs::read(path).unwrap();
        let Some(without) = without_event_desc(&bytes) else { continue };
        let said = perf::names(&without);
        if said.is_empty() {
            continue;
        }
        robbed += 1;
        check(&path.display().to_string(), &names(&without), &said);
    }
    robbed
}

#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn fresh_recordings_without_their_names() {
    let test = "fresh_recordings_without_their_names";
    if !perf::speaks_our_spelling() {
        return skip(test, "perf 6.1 is not installed");
    }
    let wanted: [(&str, usize); 6] = [
        ("cpu-clock:u,task-clock:k,page-faults,minor-faults:u,context-switches,cpu-migrations,dummy", 7),
        ("alignment-faults,emulation-faults,major-faults:k,cpu-clock:H,page-faults:uk,faults:I", 6),
        ("mem:0x1000:rw,mem:0x2000/4:w,mem:0x3000:x:u,mem:0x4000:r", 4),
        ("sched:sched_switch,syscalls:sys_enter_openat,raw_syscalls:sys_enter,cpu-clock", 4),
        ("{cpu-clock,page-faults:u,context-switches}", 3),
        ("irq:*", 5),
    ];
    let mut recorded = 0;
    for (events, count) in wanted {
        let Some(recording) = perf::record(&["-e", events]) else {
            skip(test, &format!("perf cannot record {events} here"));
            continue;
        };
        let without = without_event_desc(&recording).expect("a fresh recording has EVENT_DESC");
        let mine = names(&without);
        assert!(mine.len() >= count, "{events}: {mine:?}");
        check(events, &mine, &perf::names(&without));
        check(events, &names(&recording), &perf::names(&recording));
        recorded += 1;
    }
    assert!(recorded > 0 || perf::record(&["-e", "cpu-clock"]).is_none(), "nothing was recorded");
}

/// Tracepoints get their names from the formats in the recording, in a pipe too, where perf itself shows none.
#[test]
#[ignore = "live: compares with perf"]
fn tracepoints_of_a_pipe() {
    let test = "tracepoints_of_a_pipe";
    let events = "cpu-clock,sched:sched_switch,raw_syscalls:sys_enter";
    let piped = std::process::Command::new("perf")
        .args(["record", "-e", events, "-o", "-", "--", "true"])
        .stderr(std::process::Stdio::null())
        .output();
    let Some(bytes) = piped.ok().map(|out| out.stdout).filter(|bytes| bytes.len() > 1000) else {
        return skip(test, "perf cannot record tracepoints here");
    };
    let mine = names(&bytes);
    assert_eq!(mine, events.split(',').collect::<Vec<_>>());
    let Some(nameless) = without_event_desc_record(&bytes) else {
        panic!("no EVENT_DESC record in the pipe")
    };
    assert_eq!(names(&nameless)[1..], ["sched:sched_switch", "raw_syscalls:sys_enter"]);
}

/// A pipe without the HEADER_FEATURE record of EVENT_DESC and without EVENT_UPDATE records.
fn without_event_desc_record(pipe: &[u8]) -> Option<Vec<u8>> {
    let (mut out, mut at, mut found) = (pipe.get(..16)?.to_vec(), 16, false);
    while let Some(head) = pipe.get(at..at + 8) {
        let kind = u32::from_le_bytes(head[..4].try_into().unwrap());
        let mut size = usize::from(u16::from_le_bytes(head[6..8].try_into().unwrap()));
        if kind == 66 {
            let payload = u32::from_le_bytes(pipe.get(at + 8..at + 12)?.try_into().unwrap()) as usize;
            size += payload.next_multiple_of(8);
        }
        let record = pipe.get(at..at + size)?;
        let is_desc = kind == 80 && record[8] == 12;
        found |= is_desc;
        if !is_desc && kind != 78 {
            out.extend(record);
        }
        at += size;
    }
    found.then_some(out)
}

/// Features may come after the events, and a second table after the first: every batch has the names known by then.
#[test]
fn names_follow_what_a_pipe_tells_later() {
    let round = || record(false, 68, &[]);
    let table = |name| {
        let body = [&u64::from(PMU_MAPPINGS).to_le_bytes()[..], &pmu_mappings(false, &[(8, name)])].concat();
        record(false, 80, &body)
    };
    let attrs = [Attr { kind: 8, config: 1, ..Attr::default() }];
    let last = [round(), table("early"), round(), table("late"), round(), round()];
    let recording = Recording::from_bytes(Bytes::new(pipe(false, &attrs, &[], &last))).unwrap();
    let batches = recording.batches(Ordering::Time).unwrap();
    let names: Vec<String> = batches.map(|batch| batch.schema().events()[0].name.clone()).collect();
    let expected = ["unknown attr type: 8", "early/config=0x1/", "late/config=0x1/", "late/config=0x1/"];
    assert_eq!(names, expected);
}
