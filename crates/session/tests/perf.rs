//! The session against the machine's own perf: for every sample of recordings made on the spot, name, pid, tid, time,
//! address and binary have to be those that `perf script` prints.
//!
//! With `READPERF_CORPUS` set to a directory, the recordings in it are compared too, except those of which perf 6.1 is
//! known to show something else than what they hold (see `perf_is_right_about`).
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::print_stderr)] // Tests may fail loudly.

use perffile::Recording;
use perffile::wire::attr::ReadFormat;
use perffile::wire::endian::ByteOrder;
use perffile::wire::feature::bit;
use readperf_session::{Binary, BinaryKind, ChainEntry, Context, Moment, SampleMoment, Session};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Of recordings made here at most one sample in a thousand may differ, and of the corpus.
const ALLOWED_PER_MILLE: usize = 1;

/// Names of module files, compressed ones too.
const MODULE_SUFFIXES: [&str; 4] = [".ko", ".ko.gz", ".ko.xz", ".ko.zst"];

fn runs(program: &str) -> bool {
    let quiet = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let there = quiet.is_ok_and(|status| status.success());
    if !there {
        eprintln!("SKIPPED: this machine has no {program}, nothing was compared");
    }
    there
}

/// Records what `arguments` say into `file`; false where the machine does not let us.
fn record(file: &Path, arguments: &[&str]) -> bool {
    let output = Command::new("perf").arg("record").arg("-o").arg(file).args(arguments).output().unwrap();
    if !output.status.success() {
        eprintln!("SKIPPED: perf record {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    output.status.success()
}

/// One line a sample, as perf sees it.
fn perfs_view(file: &Path) -> Vec<String> {
    let fields = ["script", "-G", "--ns", "-F", "comm,pid,tid,time,ip,dso", "-i"];
    let output = Command::new("perf").args(fields).arg(file).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let mut lines: Vec<String> = text.lines().filter_map(normalised).collect();
    lines.sort();
    lines
}

/// `comm pid/tid seconds.ns: ip (dso)` with single spaces between the parts. A comm may hold spaces itself.
fn normalised(line: &str) -> Option<String> {
    let line = line.trim_start();
    let is = |text: &str, mark: char| {
        let digits = |t: &str| !t.is_empty() && t.trim_start_matches('-').bytes().all(|b| b.is_ascii_digit());
        text.split_once(mark).is_some_and(|(a, b)| digits(a) && digits(b))
    };
    let (comm, ids, rest) = line.match_indices(' ').find_map(|(at, _)| {
        let (comm, rest) = line.split_at(at);
        let (ids, rest) = rest.trim_start().split_once(' ')?;
        let time = rest.trim_start().split(": ").next()?;
        (is(ids, '/') && is(time.trim(), '.')).then_some((comm, ids, rest))
    })?;
    let (time, place) = rest.trim_start().split_once(": ")?;
    let (ip, dso) = place.trim().split_once(' ')?;
    Some(format!("{} {ids} {time}: {ip} {}", comm.trim_end(), module_in_brackets(dso)))
}

/// perf prints a module's path if the BUILD_ID table has it, else its name in brackets; here it is always the latter.
fn module_in_brackets(dso: &str) -> String {
    let path = dso.trim_start_matches('(').trim_end_matches(')');
    let file = path.rsplit('/').next().unwrap_or(path);
    match MODULE_SUFFIXES.iter().find_map(|suffix| file.strip_suffix(suffix)) {
        Some(name) => format!("([{}])", name.replace('-', "_")),
        None => dso.to_owned(),
    }
}

/// One line a sample, as the session sees it.
fn our_view(file: &Path) -> (Vec<String>, Session) {
    let recording = Recording::open(file).unwrap();
    let mut session = Session::new(recording.metadata());
    let mut lines = Vec::new();
    let _ = recording
        .for_each(|event| {
            if let Moment::Sample(sample) = session.apply(event) {
                lines.push(line(&session, &sample));
            }
        })
        .unwrap();
    lines.sort();
    (lines, session)
}

fn line(session: &Session, sample: &SampleMoment<'_>) -> String {
    let comm = String::from_utf8_lossy(session.comm(sample.comm));
    let pid = session.process(sample.process).unwrap().pid.cast_signed();
    let tid = session.thread(sample.thread).unwrap().tid.cast_signed();
    let dso = sample.code(session).binary.and_then(|id| session.binary(id)).map_or("[unknown]".into(), dso);
    let (seconds, ns) = (sample.time_ns / 1_000_000_000, sample.time_ns % 1_000_000_000);
    format!("{comm} {pid}/{tid} {seconds}.{ns:09}: {:x} ({dso})", sample.ip)
}

/// The name that `perf script` prints: the path, except of what the kernel is made of.
fn dso(binary: &Binary) -> String {
    let short = binary.kind.is_kernel() || binary.kind == BinaryKind::Vdso;
    String::from_utf8_lossy(if short { &binary.short_name } else { &binary.name }).into_owned()
}

/// How many samples, and those lines that only one of the two has.
fn compare(file: &Path) -> (usize, Vec<String>) {
    let (ours, session) = our_view(file);
    let perfs = perfs_view(file);
    assert_eq!(session.summary().all_samples(), ours.len() as u64, "every sample is usable");
    (ours.len().max(perfs.len()), differences(&ours, &perfs))
}

/// The lines that only one of the two has; both are sorted.
fn differences(ours: &[String], perfs: &[String]) -> Vec<String> {
    let mut differences = Vec::new();
    let (mut a, mut b) = (ours.iter().peekable(), perfs.iter().peekable());
    loop {
        match (a.peek(), b.peek()) {
            (Some(x), Some(y)) if x == y => {
                a.next();
                b.next();
            }
            (Some(x), y) if y.is_none_or(|y| x < y) => {
                differences.push(format!("ours:   {x}"));
                a.next();
            }
            (_, Some(y)) => {
                differences.push(format!("perf's: {y}"));
                b.next();
            }
            _ => return differences,
        }
    }
}

/// One line a sample with a call chain: time, thread, and of every entry the address in its binary (file offset of user
/// code) and the binary; as perf sees it.
fn perfs_chains(file: &Path) -> Vec<String> {
    let fields = ["script", "--no-inline", "--ns", "-F", "pid,tid,time,ip,dso", "-i"];
    let output = Command::new("perf").args(fields).arg(file).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let one = |block: &str| {
        let mut lines = block.lines().map(str::trim);
        let head = lines.next()?.split_whitespace().collect::<Vec<_>>().join(" ");
        let entries: Vec<&str> = lines.collect();
        (!entries.is_empty()).then(|| format!("{head} {}", entries.join(" ")))
    };
    let mut chains: Vec<String> = text.split("\n\n").filter_map(one).collect();
    chains.sort();
    chains
}

/// The same as the session sees it.
fn our_chains(file: &Path) -> Vec<String> {
    let recording = Recording::open(file).unwrap();
    let mut session = Session::new(recording.metadata());
    let mut chains = Vec::new();
    let _ = recording
        .for_each(|event| {
            let Moment::Sample(sample) = session.apply(event) else { return };
            let pid = session.process(sample.process).unwrap().pid.cast_signed();
            let tid = session.thread(sample.thread).unwrap().tid.cast_signed();
            let (seconds, ns) = (sample.time_ns / 1_000_000_000, sample.time_ns % 1_000_000_000);
            let chain = session.callchain(sample.process, &sample.sample, sample.mode);
            // perf drops a chain with a marker it does not know, such as what code without frame pointers leaves on stacks.
            if chain.clone().any(|entry| matches!(entry, ChainEntry::Marker(Context::Unknown(_)))) {
                return;
            }
            let entries: Vec<String> = chain
                .addresses()
                .map(|code| {
                    let binary = code.binary.and_then(|id| session.binary(id));
                    format!("{:x} ({})", code.address, binary.map_or("[unknown]".into(), dso))
                })
                .collect();
            if !entries.is_empty() {
                chains.push(format!("{pid}/{tid} {seconds}.{ns:09}: {}", entries.join(" ")));
            }
        })
        .unwrap();
    chains.sort();
    chains
}

fn check(file: &Path, what: &str, least: usize) {
    let (count, differences) = compare(file);
    let shown = differences.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    eprintln!("{what}: {count} samples, {} lines differ\n{shown}", differences.len());
    assert!(count >= least, "{what}: only {count} samples");
    assert!(differences.len() * 1000 <= count * ALLOWED_PER_MILLE, "{what}: {shown}");
}

/// Samples by the name that tables show, as `perf report` counts them.
fn perfs_table(file: &Path) -> BTreeMap<String, u64> {
    let fields = ["report", "--stdio", "--no-children", "-g", "none", "-F", "sample,dso", "-t", "|", "-i"];
    let output = Command::new("perf").args(fields).arg(file).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let mut table = BTreeMap::new();
    for (count, name) in text.lines().filter_map(|line| line.split_once('|')) {
        let Ok(count) = count.trim().parse::<u64>() else { continue };
        *table.entry(name.trim().to_owned()).or_default() += count;
    }
    table
}

/// The same as the session counts them.
fn our_table(file: &Path) -> BTreeMap<String, u64> {
    let recording = Recording::open(file).unwrap();
    let mut session = Session::new(recording.metadata());
    let mut table = BTreeMap::new();
    let _ = recording
        .for_each(|event| {
            let Moment::Sample(sample) = session.apply(event) else { return };
            let binary = sample.code(&session).binary.and_then(|id| session.binary(id));
            let name = binary.map_or(&b"[unknown]"[..], |binary| &binary.short_name);
            *table.entry(String::from_utf8_lossy(name).into_owned()).or_default() += 1;
        })
        .unwrap();
    table
}

/// Builds the workload; `None` without a compiler.
fn workload(directory: &Path) -> Option<PathBuf> {
    if !runs("gcc") {
        return None;
    }
    let program = directory.join("busy");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/workload/busy.c");
    let status = Command::new("gcc").args(["-O1", "-pthread", "-o"]).arg(&program).arg(source).status();
    assert!(status.unwrap().success(), "the workload compiles");
    Some(program)
}

#[test]
#[ignore = "live: compares with perf"]
fn every_sample_of_the_whole_system_is_as_perf_says() {
    if !runs("perf") {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("all.data");
    let shell = "for i in 1 2 3 4 5 6 7 8 9 10; do /bin/ls -R /usr/include >/dev/null; (: $i) & done; wait";
    if record(&file, &["-F", "5000", "-e", "cpu-clock", "-a", "-g", "--", "sh", "-c", shell]) {
        check(&file, "whole system", 500);
        let (ours, perfs) = (our_chains(&file), perfs_chains(&file));
        let differing = differences(&ours, &perfs);
        let shown = differing.iter().take(4).cloned().collect::<Vec<_>>().join("\n");
        eprintln!("call chains: {} of {} differ\n{shown}", differing.len(), ours.len());
        assert!(ours.len() >= 500 && differing.len() * 1000 <= ours.len() * ALLOWED_PER_MILLE, "call chains");
    }
}

#[test]
#[ignore = "live: compares with perf"]
fn threads_forks_execs_and_generated_code_are_as_perf_says() {
    let directory = tempfile::tempdir().unwrap();
    if !runs("perf") {
        return;
    }
    let Some(program) = workload(directory.path()) else { return };
    let program = program.to_str().unwrap();
    let options: [(&str, &[&str]); 5] = [
        ("plain", &["-e", "cpu-clock"]),
        ("two events", &["-e", "cpu-clock,task-clock"]),
        ("call chains, data mappings", &["-e", "cpu-clock", "-g", "-d"]),
        ("build-ids in mappings", &["-e", "cpu-clock", "--buildid-mmap"]),
        ("whole system, no build-ids", &["-e", "cpu-clock", "-a", "--no-bpf-event", "-B"]),
    ];
    for (what, options) in options {
        let file = directory.path().join("busy.data");
        let arguments = [&["-F", "5000"][..], options, &["--", program]].concat();
        if record(&file, &arguments) {
            check(&file, what, 100);
            assert_eq!(our_table(&file), perfs_table(&file), "{what}: names for tables");
        }
    }
}

#[test]
#[ignore = "live: compares with perf"]
fn a_pipe_is_as_perf_says() {
    let directory = tempfile::tempdir().unwrap();
    if !runs("perf") {
        return;
    }
    let Some(program) = workload(directory.path()) else { return };
    let arguments = ["record", "-F", "5000", "-e", "cpu-clock", "-o", "-", "--"];
    let output = Command::new("perf").args(arguments).arg(program).output().unwrap();
    if !output.status.success() {
        eprintln!("SKIPPED: perf record to a pipe: {}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    let file = directory.path().join("pipe.data");
    std::fs::write(&file, output.stdout).unwrap();
    check(&file, "pipe", 100);
}

/// Whether `perf script` 6.1 shows what a recording holds. Not so where it
/// * reads the other byte order: it leaves `prot` of MMAP2 as it is, and in a pipe exchanges pid and tid of samples;
/// * shows a sample once for every event of its group, or makes up samples from an AUX trace;
/// * does not know the kernel's build-id: then it takes the symbols of the kernel it runs on, at the first kernel sample,
///   and with them the extent of that kernel, in which the other samples do not lie.
fn perf_is_right_about(recording: &Recording, session: &Session) -> bool {
    let metadata = recording.read_metadata().unwrap();
    let grouped = metadata.schema.events().iter().any(|event| event.attr.read_format.has(ReadFormat::GROUP));
    let image = session.kernel_image().and_then(|image| session.binary(image.binary));
    let foreign = image.is_some_and(|image| image.build_id.is_none());
    metadata.order == ByteOrder::Little && !grouped && !metadata.features.has(bit::AUXTRACE) && !foreign
}

#[test]
fn recordings_of_a_corpus_are_as_perf_says() {
    let Some(corpus) = std::env::var_os("READPERF_CORPUS") else {
        eprintln!("SKIPPED: READPERF_CORPUS is not set, no old recording was compared");
        return;
    };
    if !runs("perf") {
        return;
    }
    let (mut samples, mut differing) = (0, 0);
    for directory in std::fs::read_dir(corpus).unwrap().flatten() {
        for file in std::fs::read_dir(directory.path()).into_iter().flatten().flatten() {
            let path = file.path();
            let Ok(recording) = Recording::open(&path) else { continue };
            if path.is_dir() || perfs_view(&path).is_empty() || recording.read_metadata().unwrap().compressed
            {
                continue;
            }
            let (_, session) = our_view(&path);
            if !perf_is_right_about(&recording, &session) {
                eprintln!("{}: left out", path.display());
                continue;
            }
            let (count, differences) = compare(&path);
            eprintln!("{}: {count} samples, {} lines differ", path.display(), differences.len());
            differences.iter().take(4).for_each(|line| eprintln!("    {line}"));
            samples += count;
            differing += differences.len();
        }
    }
    eprintln!("corpus: {samples} samples, {differing} lines differ");
    assert!(samples > 1000 && differing * 1000 <= samples * ALLOWED_PER_MILLE);
}
