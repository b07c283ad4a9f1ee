//! `readperf timeline`: cells hold what lies in them, and the ranges to paste choose just those samples.

#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test may fail loudly"
)]

mod handmade;
mod oracle;

use handmade::{Attr, Pipe, Sample};
use oracle::{fixture, said, scratch, tool};
use serde_json::Value;
use std::path::Path;

fn timeline(file: &Path, words: &[&str]) -> Value {
    let mut all = vec!["timeline", "--json"];
    all.extend(words);
    all.push(file.to_str().unwrap());
    serde_json::from_str(&tool::answer(&all)).unwrap()
}

fn cells(event: &Value, what: &str) -> Vec<Vec<u64>> {
    let columns = event["cells"][what].as_array().unwrap();
    columns.iter().map(|column| column.as_array().unwrap().iter().map(tool::number).collect()).collect()
}

/// The times of samples as perf prints them, ns.
fn times_of_perf(name: &str, event: &str) -> Vec<u64> {
    let script = said(name, "perf.script.txt").expect("perf had something to say");
    let marker = format!(" {event}:");
    let lines = script.lines().filter(|line| line.contains(&marker));
    let time = |line: &str| {
        let word = line.split_whitespace().find(|word| word.ends_with(':') && word.contains('.')).unwrap();
        let (seconds, ns) = word.trim_end_matches(':').split_once('.').unwrap();
        assert_eq!(ns.len(), 9, "{line}");
        seconds.parse::<u64>().unwrap() * 1_000_000_000 + ns.parse::<u64>().unwrap()
    };
    lines.map(time).collect()
}

#[test]
fn cells_hold_the_samples_of_perf() {
    for (name, event) in [("main", "cpu-clock:u"), ("multi", "cpu-clock"), ("kernel", "cpu-clock")] {
        let times = times_of_perf(name, event);
        let value = timeline(&fixture(name), &["--event", event]);
        let told = &value["events"][0];
        let [start, column, cell] = ["start_ns", "column_ns", "cell_ns"].map(|key| tool::number(&told[key]));
        let cells = cells(told, "samples");
        let mut expected = vec![vec![0; cells[0].len()]; cells.len()];
        for time in &times {
            let since = time - start;
            expected[(since / column) as usize][(since % column / cell) as usize] += 1;
        }
        assert!(times.len() > 50, "{name}");
        assert_eq!(cells, expected, "{name}");
        assert_eq!(tool::number(&told["samples"]), times.len() as u64);
        assert_eq!(tool::number(&told["first_time_ns"]), *times.iter().min().unwrap());
        assert_eq!(tool::number(&told["last_time_ns"]), *times.iter().max().unwrap());
    }
}

#[test]
fn ranges_to_paste_choose_just_those_samples() {
    let mut told = 0;
    for name in ["main", "multi", "kernel", "dwarf"] {
        let file = fixture(name);
        for event in timeline(&file, &[])["events"].as_array().unwrap() {
            for range in event["hottest"].as_array().unwrap() {
                let time = range["time"].as_str().unwrap();
                let event = event["name"].as_str().unwrap();
                let words = ["report", "--json", "--event", event, "--time", time, file.to_str().unwrap()];
                let report: Value = serde_json::from_str(&tool::answer(&words)).unwrap();
                for key in ["samples", "period"] {
                    let sum =
                        report["events"].as_array().unwrap().iter().map(|event| tool::number(&event[key]));
                    assert_eq!(
                        sum.sum::<u64>(),
                        tool::number(&range[key]),
                        "{name}: {key} of {event} in {time}"
                    );
                }
                told += 1;
            }
        }
    }
    assert!(told >= 8, "{told} ranges");
}

/// An even recording of 30 s with a burst in 250 ms of it.
fn burst() -> Pipe {
    let mut pipe = Pipe::sound(&[Attr::default()]);
    let first = 1_000_000_000_000;
    for nr in 0..30_000 / 50 {
        pipe.sample(&Sample { time: first + nr * 50_000_000, ..Sample::default() });
        if (200..205).contains(&nr) {
            pipe.samples(40, &Sample { time: first + nr * 50_000_000 + 1, ..Sample::default() });
        }
    }
    pipe
}

#[test]
fn a_burst_is_the_hottest_range() {
    let directory = scratch();
    let file = directory.path().join("burst.data");
    std::fs::write(&file, &burst().bytes).unwrap();
    let value = timeline(&file, &[]);
    let hottest = value["events"][0]["hottest"].as_array().unwrap();
    assert_eq!(hottest.len(), 1, "{hottest:?}");
    assert_eq!(hottest[0]["time"], "1010.000000000,1010.249999999");
    assert_eq!(hottest[0]["samples"], 205);
    let text = tool::answer(&["timeline", "--ascii", file.to_str().unwrap()]);
    assert!(text.contains("a column is 1 s, a cell 50 ms"), "{text}");
    let row = |offset: &str| text.lines().find(|line| line.starts_with(offset)).unwrap().to_owned();
    assert_eq!(row("0.20"), format!("0.20  {}@{}", ".".repeat(10), ".".repeat(19)));
    assert_eq!(row("0.25"), format!("0.25  {}", ".".repeat(30)));
    assert!(text.contains("--time 1010.000000000,1010.249999999"), "{text}");
    // Of the median half, by filters as of other commands.
    let half = timeline(&file, &["--time", "1010,1010.099999999"]);
    assert_eq!(half["events"][0]["samples"], 82);
}

#[test]
fn nothing_one_sample_and_samples_without_time() {
    let directory = scratch();
    let file = directory.path().join("a.data");
    std::fs::write(&file, &Pipe::sound(&[Attr::default()]).bytes).unwrap();
    assert_eq!(tool::answer(&["timeline", file.to_str().unwrap()]), "no samples\n");
    assert_eq!(timeline(&file, &[])["events"].as_array().unwrap().len(), 0);
    let mut pipe = Pipe::sound(&[Attr::default()]);
    pipe.sample(&Sample::default());
    pipe.sample(&Sample { time: u64::MAX, ..Sample::default() });
    std::fs::write(&file, &pipe.bytes).unwrap();
    let value = timeline(&file, &[]);
    let sum: u64 = cells(&value["events"][0], "samples").iter().flatten().sum();
    assert_eq!(sum, 2, "{value}");
    let untimed =
        Attr { sample_type: Attr::default().sample_type & !handmade::sample_type::TIME, ..Attr::default() };
    let mut pipe = Pipe::sound(&[untimed]);
    pipe.samples(3, &Sample::default());
    std::fs::write(&file, &pipe.bytes).unwrap();
    let value = timeline(&file, &[]);
    assert_eq!(value["events"][0]["samples_without_time"], 3, "{value}");
    let text = tool::answer(&["timeline", file.to_str().unwrap()]);
    assert!(text.contains("3 more samples have no time"), "{text}");
}

#[test]
#[ignore = "live: needs python3"]
fn the_picture_is_read_by_a_parser_that_is_not_ours() {
    let directory = scratch();
    let out = directory.path().join("t.svg");
    tool::answer(&["timeline", fixture("multi").to_str().unwrap(), "-o", out.to_str().unwrap()]);
    let read = "import sys, re, xml.dom.minidom\n\
        titles = [t.firstChild.data for t in xml.dom.minidom.parse(sys.argv[1]).getElementsByTagName('title')]\n\
        print(sum(int(re.search(r': ([0-9,]+) samples', t)[1].replace(',', '')) for t in titles if '--time' in t))";
    let output = std::process::Command::new("python3").arg("-c").arg(read).arg(&out).output();
    let Ok(output) = output else { return oracle::skip("the_picture_is_read", "no python3") };
    let samples = tool::number(&tool::json("stats", &fixture("multi"))["samples"]);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout).trim(),
        samples.to_string(),
        "{}",
        tool::stderr(&output)
    );
}
