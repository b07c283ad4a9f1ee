//! Recordings of every kind that perf can make here, made in the test: the same records, the same samples in the same
//! order, and the same fields as perf reads. Killed and cut ones, which perf refuses, against perf on a repaired copy.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "test code"
)]

mod oracle;

use oracle::fields::{self, Tally};
use oracle::live::{self, Perf};
use oracle::{scratch, skip, stats, tool};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// One event, often enough for some hundred samples.
const CLOCK: [&str; 4] = ["-e", "cpu-clock", "-F", "1999"];

/// Every sample of the recording, in order of delivery, against perf's dump. `shift` is how much further on the file has
/// them than perf says: it does not count the header of a pipe.
fn check_samples(test: &str, perf: &Perf, data: &Path, shift: u64) -> Tally {
    let text = perf.dump(data);
    let mut said: Vec<_> = fields::records(&text).into_iter().filter(|said| said.is_sample()).collect();
    let mut ours = fields::dump(data, "sample");
    if data.is_dir() {
        // The files of a directory have no order among them: of samples with one time, any may come first.
        said.sort_by_key(|said| (said.time(), said.offset));
        ours.sort_by_key(|ours| (fields::number(&ours["time"]), fields::number(&ours["offset"])));
    }
    assert_eq!(said.len(), ours.len(), "{test}: samples, perf left, readperf right");
    assert!(said.len() >= 10, "{test}: only {} samples", said.len());
    let mut tally = Tally::default();
    for (said, ours) in said.iter().zip(&ours) {
        let at = format!("{test}, {}", said.line);
        tally.same("offset", &at, Some(said.offset + shift), fields::number(&ours["offset"]));
        fields::compare_line(said, ours, &at, &mut tally);
        fields::compare_sample(said, ours, &at, &mut tally);
    }
    tally
}

/// perf that may record, and the program to record in a scratch directory.
fn prepare(test: &str) -> Option<(&'static Perf, tempfile::TempDir)> {
    let perf = Perf::or_skip(test)?;
    let dir = scratch();
    live::program(test, dir.path(), "burn")?;
    Some((perf, dir))
}

/// Records with `options` and compares; `fields` are those that the kind is about, of which every sample must have one.
fn check_fresh(test: &str, options: &[&str], fields: &[&str]) {
    let Some((perf, dir)) = prepare(test) else { return };
    let options: Vec<&str> = options.iter().copied().chain(["./burn"]).collect();
    let Some(data) = perf.record(test, dir.path(), &options) else { return };
    let mine = tool::json("stats", &data);
    assert_eq!(mine["issues"], Value::Array(Vec::new()), "{test}");
    stats::check(test, &perf.stats(&data), &mine);
    let tally = check_samples(test, perf, &data, 0);
    for field in fields {
        assert!(tally.of(field) >= tally.of("time"), "{test}: {field} in {:?}", tally.0);
    }
}

macro_rules! fresh {
    ($( $(#[$meta:meta])* $name:ident $options:expr => $fields:expr; )*) => {
        $(
            $(#[$meta])*
            #[test]
            #[ignore = "live: compares with perf"]
            fn $name() {
                check_fresh(stringify!($name), &$options, &$fields);
            }
        )*
    };
}

fresh! {
    compressed ["-z", "-e", "cpu-clock", "-F", "1999"] => [];
    streams_of_threads ["--threads", "-a", "-e", "cpu-clock", "-F", "999"] => ["cpu"];
    groups ["-F", "999", "-e", "{cpu-clock,page-faults}:S"] => ["read"];
    switches ["--switch-events", "-e", "cpu-clock", "-F", "1999"] => [];
    weights ["-W", "-e", "cpu-clock", "-F", "1999"] => ["weight"];
    data_sources ["-d", "-e", "cpu-clock", "-F", "1999"] => ["addr", "data_src"];
    addresses_of_faults ["-d", "-e", "page-faults", "-c", "1"] => ["addr", "data_src"];
    physical_addresses ["-d", "--phys-data", "-e", "page-faults", "-c", "1"] => ["phys_addr"];
    sizes_of_data_pages ["-d", "--data-page-size", "-e", "page-faults", "-c", "1"] => ["data_page_size"];
    sizes_of_code_pages ["--code-page-size", "-e", "cpu-clock", "-F", "1999"] => ["code_page_size"];
    control_groups ["--all-cgroups", "-e", "cpu-clock", "-F", "1999"] => [];
    user_registers ["--user-regs=AX,IP,SP", "-e", "cpu-clock", "-F", "1999"] => ["register"];
    interrupt_registers ["--intr-regs=AX,IP,SP", "-e", "cpu-clock", "-F", "1999"] => ["register"];
    stacks ["--call-graph", "dwarf,512", "-e", "cpu-clock", "-F", "499"] => [];
    chains ["-g", "-e", "cpu-clock", "-F", "1999"] => [];
    monotonic_clock ["-k", "CLOCK_MONOTONIC", "-e", "cpu-clock", "-F", "1999"] => [];
    whole_system ["-a", "-g", "-e", "cpu-clock,context-switches", "-F", "499"] => ["cpu"];
}

/// Every CGROUP record by perf's own words, `cgroup: ID PATH`, and the id in each sample.
#[test]
#[ignore = "live: compares with perf"]
fn paths_of_control_groups() {
    let test = "paths_of_control_groups";
    let Some((perf, dir)) = prepare(test) else { return };
    let options = [&["--all-cgroups"][..], &CLOCK, &["./burn"]].concat();
    let Some(data) = perf.record(test, dir.path(), &options) else { return };
    let text = perf.dump(&data);
    let theirs: Vec<(u64, &str)> = fields::records(&text)
        .iter()
        .filter_map(|said| said.line.split_once("PERF_RECORD_CGROUP cgroup: ")?.1.split_once(' '))
        .map(|(id, path)| (id.parse().unwrap(), path))
        .collect();
    let ours = fields::dump(&data, "cgroup");
    let mine: Vec<(u64, &str)> = ours
        .iter()
        .map(|record| (fields::number(&record["cgroup_id"]).unwrap(), record["path"].as_str().unwrap()))
        .collect();
    assert_eq!(theirs, mine, "perf left, readperf right");
    let known: Vec<u64> = mine.iter().map(|(id, _)| *id).collect();
    assert!(!known.is_empty());
    for sample in fields::dump(&data, "sample") {
        assert!(known.contains(&fields::number(&sample["cgroup"]).unwrap()), "{sample}");
    }
}

/// In and out, of whom and when, as perf says it.
#[test]
#[ignore = "live: compares with perf"]
fn directions_of_switches() {
    let test = "directions_of_switches";
    let Some((perf, dir)) = prepare(test) else { return };
    let options = [&["--switch-events"][..], &CLOCK, &["./burn"]].concat();
    let Some(data) = perf.record(test, dir.path(), &options) else { return };
    let text = perf.dump(&data);
    let theirs: Vec<(u64, bool, bool)> = fields::records(&text)
        .iter()
        .filter_map(|said| {
            let direction = said.line.split_once("PERF_RECORD_SWITCH ")?.1.trim();
            Some((said.offset, direction.starts_with("OUT"), direction.ends_with("preempt")))
        })
        .collect();
    let mine: Vec<(u64, bool, bool)> = fields::dump(&data, "switch")
        .iter()
        .map(|record| {
            // Bits 13 and 14 of `misc`: out, and out by preemption.
            let misc = fields::number(&record["misc"]).unwrap();
            (fields::number(&record["offset"]).unwrap(), misc & 1 << 13 != 0, misc & 1 << 14 != 0)
        })
        .collect();
    assert!(theirs.len() >= 4, "{theirs:?}");
    assert_eq!(theirs, mine, "perf left, readperf right");
}

/// What `-k` chose is in the attr.
#[test]
#[ignore = "live: compares with perf"]
fn clock_of_the_recording() {
    let test = "clock_of_the_recording";
    let Some((perf, dir)) = prepare(test) else { return };
    let options = [&["-k", "mono"][..], &CLOCK, &["./burn"]].concat();
    let Some(data) = perf.record(test, dir.path(), &options) else { return };
    let info = tool::json("info", &data);
    // CLOCK_MONOTONIC is 1 in the kernel's time.h.
    assert_eq!(info["attrs"][0]["clockid"], 1, "{}", info["attrs"][0]);
    assert_eq!(info["features"]["clock_data"]["clockid"], 1, "{}", info["features"]["clock_data"]);
}

/// Texts of the tracepoints of system calls, those of the scheduler, and of others with flags and symbols. Without
/// `timer:timer_start`: perf 6.1 takes `flags & (0x40000 | 0x80000 | …)` for `(flags & 0x40000) | 0x80000 | …` and prints
/// `D|P|I` for flags 0xc000000, which have none of these bits.
#[test]
#[ignore = "live: compares with perf"]
fn texts_of_tracepoints() {
    let test = "texts_of_tracepoints";
    let Some((perf, dir)) = prepare(test) else { return };
    for (events, whole_system) in [
        ("raw_syscalls:*", false),
        ("sched:*", true),
        ("kmem:*,signal:*,task:*", false),
        ("timer:hrtimer*,irq:*", true),
    ] {
        let wide: &[&str] = if whole_system { &["-a"] } else { &[] };
        let options = [wide, &["-m", "1M", "-e", events, "./burn"]].concat();
        let Some(data) = perf.record(test, dir.path(), &options) else { continue };
        let mine = tool::json("stats", &data);
        stats::check(events, &perf.stats(&data), &mine);
        let compared = fields::compare_traces(&fields::dump(&data, "sample"), &perf.script(&data), events);
        assert!(compared > 10, "{events}: only {compared} texts compared");
        std::fs::remove_file(&data).unwrap();
    }
}

/// Through a pipe: the stream saved to a file, and read from standard input, are the same.
#[test]
#[ignore = "live: compares with perf"]
fn pipes() {
    let test = "pipes";
    let Some((perf, dir)) = prepare(test) else { return };
    let data = dir.path().join("pipe.data");
    let options = [&CLOCK[..], &["./burn"]].concat();
    let mut recorder = perf.recorder(Path::new("-"), &options);
    let file = std::fs::File::create(&data).unwrap();
    recorder.current_dir(dir.path()).stdout(file).stderr(Stdio::null()).status().expect("perf starts");
    if std::fs::metadata(&data).unwrap().len() < 100 {
        return skip(test, "perf record -o - writes nothing here");
    }
    let mine = tool::json("stats", &data);
    assert_eq!(mine["issues"], Value::Array(Vec::new()));
    stats::check(test, &perf.stats(&data), &mine);
    check_samples(test, perf, &data, 16);
    for (subcommand, options) in
        [("stats", &["--json"][..]), ("dump", &["--json", "--sorted"]), ("info", &["--json"])]
    {
        let from_file = tool::answer(&[&[subcommand][..], options, &[data.to_str().unwrap()]].concat());
        // A real pipe, that comes in pieces of its own.
        let mut cat = std::process::Command::new("cat").arg(&data).stdout(Stdio::piped()).spawn().unwrap();
        let mut piped = tool::command();
        piped.arg(subcommand).args(options).arg("-").stdin(cat.stdout.take().unwrap());
        let output = piped.output().unwrap();
        cat.wait().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", tool::stderr(&output));
        assert!(output.stdout == from_file.as_bytes(), "{subcommand}: from a pipe other than from a file");
    }
}

/// Offset and size of the data section, as the header has them.
fn data_section(file: &[u8]) -> (usize, usize) {
    let word = |at: usize| usize::try_from(u64::from_le_bytes(file[at..at + 8].try_into().unwrap())).unwrap();
    (word(40), word(48))
}

/// A copy that perf reads: the header says how long the whole records are, and names no features.
fn repaired(damaged: &Path) -> PathBuf {
    let mut bytes = std::fs::read(damaged).unwrap();
    let (start, told) = data_section(&bytes);
    let end = if told == 0 { bytes.len() } else { bytes.len().min(start + told) };
    let mut at = start;
    while let Some(size) = bytes.get(at + 6..at + 8) {
        let size = usize::from(u16::from_le_bytes(size.try_into().unwrap()));
        if size < 8 || at + size > end {
            break;
        }
        at += size;
    }
    bytes.truncate(at);
    bytes[48..56].copy_from_slice(&((at - start) as u64).to_le_bytes());
    bytes[72..104].fill(0);
    let path = damaged.with_extension("repaired");
    std::fs::write(&path, bytes).unwrap();
    path
}

/// All that is there, and the damage told: exit status 3, an issue of this kind.
fn check_damaged(test: &str, perf: &Perf, data: &Path, kind: &str) {
    let output = tool::run(&["stats", "--json", data.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(3), "{test}: {}", tool::stderr(&output));
    let mine: Value = serde_json::from_slice(&output.stdout).unwrap();
    let kinds: Vec<&str> =
        mine["issues"].as_array().unwrap().iter().map(|issue| issue["kind"].as_str().unwrap()).collect();
    assert!(kinds.contains(&kind), "{test}: {kinds:?}");
    let repaired = repaired(data);
    stats::check(test, &perf.stats(&repaired), &mine);
    let tally = check_samples(test, perf, &repaired, 0);
    // The repaired copy is compared with perf; the damaged file must have the same samples.
    let output = tool::run(&["dump", "--json", "--sorted", "--type", "sample", data.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(3), "{test}: dump");
    let own = String::from_utf8(output.stdout).unwrap();
    let whole = tool::answer(&["dump", "--json", "--sorted", "--type", "sample", repaired.to_str().unwrap()]);
    assert!(own == whole, "{test}: samples of the damaged file are not those of the repaired one");
    assert_eq!(tally.of("offset"), own.lines().count());
}

#[test]
#[ignore = "live: compares with perf"]
fn killed_recorder() {
    let test = "killed_recorder";
    let Some((perf, dir)) = prepare(test) else { return };
    let data = dir.path().join("perf.data");
    let mut recorder = perf.recorder(&data, &["-a", "-g", "-e", "cpu-clock", "-F", "1999"]);
    let mut recorder = recorder.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("perf starts");
    let begin = Instant::now();
    // Before the samples come the mappings of all that runs.
    let samples = || {
        let output = tool::run(&["stats", "--json", data.to_str().unwrap()]);
        serde_json::from_slice(&output.stdout)
            .ok()
            .and_then(|stats: Value| stats["samples"].as_u64())
            .unwrap_or(0)
    };
    while samples() < 50 {
        if begin.elapsed() > Duration::from_secs(20) {
            recorder.kill().unwrap();
            recorder.wait().unwrap();
            return skip(test, "perf has not written enough in 20 s");
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    // SIGKILL: nothing is put in order any more.
    recorder.kill().unwrap();
    recorder.wait().unwrap();
    assert_eq!(data_section(&std::fs::read(&data).unwrap()).1, 0, "the recorder was not killed in time");
    check_damaged(test, perf, &data, "unfinished");
}

#[test]
#[ignore = "live: compares with perf"]
fn cut_file() {
    let test = "cut_file";
    let Some((perf, dir)) = prepare(test) else { return };
    let options = [&["-g"][..], &CLOCK, &["./burn"]].concat();
    let Some(data) = perf.record(test, dir.path(), &options) else { return };
    let (start, size) = data_section(&std::fs::read(&data).unwrap());
    for part in [3, 7] {
        let cut = tool::cut(&data, start + size * part / 10 + 5, dir.path());
        check_damaged(test, perf, &cut, "cut_data");
    }
}

/// `perf record --kcore` where the kernel lets it; else a directory made like one, of what perf records without.
fn kcore_directory(test: &str, perf: &Perf, dir: &Path) -> Option<PathBuf> {
    let options = [&["--kcore"][..], &CLOCK, &["./burn"]].concat();
    let path = dir.join("perf.data");
    let recorded = perf.recorder(&path, &options).output().expect("perf starts");
    if path.join("kcore_dir").is_dir()
        && std::fs::metadata(path.join("data")).is_ok_and(|data| data.len() > 0)
    {
        return Some(path);
    }
    eprintln!("made by hand: perf record --kcore: {}", String::from_utf8_lossy(&recorded.stderr).trim());
    let plain = dir.join("plain");
    std::fs::create_dir(&plain).unwrap();
    let program = dir.join("burn");
    let data = perf.record(test, &plain, &[&CLOCK[..], &[program.to_str().unwrap()]].concat())?;
    std::fs::remove_dir_all(&path).ok();
    std::fs::create_dir_all(path.join("kcore_dir")).unwrap();
    std::fs::rename(data, path.join("data")).unwrap();
    for file in ["kcore", "kallsyms", "modules"] {
        std::fs::write(path.join("kcore_dir").join(file), "").unwrap();
    }
    Some(path)
}

#[test]
#[ignore = "live: compares with perf"]
fn copies_of_the_kernel() {
    let test = "copies_of_the_kernel";
    let Some((perf, dir)) = prepare(test) else { return };
    let Some(path) = kcore_directory(test, perf, dir.path()) else { return };
    let mine = tool::json("stats", &path);
    assert_eq!(mine["issues"], Value::Array(Vec::new()));
    stats::check(test, &perf.stats(&path), &mine);
    let folder = path.join("kcore_dir");
    let folder = folder.to_str().unwrap();
    let info = tool::json("info", &path);
    assert_eq!((info["container"].as_str(), info["kcore_dir"].as_str()), (Some("directory"), Some(folder)));
    let text = tool::answer(&["info", path.to_str().unwrap()]);
    assert!(text.lines().any(|line| line.contains("kernel copy ") && line.contains(folder)), "{text}");
    // The file in it alone is an ordinary recording, without.
    let inner = tool::json("info", &path.join("data"));
    assert_eq!((inner["container"].as_str(), inner["kcore_dir"].is_null()), (Some("file"), true));
}
