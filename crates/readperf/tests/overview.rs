//! The main job as a new user meets it: a screen or two, files that cost only themselves, and words that lead on.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod handmade;
mod oracle;

use handmade::{Attr, CODE, Pipe, Sample};
use oracle::{fixture, scratch, tool};
use std::path::{Path, PathBuf};
use std::process::Output;

/// A recording with samples at so many places without a name: one at each, and one more at the first.
fn many_rows(dir: &Path, events: u64, rows: u64) -> PathBuf {
    let attrs: Vec<Attr> =
        (0..events).map(|nr| Attr { config: nr, ids: vec![nr + 1], ..Attr::default() }).collect();
    let mut pipe = Pipe::sound(&attrs);
    for event in 0..events {
        for nr in std::iter::once(0).chain(0..rows) {
            let (ip, time) = (CODE + nr * 4, 1_000_000_000 + nr);
            pipe.sample(&Sample { ip, time, id: event + 1, chain: vec![ip], ..Sample::default() });
        }
    }
    let path = dir.join("many.data");
    std::fs::write(&path, pipe.as_file()).unwrap();
    path
}

fn overview(file: &Path, options: &[&str]) -> String {
    let file = file.to_str().unwrap();
    tool::answer(&[&["--no-csv", "--no-progress", "--no-cache", file], options].concat())
}

/// The lines of the table of each event.
fn tables(text: &str) -> Vec<Vec<&str>> {
    let text = text.split("\nwithout a name:").next().unwrap();
    text.split("\n\n").map(|section| section.trim_end().lines().skip(2).collect()).collect()
}

#[test]
fn a_hundred_rows_are_shown_and_the_others_summed_up() {
    let dir = scratch();
    let file = many_rows(dir.path(), 1, 300);
    let text = overview(&file, &[]);
    let tables = tables(&text);
    assert_eq!(tables[0].len(), 101, "{text}");
    // 301 samples: two at the first place, 99 at the next.
    assert_eq!(tables[0][100], "66.45 %  200,000      200  … 200 more rows: --all shows them", "{text}");
    let all = overview(&file, &["--all"]);
    assert_eq!(self::tables(&all)[0].len(), 300, "{all}");
}

/// However many events, it is a screen or two; a few rows of each are shown.
#[test]
fn events_share_the_hundred_rows() {
    let dir = scratch();
    let text = overview(&many_rows(dir.path(), 4, 60), &[]);
    let lengths: Vec<usize> = tables(&text).iter().map(Vec::len).collect();
    assert_eq!(lengths, [26; 4], "{text}");
    let text = overview(&many_rows(dir.path(), 20, 60), &[]);
    assert!(tables(&text).iter().all(|table| table.len() == 11), "{text}");
}

#[test]
fn rows_below_a_share_are_summed_up() {
    let dir = scratch();
    let text = overview(&many_rows(dir.path(), 1, 50), &["--percent-limit", "3"]);
    let tables = tables(&text);
    assert_eq!(tables[0][1], "96.08 %  49,000       49  … 49 rows below 3 %", "{text}");
}

fn run_in(dir: &Path, options: &[&str]) -> Output {
    let main = fixture("main");
    tool::command().arg(main).arg("--no-progress").args(options).current_dir(dir).output().unwrap()
}

/// A file where the folder should be: nobody can write there, not even root.
#[test]
fn a_folder_that_cannot_be_written_costs_only_the_files() {
    let dir = scratch();
    let whole = run_in(dir.path(), &["--no-csv"]);
    std::fs::write(dir.path().join("file"), "").unwrap();
    let output = run_in(dir.path(), &["--csv-dir", "file/folder"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(output.stdout, whole.stdout, "the answer is there");
    let said = tool::stderr(&output);
    assert!(
        said.contains("stat.csv, overview.csv, processes.csv, results.csv could not be written"),
        "{said}"
    );
    assert!(said.contains("--csv-dir DIR") && said.lines().count() == 1, "{said}");
}

#[test]
fn large_tables_are_announced_with_their_size() {
    let dir = scratch();
    let file = many_rows(dir.path(), 10, 2000);
    let tables = dir.path().join("tables");
    let output = tool::run(&[&file, Path::new("--csv-dir"), &tables, Path::new("--no-cache")]);
    let said = tool::stderr(&output);
    let size = std::fs::metadata(tables.join("overview.csv")).unwrap().len();
    assert!(size >= 1 << 20 && said.contains("overview.csv (1."), "{size}: {said}");
    assert!(!said.contains("stat.csv ("), "{said}");
}

/// Wherever a recording of counts has nothing to show, it is said what does.
#[test]
fn recordings_of_perf_stat_are_named_as_such() {
    let file = fixture("stat");
    let commands: [&[&str]; 9] = [
        &["--no-csv"],
        &["report"],
        &["report", "--json"],
        &["script"],
        &["stats"],
        &["check"],
        &["timeline"],
        &["export", "--format", "folded"],
        &["diff", file.to_str().unwrap()],
    ];
    for command in commands {
        let output = tool::command().args(command).arg(&file).output().unwrap();
        let said = tool::stderr(&output);
        assert!(
            said.contains("a recording of `perf stat record`") && said.contains("`readperf stat`"),
            "{command:?}: {said}"
        );
        assert_eq!(output.status.code(), Some(0), "{command:?}");
    }
    let output =
        tool::command().args(["report", "--event", "nothing"]).arg(fixture("main")).output().unwrap();
    assert!(
        !tool::stderr(&output).contains("perf stat"),
        "a filter that lets nothing through is no recording of counts"
    );
}

#[test]
fn help_is_a_command() {
    let help = tool::answer(&["help"]);
    assert!(help.contains("Usage: readperf") && help.contains("  report "), "{help}");
    assert_eq!(tool::answer(&["help", "report"]), tool::answer(&["report", "--help"]));
}

#[cfg(feature = "browse")]
#[test]
fn what_other_tools_call_it_leads_to_what_it_is_called_here() {
    for (words, meant) in [
        (&["export", "-f", "svg", "x"][..], "did you mean flamegraph?"),
        (&["export", "-f", "gecko", "x"], "did you mean firefox?"),
        (&["export", "-f", "flamegraf", "x"], "did you mean flamegraph?"),
        (&["browser"], "`readperf browse` shows the recording in the terminal"),
        (&["gtk", "perf.data"], "flames.html"),
        (&["--tui", "perf.data"], "`readperf browse` shows"),
        (&["objdump", "perf.data"], "readperf annotate FILE FUNCTION"),
        (&["flamegraph", "perf.data"], "export FILE -o flames.svg"),
        (&["record", "ls"], "perf record"),
    ] {
        let output = tool::run(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(tool::stderr(&output).contains(meant), "{words:?}: {}", tool::stderr(&output));
    }
    let output = tool::command().args(["report", "--tui"]).arg(fixture("main")).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(tool::stderr(&output).contains("`readperf browse` shows") && !output.stdout.is_empty());
}
