//! `readperf export --format parquet`: recordings as a folder of tables, as a user asks for it; and the sums that follow from the tables are those
//! of `report --json`.

#![cfg(feature = "tables")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::expect_used)]

mod oracle;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use oracle::{fixture, scratch, tool};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Output;

/// Runs the export; nothing of this machine's binaries is looked at.
fn export(arguments: &[&str], output: &Path, files: &[PathBuf]) -> Output {
    let mut command = tool::command();
    command.args([
        "export",
        "--format",
        "parquet",
        "--symfs",
        "/nonexistent",
        "--kallsyms",
        "/dev/null",
        "-o",
    ]);
    command.arg(output).args(arguments).args(files).output().unwrap()
}

fn status(output: &Output) -> Option<i32> {
    output.status.code()
}

/// The rows of all parts of a table.
fn table(folder: &Path, name: &str) -> Vec<RecordBatch> {
    let mut folders = vec![folder.join(name)];
    let mut rows = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.file_name().unwrap().to_str().unwrap();
            assert!(name.starts_with("part-") && name.ends_with(".parquet"), "{name}");
            let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(&path).unwrap()).unwrap();
            rows.extend(reader.build().unwrap().map(Result::unwrap));
        }
    }
    rows
}

fn count(folder: &Path, name: &str) -> usize {
    table(folder, name).iter().map(RecordBatch::num_rows).sum()
}

fn numbers(batch: &RecordBatch, column: &str) -> Vec<Option<i64>> {
    batch.column_by_name(column).unwrap().as_primitive::<Int64Type>().iter().collect()
}

fn words(batch: &RecordBatch, column: &str) -> Vec<Option<String>> {
    let column = batch.column_by_name(column).unwrap().as_dictionary::<Int32Type>();
    let text = column.values().as_string::<i32>();
    column
        .keys()
        .iter()
        .map(|key| key.map(|key| text.value(usize::try_from(key).unwrap()).to_owned()))
        .collect()
}

#[test]
fn several_recordings_go_into_one_folder() {
    let dir = scratch();
    let out = dir.path().join("out");
    let output = export(&[], &out, &[fixture("main"), fixture("multi")]);
    assert_eq!((status(&output), tool::stderr(&output).as_str()), (Some(0), ""));
    assert_eq!(count(&out, "profiles"), 2);
    let samples = count(&out, "samples");
    // Once more, with a third one.
    let output = export(&[], &out, &[fixture("main"), fixture("threads"), fixture("multi")]);
    assert_eq!(status(&output), Some(0));
    assert!(
        tool::stderr(&output).contains("added: 1; there already, and left as before: 2"),
        "{}",
        tool::stderr(&output)
    );
    assert_eq!(count(&out, "profiles"), 3);
    assert!(count(&out, "samples") > samples);
    let output = export(&["--replace"], &out, &[fixture("main")]);
    assert_eq!((status(&output), tool::stderr(&output).as_str()), (Some(0), ""));
    assert_eq!(count(&out, "profiles"), 3);
}

#[test]
fn labels_and_days_are_folders() {
    let dir = scratch();
    let output = export(&["--label", "service=web", "--date=2026-11-23"], dir.path(), &[fixture("main")]);
    assert_eq!(status(&output), Some(0), "{}", tool::stderr(&output));
    assert!(dir.path().join("samples/date=2026-11-23/service=web").is_dir());
    let labels = table(dir.path(), "profiles")[0].column_by_name("labels").unwrap().as_map().clone();
    assert_eq!(labels.keys().as_string::<i32>().value(0), "service");
    let other = export(&["--label", "service=db"], dir.path(), &[fixture("multi")]);
    assert_eq!(status(&other), Some(1));
    assert!(tool::stderr(&other).contains("divided by date, service"), "{}", tool::stderr(&other));
    let undated = export(&["--date", "--label", "service=db"], dir.path(), &[fixture("multi")]);
    assert_eq!(status(&undated), Some(0), "{}", tool::stderr(&undated));
    assert!(dir.path().join("samples/date=unknown/service=db").is_dir());
}

#[test]
fn wrong_usage_is_said() {
    let dir = scratch();
    let out = dir.path().join("out");
    let one = [fixture("main")];
    for (arguments, told) in [
        (&["--label", "service"][..], "expected KEY=VALUE"),
        (&["--label", "comm=x"], "comm is a column of the tables"),
        (&["--label", "Service=x"], "small letters"),
        (&["--label", "a=x", "--label", "a=y"], "given twice"),
        (&["--date=yesterday"], "expected a day, as 2026-11-23"),
        (&["--base", "other.data"], "shows no differences"),
    ] {
        let output = export(arguments, &out, &one);
        assert_eq!(status(&output), Some(2), "{arguments:?}");
        assert!(tool::stderr(&output).contains(told), "{arguments:?}: {}", tool::stderr(&output));
    }
    let output = tool::command().args(["export", "-f", "parquet"]).arg(&one[0]).output().unwrap();
    assert_eq!(status(&output), Some(2));
    assert!(tool::stderr(&output).contains("-o DIR says which"));
    let output = tool::command().args(["export", "-f", "folded"]).args([&one[0], &one[0]]).output().unwrap();
    assert_eq!(status(&output), Some(2));
    assert!(tool::stderr(&output).contains("folded has no place for more than one recording"));
    let output = export(&["--title", "x"], &out, &one);
    assert!(status(&output) == Some(0) && tool::stderr(&output).contains("parquet has no place for --title"));
    assert!(!dir.path().join("other.data").exists());
}

#[test]
fn a_damaged_recording_among_others_is_there_and_says_so() {
    let dir = scratch();
    let out = dir.path().join("out");
    let output = export(&[], &out, &[fixture("main"), fixture("cut"), fixture("multi")]);
    assert_eq!(status(&output), Some(3));
    assert!(tool::stderr(&output).contains("the file is cut"));
    let mut damaged = 0;
    for batch in table(&out, "profiles") {
        let is_damaged = batch.column_by_name("damaged").unwrap().as_boolean().value(0);
        let issues = batch.column_by_name("issues").unwrap().as_list::<i32>().value(0);
        assert!(!is_damaged || issues.as_string::<i32>().value(0).starts_with("cut_data: the file is cut"));
        assert!(numbers(&batch, "samples")[0].unwrap() > 0);
        damaged += usize::from(is_damaged);
    }
    assert_eq!((damaged, count(&out, "profiles")), (1, 3));

    let strict = dir.path().join("strict");
    let output = export(&["--strict"], &strict, &[fixture("main"), fixture("cut")]);
    assert_eq!((status(&output), count(&strict, "profiles")), (Some(1), 1));
}

#[test]
fn what_is_no_recording_keeps_no_other_from_being_there() {
    let dir = scratch();
    let (out, text) = (dir.path().join("out"), dir.path().join("text"));
    fs::write(&text, "no recording").unwrap();
    let output = export(&[], &out, &[fixture("main"), text, dir.path().join("missing"), fixture("multi")]);
    assert_eq!(status(&output), Some(1));
    let told = tool::stderr(&output);
    assert!(told.contains("text: not a perf.data recording") && told.contains("missing"), "{told}");
    assert_eq!(count(&out, "profiles"), 2);
    let output = export(&[], &out, &["-".into()]);
    assert!(status(&output) == Some(1) && tool::stderr(&output).contains("files and directories"));
}

/// Own and total periods by event, thread name, binary and function.
type Sums = BTreeMap<(String, String, String, String), (u64, u64)>;

/// What `report --json` says.
fn reported(file: &Path) -> Sums {
    let arguments = ["report", "--children", "--json", "--symfs", "/nonexistent", "--kallsyms", "/dev/null"];
    let output = tool::command().args(arguments).arg(file).output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut sums = Sums::new();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    for event in report["events"].as_array().unwrap() {
        for row in event["rows"].as_array().unwrap() {
            let key = (text(&event["name"]), text(&row["comm"]), text(&row["dso"]), text(&row["symbol"]));
            let sum = sums.entry(key).or_default();
            sum.0 += tool::number(&row["self_period"]);
            sum.1 += tool::number(&row["total_period"]);
        }
    }
    sums
}

/// The same from the tables.
fn from_tables(folder: &Path) -> Sums {
    // What a function is called, by id.
    let mut called: HashMap<i64, (String, String)> = HashMap::new();
    for batch in table(folder, "symbols") {
        let names = words(&batch, "function").into_iter().zip(numbers(&batch, "address"));
        let ids = numbers(&batch, "function_id").into_iter().zip(words(&batch, "dso"));
        for ((id, dso), (name, address)) in ids.zip(names) {
            let name = name.unwrap_or_else(|| format!("{:#018x}", address.unwrap()));
            called.insert(id.unwrap(), (dso.unwrap_or_else(|| "[unknown]".to_owned()), name));
        }
    }
    let mut levels: HashMap<i64, Vec<(i64, bool)>> = HashMap::new();
    for batch in table(folder, "frame_levels") {
        let inlined = batch.column_by_name("inlined").unwrap().as_boolean().clone();
        let ids = numbers(&batch, "frame_id").into_iter().zip(numbers(&batch, "function_id"));
        for (nr, (frame, function)) in ids.enumerate() {
            levels.entry(frame.unwrap()).or_default().push((function.unwrap(), inlined.value(nr)));
        }
    }
    let mut stacks: HashMap<i64, HashSet<(i64, bool)>> = HashMap::new();
    for batch in table(folder, "stacks") {
        let frames = batch.column_by_name("frame_ids").unwrap().as_list::<i32>().clone();
        for (nr, id) in numbers(&batch, "stack_id").into_iter().enumerate() {
            let frames = frames.value(nr);
            let frames = frames.as_primitive::<Int64Type>().values();
            let functions = frames.iter().flat_map(|frame| levels[frame].iter().copied());
            stacks.insert(id.unwrap(), functions.collect());
        }
    }
    let mut sums = Sums::new();
    for batch in table(folder, "samples") {
        let (events, comms) = (words(&batch, "event"), words(&batch, "comm"));
        let (functions, periods) = (numbers(&batch, "function_id"), numbers(&batch, "period"));
        for (nr, stack) in numbers(&batch, "stack_id").into_iter().enumerate() {
            let own = functions[nr].unwrap();
            let period = periods[nr].unwrap().cast_unsigned();
            let key = |(function, inlined): (i64, bool)| {
                let (dso, name) = called[&function].clone();
                let name = if inlined { format!("{name} (inlined)") } else { name };
                (events[nr].clone().unwrap(), comms[nr].clone().unwrap(), dso, name)
            };
            let all: HashSet<_> =
                stacks[&stack.unwrap()].iter().copied().chain([(own, false)]).map(key).collect();
            for key in all {
                sums.entry(key).or_default().1 += period;
            }
            sums.entry(key((own, false))).or_default().0 += period;
        }
    }
    sums
}

#[test]
fn sums_are_those_of_the_report() {
    let mut compared = 0;
    for name in ["main", "multi", "threads", "kernel", "group", "zstd", "pipe", "rust", "dwarf", "everything"]
    {
        let dir = scratch();
        // Two names of a function are told apart by what the binaries say, which lie beside the recordings.
        let output = export(&[], dir.path(), &[fixture(name)]);
        assert_eq!(status(&output), Some(0), "{name}: {}", tool::stderr(&output));
        let (told, expected) = (from_tables(dir.path()), reported(&fixture(name)));
        compared += expected.len();
        assert_eq!(told, expected, "{name}");
    }
    assert!(compared > 200, "{compared}");
}
