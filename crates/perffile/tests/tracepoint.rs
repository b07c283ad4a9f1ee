//! Tracepoint text against what `perf script` says: on recordings of other machines, on fresh ones of this machine,
//! and on made-up payloads for every event of the running kernel.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "a test may state what it expects in the shortest way; clippy.toml covers only functions marked as tests"
)]

mod tracepoint_support;

use perffile::tracepoint::{Abi, ByteOrder, Catalog, EventFormat, FieldKind, PrintFmt, System, TracingData};
use tracepoint_support::c_compiler::printed_by_c;
use tracepoint_support::corpus::{Comparison, compare_with_text, corpus_file, corpus_files, read_text};
use tracepoint_support::kernel::{kernel_formats, kernel_symbol_table, perf_script, tool_exists};
use tracepoint_support::noise::Noise;
use tracepoint_support::recording::Recording;
use tracepoint_support::synthetic::{crafted_formats, synthetic_recording};

/// Recordings of a big-endian, a 64-bit and a 32-bit machine, with the text their own `perf` made.
const FOREIGN: [(&str, &str, usize); 13] = [
    ("own-s390x", "tracepoints", 2000),
    ("own-s390x", "syscalls-all", 1680),
    ("own-s390x", "lost", 1205),
    ("own-s390x", "uprobe", 174),
    ("own-aarch64", "tracepoints", 688),
    ("own-aarch64", "syscalls-all", 1399),
    ("own-aarch64", "sched", 610),
    ("own-aarch64", "lost", 739),
    ("own-aarch64", "pipe-multi", 10),
    ("own-armhf", "sched", 607),
    ("own-armhf", "lost", 177),
    ("own-armhf", "uprobe", 8),
    ("own-armhf", "pipe-multi", 10),
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
        if !result.is_equal() || result.compared < least {
            failed.push(format!("{folder}/{name}: {result}\n{}", result.first_differences(5)));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn tracing_data_of_real_recordings_survives_a_round_trip() {
    for (folder, name, endian, long_size) in [
        ("own-s390x", "tracepoints.data", ByteOrder::Big, 8),
        ("own-aarch64", "sched.data", ByteOrder::Little, 8),
        ("own-armhf", "sched.data", ByteOrder::Little, 4),
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

/// Blobs of twelve years, wherever in a file they lie.
#[test]
fn every_blob_of_the_corpus_is_read() {
    let files = corpus_files();
    if files.is_empty() {
        eprintln!("SKIPPED: no corpus");
        return;
    }
    let (mut blobs, mut events, mut evaluable) = (0, 0, 0);
    for path in files {
        let bytes = std::fs::read(&path).unwrap();
        let magic = b"\x17\x08\x44tracing";
        let Some(at) = bytes.windows(magic.len()).position(|window| window == magic) else { continue };
        let data = match TracingData::parse(&bytes[at..]) {
            Ok(data) => data,
            Err(partial) => panic!("{}: {}", path.display(), partial.error),
        };
        assert!(bytes[at..] == data.encode(), "{}", path.display());
        let catalog = Catalog::new(&data);
        let count = catalog.iter().count();
        let good = catalog.iter().filter(|(_, tracepoint)| tracepoint.print.is_ok()).count();
        eprintln!("{}: version {}, {count} events", path.display(), String::from_utf8_lossy(data.version));
        assert!(catalog.faults().is_empty(), "{}: {:?}", path.display(), catalog.faults());
        for (_, tracepoint) in catalog.iter() {
            if let Err(error) = &tracepoint.print {
                eprintln!("  {}: {error}: {}", tracepoint.format.name, tracepoint.format.print_fmt);
            }
            for field in &tracepoint.format.fields {
                assert!(!field.name.is_empty() && field.kind != FieldKind::Unknown, "{}", field.declaration);
            }
        }
        (blobs, events, evaluable) = (blobs + 1, events + count, evaluable + good);
    }
    eprintln!("{blobs} blobs, {events} events, {evaluable} evaluable");
    assert!(blobs > 10 && evaluable * 100 >= events * 97);
}

#[test]
fn every_format_of_this_kernel_is_understood() {
    let formats = kernel_formats();
    if formats.is_empty() {
        eprintln!("SKIPPED: no /sys/kernel/tracing/events here");
        return;
    }
    let abi = Abi::new(ByteOrder::Little, 8);
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
#[ignore = "live: compares with perf"]
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
    assert!(total.same * 1000 >= total.compared * 955, "{total}\n{}", total.first_differences(40));
}

/// Every conversion and every function, judged by `perf` on made-up payloads.
const CRAFTED: [&str; 42] = [
    r#""%d %u %x %X %o %i", REC->i, REC->u, REC->u, REC->u, REC->u, REC->i"#,
    r#""%ld %lu %lx %lld %llu %#llx", REC->l, REC->ul, REC->ul, REC->l, REC->ul, REC->ul"#,
    r#""%hd %hu %hhd %hhu %hx", REC->h, REC->h, REC->sb, REC->b, REC->u"#,
    r#""[%5d] [%-5d] [%05d] [%5u] [%.3d]", REC->i, REC->i, REC->i, REC->b, REC->b"#,
    r#""[%08x] [%#010x] [%-12lx] [%016llx]", REC->u, REC->u, REC->ul, REC->ul"#,
    r#""%s|%10s|%-10s|%.3s|%*s|%.*s", REC->text, REC->text, REC->text, REC->text, 12, REC->text, 2, REC->text"#,
    r#""%s %s", __get_str(name), __get_rel_str(rel)"#,
    r#""%p %p", REC->p, (void *)REC->u"#,
    r#""%pS %ps %pF %pf", REC->p, REC->p, REC->p, (void *)REC->ul"#,
    r#""%pI4 %pi4", REC->ip4, REC->ip4"#,
    r#""%pI6 %pI6c", REC->bytes, REC->bytes"#,
    r#""%pM %pm", REC->mac, REC->mac"#,
    r#""%pMF %pISpc %pISc", REC->mac, REC->addr, REC->addr"#,
    r#""%pU %pUb %pUl %pUB %pUL", REC->bytes, REC->bytes, REC->bytes, REC->bytes, REC->bytes"#,
    r#""%s", __print_hex(REC->bytes, 16)"#,
    r#""%s %s", __print_hex_str(REC->bytes, 5), __print_hex(__get_dynamic_array(list), __get_dynamic_array_len(list))"#,
    r#""%s", __print_array(REC->words, 4, 4)"#,
    r#""%s", __print_array(REC->bytes, 16, 1)"#,
    r#""%s", __print_array(__get_dynamic_array(list), 4, 4)"#,
    r#""%d", __get_dynamic_array_len(list)"#,
    r#""%s", __get_bitmask(mask)"#,
    r#""%s", __print_symbolic(REC->b, { 0, "zero" }, { 1, "one" }, { 0x2, "two" }, { 3 + 2, "five" }, { (1 << 3), "eight" })"#,
    r#""%s", __print_flags(REC->u, "|", { 1, "A" }, { 1 << 1, "B" }, { 0x4, "C" }, { (1UL << 5) | 8, "DE" })"#,
    r#""%s", __print_flags(REC->b & 7, " ", { 1, "A" }, { 2, "B" })"#,
    r#""%s", REC->b ? "yes" : "no""#,
    r#""%s", REC->b > 5 ? "big" : (REC->b > 2 ? "middle" : "small")"#,
    r#""%d %d %d", REC->b && REC->i, REC->b || REC->i, !REC->b"#,
    r#""%u %u %u %u", REC->u + 1, REC->u - 1, REC->b * 3, REC->u / 3"#,
    r#""%x %x", REC->u >> 4, REC->b << 4"#,
    r#""%u", (REC->u >> 20) & 0xfff"#,
    r#""%d,%d", ((unsigned int) ((REC->u) >> 20)), ((unsigned int) ((REC->u) & ((1U << 20) - 1)))"#,
    r#""%u %u", REC->words[0], REC->words[3]"#,
    r#""100%% " "joined" " strings %d", REC->b"#,
    r#""%d", (REC->b) == 1"#,
    r#""%llu", (unsigned long long)REC->u"#,
    r#""%u", (u8)REC->u"#,
    r#""%lld", (s64)REC->l"#,
    r#""%u %d", (unsigned)REC->b, (int)REC->b"#,
    r#""tab\tand \"quote\"""#,
    r#""%d", unknown_function(REC->b)"#,
    r#""%d %d", REC->i"#,
    r#""REC %d %s", REC->common_pid, __print_symbolic(REC->common_type, { 1, "x" })"#,
];

#[test]
#[ignore = "live: compares with perf"]
fn crafted_formats_agree_with_perf() {
    if !tool_exists("perf") {
        eprintln!("SKIPPED: needs perf");
        return;
    }
    let bytes = synthetic_recording(&crafted_formats(&CRAFTED), 99);
    let path = std::env::temp_dir().join(format!("readperf-crafted-{}.data", std::process::id()));
    std::fs::write(&path, &bytes).unwrap();
    let text = perf_script(&path, "time,event,trace");
    std::fs::remove_file(&path).unwrap();
    let result = compare_with_text(&Recording::read(&bytes), &text, kernel_symbol_table());
    eprintln!("crafted: {result}\n{}", result.first_differences(100));
    assert_eq!(result.compared, CRAFTED.len() * 4);
    assert!(result.is_equal());
}

/// Events that perf 6.1 prints wrongly on recordings of every day: it takes `a & (b | c)` for `a & b | c`, and a flag
/// whose number it does not know for the name of "no flag".
const PERF_IS_WRONG: [&str; 2] = ["timer:timer_start", "writeback"];

/// Where `perf` is not the judge, since its own evaluator knows neither C's conversions nor its precedence.
const BY_C: [(&str, &str); 27] = [
    ("%+d % d %5d %-5d|%05d", "REC->i, REC->i, REC->h, REC->h, REC->h"),
    ("%d %u %x", "REC->sb, REC->sb, REC->sb"),
    ("%lld %llu", "(long long)REC->i, (unsigned long long)REC->i"),
    ("%ld %lx", "(long)REC->h, (unsigned long)REC->sb"),
    ("%d", "REC->u & (1 | 4 | 16)"),
    ("%s", "REC->b > 5 ? \"big\" : REC->b > 2 ? \"middle\" : \"small\""),
    ("%d %d", "REC->i < 0, REC->l < 0"),
    ("%d %d", "REC->i < 1u, REC->sb < 0"),
    ("%u %d", "REC->u - 7, REC->i / 3"),
    ("%d %d", "REC->i % 7, REC->h >> 2"),
    ("%u %lu", "REC->u << 3, REC->ul >> 60"),
    ("%zu %zd %zx", "(unsigned long)REC->ul, (long)REC->l, (unsigned long)REC->ul"),
    ("%d %d", "1 + 2 * 3 - 4 / 2, (1 + 2) * 3"),
    ("%d", "REC->b == 3 || REC->b == 200 && REC->i != 0"),
    ("%d", "~REC->b & 0xff ^ 3"),
    ("%#o %#x %#X %o", "REC->u, REC->u, REC->u, REC->b"),
    ("%.5d|%8.3d|%-8.3d|%.0d", "REC->i, REC->h, REC->h, 0"),
    ("%c%c", "REC->b % 26 + 'a', 'Z'"),
    ("%d", "({ int x_1 = (REC->i); int y_1 = (128); x_1 < y_1 ? x_1 : y_1; })"),
    ("%d %d", "-REC->b, - -REC->h"),
    ("%x %x", "0x80000000 >> 4, REC->i >> 31"),
    ("%d %d", "REC->b ?: 7, REC->i ?: REC->u ?: 9"),
    ("%d %d %d %d", "1 + 2 << 3, 64 >> 1 + 2, 3 << 1 < 7, 1 < 2 == 1"),
    ("%d %d %d", "7 & 2 == 2, 5 ^ 6 & 3, 4 | 1 ^ 5"),
    ("%d %d %d", "1 || 0 && 0, 2 | 0 && 0, 9 - 4 - 3"),
    ("%d %d %d", "100 / 10 / 5, 17 % 10 * 2, 1 != 2 > 0"),
    ("%lu %d", "sizeof(unsigned int) + sizeof(long), -1 < 0u"),
];

#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn expressions_mean_what_they_mean_in_c() {
    let values = [
        [0i64; 7],
        [1, 1, 2, 3, 4, 5, 6],
        [-1; 7],
        [0xdead_beef, -123_456, i64::MIN, -5, 200, -100, -30_000],
    ];
    let Some(expected) = printed_by_c(&BY_C, &values) else {
        eprintln!("SKIPPED: needs cc");
        return;
    };
    assert_eq!(expected.len(), BY_C.len() * values.len());
    let mut expected = expected.iter();
    for (print, arguments) in BY_C {
        let (_, text) = crafted_formats(&[&format!("\"{print}\", {arguments}")]).remove(0);
        let format = EventFormat::parse(&text, Abi::new(ByteOrder::Little, 8)).unwrap();
        let compiled = PrintFmt::parse(&format).unwrap();
        for [u, i, ul, l, b, sb, h] in values {
            let mut payload = vec![0u8; 8];
            payload.extend((u as u32).to_le_bytes());
            payload.extend((i as i32).to_le_bytes());
            payload.extend((ul as u64).to_le_bytes());
            payload.extend(l.to_le_bytes());
            payload.extend([b as u8, sb as u8]);
            payload.extend((h as i16).to_le_bytes());
            let mut out = Vec::new();
            let names = perffile::tracepoint::NoSymbols;
            compiled.write(&format, &payload, &names, &Default::default(), &mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), *expected.next().unwrap(), "{print}: {arguments}");
        }
    }
}

/// A `long` of 4 bytes changes what `%l`, `%z`, casts and constants mean (C standard, 6.2.5 and 6.4.4.1).
#[test]
fn a_long_of_four_bytes_is_one() {
    let text = |print: &str| {
        format!(
            "name: x\nID: 1\nformat:\n\tfield:long l;\toffset:0;\tsize:4;\tsigned:1;\n\
             \tfield:u64 q;\toffset:4;\tsize:8;\tsigned:0;\n\
             \tfield:__data_loc unsigned long[] m;\toffset:12;\tsize:4;\tsigned:0;\n\nprint fmt: {print}"
        )
    };
    let payload = [vec![0xff; 12], vec![0, 8, 0, 16], vec![0, 0, 0, 2], vec![0x80, 0, 0, 1]].concat();
    for (print, expected) in [
        (r#""%lx %ld %lu", REC->l, REC->l, REC->l"#, "ffffffff -1 4294967295"),
        (r#""%lx %zx %llx", REC->q, REC->q, REC->q"#, "ffffffff ffffffff ffffffffffffffff"),
        (r#""%d %llu", (int)sizeof(long), (unsigned long long)(unsigned long)REC->q"#, "4 4294967295"),
        (r#""%llu", 0xffffffffUL + 1"#, "0"),
        (r#""%s", __print_symbolic(REC->l, { -1, "minus one" })"#, "minus one"),
        (r#""%s", __get_bitmask(m)"#, "80000001,00000002"),
    ] {
        let format = EventFormat::parse(text(print).as_bytes(), Abi::new(ByteOrder::Big, 4)).unwrap();
        let compiled = PrintFmt::parse(&format).unwrap();
        let mut out = Vec::new();
        let names = perffile::tracepoint::NoSymbols;
        compiled.write(&format, &payload, &names, &Default::default(), &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), expected, "{print}");
    }
}

/// The plain fields of every event: with a `print fmt` that nobody can evaluate, `perf` shows them all.
#[test]
#[ignore = "live: compares with perf"]
fn plain_fields_of_every_event_agree_with_perf() {
    let mut formats = kernel_formats();
    if formats.is_empty() || !tool_exists("perf") {
        eprintln!("SKIPPED: needs perf and /sys/kernel/tracing/events");
        return;
    }
    for (_, text) in &mut formats {
        let at = text.windows(10).position(|window| window == b"print fmt:").unwrap();
        text.truncate(at);
        text.extend(b"print fmt: \"%d\", nobody_knows(1)\n");
    }
    let mut total = Comparison::default();
    for (round, chunk) in formats.chunks(400).enumerate() {
        let bytes = synthetic_recording(chunk, round as u64 + 1);
        let path = std::env::temp_dir().join(format!("readperf-plain-{}-{round}.data", std::process::id()));
        std::fs::write(&path, &bytes).unwrap();
        let text = perf_script(&path, "time,event,trace");
        std::fs::remove_file(&path).unwrap();
        total.add(compare_with_text(&Recording::read(&bytes), &text, None));
    }
    eprintln!("plain fields: {total}\n{}", total.first_differences(30));
    // perf 6.1 does not know cpumask_t, and fields of ftrace's own events that go on to the end (none of them can be
    // recorded by perf but one).
    let own = [
        "ipi:ipi_send_cpumask",
        "ftrace:bprint",
        "ftrace:funcgraph_entry",
        "ftrace:function",
        "ftrace:raw_data",
    ];
    total.forgive(&own);
    assert!(total.compared > formats.len() * 3);
    assert!(total.is_equal());
}

/// What happens on this machine while the test runs.
#[test]
#[ignore = "live: compares with perf"]
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
        command.args(["record", "-q", "-N", "-m", "4096", "-o"]).arg(&path);
        // Who else is at work on this machine would flood the rest.
        if events.contains("sched") || events.contains("irq") {
            command.arg("-a");
        }
        for event in events.split(',') {
            command.args(["-e", event]);
        }
        let scratch = std::env::temp_dir().join(format!("readperf-dd-{}", std::process::id()));
        let work = "ls /proc > /dev/null; dd if=/dev/zero of=$0 bs=64k count=4 conv=fsync 2> /dev/null; rm -f $0; sleep 0.1";
        command.args(["--", "sh", "-c", work]).arg(scratch);
        let output = command.output().unwrap();
        if !output.status.success() {
            eprintln!("SKIPPED {events}: {}", String::from_utf8_lossy(&output.stderr));
            continue;
        }
        let text = perf_script(&path, "time,event,trace");
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let mut result = compare_with_text(&Recording::read(&bytes), &text, kernel_symbol_table());
        eprintln!("{events}: {result}\n{}", result.first_differences(3));
        let forgiven = result.forgive(&PERF_IS_WRONG);
        eprintln!("{forgiven} lines where perf is known to be wrong");
        assert!(result.is_equal(), "{events}: {result}\n{}", result.first_differences(20));
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
        for endian in [ByteOrder::Little, ByteOrder::Big] {
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
fn mutants_of_a_blob_neither_panic_nor_pass_unnoticed() {
    let system = System { name: b"demo", formats: vec![DEMO, DEMO] };
    let whole = TracingData {
        version: b"0.6",
        big_endian_flag: 1,
        long_size: 8,
        page_size: 4096,
        header_page: b"page",
        header_event: b"event",
        ftrace_formats: vec![DEMO],
        systems: vec![system.clone(), system],
        kallsyms: b"0 T x\n",
        printk_formats: b"0x10 : \"a\"\n",
        saved_cmdlines: Some(b"1 init\n"),
        trailing: b"",
    };
    let blob = whole.encode();
    assert_eq!(TracingData::parse(&blob).unwrap(), whole);
    let mut noise = Noise::new(11);
    let (mut read, mut refused) = (0, 0);
    for _ in 0..20_000 {
        let mut mutant = blob.clone();
        for _ in 0..=noise.below(3) {
            let at = noise.below(mutant.len());
            mutant[at] ^= 1 << noise.below(8);
        }
        mutant.truncate(mutant.len() - noise.below(2) * noise.below(mutant.len()));
        match TracingData::parse(&mutant) {
            Ok(data) => {
                read += 1;
                assert!(data.encode() == mutant);
                Catalog::new(&data);
            }
            Err(partial) => {
                refused += 1;
                assert!(partial.error.offset <= mutant.len());
            }
        }
    }
    assert!(read > 1000 && refused > 1000, "{read} read, {refused} refused");
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
        format!("\"%d\", {}1{}", "(".repeat(200), "?:1)".repeat(200)),
    ] {
        let text = format!(
            "name: x\nID: 1\nformat:\n\tfield:int a;\toffset:0;\tsize:4;\tsigned:1;\n\nprint fmt: {evil}"
        );
        let format = EventFormat::parse(text.as_bytes(), Abi::new(ByteOrder::Little, 8)).unwrap();
        assert!(PrintFmt::parse(&format).is_err());
    }
    // Not too deep, but a tree that doubled with each level would never be done.
    let twice = format!("\"%d\", {}1{}", "(".repeat(60), " ?: 2)".repeat(60));
    let text = format!("name: x\nID: 1\nformat:\n\nprint fmt: {twice}");
    let format = EventFormat::parse(text.as_bytes(), Abi::new(ByteOrder::Little, 8)).unwrap();
    PrintFmt::parse(&format).unwrap();
    let wide = "name: x\nID: 1\nformat:\n\nprint fmt: \"%999999999d\", 1";
    let format = EventFormat::parse(wide.as_bytes(), Abi::new(ByteOrder::Little, 8)).unwrap();
    let print = PrintFmt::parse(&format).unwrap();
    let mut out = Vec::new();
    print.write(&format, &[], &perffile::tracepoint::NoSymbols, &Default::default(), &mut out).unwrap();
    assert_eq!(out.len(), perffile::tracepoint::limits::FIELD_WIDTH);
}

#[test]
fn a_catalog_reports_what_it_cannot_read() {
    let system = System { name: b"demo", formats: vec![DEMO, b"junk", b"name: y\n"] };
    let data = TracingData { version: b"0.6", long_size: 8, systems: vec![system], ..TracingData::default() };
    let catalog = Catalog::new(&data);
    assert_eq!(catalog.iter().count(), 1);
    assert_eq!(catalog.faults().len(), 2);
    assert!(catalog.tracepoint_of(&[9, 0]).is_some());
}

/// The leader of a group takes samples for its members, with its own payload.
#[test]
fn a_payload_is_of_the_tracepoint_that_it_names() {
    let other: &[u8] =
        b"name: other\nID: 300\nformat:\n\tfield:int b;\toffset:0;\tsize:4;\tsigned:1;\n\nprint fmt: \"b=%d\", REC->b\n";
    let system = System { name: b"demo", formats: vec![DEMO, other] };
    let data = TracingData { version: b"0.6", long_size: 8, systems: vec![system], ..TracingData::default() };
    let catalog = Catalog::new(&data);
    let id = |id, payload: &[u8]| catalog.of_payload(id, payload).and_then(|tracepoint| tracepoint.format.id);
    assert_eq!(id(9, &[44, 1, 0, 0]), Some(300), "the leader's");
    assert_eq!(id(9, &[9, 0, 0, 0]), Some(9));
    assert_eq!(id(9, &[1, 0, 0, 0]), Some(9), "what is named is not described");
    assert_eq!(id(9, &[]), Some(9));
    let mut text = Vec::new();
    let names = perffile::tracepoint::NoSymbols;
    assert_eq!(catalog.write_text(9, &[44, 1, 0, 0], &names, &mut text), Some(true));
    assert_eq!(text, b"b=300");
}

const DEMO: &[u8] = b"name: demo\nID: 9\nformat:\n\tfield:int a;\toffset:0;\tsize:4;\tsigned:1;\n\nprint fmt: \"%d\", REC->a\n";
