//! `readperf stat` against `perf stat report`: on the fixture, on recordings of other machines with their own perf's
//! statement, on fresh ones, and on values changed by hand.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod oracle;

use oracle::{fixture, scratch, skip, tool};
use readperf::perffile::bytes::Bytes;
use readperf::perffile::{Ordering, Recording};
use readperf::profile::counters::{Counters, Mode};
use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A row of either tool's table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    time: String,
    event: String,
    place: String,
    value: String,
    unit: String,
    part: String,
    metric: String,
}

/// Reads both tables: `[time] [place] value [unit] event [# metric] [(part%)]`.
fn rows(text: &str, interval: bool) -> Vec<Row> {
    let is_row = |line: &&str| {
        let rest = line.trim();
        !(rest.is_empty()
            || rest.starts_with('#')
            || rest.starts_with("Performance counter stats")
            || rest.starts_with("elapsed")
            || rest.contains(" seconds ")
            || rest.split_whitespace().any(|word| word == "count")
                && rest.split_whitespace().any(|word| word == "unit"))
    };
    text.lines().filter(is_row).map(|line| row(line, interval)).collect()
}

fn row(line: &str, interval: bool) -> Row {
    let line = line.replace("<not counted>", "<not-counted>");
    let (line, part) = match line.trim_end().rsplit_once('(') {
        Some((front, part)) if part.ends_with("%)") => {
            (front.to_owned(), part.trim_end_matches(')').to_owned())
        }
        _ => (line, String::new()),
    };
    let (left, metric) = line.split_once('#').unwrap_or((&line, ""));
    let mut words = left.split_whitespace().peekable();
    let time = if interval { words.next().unwrap().to_owned() } else { String::new() };
    let is_value = |word: &str| word == "<not-counted>" || word.replace(',', "").parse::<f64>().is_ok();
    let mut place = String::new();
    while !is_value(words.peek().unwrap_or_else(|| panic!("a value in {line:?}"))) {
        place.push_str(words.next().unwrap());
    }
    let value = words.next().unwrap().replace(',', "");
    let mut rest: Vec<&str> = words.collect();
    let event = rest.pop().unwrap_or_else(|| panic!("an event in {line:?}")).to_owned();
    let metric = metric.split_whitespace().collect::<Vec<_>>().join(" ");
    Row { time, event, place, value, unit: rest.concat(), part, metric }
}

fn mine(file: &Path, arguments: &[&str], interval: bool) -> Vec<Row> {
    let mut all: Vec<&OsStr> = vec![OsStr::new("stat")];
    all.extend(arguments.iter().map(OsStr::new));
    all.push(file.as_os_str());
    rows(&tool::answer(&all), interval)
}

/// The same rows; the remaining part behind the last interval, which perf leaves out, apart. perf's metrics of intervals
/// divide by an average over all intervals so far, so they are not compared.
fn check(what: &str, file: &Path, said: &str) -> usize {
    let interval = said.lines().any(|line| line.trim_start_matches('#').trim_start().starts_with("time "));
    let mut perf = rows(said, interval);
    let mut own = mine(file, &[], interval);
    own.retain(|row| row.time != "rest");
    if interval {
        perf.iter_mut().chain(&mut own).for_each(|row| row.metric.clear());
    }
    perf.sort();
    own.sort();
    assert_eq!(perf, own, "{what}: perf left, readperf right");
    own.len()
}

fn perf_says(file: &Path) -> Option<String> {
    let output = Command::new("perf").args(["stat", "report", "-i"]).arg(file).output().ok()?;
    // Old ones write the table to standard error.
    let text = [output.stdout, output.stderr].concat();
    Some(String::from_utf8_lossy(&text).into_owned())
        .filter(|text| text.contains("stats for") || text.contains("time"))
}

/// What `perf stat report` of perf 6.1.187 says of the fixture, its first two intervals and its last.
const FIXTURE: [[&str; 4]; 9] = [
    ["0.051610037", "97.79", "msec", "cpu-clock"],
    ["0.051610037", "58", "", "page-faults"],
    ["0.051610037", "26", "", "context-switches"],
    ["0.101880338", "75.18", "msec", "cpu-clock"],
    ["0.101880338", "3", "", "page-faults"],
    ["0.101880338", "15", "", "context-switches"],
    ["0.152127816", "50.18", "msec", "cpu-clock"],
    ["0.152127816", "36", "", "page-faults"],
    ["0.152127816", "2", "", "context-switches"],
];

#[test]
#[ignore = "live: compares with perf"]
fn intervals_of_the_fixture() {
    let own = mine(&fixture("stat"), &[], true);
    let first: Vec<[&str; 4]> =
        own.iter().take(9).map(|r| [&*r.time, &*r.value, &*r.unit, &*r.event]).collect();
    assert_eq!(first, FIXTURE);
    match perf_says(&fixture("stat")) {
        Some(said) => assert!(check("fixture", &fixture("stat"), &said) >= 15),
        None => skip("intervals_of_the_fixture", "no perf"),
    }
}

#[test]
fn other_machines_tables() {
    let corpus = oracle::corpus_root();
    if !corpus.is_dir() {
        return skip("other_machines_tables", "no corpus; set READPERF_CORPUS");
    }
    let mut compared = 0;
    for folder in ["own-aarch64", "own-armhf", "own-s390x"] {
        for entry in std::fs::read_dir(corpus.join(folder)).into_iter().flatten().flatten() {
            let Some(stem) = entry
                .file_name()
                .to_str()
                .and_then(|n| n.strip_suffix(".stat-report.txt"))
                .map(str::to_owned)
            else {
                continue;
            };
            let said = std::fs::read_to_string(entry.path()).unwrap();
            let file = corpus.join(folder).join(format!("{stem}.data"));
            assert!(check(&format!("{folder}/{stem}"), &file, &said) >= 4);
            compared += 1;
        }
    }
    assert!(compared >= 4, "{compared} tables");
}

/// `perf stat record` with these arguments; nothing where perf cannot do that here.
fn record(arguments: &[&str], command: &[&str], folder: &Path) -> Option<PathBuf> {
    let file = folder.join("perf.data");
    let mut perf = Command::new("perf");
    perf.args(["stat", "record", "-o"]).arg(&file).args(arguments).arg("--").args(command);
    perf.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?;
    file.metadata().is_ok_and(|data| data.len() > 500).then_some(file)
}

#[test]
#[ignore = "live: compares with perf"]
fn fresh_recordings() {
    let events = "task-clock,page-faults,context-switches,cpu-migrations";
    let clock = "cpu-clock,page-faults,context-switches";
    let own_pid = std::process::id().to_string();
    let wanted: [(&[&str], &[&str]); 8] = [
        (&["-e", events], &["true"]),
        (&["-e", events, "-I", "10"], &["sleep", "0.05"]),
        (&["-e", clock, "-a", "-A"], &["sleep", "0.05"]),
        (&["-e", clock, "-a"], &["sleep", "0.05"]),
        (&["-e", clock, "-a", "-A", "-I", "20"], &["sleep", "0.05"]),
        (&["-e", clock, "--per-thread", "-p", &own_pid], &["sleep", "0.05"]),
        (&["-e", "task-clock:u,page-faults:u,minor-faults:k"], &["true"]),
        (&["-e", "sched:sched_switch,task-clock"], &["true"]),
    ];
    for (arguments, command) in wanted {
        let folder = scratch();
        let Some(file) = record(arguments, command, folder.path()) else {
            skip("fresh_recordings", &format!("perf stat record {arguments:?} does not work here"));
            continue;
        };
        let Some(said) = perf_says(&file) else {
            // Without tracing data, which perf stat does not write, perf refuses its own tracepoints.
            assert!(arguments[1].contains("sched:"), "perf reads what it has just written, {arguments:?}");
            let events: Vec<String> = mine(&file, &[], false).into_iter().map(|row| row.event).collect();
            assert_eq!(events, arguments[1].split(',').collect::<Vec<_>>());
            continue;
        };
        assert!(check(&format!("{arguments:?}"), &file, &said) >= 2);
    }
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

/// Offset and size of the data section of a little-endian file.
fn data(file: &[u8]) -> (usize, usize) {
    (usize::try_from(u64_at(file, 40)).unwrap(), usize::try_from(u64_at(file, 48)).unwrap())
}

/// A copy of a recording whose STAT records went through `change(event number, value, enabled, running)`.
fn changed(file: &Path, folder: &Path, change: impl Fn(usize, &mut [u64; 3])) -> PathBuf {
    let mut bytes = std::fs::read(file).unwrap();
    let (start, size) = data(&bytes);
    let (mut at, mut number) = (start, 0);
    while at < start + size {
        if bytes[at] == 76 {
            let mut values = [24, 32, 40].map(|field| u64_at(&bytes, at + field));
            change(number, &mut values);
            number += 1;
            for (field, value) in [24, 32, 40].into_iter().zip(values) {
                bytes[at + field..at + field + 8].copy_from_slice(&value.to_le_bytes());
            }
        }
        at += usize::from(u16::from_le_bytes([bytes[at + 6], bytes[at + 7]]));
    }
    assert!(number > 0, "no counts in {}", file.display());
    let changed = folder.join("changed.data");
    std::fs::write(&changed, bytes).unwrap();
    changed
}

/// Events that took turns: what they would have counted, and which part of the time they did; and one never counted.
#[test]
#[ignore = "live: compares with perf"]
fn values_of_events_that_took_turns() {
    let folder = scratch();
    let arguments = ["-e", "page-faults,context-switches,minor-faults,dummy"];
    let Some(file) = record(&arguments, &["true"], folder.path()) else {
        return skip("values_of_events_that_took_turns", "perf stat record does not work here");
    };
    let values = [[1000, 900, 300], [7, 1_000_000, 333_333], [123_456_789_012, 1 << 40, 1 << 39], [5, 77, 0]];
    let file = changed(&file, folder.path(), |number, reading| *reading = values[number]);
    let own: Vec<[String; 3]> =
        mine(&file, &[], false).into_iter().map(|r| [r.event, r.value, r.part]).collect();
    // 1000 * 900 / 300; 7 * 1000000 / 333333 without its fraction; twice the third.
    let expected = [
        ["page-faults", "3000", "33.33%"],
        ["context-switches", "21", "33.33%"],
        ["minor-faults", "246913578024", "50.00%"],
        ["dummy", "<not-counted>", "0.00%"],
    ];
    assert_eq!(own, expected);
    check("changed values", &file, &perf_says(&file).expect("perf reads its own recording"));
    let value = tool::json("stat", &file);
    let rows = value["rounds"][0]["rows"].as_array().unwrap();
    assert_eq!(rows[0]["raw_count"], 1000);
    assert_eq!(rows[0]["count"], 3000);
    assert_eq!(rows[3]["count"], Value::Null);
    assert_eq!(rows[3]["value"], Value::Null);
}

#[test]
fn json_and_csv_say_what_the_table_says() {
    let file = fixture("stat");
    let table = mine(&file, &[], true);
    let value = tool::json("stat", &file);
    assert_eq!(value["interval_ms"], 50);
    assert_eq!(value["by"], "total");
    let rounds = value["rounds"].as_array().unwrap();
    let from_json: Vec<&Value> = rounds.iter().flat_map(|round| round["rows"].as_array().unwrap()).collect();
    let csv = tool::answer(&[OsStr::new("stat"), OsStr::new("--csv"), file.as_os_str()]);
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let titles: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let cell = |record: &csv::StringRecord, title: &str| {
        record[titles.iter().position(|t| t == title).expect("a column")].to_owned()
    };
    let from_csv: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert!(table.len() >= 15);
    assert_eq!((table.len(), table.len()), (from_json.len(), from_csv.len()));
    for ((row, json), csv) in table.iter().zip(from_json).zip(&from_csv) {
        assert_eq!(json["event"], *row.event);
        assert_eq!(cell(csv, "event"), row.event);
        assert_eq!(cell(csv, "unit"), row.unit);
        if row.value != "<not-counted>" {
            let shown: f64 = row.value.parse().unwrap();
            assert!((json["value"].as_f64().unwrap() - shown).abs() <= 0.0051, "{row:?} {json}");
            assert!((cell(csv, "value").parse::<f64>().unwrap() - shown).abs() <= 0.0051);
        }
    }
}

/// The intervals add up to what the counters had at the end: the last values as they stand in the file.
#[test]
fn the_sum_of_the_intervals_is_the_last_value() {
    let file = fixture("stat");
    let dump = tool::answer(&[OsStr::new("dump"), OsStr::new("--json"), file.as_os_str()]);
    let records: Vec<Value> = dump.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let stats: Vec<&Value> = records.iter().filter(|record| record["type"] == "STAT").collect();
    let output =
        tool::answer(&[OsStr::new("stat"), OsStr::new("--sum"), OsStr::new("--json"), file.as_os_str()]);
    let value: Value = serde_json::from_str(&output).unwrap();
    let rows = value["rounds"][0]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    for (nr, row) in rows.iter().enumerate() {
        let last: u64 = stats[stats.len() - 3 + nr]["val"].as_u64().unwrap();
        assert_eq!(row["raw_count"].as_u64(), Some(last), "{row}");
    }
    // `readperf stats` says the same beside its numbers of records, and nothing of the kind for other recordings.
    assert_eq!(tool::json("stats", &file)["counts"], value["rounds"][0]["rows"]);
    assert!(tool::json("stats", &fixture("main")).get("counts").is_none());
}

#[test]
fn other_recordings_are_refused_in_a_sentence() {
    for name in ["main", "pipe", "tracepoints"] {
        let output = tool::run(&[OsStr::new("stat"), fixture(name).as_os_str()]);
        assert_eq!(output.status.code(), Some(1), "{name}");
        assert!(output.stdout.is_empty());
        let said = tool::stderr(&output);
        assert!(said.contains("not a recording of perf stat") && said.contains("perf stat record"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn a_cut_recording_gives_what_is_there() {
    let folder = scratch();
    let bytes = std::fs::read(fixture("stat")).unwrap();
    let (data_at, data_size) = data(&bytes);
    let file = tool::cut(&fixture("stat"), data_at + data_size / 2, folder.path());
    let output = tool::run(&[OsStr::new("stat"), file.as_os_str()]);
    assert_eq!(output.status.code(), Some(3), "{}", tool::stderr(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("cpu-clock") && text.contains("97.79"), "{text}");
}

/// Whatever the bytes, there is an answer and no panic; and most damage leaves most of the counts.
#[test]
fn damaged_bytes_do_no_harm() {
    let whole = std::fs::read(fixture("stat")).unwrap();
    let (data_at, _) = data(&whole);
    let mut answered = 0;
    for at in data_at..whole.len().min(data_at + 1500) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0xff;
        let Ok(recording) = Recording::from_bytes(Bytes::new(bytes)) else { continue };
        let mut counters = Counters::new();
        let mut batches = recording.batches(Ordering::File).unwrap();
        for batch in batches.by_ref() {
            batch.iter().for_each(|event| counters.add(&event));
        }
        counters.finish();
        for mode in [Mode::Total, Mode::Cpu, Mode::Thread] {
            for round in &counters.rounds {
                answered += counters.rows(round, mode, &batches.metadata().schema).len();
            }
        }
    }
    assert!(answered > 1000 * 3 * 15, "{answered} rows");
}

/// A count of an event that the recording does not have is told by every command, and with exit status 3.
#[test]
fn counts_of_unknown_events_are_told_by_every_command() {
    let folder = scratch();
    let mut bytes = std::fs::read(fixture("stat")).unwrap();
    let (data_at, data_size) = data(&bytes);
    let (mut at, end) = (data_at, data_at + data_size);
    // The first STAT record (76): its event id lies behind the head.
    while bytes[at] != 76 {
        at += usize::from(u16::from_le_bytes(bytes[at + 6..at + 8].try_into().unwrap()));
        assert!(at < end);
    }
    bytes[at + 8..at + 16].copy_from_slice(&u64::MAX.to_le_bytes());
    let file = folder.path().join("perf.data");
    std::fs::write(&file, bytes).unwrap();
    for command in [&["stats"][..], &["stat"], &["dump"], &["check"], &["--no-csv"], &["report"]] {
        let output = tool::run(&[command, &[file.to_str().unwrap()]].concat());
        let said = tool::stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{command:?}: {said}");
        assert!(
            said.contains("event id belongs to no event") || command[0] == "check",
            "{command:?}: {said}"
        );
    }
}
