//! Tracepoint text against what `perf script` says: on recordings of other machines, on fresh ones of this machine,
//! and on made-up payloads for every event of the running kernel.

mod tracepoint_support;

use perffile::tracepoint::{Abi, Catalog, Endian, EventFormat, FieldKind, PrintFmt, TracingData};
use tracepoint_support::corpus::{Comparison, compare_with_text, corpus_file, read_text};
use tracepoint_support::kernel::{kernel_formats, kernel_symbol_table, perf_script, tool_exists};
use tracepoint_support::noise::Noise;
use tracepoint_support::recording::Recording;
use tracepoint_support::synthetic::synthetic_recording;

/// Recordings of a big-endian, a 64-bit and a 32-bit machine, with the text their own `perf` made.
const FOREIGN: [(&str, &str, usize); 10] = [
    ("own-s390x", "tracepoints", 2000),
    ("own-s390x", "syscalls-all", 1000),
    ("own-s390x", "lost", 1000),
    ("own-s390x", "uprobe", 50),
    ("own-aarch64", "tracepoints", 1500),
    ("own-aarch64", "sched", 1000),
    ("own-aarch64", "lost", 100),
    ("own-armhf", "sched", 500),
    ("own-armhf", "lost", 100),
    ("own-armhf", "uprobe", 5),
];

#[test]
fn foreign_recordings_read_as_on_their_own_machine() {
    let mut failed = Vec::new();
    for (folder, name, least) in FOREIGN {
        let Some(path) = corpus_file(folder, &format!("{name}.data")) else {
            eprintln!("SKIPPED: no corpus folder with {folder}/{name}.data");
            continue;
        };
        let Some(text) = read_text(&path.with_file_name(format!("{name}.trace.txt"))) else {
            eprintln!("SKIPPED: no expected text for {folder}/{name}");
            continue;
        };
        let recording = Recording::read(&std::fs::read(&path).unwrap());
        let result = compare_with_text(&recording, &text, None);
        eprintln!("{folder}/{name}: {result}");
        if !result.is_equal() || result.compared < least.min(result.expected) || result.compared == 0 {
            failed.push(format!("{folder}/{name}: {result}\n{}", result.first_differences(5)));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn tracing_data_of_real_recordings_survives_a_round_trip() {
    for (folder, name, endian, long_size) in [
        ("own-s390x", "tracepoints.data", Endian::Big, 8),
        ("own-aarch64", "sched.data", Endian::Little, 8),
        ("own-armhf", "sched.data", Endian::Little, 4),
    ] {
        let Some(path) = corpus_file(folder, name) else {
            eprintln!("SKIPPED: no corpus folder with {folder}/{name}");
            continue;
        };
        let recording = Recording::read(&std::fs::read(&path).unwrap());
        let blob = recording.tracing_data.expect("a blob");
        let data = TracingData::parse(&blob).unwrap();
        assert_eq!(data.abi(), Abi { endian, long_size }, "{folder}");
        assert_eq!((data.version, data.page_size), (&b"0.6"[..], 4096));
        assert!(data.encode() == blob, "{folder}/{name} changed");
        // Cut anywhere, the blob gives what was before the cut and says where it ended.
        for length in (0..blob.len() - data.trailing.len()).step_by(97) {
            let partial = TracingData::parse(&blob[..length]).unwrap_err();
            assert!(partial.error.offset <= length);
            let whole = data.systems.iter().map(|system| system.formats.len()).sum::<usize>();
            let part = partial.data.systems.iter().map(|system| system.formats.len()).sum::<usize>();
            assert!(part <= whole);
        }
    }
}

#[test]
fn every_format_of_this_kernel_is_understood() {
    let formats = kernel_formats();
    if formats.is_empty() {
        eprintln!("SKIPPED: no /sys/kernel/tracing/events here");
        return;
    }
    let abi = Abi::new(Endian::Little, 8);
    let (mut evaluable, mut unknown, mut bad) = (0, Vec::new(), Vec::new());
    for (system, text) in &formats {
        let format = EventFormat::parse(text, abi).unwrap();
        assert!(format.id.is_some() && !format.fields.is_empty());
        for field in &format.fields {
            if field.kind == FieldKind::Unknown || field.name.is_empty() {
                unknown
                    .push(format!("{system}:{} {} ({} bytes)", format.name, field.declaration, field.size));
            }
        }
        match PrintFmt::parse(&format) {
            Ok(_) => evaluable += 1,
            Err(error) => bad.push(format!("{system}:{} {error}", format.name)),
        }
    }
    eprintln!("{} formats, {evaluable} with a print fmt that can be evaluated", formats.len());
    eprintln!("unknown fields:\n{}\nnot evaluable:\n{}", unknown.join("\n"), bad.join("\n"));
    assert!(unknown.len() * 100 < formats.len(), "{} unknown fields", unknown.len());
    assert!(evaluable * 100 >= formats.len() * 97, "{evaluable} of {}", formats.len());
}

/// `perf` as the judge of all events of this kernel, on payloads made up here.
#[test]
fn made_up_payloads_of_every_event_agree_with_perf() {
    let formats = kernel_formats();
    if formats.is_empty() || !tool_exists("perf") {
        eprintln!("SKIPPED: needs perf and /sys/kernel/tracing/events");
        return;
    }
    let mut total = Comparison::default();
    for (round, chunk) in formats.chunks(400).enumerate() {
        let bytes = synthetic_recording(chunk, round as u64 + 1);
        let path = std::env::temp_dir().join(format!("readperf-tp-{}-{round}.data", std::process::id()));
        std::fs::write(&path, &bytes).unwrap();
        let text = perf_script(&path, "time,event,trace");
        std::fs::remove_file(&path).unwrap();
        total.add(compare_with_text(&Recording::read(&bytes), &text, kernel_symbol_table()));
    }
    eprintln!("made-up payloads: {total}\n{}", total.first_differences(4000));
    assert!(total.compared > formats.len());
    assert!(total.same * 1000 >= total.compared * 900, "{total}\n{}", total.first_differences(40));
}

/// What happens on this machine while the test runs.
#[test]
fn fresh_recordings_agree_with_perf() {
    if !tool_exists("perf") {
        eprintln!("SKIPPED: needs perf");
        return;
    }
    for events in [
        "sched:*",
        "syscalls:*",
        "irq:*,timer:*,workqueue:*",
        "kmem:*",
        "net:*,block:*,ext4:*",
        "task:*,signal:*,writeback:*,filemap:*",
    ] {
        let path = std::env::temp_dir().join(format!("readperf-fresh-{}.data", std::process::id()));
        let mut command = std::process::Command::new("perf");
        command.args(["record", "-q", "-N", "-a", "-m", "4096", "-o"]).arg(&path);
        for event in events.split(',') {
            command.args(["-e", event]);
        }
        command.args(["--", "sh", "-c", "ls /proc > /dev/null; dd if=/dev/zero of=/tmp/readperf-dd bs=64k count=4 conv=fsync 2>/dev/null; rm -f /tmp/readperf-dd; sleep 0.1"]);
        let output = command.output().unwrap();
        if !output.status.success() {
            eprintln!("SKIPPED {events}: {}", String::from_utf8_lossy(&output.stderr));
            continue;
        }
        let text = perf_script(&path, "time,event,trace");
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let result = compare_with_text(&Recording::read(&bytes), &text, kernel_symbol_table());
        eprintln!("{events}: {result}\n{}", result.first_differences(3));
        assert!(
            result.same * 1000 >= result.compared * 999,
            "{events}: {result}\n{}",
            result.first_differences(20)
        );
    }
}

#[test]
fn mutants_neither_panic_nor_grow() {
    let mut noise = Noise::new(7);
    let texts: Vec<(String, Vec<u8>)> = match kernel_formats() {
        formats if formats.is_empty() => vec![("demo".to_owned(), DEMO.to_vec())],
        formats => formats.into_iter().step_by(5).collect(),
    };
    let mut evaluated = 0usize;
    for (_, text) in &texts {
        for endian in [Endian::Little, Endian::Big] {
            let mut mutant = text.clone();
            for _ in 0..noise.below(6) {
                let at = noise.below(mutant.len());
                match noise.below(3) {
                    0 => mutant[at] ^= 1 << noise.below(8),
                    1 => mutant[at] = b"()[]{}\"*%-+0912,;:?"[noise.below(19)],
                    _ => drop(mutant.drain(at..(at + noise.below(9)).min(text.len()).min(mutant.len()))),
                }
            }
            let Ok(format) = EventFormat::parse(&mutant, Abi::new(endian, 4 << noise.below(2))) else {
                continue;
            };
            let mut payload = vec![0u8; noise.below(200)];
            payload.iter_mut().for_each(|byte| *byte = noise.byte());
            let mut out = Vec::new();
            format.write_fields(&payload, &mut out);
            assert!(out.len() < 4 << 20);
            let Ok(print) = PrintFmt::parse(&format) else { continue };
            let mut out = Vec::new();
            let names = perffile::tracepoint::NoSymbols;
            if print.write(&format, &payload, &names, &Default::default(), &mut out).is_ok() {
                evaluated += 1;
            }
            assert!(out.len() < 4 << 20);
        }
    }
    assert!(evaluated > 0, "no mutant was evaluated: the test proves nothing");
}

#[test]
fn nesting_does_not_exhaust_the_stack() {
    for evil in [
        format!("\"%d\", {}1{}", "(".repeat(100_000), ")".repeat(100_000)),
        format!("\"%d\", {}1", "-".repeat(100_000)),
        format!("\"%d\", 1{}", "+1".repeat(100_000)),
        format!("\"%d\", {}1{}", "1?".repeat(100_000), ":1".repeat(100_000)),
        format!("\"%d\", {}1", "(int)".repeat(100_000)),
        format!("\"%d\", REC->a{}", "[0]".repeat(100_000)),
        format!("\"%d\", {}1", "__print_hex(".repeat(100_000)),
    ] {
        let text = format!(
            "name: x\nID: 1\nformat:\n\tfield:int a;\toffset:0;\tsize:4;\tsigned:1;\n\nprint fmt: {evil}"
        );
        let format = EventFormat::parse(text.as_bytes(), Abi::new(Endian::Little, 8)).unwrap();
        assert!(PrintFmt::parse(&format).is_err());
    }
    let wide = "name: x\nID: 1\nformat:\n\nprint fmt: \"%999999999d\", 1";
    let format = EventFormat::parse(wide.as_bytes(), Abi::new(Endian::Little, 8)).unwrap();
    let print = PrintFmt::parse(&format).unwrap();
    let mut out = Vec::new();
    print.write(&format, &[], &perffile::tracepoint::NoSymbols, &Default::default(), &mut out).unwrap();
    assert_eq!(out.len(), perffile::tracepoint::limits::FIELD_WIDTH);
}

#[test]
fn a_catalog_reports_what_it_cannot_read() {
    let system = perffile::tracepoint::System { name: b"demo", formats: vec![DEMO, b"junk", b"name: y\n"] };
    let data = TracingData { version: b"0.6", long_size: 8, systems: vec![system], ..TracingData::default() };
    let catalog = Catalog::new(&data);
    assert_eq!(catalog.iter().count(), 1);
    assert_eq!(catalog.faults().len(), 2);
    assert!(catalog.tracepoint_of(&[9, 0]).is_some());
}

const DEMO: &[u8] = b"name: demo\nID: 9\nformat:\n\tfield:int a;\toffset:0;\tsize:4;\tsigned:1;\n\nprint fmt: \"%d\", REC->a\n";
