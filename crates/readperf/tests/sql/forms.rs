//! How is asked, and in which forms answers come.

use crate::oracle::{fixture, scratch, tool};
use crate::{asked, rows, text, wrong};
use serde_json::Value;
use std::ffi::OsStr;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

#[test]
fn a_query_that_names_no_table_needs_no_recording() {
    let dir = scratch();
    let output =
        tool::command().current_dir(&dir).args(["sql", "SELECT 1 AS one, 'a' AS b"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "one  b\n---  -\n  1  a\n");
    assert_eq!(output.status.code(), Some(0));
    let output =
        tool::command().current_dir(&dir).args(["sql", "SELECT count(*) FROM samples"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(tool::stderr(&output).contains("perf.data: No such file"), "{}", tool::stderr(&output));
}

#[test]
fn answers_are_the_same_each_time() {
    let places = ["multi", "dwarf", "everything"].map(fixture);
    let places = places.each_ref().map(|place| place.as_path());
    for query in [
        "SELECT function, count(*) FROM samples GROUP BY 1",
        "SELECT tid, count(*) AS n FROM samples GROUP BY 1 ORDER BY n LIMIT 5",
        "SELECT time_ns, tid, function FROM samples",
        "SELECT * FROM samples LIMIT 20",
        "SELECT DISTINCT stack_id FROM samples LIMIT 3",
        "SELECT * FROM functions ORDER BY total_period",
    ] {
        let first = text(query, &places, &["--format", "csv"]);
        assert!(first.lines().count() > 3, "{first}");
        for threads in ["1", "2", "7"] {
            assert_eq!(text(query, &places, &["--format", "csv", "--threads", threads]), first, "{query}");
        }
    }
}

#[test]
fn every_table_and_view_can_be_asked_and_says_what_it_means() {
    let file = fixture("everything");
    let tables = rows("SHOW TABLES", &[&file]);
    assert!(tables.len() > 20);
    for table in tables {
        let name = table["table"].as_str().unwrap();
        assert!(table["meaning"].as_str().unwrap().len() > 10, "{name}");
        let columns = rows(&format!("DESCRIBE {name}"), &[&file]);
        for column in &columns {
            assert!(
                column["meaning"].as_str().is_some_and(|meaning| meaning.ends_with('.')),
                "{name}: {column}"
            );
        }
        let all = rows(&format!("SELECT * FROM {name}"), &[&file]);
        for row in all.iter().take(1) {
            assert_eq!(row.as_object().unwrap().len(), columns.len(), "{name}");
        }
    }
}

#[test]
fn what_is_wrong_with_a_query_is_said_with_its_place() {
    let file = fixture("main");
    let said = wrong("SELECT functio FROM samples", &[&file]);
    assert!(said.contains("functio") && said.contains("function"), "{said}");
    assert!(said.contains("  SELECT functio FROM samples\n") && said.contains("         ^"), "{said}");
    let said = wrong("SELECT 1 FROM sampels", &[&file]);
    assert!(said.contains("there is no table `sampels`; did you mean `samples`?"), "{said}");
    let said = wrong("SELECT sum(period FROM samples", &[&file]);
    assert!(said.contains('^'), "{said}");
    for (change, why) in [
        ("DROP TABLE samples", "stays as it is"),
        ("CREATE OR REPLACE VIEW functions AS SELECT 1", "stays as it is"),
        ("DELETE FROM samples", "not supported"),
        ("COPY samples TO 'x.csv'", "not supported"),
        ("CREATE SCHEMA other", "not supported"),
    ] {
        let said = wrong(change, &[&file]);
        assert!(said.contains(why), "{said}");
    }
    let said = wrong("SELECT * FROM samples", &[Path::new("not-there.data")]);
    assert_eq!(said, "readperf: error: not-there.data: No such file or directory (os error 2)\n");
    assert_eq!(tool::run(&["sql", "--memory", "x", "SELECT 1"]).status.code(), Some(2));
}

#[test]
fn forms_of_an_answer() {
    let file = fixture("main");
    let dir = scratch();
    let query = "SELECT event, tid, sum(period) AS period FROM samples GROUP BY 1, 2";
    let csv = text(query, &[&file], &["--format", "csv"]);
    assert!(csv.starts_with("event,tid,period\ncpu-clock:u,"), "{csv}");
    let json = &rows(query, &[&file])[0];
    assert_eq!(csv.lines().nth(1).unwrap(), format!("cpu-clock:u,{},{}", json["tid"], json["period"]));
    for ending in ["csv", "json", "parquet"] {
        let out = dir.path().join(format!("out.{ending}"));
        assert_eq!(text(query, &[&file], &["-o", out.to_str().unwrap()]), "");
        let bytes = std::fs::read(&out).unwrap();
        match ending {
            "csv" => assert_eq!(bytes, csv.as_bytes()),
            "json" => assert_eq!(&serde_json::from_slice::<Vec<Value>>(&bytes).unwrap()[0], json),
            _ => assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1")),
        }
    }
    // Nothing is nothing in every form.
    let none = "SELECT tid FROM samples WHERE tid < 0";
    assert_eq!(text(none, &[&file], &[]), "tid\n---\n");
    assert_eq!(text(none, &[&file], &["--format", "csv"]), "tid\n");
    assert_eq!(rows(none, &[&file]), Vec::<Value>::new());
    // Two columns of one name.
    assert_eq!(
        text("SELECT 1 AS a, 2 AS b UNION ALL SELECT 3, 4", &[&file], &["--format", "csv"]),
        "a,b\n1,2\n3,4\n"
    );
    let twice = rows("SELECT a.tid, b.tid FROM threads a JOIN threads b USING (thread_id) LIMIT 1", &[&file]);
    assert_eq!(twice[0].as_object().unwrap().len(), 2, "{}", twice[0]);
    // The recording is not written over.
    let copy = dir.path().join("perf.data");
    std::fs::copy(&file, &copy).unwrap();
    assert!(
        tool::stderr(&asked(query, &[&copy], &["-o", copy.to_str().unwrap()]))
            .contains("would be overwritten")
    );
}

#[test]
fn queries_come_from_files_and_standard_input() {
    let dir = scratch();
    let (file, queries) = (fixture("main"), dir.path().join("q.sql"));
    std::fs::write(&queries, "-- Two queries.\nCREATE VIEW hot AS SELECT count(*) AS n FROM samples;\nSELECT n FROM hot; SELECT 2 AS two;").unwrap();
    let words = ["sql", "--format", "csv", "--file"].map(OsStr::new);
    let output = tool::run(&[&words[..], &[queries.as_os_str(), file.as_os_str()]].concat());
    assert_eq!(String::from_utf8_lossy(&output.stdout), "n\n574\n\ntwo\n2\n", "{}", tool::stderr(&output));
    let mut command = tool::command();
    let stdin = std::fs::File::open(&queries).unwrap();
    let piped = command.args(["sql", "--format", "csv"]).arg(&file).stdin(stdin).output().unwrap();
    assert_eq!(piped.stdout, output.stdout);
}

#[test]
fn a_recording_arrives_on_standard_input() {
    // Names are not asked for: of a file they may be in binaries beside it.
    let query =
        "SELECT event, tid, count(*), sum(period) FROM samples GROUP BY 1, 2; SELECT source FROM profiles";
    for name in ["main", "pipe"] {
        let file = fixture(name);
        let read = text(query, &[&file], &["--format", "csv"])
            .replace(&file.display().to_string(), "standard input");
        let words = ["sql", "--no-progress", "--format", "csv", query, "-"];
        let mapped = tool::command().args(words).stdin(std::fs::File::open(&file).unwrap()).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&mapped.stdout), read, "{}", tool::stderr(&mapped));
        let mut command = tool::command();
        let mut child = command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(&std::fs::read(&file).unwrap()).unwrap();
        assert_eq!(String::from_utf8_lossy(&child.wait_with_output().unwrap().stdout), read, "{name}");
    }
    let nothing = tool::command().args(["sql", query, "-"]).stdin(Stdio::null()).output().unwrap();
    assert_eq!(nothing.status.code(), Some(1));
    assert!(tool::stderr(&nothing).contains("standard input: "), "{}", tool::stderr(&nothing));
    // Queries cannot come the same way.
    for words in [&["sql", "-"][..], &["sql", "--file", "-", "-"]] {
        let output = tool::command().args(words).stdin(Stdio::null()).output().unwrap();
        assert!(
            tool::stderr(&output).contains("standard input is the recording"),
            "{}",
            tool::stderr(&output)
        );
    }
}

#[test]
fn addresses_are_refused_where_they_have_no_place() {
    let address = "s3://KEY:SECRET@bucket/x.data";
    let said = wrong("SELECT 1", &[Path::new(address)]);
    assert!(said.contains("s3://BUCKET/KEY") && !said.contains("SECRET"), "{said}");
    let report = tool::run(&["report", "s3://bucket/x.data"]);
    assert!(tool::stderr(&report).contains("only readperf sql reads"), "{}", tool::stderr(&report));
    let out = tool::run(&["export", "--format", "parquet", "-o", "s3://bucket/x", "main.data"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(tool::stderr(&out).contains("nothing is written to object stores"), "{}", tool::stderr(&out));
}

/// What executors are told when they are started has no effect on a question to them.
#[test]
fn options_of_executors_are_refused_of_who_asks() {
    for option in [
        "--no-cache",
        "--debuginfod",
        "--guestmount=x",
        "--guestvmlinux=x",
        "--guestkallsyms=x",
        "--memory=1G",
        "--symfs=x",
    ] {
        let output = tool::run(&["sql", "--cluster", "df://127.0.0.1:1", option, "SELECT 1"]);
        assert_eq!(output.status.code(), Some(2), "{option}: {}", tool::stderr(&output));
    }
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    for format in ["table", "csv", "json", "parquet"] {
        let mut command = tool::command();
        let query = "SELECT a.*, b.sample_no FROM samples a CROSS JOIN samples b LIMIT 100000";
        command.args(["sql", "--format", format, query]).arg(fixture("main"));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(tool::stderr(&output), "", "{format}");
        assert_eq!(output.status.code(), Some(0), "{format}");
    }
}

#[test]
fn little_memory_is_enough_with_a_disk() {
    let file = fixture("multi");
    let query = "SELECT a.time_ns, b.time_ns AS other, a.function FROM samples a CROSS JOIN samples b ORDER BY 1, 2, 3";
    let options = |memory| ["--format", "csv", "--memory", memory, "--threads", "1"];
    assert_eq!(text(query, &[&file], &options("12M")), text(query, &[&file], &options("4G")));
}
