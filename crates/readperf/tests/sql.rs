//! `readperf sql`: answers equal those of other commands, whatever way the tables are asked.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test may fail loudly"
)]

mod oracle;

use oracle::terminal::Terminal;
use oracle::{SAMPLED, corpus_root, fixture, kind, scratch, skip, tool};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Output, Stdio};

/// The rows of an answer.
fn rows(query: &str, places: &[&Path]) -> Vec<Value> {
    let output = asked(query, places, &["--format", "json"]);
    assert!(matches!(output.status.code(), Some(0 | 3)), "{query}: {}", tool::stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{query}: {error}"))
}

fn asked(query: &str, places: &[&Path], options: &[&str]) -> Output {
    let words = ["sql", "--no-progress"].iter().chain(options).chain([&query]).map(OsStr::new);
    let words: Vec<&OsStr> = words.chain(places.iter().map(|place| place.as_os_str())).collect();
    tool::run(&words)
}

/// The answer as text.
fn text(query: &str, places: &[&Path], options: &[&str]) -> String {
    let output = asked(query, places, options);
    assert_eq!(output.status.code(), Some(0), "{query}: {}", tool::stderr(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// What is said of a query that is wrong.
fn wrong(query: &str, places: &[&Path]) -> String {
    let output = asked(query, places, &[]);
    assert_eq!(output.status.code(), Some(1), "{query}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{query}");
    tool::stderr(&output)
}

/// Samples, own and whole period by event, binary and function.
type Functions = BTreeMap<(String, String, String), [u64; 3]>;

fn of_report(file: &Path) -> Functions {
    let words = ["report", "--json", "--children", "--sort", "dso,symbol", "--no-progress"].map(OsStr::new);
    let words: Vec<&OsStr> = words.into_iter().chain([file.as_os_str()]).collect();
    let output = tool::run(&words);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut functions = Functions::new();
    for event in report["events"].as_array().unwrap() {
        for row in event["rows"].as_array().unwrap() {
            let name = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
            let key = (event["name"].as_str().unwrap().to_owned(), name("dso"), name("symbol"));
            let sums = functions.entry(key).or_default();
            for (sum, key) in sums.iter_mut().zip(["samples", "self_period", "total_period"]) {
                *sum += tool::number(&row[key]);
            }
        }
    }
    functions
}

fn of_view(file: &Path) -> Functions {
    let query = "SELECT event, coalesce(dso, '[unknown]') AS dso_name, \
                 coalesce(function, '0x' || lpad(substr(hex(address), 3), 16, '0')) || CASE WHEN inlined THEN ' (inlined)' ELSE '' END AS symbol, \
                 sum(self_samples) AS samples, sum(self_period) AS self_period, sum(total_period) AS total_period \
                 FROM functions GROUP BY 1, 2, 3";
    let mut functions = Functions::new();
    for row in rows(query, &[file]) {
        let name = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let sums = ["samples", "self_period", "total_period"].map(|key| tool::number(&row[key]));
        functions.insert((name("event"), name("dso_name"), name("symbol")), sums);
    }
    functions
}

#[test]
fn functions_are_those_of_report() {
    for name in SAMPLED.into_iter().chain(["zstd", "cut", "killed"]) {
        let file = fixture(name);
        assert_eq!(of_view(&file), of_report(&file), "{name}");
    }
}

#[test]
#[ignore = "live: READPERF_CORPUS"]
fn functions_are_those_of_report_in_the_corpus() {
    let root = corpus_root();
    if !root.exists() {
        return skip("functions_are_those_of_report_in_the_corpus", "there is no corpus");
    }
    let mut compared = 0;
    for entry in std::fs::read_dir(root).unwrap() {
        let file = entry.unwrap().path();
        let functions = of_report(&file);
        if !functions.is_empty() {
            assert_eq!(of_view(&file), functions, "{}", file.display());
            compared += 1;
        }
    }
    assert!(compared > 0, "no recording with samples");
}

#[test]
fn a_query_that_names_no_table_needs_no_recording() {
    let dir = scratch();
    let output = tool::command().current_dir(&dir).args(["sql", "SELECT 1 AS one, 'a' AS b"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "one  b\n---  -\n  1  a\n");
    assert_eq!(output.status.code(), Some(0));
    let output = tool::command().current_dir(&dir).args(["sql", "SELECT count(*) FROM samples"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(tool::stderr(&output).contains("perf.data: No such file"), "{}", tool::stderr(&output));
}

#[test]
fn totals_are_those_of_stats() {
    for name in SAMPLED {
        let file = fixture(name);
        let stats = tool::json("stats", &file);
        let told = stats["events"].as_array().unwrap().iter();
        let told: BTreeMap<String, [u64; 2]> = told
            .map(|event| {
                let numbers = ["samples", "period"].map(|key| tool::number(&event[key]));
                (event["name"].as_str().unwrap().to_owned(), numbers)
            })
            .filter(|(_, [samples, _])| *samples > 0)
            .collect();
        for table in ["samples", "thread_totals", "timeline", "lines"] {
            let sums = match table {
                "samples" => "count(*) AS samples, sum(period) AS period",
                _ => "sum(samples) AS samples, sum(period) AS period",
            };
            let found = rows(&format!("SELECT event, {sums} FROM {table} GROUP BY event"), &[&file]);
            let found = found.iter().map(|row| {
                let numbers = ["samples", "period"].map(|key| tool::number(&row[key]));
                (row["event"].as_str().unwrap().to_owned(), numbers)
            });
            assert_eq!(found.collect::<BTreeMap<_, _>>(), told, "{name}: {table}");
        }
    }
}

#[test]
fn what_the_reader_leaves_out_the_query_would_leave_out() {
    let file = fixture("multi");
    let one = |query: &str| rows(query, &[&file]);
    let threads = one("SELECT DISTINCT tid, pid FROM samples");
    assert!(threads.len() > 1);
    for thread in &threads {
        let (tid, pid) = (&thread["tid"], &thread["pid"]);
        // An expression is nothing that the reader knows.
        for (told, hidden) in [
            (format!("tid = {tid}"), format!("tid + 0 = {tid}")),
            (format!("pid = {pid} AND event = 'cpu-clock'"), format!("pid + 0 = {pid} AND event || '' = 'cpu-clock'")),
        ] {
            let query = |condition: &str| {
                format!("SELECT event, count(*) AS n, sum(period) AS p, min(time_ns) AS t FROM samples WHERE {condition} GROUP BY event")
            };
            assert_eq!(one(&query(&told)), one(&query(&hidden)), "{told}");
        }
    }
    let middle = "SELECT count(*) AS n FROM samples WHERE time_ns >= (SELECT avg(time_ns) FROM samples)";
    let time = one("SELECT CAST(avg(time_ns) AS BIGINT) AS t FROM samples")[0]["t"].clone();
    assert_eq!(one(&format!("SELECT count(*) AS n FROM samples WHERE time_ns >= {time}")), one(middle));
    let plan = text(&format!("EXPLAIN SELECT count(*) FROM samples WHERE time_ns >= {time} AND tid = 5"), &[&file], &[]);
    assert!(plan.contains("tids: [5]") && plan.contains("times_ns: ["), "{plan}");
    assert!(plan.contains("columns=[time_ns, tid]"), "{plan}");
    // The same number for a sample, whatever else is asked.
    let query = "SELECT a.sample_no FROM samples a JOIN (SELECT sample_no FROM samples WHERE event = 'cpu-clock') b USING (sample_no) \
                 WHERE a.event <> 'cpu-clock'";
    assert_eq!(one(query), Vec::<Value>::new());
}

#[test]
fn stacks_are_looked_up() {
    let file = fixture("dwarf");
    let bin = kind("bin");
    let symbols = ["--symfs", "/nowhere", "--symbols", bin.to_str().unwrap(), "--format", "json"];
    let rows = |query: &str, places: &[&Path]| -> Vec<Value> { serde_json::from_str(&text(query, places, &symbols)).unwrap() };
    let folded = rows("SELECT folded(stack_id) AS stack, sum(period) AS period FROM samples GROUP BY 1", &[&file]);
    let export = [&["export", "--no-progress", "--format", "folded"], &symbols[..4], &[file.to_str().unwrap()]].concat();
    let export = tool::answer(&export);
    let mut expected: BTreeMap<String, u64> = BTreeMap::new();
    for line in export.lines() {
        let (stack, period) = line.rsplit_once(' ').unwrap();
        // The export begins with the name of the process.
        let (_, stack) = stack.split_once(';').unwrap();
        *expected.entry(stack.to_owned()).or_default() += period.parse::<u64>().unwrap();
    }
    let found = folded.iter().map(|row| (row["stack"].as_str().unwrap().to_owned(), tool::number(&row["period"])));
    assert_eq!(found.collect::<BTreeMap<_, _>>(), expected);

    let pattern = "^main$";
    let with = expected.iter().filter(|(stack, _)| stack.split(';').any(|name| name == "main"));
    let with: u64 = with.map(|(_, period)| period).sum();
    assert!(with > 0);
    let query = format!("SELECT sum(period) AS period FROM samples WHERE contains(stack_id, '{pattern}')");
    assert_eq!(tool::number(&rows(&query, &[&file])[0]["period"]), with);
    let query = format!("SELECT sum(CASE WHEN contains(stack_id, '{pattern}') THEN period ELSE 0 END) AS period FROM samples");
    assert_eq!(tool::number(&rows(&query, &[&file])[0]["period"]), with);
    let both = rows("SELECT contains('abc', 'b') AS yes, hex(255) AS ff, hex(-1) AS all_bits, demangle('_ZN1a1bEv') AS name", &[&file]);
    assert_eq!(both[0].to_string(), r#"{"yes":true,"ff":"0xff","all_bits":"0xffffffffffffffff","name":"a::b()"}"#);
    assert!(wrong("SELECT contains(stack_id, '(') FROM samples", &[&file]).contains("unclosed group"));
}

#[test]
fn recordings_are_asked_together() {
    let [one, two] = ["main", "multi"].map(fixture);
    let count = |query: &str, places: &[&Path]| tool::number(&rows(query, places)[0]["n"]);
    for table in ["samples", "threads", "profiles", "functions"] {
        let query = format!("SELECT count(*) AS n FROM {table}");
        let [first, second] = [&one, &two].map(|file| count(&query, &[file]));
        let both = count(&query, &[&one, &two]);
        assert!(both <= first + second && both >= first.max(second), "{table}: {both} of {first} and {second}");
    }
    // What both have is there once, so that joins count nothing twice.
    let joined = "SELECT count(*) AS n FROM samples s JOIN stacks t USING (stack_id) JOIN frames f ON f.frame_id = t.leaf_frame_id";
    let copy = scratch();
    let third = copy.path().join("other.data");
    std::fs::copy(fixture("rust"), &third).unwrap();
    let places = [one.as_path(), &two, &third];
    assert_eq!(count(joined, &places), count("SELECT count(*) AS n FROM samples", &places));
    for table in ["stacks", "frames", "symbols", "binaries"] {
        let id = format!("{}_id", table.strip_suffix("ies").map_or_else(|| table.trim_end_matches('s').to_owned(), |name| format!("{name}y")));
        let id = if table == "symbols" { "function_id".to_owned() } else { id };
        assert_eq!(
            count(&format!("SELECT count(*) AS n FROM {table}"), &places),
            count(&format!("SELECT count(DISTINCT {id}) AS n FROM {table}"), &places),
            "{table}"
        );
    }
    // The same recording under two names would count twice.
    let again = copy.path().join("main.data");
    std::fs::copy(&one, &again).unwrap();
    assert!(wrong("SELECT count(*) FROM samples", &[&one, &again]).contains("the same recording"));
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
            assert!(column["meaning"].as_str().is_some_and(|meaning| meaning.ends_with('.')), "{name}: {column}");
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
    assert_eq!(tool::run(&["sql", "--memory", "x", "SELECT 1"]).status.code(), Some(2));
}

#[test]
fn damaged_recordings_answer_and_end_with_3() {
    let [sound, cut] = ["main", "cut"].map(fixture);
    let output = asked("SELECT source LIKE '%cut%' AS cut, damaged FROM profiles ORDER BY 1", &[&sound, &cut], &["--format", "csv"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "cut,damaged\nfalse,false\ntrue,true\n");
    assert_eq!(output.status.code(), Some(3), "{}", tool::stderr(&output));
    let output = asked("SELECT count(*) FROM samples", &[&sound, &cut], &["--strict"]);
    assert_eq!(output.status.code(), Some(1));
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
    assert_eq!(text("SELECT 1 AS a, 2 AS b UNION ALL SELECT 3, 4", &[&file], &["--format", "csv"]), "a,b\n1,2\n3,4\n");
    let twice = rows("SELECT a.tid, b.tid FROM threads a JOIN threads b USING (thread_id) LIMIT 1", &[&file]);
    assert_eq!(twice[0].as_object().unwrap().len(), 2, "{}", twice[0]);
    // The recording is not written over.
    let copy = dir.path().join("perf.data");
    std::fs::copy(&file, &copy).unwrap();
    assert!(tool::stderr(&asked(query, &[&copy], &["-o", copy.to_str().unwrap()])).contains("would be overwritten"));
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

#[test]
#[ignore = "live: tmux"]
fn the_prompt_completes_remembers_and_goes_on() {
    let dir = scratch();
    let terminal = Terminal::new("sql", (120, 40), dir.path());
    let file = fixture("main");
    let command = format!(
        "env HOME={0} XDG_CACHE_HOME={0} {1} sql {2}",
        dir.path().display(),
        env!("CARGO_BIN_EXE_readperf"),
        file.display()
    );
    terminal.run(&command);
    terminal.wait("readperf>");
    // Two lines are one query; a name is completed.
    terminal.run("SELECT count(*) AS n,");
    terminal.run("count(DISTINCT tid) AS threads FROM thread_to\t;");
    terminal.wait("threads\n");
    terminal.run("SELECT functio FROM samples;");
    terminal.wait("         ^");
    terminal.run("CREATE VIEW mine AS SELECT 574 AS hits;");
    terminal.run("SELECT hits + 1 AS more FROM min\t;");
    terminal.wait("575");
    terminal.run("DESCRIBE thread_totals;");
    terminal.wait("Sum of their periods.");
    terminal.run("exit");
    terminal.wait_for_shell();
    // What was typed is there the next time.
    terminal.run("clear");
    terminal.run(&command);
    terminal.wait("readperf>");
    terminal.keys(&["Up", "Up"]);
    terminal.wait("SELECT hits + 1 AS more FROM mine;");
    terminal.keys(&["C-c", "C-d"]);
    terminal.wait_for_shell();
}
