//! Options of `readperf report` that come from perf's: taken with perf's meaning, or refused with a reason; and what is done on
//! a terminal.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test ends where it fails"
)]

mod oracle;

use oracle::live::Perf;
use oracle::{fixture, scratch, skip, tool};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

fn multi() -> String {
    fixture("multi").to_str().unwrap().to_owned()
}

fn report(options: &[&str]) -> String {
    let data = multi();
    tool::answer(&[&["report", "--no-progress"], options, &[&data]].concat())
}

fn json(options: &[&str]) -> Value {
    serde_json::from_str(&report(&[&["--json"], options].concat())).unwrap()
}

fn rows(report: &Value, event: usize) -> &Vec<Value> {
    report["events"][event]["rows"].as_array().unwrap()
}

/// Every option that perf's help lists is known: nothing ends with "unexpected argument".
#[test]
#[ignore = "live: compares with perf"]
fn every_option_of_perf_is_known() {
    let Some(_) = Perf::or_skip("every_option_of_perf_is_known") else { return };
    let help = Command::new("perf").args(["report", "-h"]).output().unwrap();
    let help = String::from_utf8_lossy(&[help.stdout, help.stderr].concat()).into_owned();
    let mut options = Vec::new();
    for line in help.lines() {
        let line = line.trim_start();
        let Some(at) = line.find("--") else { continue };
        if at != 0 && !(line.starts_with('-') && at == 4) {
            continue;
        }
        let word: String =
            line[at..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        options.push((word, line[at..].contains('<') || line[at..].contains("[=")));
        if at == 4 {
            options.push((line[..2].to_owned(), line.contains('<')));
        }
    }
    assert!(options.len() > 100, "{options:?}");
    // What is wrong with the words is said before the recording is looked for.
    let data = "/nonexistent/perf.data";
    // Here these have a meaning of their own, and a value: where names come from, in how many threads, how names look.
    // The recording is named already.
    let other = ["--symbols", "--threads", "--demangle", "--input", "-i"];
    for (option, value) in options.iter().filter(|(option, _)| !other.contains(&option.as_str())) {
        let mut arguments = vec!["report", data, option.as_str()];
        if *value && option != "--itrace" {
            arguments.push(if option == "--stdio-color" { "never" } else { "1" });
        }
        let output = tool::run(&arguments);
        let (said, status) = (tool::stderr(&output), output.status.code());
        assert!(!said.contains("unexpected argument"), "{option}: {said}");
        assert!(!said.contains("a value is required"), "{option}: {said}");
        // By its name and a reason, or because 1 is no value of it.
        let refused = said.starts_with("error: -") || said.starts_with("error: invalid value '1'");
        assert!(refused || said.contains("/nonexistent") || status == Some(0), "{option}: {said}");
    }
}

#[test]
fn what_cannot_be_done_is_refused_with_a_reason() {
    for (options, why) in [
        (&["--itrace=i0"][..], "AUX data"),
        (&["--tasks"], "processes.csv"),
        (&["-D"], "readperf dump"),
        (&["--sort", "dso_size"], "readperf dump --type MMAP,MMAP2"),
        (&["--sort", "type"], "types of data"),
        (&["-g", "branch"], "-b shows them"),
        (&["-w", "x"], "is no width"),
        (&["--hierarchy", "--group"], "cannot be used with"),
        (&["--hierarchy", "-g", "caller"], "-g none"),
        (&["--hierarchy", "-G"], "-g none"),
    ] {
        let data = multi();
        let output = tool::run(&[&["report"], options, &[&data]].concat());
        assert_eq!(output.status.code(), Some(2), "{options:?}");
        assert!(tool::stderr(&output).contains(why), "{options:?}: {}", tool::stderr(&output));
    }
}

#[test]
fn nothing_to_show_has_a_reason() {
    let text = report(&["--comm", "nobody", "--cpu", "77"]);
    assert!(text.contains("no samples\n  nothing passes --comm and --cpu;"), "{text}");
    let text = report(&["-S", "nobody", "--symbol-filter", "nothing"]);
    assert!(text.contains("nothing passes -S and --symbol-filter;"), "{text}");
    assert!(report(&["-b"]).contains("perf record -b"));
    assert!(!report(&["--comm", "work"]).contains("nothing passes"));
}

#[test]
fn the_recording_may_be_named_as_perf_has_it() {
    let data = multi();
    let plain = report(&["-s", "dso"]);
    assert_eq!(tool::answer(&["report", "-i", &data, "-s", "dso"]), plain);
    assert_eq!(tool::answer(&["report", "--input", &data, "-s", "dso", "-f", "-v", "--tui"]), plain);
    assert_eq!(tool::run(&["report", "-i", &data, &data]).status.code(), Some(2), "two recordings");
}

/// Counts of samples in graphs are those of the rows.
#[test]
fn graphs_count_samples() {
    for order in ["caller", "callee"] {
        let all = json(&["-g", &format!("{order},0,count"), "--no-children", "--sort", "symbol"]);
        let mut chains = 0;
        for event in 0..2 {
            for row in rows(&all, event) {
                let listed = row["callchains"].as_array().into_iter().flatten();
                let sum: u64 = listed.clone().map(|chain| chain["samples"].as_u64().unwrap()).sum();
                chains += listed.clone().count();
                if listed.count() > 0 {
                    assert!(sum <= row["samples"].as_u64().unwrap(), "{row}");
                    let period: u64 = row["callchains"]
                        .as_array()
                        .unwrap()
                        .iter()
                        .map(|c| c["period"].as_u64().unwrap())
                        .sum();
                    let each = row["self_period"].as_u64().unwrap() / row["samples"].as_u64().unwrap();
                    assert_eq!(sum * each, period, "every sample has the same period: {row}");
                }
            }
        }
        assert!(chains > 20, "{order}: {chains}");
    }
    let text = report(&[
        "-g",
        "folded,0,caller,count",
        "--no-children",
        "--sort",
        "comm",
        "--comm",
        "work-one",
        "--event",
        "cpu-clock",
    ]);
    let counts: u64 = text
        .lines()
        .filter(|line| line.starts_with("      "))
        .map(|line| line.split_whitespace().next().unwrap().parse::<u64>().unwrap())
        .sum();
    assert_eq!(counts, 40, "perf report -n says 40 samples of work-one: {text}");
}

/// Sizes of functions are those of perf.
#[test]
#[ignore = "live: compares with perf"]
fn sizes_of_functions_are_perfs() {
    let Some(perf) = Perf::or_skip("sizes_of_functions_are_perfs") else { return };
    let options = ["--stdio", "-q", "-g", "none", "--no-children", "-t", "|", "-s", "sym,symbol_size"];
    let theirs = perf.report(&fixture("multi"), &options);
    let sizes: BTreeSet<(String, u64)> = theirs
        .lines()
        .filter_map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let name = cells.get(1)?.split_once("] ")?.1;
            Some((name.to_owned(), cells.get(2)?.parse().ok()?))
        })
        .collect();
    if sizes.is_empty() {
        return skip("sizes_of_functions_are_perfs", "perf names no function of this recording here");
    }
    let all = json(&["--no-children", "--sort", "symbol,symbol_size"]);
    let mine: BTreeSet<(String, u64)> = (0..3)
        .flat_map(|event| rows(&all, event))
        .filter_map(|row| Some((row["symbol"].as_str()?.to_owned(), row["symbol_size"].as_u64()?)))
        .collect();
    let common: BTreeSet<&(String, u64)> = sizes.intersection(&mine).collect();
    let named: BTreeSet<&String> = mine.iter().map(|(name, _)| name).collect();
    let both = sizes.iter().filter(|(name, _)| named.contains(name)).count();
    assert_eq!(common.len(), both, "perf {sizes:?}, readperf {mine:?}");
    assert!(both > 0, "perf {sizes:?}, readperf {mine:?}");
}

/// Each level of the tree adds up to the one above, and the first to what there is without the tree.
#[test]
fn levels_of_a_tree_add_up() {
    let text = report(&["--hierarchy", "--sort", "comm,dso,symbol", "-n", "--percent-limit", "0"]);
    let with_words = ["--hierarchy", "--sort", "comm,dso,symbol", "-n", "--percent-limit", "0", "-g", "none"];
    assert_eq!(report(&with_words), text, "as perf's scripts call it");
    let first = text.split("\n\n").next().unwrap();
    let mut levels: BTreeMap<usize, u64> = BTreeMap::new();
    for line in first.lines().skip(2) {
        let (_, rest) = line.split_once(" %").unwrap();
        let rest = rest.trim_start();
        let (samples, name) = rest.split_once("  ").unwrap();
        let depth = name.chars().take_while(|c| *c == ' ').count() / 2;
        *levels.entry(depth).or_default() += samples.replace(',', "").parse::<u64>().unwrap();
    }
    assert_eq!(levels, BTreeMap::from([(0, 128), (1, 128), (2, 128)]), "128 samples: {first}");
}

/// The tree for programs has the rows of the plain report as its leaves, and says what the text says.
#[test]
fn trees_for_programs_have_the_same_rows() {
    /// Paths of keys, with samples and period, of a branch and all in it.
    fn walk(row: &Value, path: &[String], all: &mut Vec<(Vec<String>, u64, u64)>) {
        let key = ["comm", "dso", "symbol"].into_iter().find_map(|key| row[key].as_str()).unwrap();
        let path = [path, &[key.to_owned()]].concat();
        let number = |key: &str| row[key].as_u64().unwrap();
        all.push((path.clone(), number("samples"), number("self_period")));
        let inner = row["rows"].as_array().map(Vec::as_slice).unwrap_or_default();
        inner.iter().for_each(|row| walk(row, &path, all));
    }
    let options = ["--no-children", "--sort", "comm,dso,symbol"];
    let (plain, tree) = (json(&options), json(&[&["--hierarchy"], &options[1..]].concat()));
    let mut branches = Vec::new();
    for event in 0..plain["events"].as_array().unwrap().len() {
        let mut of_event = Vec::new();
        rows(&tree, event).iter().for_each(|row| walk(row, &[], &mut of_event));
        let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
        let number = |row: &Value, key: &str| row[key].as_u64().unwrap();
        let leaf = |row: &Value| {
            let path = ["comm", "dso", "symbol"].map(|key| text(row, key)).to_vec();
            (path, number(row, "samples"), number(row, "self_period"))
        };
        let leaves: BTreeSet<_> = rows(&plain, event).iter().map(leaf).collect();
        let found: BTreeSet<_> = of_event.iter().filter(|(path, ..)| path.len() == 3).cloned().collect();
        assert_eq!(found, leaves);
        branches.extend(of_event);
    }
    let table = report(&["--hierarchy", "--csv", "--sort", "comm,dso,symbol"]);
    let mut lines = table.lines();
    let head = "event,level,comm,dso,symbol,self_percent,total_percent,self_period,total_period,samples";
    assert_eq!(lines.next(), Some(head));
    let mut of_csv = csv::ReaderBuilder::new().has_headers(true).from_reader(table.as_bytes());
    let of_csv = of_csv.records().map(|record| {
        let record = record.unwrap();
        let level: usize = record[1].parse().unwrap();
        assert!((2 + level..5).all(|deeper| record[deeper].is_empty()), "{record:?}");
        let path = (2..2 + level).map(|key| record[key].to_owned()).collect();
        (path, record[9].parse::<u64>().unwrap(), record[7].parse::<u64>().unwrap())
    });
    assert_eq!(of_csv.collect::<Vec<(Vec<String>, u64, u64)>>(), branches);
}

#[test]
fn columns_have_the_widths_that_are_told() {
    let text = report(&["-w", "9,,12", "--sort", "symbol"]);
    let line = text.lines().find(|line| line.contains('…')).expect("a name that is cut");
    assert!(line.starts_with(' '), "the first column is wider than it needs to be: {line:?}");
    let name = line.rsplit("  ").next().unwrap();
    assert_eq!(name.chars().count(), 12, "{line:?}");
}

#[test]
fn samples_without_a_name_are_left_out() {
    let all = json(&["-U", "--sort", "symbol"]);
    for row in rows(&all, 0) {
        assert!(!row["symbol"].as_str().unwrap().starts_with("0x"), "{row}");
    }
    let own: u64 = rows(&all, 0).iter().map(|row| row["samples"].as_u64().unwrap()).sum();
    assert_eq!(Some(own), all["events"][0]["samples"].as_u64());
    assert!(own < 128, "work has no names here");
}

/// With --stdio as perf: graphs if there are stacks; without, a table.
#[test]
fn graphs_are_shown_where_they_are_asked_for() {
    assert!(report(&["--stdio"]).contains("├─ "));
    assert!(!report(&[]).contains("├─ "));
    assert!(!report(&["--stdio", "--no-call-graph"]).contains("├─ "));
    let group = report(&["--group", "-g", "callee", "--no-children"]);
    assert!(group.contains("\n          start_thread\n"), "{group}");
}

#[test]
fn damage_is_not_told_to_who_wants_silence() {
    let dir = scratch();
    let cut = dir.path().join("cut.data");
    let bytes = std::fs::read(fixture("multi")).unwrap();
    std::fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    let told = tool::run(&["report", cut.to_str().unwrap()]);
    let quiet = tool::run(&["report", "-q", cut.to_str().unwrap()]);
    assert!(!told.stderr.is_empty());
    assert!(quiet.stderr.is_empty(), "{}", tool::stderr(&quiet));
    assert_eq!((told.status.code(), quiet.status.code()), (Some(3), Some(3)));
    assert_eq!(told.stdout, quiet.stdout);
}

/// A run on a terminal of this width, by util-linux's `script`; what the terminal got.
fn on_terminal(test: &str, columns: u32, environment: &str, options: &str) -> Option<String> {
    let dir = scratch();
    let command = format!(
        "stty cols {columns} rows 24; {environment} {} report --no-progress {options} {}",
        env!("CARGO_BIN_EXE_readperf"),
        multi()
    );
    let mut script = Command::new("script");
    script.arg("-qec").arg(&command).arg(dir.path().join("typescript")).env("TERM", "xterm");
    for name in ["PAGER", "READPERF_PAGER", "NO_COLOR", "LESS"] {
        script.env_remove(name);
    }
    let Ok(output) = script.output() else {
        skip(test, "no script on this machine");
        return None;
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{command}: {text}");
    Some(text.replace('\r', ""))
}

#[test]
#[ignore = "live: needs script"]
fn the_pager_gets_the_report() {
    let pager = "READPERF_PAGER='sed s/^/PAGED:/' PAGER=false";
    let Some(text) = on_terminal("the_pager_gets_the_report", 80, pager, "--sort dso") else { return };
    assert!(text.lines().filter(|line| !line.is_empty()).all(|line| line.starts_with("PAGED:")), "{text}");
    assert!(text.contains("libc.so.6"), "{text}");
    let text = on_terminal("the_pager_gets_the_report", 80, pager, "--sort dso --no-pager").unwrap();
    assert!(!text.contains("PAGED:") && text.contains("libc.so.6"), "{text}");
}

#[test]
#[ignore = "live: needs script"]
fn rows_fit_the_terminal() {
    let long = |columns| {
        let environment = "READPERF_PAGER= ";
        let text =
            on_terminal("rows_fit_the_terminal", columns, environment, "--color never --percent-limit 0")?;
        let table = text.lines().take_while(|line| line.trim_end() != "without a name:");
        let rows = table.filter(|line| line.contains(" %"));
        Some(rows.map(|line| line.chars().count()).max().unwrap())
    };
    let Some(wide) = long(300) else { return };
    let narrow = long(70).unwrap();
    assert!(wide > 80, "the recording has a long name: {wide}");
    assert!(narrow < wide, "{narrow} and {wide}");
    let text = on_terminal("rows_fit_the_terminal", 70, "READPERF_PAGER=", "--color never --percent-limit 0")
        .unwrap();
    assert!(text.contains('…'), "{text}");
    let whole = on_terminal(
        "rows_fit_the_terminal",
        70,
        "READPERF_PAGER=",
        "--color never --percent-limit 0 --full-names",
    )
    .unwrap();
    assert!(!whole.contains('…'), "{whole}");
}

/// Not only the rows: graphs, trees, the overview.
#[test]
#[ignore = "live: needs script"]
fn everything_fits_the_terminal() {
    const COLUMNS: u32 = 64;
    for options in [
        "-g callee",
        "-g caller,0.1",
        "-g flat",
        "--hierarchy",
        "--sort srcline,symbol",
        "--group --no-children",
    ] {
        let options = format!("--color never --no-pager {options}");
        let Some(text) = on_terminal("everything_fits_the_terminal", COLUMNS, "", &options) else { return };
        let table = text.lines().take_while(|line| line.trim_end() != "without a name:");
        for line in table.filter(|line| line.contains(" %") || line.starts_with("   ")) {
            assert!(line.trim_end().chars().count() <= COLUMNS as usize, "{options}: {line:?}");
        }
    }
}

/// No table is made of what was not recorded.
#[test]
fn what_was_not_recorded_is_not_chosen_by() {
    let main = fixture("main");
    for (option, why) in [
        ("--mem-mode", "no sample says what was accessed"),
        ("--cpu=0", "samples of this recording have no CPU; record with -a or --sample-cpu"),
        ("--event=cpu-clock", "did you mean cpu-clock:u?"),
    ] {
        let output = tool::run(&["report", option, main.to_str().unwrap()]);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{option}");
        assert!(tool::stderr(&output).contains(why), "{option}: {}", tool::stderr(&output));
    }
}

/// `-g` may be followed by the recording, also by that on standard input.
#[test]
fn a_call_graph_takes_no_file_for_its_words() {
    let file = std::fs::File::open(fixture("main")).unwrap();
    let output = tool::command().args(["report", "-g", "-"]).stdin(file).output().unwrap();
    assert!(output.status.success(), "{}", tool::stderr(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("574 samples"));
}
