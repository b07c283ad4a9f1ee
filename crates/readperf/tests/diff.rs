//! `readperf diff`: recordings made by hand, in which it is known what changed.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]

#[path = "handmade/mod.rs"]
mod handmade;
mod oracle;

use handmade::{Attr, CODE, PID, Pipe, Sample};
use oracle::{fixture, scratch, tool};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Where the second and third library are.
const OTHER: u64 = 0x50_0000;
const THIRD: u64 = 0x60_0000;

/// A recording with so many samples in each of three libraries.
fn recording(dir: &Path, name: &str, counts: [u64; 3]) -> PathBuf {
    let mut pipe = Pipe::new(&[Attr::default()]);
    pipe.comm(PID, PID, "work");
    for (start, library) in [(CODE, "/lib/liba.so"), (OTHER, "/lib/libb.so"), (THIRD, "/lib/lib\u{1b}c.so")] {
        pipe.map(PID, start, library, Some(1), handmade::USER);
    }
    let mut time = 1_000_000_000;
    for (count, start) in counts.into_iter().zip([CODE, OTHER, THIRD]) {
        for _ in 0..count {
            time += 1_000_000;
            pipe.sample(&Sample { ip: start + 0x10, chain: vec![start + 0x10], time, ..Sample::default() });
        }
    }
    let path = dir.join(name);
    std::fs::write(&path, &pipe.bytes).unwrap();
    path
}

fn diff(arguments: &[&str], files: &[&Path]) -> (Value, i32, String) {
    let mut command = tool::command();
    command.args(["diff", "--json"]).args(arguments).args(files).arg("--symfs").arg("/nonexistent");
    let output = command.output().unwrap();
    let text = tool::stderr(&output);
    let value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {text}"));
    (value, output.status.code().unwrap(), text)
}

fn row<'v>(value: &'v Value, dso: &str) -> &'v Value {
    let rows = value["events"][0]["rows"].as_array().unwrap();
    rows.iter().find(|row| row["dso"] == dso).unwrap_or_else(|| panic!("{dso} is not in {rows:?}"))
}

fn near(value: &Value, expected: f64) {
    let found = value.as_f64().unwrap();
    assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
}

#[test]
fn unnamed_code_is_called_by_its_binary_in_one_pair_of_brackets() {
    let recording = fixture("multi");
    // Its kernel may be the one that runs here.
    let dir = scratch();
    let no_names = dir.path().join("kallsyms");
    std::fs::write(&no_names, "").unwrap();
    let options = ["--by", "dso,function", "--kallsyms", no_names.to_str().unwrap()];
    let (value, _, _) = diff(&options, &[&recording, &recording]);
    let events = value["events"].as_array().unwrap();
    let rows = events.iter().flat_map(|event| event["rows"].as_array().unwrap());
    let of_kernel: Vec<&Value> = rows.filter(|row| row["dso"] == "[kernel.kallsyms]").collect();
    assert!(!of_kernel.is_empty());
    for row in of_kernel {
        assert_eq!(row["symbol"], "[kernel.kallsyms]");
    }
}

/// An event is the same one in whatever modes it was sampled.
#[test]
fn modifiers_make_no_other_event() {
    let dir = scratch();
    let [before, after] = [0, handmade::flag::EXCLUDE_KERNEL].map(|modes| {
        let path = dir.path().join(format!("{modes}.data"));
        let mut pipe = Pipe::new(&[Attr { flags: handmade::flag::SAMPLE_ID_ALL | modes, ..Attr::default() }]);
        pipe.samples(10, &Sample::default());
        std::fs::write(&path, &pipe.bytes).unwrap();
        path
    });
    let (value, status, text) = diff(&["--fail-over", "5%"], &[&before, &after]);
    let events = value["events"].as_array().unwrap();
    assert_eq!((events.len(), &events[0]["name"], status), (1, &"cpu-clock:uh".into(), 0), "{text}");
    assert_eq!([&events[0]["base_samples"], &events[0]["new_samples"]], [10, 10]);
    assert_eq!(value["matched"][0]["by"], "modifiers");
    assert!(text.contains("event cpu-clock:HG is compared with cpu-clock:uh"), "{text}");
}

#[test]
fn shares_move_and_libraries_come_and_go() {
    let dir = scratch();
    let before = recording(dir.path(), "before", [300, 100, 0]);
    let after = recording(dir.path(), "after", [200, 0, 200]);
    let (value, status, _) = diff(&["--by", "dso"], &[&before, &after]);
    assert_eq!(status, 0);
    assert_eq!(value["schema"], 1);
    let (a, b, c) = (row(&value, "liba.so"), row(&value, "libb.so"), row(&value, "lib\u{1b}c.so"));
    near(&a["base"], 75.0);
    near(&a["new"], 50.0);
    near(&a["delta"], -25.0);
    assert_eq!((a["presence"].as_str(), a["base_samples"].as_u64()), (Some("both"), Some(300)));
    assert_eq!((b["presence"].as_str(), c["presence"].as_str()), (Some("gone"), Some("new")));
    near(&c["delta"], 50.0);
    assert_eq!(c["ratio"], Value::Null, "there is no ratio to nothing");
    assert_eq!(value["events"][0]["rows"][0]["dso"], "lib\u{1b}c.so", "the greatest change comes first");
    assert_eq!(c["significant"], Value::Null, "one recording a side does not tell");
}

#[test]
fn a_change_of_a_few_samples_may_be_chance() {
    let dir = scratch();
    let before = recording(dir.path(), "before", [200, 200, 0]);
    let after = recording(dir.path(), "after", [210, 190, 0]);
    let (value, status, _) =
        diff(&["--by", "dso", "--fail-over", "1%", "--fail-on-single"], &[&before, &after]);
    // statistics.NormalDist of Python: 2 * cdf(-z), z = 0.025 / sqrt(0.5125 * 0.4875 * 2 / 400).
    near_loosely(&row(&value, "liba.so")["p_at_least"], 0.479_362_758_7);
    assert_eq!(row(&value, "liba.so")["p"], Value::Null, "runs may differ by more");
    assert_eq!(row(&value, "liba.so")["significant"], false);
    assert_eq!(status, 0, "what may be chance is no regression");
}

fn near_loosely(value: &Value, expected: f64) {
    let found = value.as_f64().unwrap();
    assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
}

#[test]
fn what_has_grown_ends_with_four_if_wanted() {
    let dir = scratch();
    let before = recording(dir.path(), "before", [300, 100, 0]);
    let after = recording(dir.path(), "after", [200, 200, 0]);
    let single = ["--by", "dso", "--fail-on-single", "--fail-over"];
    let (_, status, told) = diff(&[&single[..], &["20%"]].concat(), &[&before, &after]);
    assert_eq!(status, 4);
    assert!(told.contains("libb.so has grown by 25.00 %"), "{told}");
    let (_, status, _) = diff(&[&single[..], &["30%"]].concat(), &[&before, &after]);
    assert_eq!(status, 0);
    // Nobody knows how much runs differ.
    let (value, status, told) = diff(&["--by", "dso", "--fail-over", "20%"], &[&before, &after]);
    assert_eq!(status, 0);
    assert!(told.contains("libb.so has grown by 25.00 %") && told.contains("how much runs differ"), "{told}");
    let b = row(&value, "libb.so");
    assert_eq!((&b["p"], &b["significant"]), (&Value::Null, &Value::Null));
    assert!(b["p_at_least"].as_f64().unwrap() < 0.001, "{b}");
    let output = tool::command().args(["diff", "--fail-on-single"]).args([&before, &after]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "without --fail-over nothing fails");
}

/// A binary recorded twice: no change is called certain, and how much there was is told.
#[test]
fn one_recording_a_side_does_not_tell_how_much_runs_differ() {
    let dir = scratch();
    let before = recording(dir.path(), "before", [3000, 1000, 0]);
    let after = recording(dir.path(), "after", [2000, 1900, 100]);
    let said = text(&["--by", "dso"], &[&before, &after]);
    let head = "cpu-clock:HG: percent of period, in all 4,000,000 (4,000 samples) before, 4,000,000 (4,000 samples) after, +0.00 %\n";
    assert!(said.starts_with(head), "{said}");
    assert!(!said.contains("0.000"), "{said}");
    let rows: Vec<&str> = said.lines().filter(|line| line.contains(".so")).collect();
    assert_eq!((rows.len(), rows.iter().filter(|row| row.contains("?  ")).count()), (3, 3), "{said}");
    assert!(said.contains("one recording a side does not tell how much runs differ"), "{said}");
    // Of what few samples make, that much is known.
    let (few, fewer) =
        (recording(dir.path(), "few", [20, 10, 0]), recording(dir.path(), "fewer", [19, 11, 0]));
    let said = text(&["--by", "dso"], &[&few, &fewer]);
    assert!(said.contains("≥ 0.787"), "{said}");
    let base = few.to_str().unwrap();
    let said = text(&["--by", "dso", "--base", base], &[&fewer, &few]);
    assert!(!said.contains("does not tell") && !said.contains('≥'), "{said}");
    assert!(
        said.contains(
            "in all 30,000 on average (60 samples in 2 recordings) before, 30,000 (30 samples) after"
        ),
        "{said}"
    );
}

/// The recording of a fixture as if program and process had another name.
fn renamed(dir: &Path) -> PathBuf {
    let mut bytes = std::fs::read(fixture("main")).unwrap();
    let (old, new) = (b"work\0", b"wurk\0");
    for at in 0..bytes.len() - old.len() {
        if bytes[at..].starts_with(old) {
            bytes[at..at + old.len()].copy_from_slice(new);
        }
    }
    let path = dir.join("renamed.data");
    std::fs::write(&path, bytes).unwrap();
    path
}

/// Two builds with other names.
#[test]
fn what_has_another_name_is_matched_by_its_functions() {
    let dir = scratch();
    let (before, after) = (fixture("main"), renamed(dir.path()));
    let symbols = oracle::kind("main");
    std::fs::copy(symbols.join("work"), dir.path().join("wurk")).unwrap();
    let [symbols, copy] = [symbols.as_path(), dir.path()].map(|dir| dir.to_str().unwrap());
    let flags = ["--symbols", symbols, "--symbols", copy, "--by", "comm,dso,function"];
    let (value, _, told) = diff(&flags, &[&before, &after]);
    let rows = value["events"][0]["rows"].as_array().unwrap();
    let moved = rows.iter().find(|row| row["presence"] != "both" || row["delta"] != 0.0);
    assert_eq!(moved, None);
    let spin = rows.iter().find(|row| row["symbol"] == "spin_five").unwrap();
    assert_eq!((spin["comm"].as_str(), spin["dso"].as_str()), (Some("wurk"), Some("wurk")));
    assert!(told.contains("binary work is compared with wurk"), "{told}");
    assert!(told.contains("command work with wurk (after their binaries)"), "{told}");
    let matched = value["matched"].as_array().unwrap();
    assert_eq!(matched.len(), 2, "{matched:?}");
    assert_eq!((matched[0]["base"].as_str(), matched[0]["by"].as_str()), (Some("work"), Some("functions")));
    let (value, _, told) = diff(&flags, &[&before, &before]);
    assert_eq!((value["matched"].as_array().unwrap().len(), told.as_str()), (0, ""));
    // A picture of the change says it, too, and has nothing new in it.
    let export = tool::command()
        .args(["export", "-f", "flamegraph-html", "--base", before.to_str().unwrap()])
        .args(["--symbols", symbols, "--symbols", copy])
        .arg(&after)
        .output()
        .unwrap();
    let page = String::from_utf8_lossy(&export.stdout).into_owned();
    assert!(page.contains("Names differ: binary work is compared with wurk"), "{}", tool::stderr(&export));
    let (_, numbers) = page.split_once("id=\"flame-data\">\n").unwrap();
    let numbers: Value = serde_json::from_str(numbers.split_once("\n</script>").unwrap().0).unwrap();
    assert_eq!(numbers["newWeight"], numbers["baseWeight"]);
    assert!(numbers["newWeight"].as_array().unwrap().len() > 5, "{numbers}");
}

#[test]
fn several_recordings_a_side_show_their_spread() {
    let dir = scratch();
    let files: Vec<PathBuf> = [[100, 300, 0], [110, 290, 0], [90, 310, 0], [200, 200, 0], [220, 180, 0]]
        .into_iter()
        .enumerate()
        .map(|(nr, counts)| recording(dir.path(), &nr.to_string(), counts))
        .collect();
    let base = [files[1].to_str().unwrap(), files[2].to_str().unwrap()];
    let flags = ["--by", "dso", "--base", base[0], "--base", base[1]];
    let (value, _, _) = diff(&flags, &[&files[0], &files[3], &files[4]]);
    let a = row(&value, "liba.so");
    near(&a["base"], 25.0);
    near(&a["base_deviation"], 2.5);
    near(&a["new"], 52.5);
    // scipy.stats.ttest_ind([25, 27.5, 22.5], [50, 55], equal_var=False), the same for both rows.
    near_loosely(&a["p"], 0.018_373_564_9);
}

#[test]
fn periods_by_time_see_what_shares_hide() {
    let dir = scratch();
    let before = recording(dir.path(), "before", [101, 0, 0]);
    let mut pipe = Pipe::new(&[Attr::default()]);
    pipe.map(PID, CODE, "/lib/liba.so", Some(1), handmade::USER);
    for nr in 0..101u64 {
        // Twice as far apart: half as much in each second.
        let time = 1_000_000_000 + nr * 2_000_000;
        pipe.sample(&Sample { time, ..Sample::default() });
    }
    let after = dir.path().join("after");
    std::fs::write(&after, &pipe.bytes).unwrap();
    let (value, _, _) = diff(&["--by", "dso", "--normalize", "time"], &[&before, &after]);
    near(&row(&value, "liba.so")["base"], 1_010_000.0);
    near(&row(&value, "liba.so")["new"], 505_000.0);
    let (value, _, _) = diff(&["--by", "dso"], &[&before, &after]);
    near(&row(&value, "liba.so")["delta"], 0.0);
}

#[test]
fn names_are_made_harmless_in_text() {
    let dir = scratch();
    let before = recording(dir.path(), "before", [100, 0, 0]);
    let after = recording(dir.path(), "after", [50, 0, 50]);
    let text = tool::answer(&[
        "diff",
        "--by",
        "dso",
        before.to_str().unwrap(),
        after.to_str().unwrap(),
        "--symfs",
        "/nonexistent",
    ]);
    assert!(text.contains("lib\\x1bc.so"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
}

#[test]
fn damage_is_told_with_the_name_of_its_file() {
    let dir = scratch();
    let whole = recording(dir.path(), "whole.data", [10, 10, 10]);
    let cut = dir.path().join("cut.data");
    let bytes = std::fs::read(&whole).unwrap();
    std::fs::write(&cut, &bytes[..bytes.len() - 20]).unwrap();
    let (_, status, said) = diff(&[], &[&whole, &cut]);
    assert_eq!(status, 3, "{said}");
    assert!(said.contains("cut.data: ") && !said.contains("whole.data: "), "{said}");
    let (_, status, said) = diff(&[], &[&whole, &whole]);
    assert_eq!((status, said.as_str()), (0, ""));
}

fn text(arguments: &[&str], files: &[&Path]) -> String {
    let output = tool::command()
        .arg("diff")
        .args(arguments)
        .args(files)
        .args(["--symfs", "/nonexistent"])
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Where values are not shares, a row that has grown with everything else has grown.
#[test]
fn twice_the_work_is_no_chance_where_work_is_compared() {
    let dir = scratch();
    let before = recording(dir.path(), "before", [300, 100, 0]);
    let after = recording(dir.path(), "after", [600, 200, 0]);
    let flags = ["--by", "dso", "--normalize", "none", "--fail-over", "20%", "--fail-on-single"];
    let (value, status, told) = diff(&flags, &[&before, &after]);
    let a = row(&value, "liba.so");
    near(&a["base"], 300_000.0);
    near(&a["new"], 600_000.0);
    // statistics.NormalDist of Python: 2 * cdf(-300 / sqrt(900)), and 2 * cdf(-100 / sqrt(300)) of the other row.
    assert!(a["p_at_least"].as_f64().unwrap() < 1e-20, "{a}");
    near_loosely(&row(&value, "libb.so")["p_at_least"], 7.764_2e-9);
    assert_eq!((&a["significant"], status), (&Value::Null, 4));
    assert!(told.contains("liba.so has grown by 75.00 % of the total"), "{told}");
    let (value, status, _) = diff(&["--by", "dso", "--fail-over", "20%"], &[&before, &after]);
    assert_eq!(
        (row(&value, "liba.so")["significant"].as_bool(), status),
        (Some(false), 0),
        "shares are equal"
    );
}

/// The text of several recordings has the spread of both sides, and the value that rows are ordered by.
#[test]
fn the_text_has_both_spreads_and_the_weighted_difference() {
    let dir = scratch();
    let names = [("b1", [100, 300, 0]), ("b2", [110, 290, 0]), ("n1", [200, 200, 0]), ("n2", [220, 180, 0])];
    let files = names.map(|(name, counts)| recording(dir.path(), name, counts));
    let base = files[1].to_str().unwrap();
    let said = text(&["--by", "dso", "--base", base], &[&files[0], &files[2], &files[3]]);
    // statistics.stdev of Python: of 25 and 27.5, and of 50 and 55.
    assert!(said.contains("26.25 % ± 1.77 %  52.50 % ± 3.54 %"), "{said}");
    assert!(!said.contains("weighted"), "{said}");
    let flags = ["--by", "dso", "--sort", "weighted", "--weights", "2:1"];
    let said = text(&flags, &[&files[0], &files[2]]);
    assert!(said.contains("weighted"), "{said}");
    // Of liba.so 25 % before and 50 % after: 2 * 50 - 25.
    assert!(said.contains("+75.00 %"), "{said}");
}

/// All that is new has the same ratio; the most of it comes first.
#[test]
fn what_is_new_is_ordered_by_its_size() {
    let dir = scratch();
    let before = recording(dir.path(), "before", [400, 0, 0]);
    let after = recording(dir.path(), "after", [100, 200, 100]);
    let (value, ..) = diff(&["--by", "dso", "--sort", "ratio"], &[&before, &after]);
    assert_eq!(value["events"][0]["rows"][0]["dso"], "libb.so", "though the other's name comes first");
}

/// A typing error in a filter must not look like a comparison without regressions.
#[test]
fn no_samples_are_told() {
    let dir = scratch();
    let file = recording(dir.path(), "before", [10, 0, 0]);
    let (value, status, told) = diff(&["--comm", "wrok", "--fail-over", "5%"], &[&file, &file]);
    assert_eq!((value["events"].as_array().unwrap().len(), status), (0, 0));
    assert!(told.contains("before: no samples"), "{told}");
    assert_eq!(text(&["--comm", "wrok"], &[&file, &file]), "no samples\n");
    for flags in [["--level", "7"], ["--level", "NaN"], ["--percent-limit", "-1"], ["--weights", "1:inf"]] {
        let output = tool::command().arg("diff").args(flags).args([&file, &file]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{flags:?}");
    }
}

/// Nor must recordings that have nothing in common.
#[test]
fn what_was_not_compared_is_no_success() {
    let dir = scratch();
    let before = recording(dir.path(), "before", [10, 0, 0]);
    let after = recording(dir.path(), "after", [0, 0, 0]);
    for (files, side) in [([&*before, &*after], "old"), ([&*after, &*before], "new")] {
        let (_, status, told) = diff(&["--fail-over", "5%"], &files);
        assert_eq!(status, 4, "{told}");
        assert!(told.contains(&format!("only in the {side} recordings: nothing is compared")), "{told}");
    }
}

/// A second recorded is one of the recording, whoever is looked at; of several ranges of time all count, and what is between does
/// not.
#[test]
fn seconds_are_those_of_the_recording() {
    let dir = scratch();
    let mut pipe = Pipe::new(&[Attr::default()]);
    pipe.comm(PID, PID, "all");
    pipe.comm(PID, PID + 1, "few");
    pipe.map(PID, CODE, "/lib/liba.so", Some(1), handmade::USER);
    // Ten seconds; the other thread is there for the first tenth of a second.
    for nr in 0..=10_000u64 {
        let tid = if nr < 100 && nr % 2 == 1 { PID + 1 } else { PID };
        pipe.sample(&Sample { tid, time: 1_000_000_000 + nr * 1_000_000, ..Sample::default() });
    }
    let file = dir.path().join("recording");
    std::fs::write(&file, &pipe.bytes).unwrap();
    let base = |flags: &[&str]| {
        let (value, ..) = diff(&[&["--by", "comm", "--normalize", "time"], flags].concat(), &[&file, &file]);
        let rows = value["events"][0]["rows"].as_array().unwrap().clone();
        rows.iter().map(|row| row["base"].as_f64().unwrap()).collect::<Vec<f64>>()
    };
    // 50 samples of 1000 each, in 10 s.
    assert_eq!(base(&["--comm", "few"]), [5000.0]);
    let [all, few] = base(&["--time", "1,1.999", "--time", "6,6.999"])[..] else { panic!("two threads") };
    // 1000 samples of each range, 50 of them of the other thread; from first to last each range is 0.999 s long.
    assert!((all - 1_950_000.0 / 1.998).abs() < 0.01 && (few - 50_000.0 / 1.998).abs() < 0.01, "{all} {few}");
}

/// A new recording that lies within what those before differ by is no regression, however many samples it has; and a single sample
/// of something new is none either, though those before agree that there was nothing.
#[test]
fn one_recording_is_measured_by_the_spread_of_the_others() {
    let dir = scratch();
    let counts = [("b1", [2500, 7500, 0]), ("b2", [3000, 7000, 0]), ("b3", [2000, 8000, 0])];
    let base = counts.map(|(name, counts)| recording(dir.path(), name, counts));
    let new = recording(dir.path(), "new", [3200, 6799, 1]);
    let [one, two] = [&base[1], &base[2]].map(|file| file.to_str().unwrap());
    let flags = ["--by", "dso", "--base", one, "--base", two, "--fail-over", "5%"];
    let (value, status, told) = diff(&flags, &[&base[0], &new]);
    let a = row(&value, "liba.so");
    near(&a["delta"], 7.0);
    assert_eq!((a["significant"].as_bool(), status), (Some(false), 0), "{a} {told}");
    // scipy.stats.ttest_ind([25, 30, 20], [32]): the greatest of three, which the adjustment leaves as it is.
    near_loosely(&a["p"], 0.349_130_486_257_569_15);
    assert!(row(&value, "lib\u{1b}c.so")["p"].as_f64().unwrap() > 0.05);
    let far = recording(dir.path(), "far", [9000, 1000, 0]);
    let (value, status, _) = diff(&flags, &[&base[0], &far]);
    assert_eq!((row(&value, "liba.so")["significant"].as_bool(), status), (Some(true), 4));
}
