//! Runs of the binary under test.

use super::names;
use super::stats::Stats;
use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The binary, with nothing in the environment that could change its answer.
pub(crate) fn command() -> Command {
    clean(Command::new(env!("CARGO_BIN_EXE_readperf")))
}

/// The same, started by another program: its arguments come before those of the binary.
#[allow(dead_code, reason = "not every suite needs it")]
pub(crate) fn under(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).arg(env!("CARGO_BIN_EXE_readperf"));
    clean(command)
}

fn clean(mut command: Command) -> Command {
    // What earlier runs and the user's perf kept must not change the answer either: binaries lie in `~/.debug`.
    let own = Path::new(env!("CARGO_TARGET_TMPDIR"));
    command.env("XDG_CACHE_HOME", own.join("cache")).env("HOME", own.join("home"));
    // Nothing that the user has agreed to holds here.
    command.env("XDG_CONFIG_HOME", own.join("config"));
    for name in [
        "PERF_BUILDID_DIR",
        "DEBUGINFOD_URLS",
        "CLICOLOR_FORCE",
        "CLICOLOR",
        "NO_COLOR",
        "PAGER",
        "READPERF_PAGER",
    ] {
        command.env_remove(name);
    }
    command
}

pub(crate) fn run<S: AsRef<OsStr>>(arguments: &[S]) -> Output {
    command().args(arguments).output().expect("readperf starts")
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Standard output of a run that must give a full answer.
pub(crate) fn answer<S: AsRef<OsStr> + std::fmt::Debug>(arguments: &[S]) -> String {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(0), "readperf {arguments:?}: {}", stderr(&output));
    String::from_utf8(output.stdout).expect("UTF-8 on standard output")
}

/// `readperf COMMAND --json FILE`.
pub(crate) fn json(subcommand: &str, file: &Path) -> Value {
    let text = answer(&[OsStr::new(subcommand), OsStr::new("--json"), file.as_os_str()]);
    let value: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(value["schema"], 1, "{subcommand} --json states its schema");
    value
}

pub(crate) fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("a whole number, not {value}"))
}

/// `stats --json` in the form of perf's statistics: events without samples left out.
pub(crate) fn stats(value: &Value) -> Stats {
    let records = value["records"].as_array().expect("records");
    let events = value["events"].as_array().expect("events");
    let text = |v: &Value| v.as_str().expect("a name").to_owned();
    Stats {
        records: records.iter().map(|r| (text(&r["type"]), number(&r["count"]))).collect(),
        events: events
            .iter()
            .map(|e| (text(&e["name"]), number(&e["samples"])))
            .filter(|e| e.1 > 0)
            .collect(),
    }
}

/// A row of results.csv or of `report --json`, with names made comparable. `comm` is empty in results.csv.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) event: String,
    pub(crate) period: u64,
    pub(crate) samples: u64,
    pub(crate) comm: String,
    pub(crate) dso: String,
    pub(crate) symbol: String,
}

/// The rows of `report --json` with the default sort keys comm, dso, symbol.
pub(crate) fn report(file: &Path) -> Vec<Row> {
    let value = json("report", file);
    let mut rows = Vec::new();
    for event in value["events"].as_array().expect("events") {
        for row in event["rows"].as_array().expect("rows") {
            let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
            rows.push(Row {
                event: event["name"].as_str().expect("a name").to_owned(),
                period: number(&row["self_period"]),
                samples: number(&row["samples"]),
                comm: text("comm"),
                dso: names::dso(&text("dso")),
                symbol: names::symbol(&text("symbol")),
            });
        }
    }
    // A row that only calls others has no period of its own; perf's table without children does not have it.
    rows.retain(|r| r.period > 0);
    rows
}

/// The four tables of `readperf FILE --csv-dir DIR`, written to `dir`; returns what went to standard output.
pub(crate) fn write_tables(file: &Path, dir: &Path) -> String {
    answer(&[file.as_os_str(), OsStr::new("--csv-dir"), dir.as_os_str()])
}

/// A table as header and rows, read by the rules of RFC 4180.
pub(crate) fn table(path: &Path) -> (Vec<String>, Vec<Vec<String>>) {
    let mut reader = csv::ReaderBuilder::new().flexible(false).from_path(path).expect("a table");
    let cells = |record: &csv::StringRecord| record.iter().map(str::to_owned).collect::<Vec<_>>();
    let header = cells(reader.headers().expect("a header"));
    let rows = reader.records().map(|r| cells(&r.expect("rows as wide as the header"))).collect();
    (header, rows)
}

/// The rows of results.csv.
pub(crate) fn results(dir: &Path) -> Vec<Row> {
    let (_, rows) = table(&dir.join("results.csv"));
    let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("a whole number, not {text:?}"));
    rows.iter()
        .map(|r| Row {
            event: r[0].clone(),
            period: number(&r[1]),
            samples: number(&r[2]),
            comm: String::new(),
            dso: names::dso(&r[6]),
            symbol: names::symbol(&r[4]),
        })
        .collect()
}

/// A copy of `file`'s first `length` bytes in `dir`.
pub(crate) fn cut(file: &Path, length: usize, dir: &Path) -> PathBuf {
    let content = std::fs::read(file).expect("a fixture");
    let path = dir.join(format!("cut-{length}.data"));
    std::fs::write(&path, &content[..length]).expect("a cut file");
    path
}
