//! `readperf report` on recordings that do not change: sums over stacks against the same by brute force, the forms of
//! output, and what is refused.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod handmade;
mod oracle;

use handmade::{Attr, PID, Pipe, Sample};
use oracle::{fixture, kind, scratch, tool};
use readperf::profile::Keep;
use readperf::{PassOptions, Request};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Event, thread name, binary, function.
type Key = (String, String, String, String);

/// Every sample by itself: its period to each function of its stack, once.
fn by_brute_force(path: &Path) -> (BTreeMap<Key, u64>, usize) {
    let recording = readperf::perffile::Recording::open(path).unwrap();
    let symbols = readperf::symbols::Options {
        // Only what lies beside the recordings: whatever else this machine has is not looked at.
        symfs: Some("/nowhere".into()),
        build_id_cache: None,
        search_dirs: vec![path.parent().unwrap().to_owned(), kind("bin")],
        lines: true,
        inlines: true,
        ..Default::default()
    };
    let request = Request {
        symbols,
        pass: PassOptions { stacks: true, ..PassOptions::default() },
        keep: Keep { stacks: true, ..Keep::default() },
        ..Request::default()
    };
    let analysis = readperf::analyse(&recording, &request).unwrap();
    let (profile, session) = (&analysis.profile, &analysis.session);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (mut sums, mut deep) = (BTreeMap::new(), 0);
    for row in profile.rows() {
        let event = &profile.events()[row.event as usize].name;
        let mut keys = BTreeSet::new();
        let mut add = |function, inlined: bool| {
            let function = profile.function(function).unwrap();
            let binary = function.binary.and_then(|id| session.binary(id));
            let dso = binary.map_or_else(|| "[unknown]".to_owned(), |binary| text(&binary.short_name));
            let mark = if inlined { " (inlined)" } else { "" };
            keys.insert((
                event.clone(),
                text(session.comm(row.comm)),
                dso,
                format!("{}{mark}", function.label()),
            ));
        };
        add(profile.names().function_at(row.address).unwrap(), false);
        for address in profile.stacks().places(row.stack) {
            let frames = profile.names().frames_at(address);
            let last = frames.len().saturating_sub(1);
            for (nr, frame) in frames.enumerate() {
                add(frame.function, nr < last);
            }
        }
        deep += usize::from(profile.stacks().places(row.stack).count() > 1);
        for key in keys {
            *sums.entry(key).or_default() += row.period;
        }
    }
    (sums, deep)
}

#[test]
fn sums_over_stacks_are_those_of_every_sample_by_itself() {
    let mut with_stacks = 0;
    for name in ["main", "multi", "kernel", "everything", "dwarf", "pipe", "zstd", "threads", "rust"] {
        let path = fixture(name);
        let (expected, deep) = by_brute_force(&path);
        if deep == 0 {
            continue;
        }
        with_stacks += 1;
        let programs = kind("bin");
        let places = ["report", "--json", "--symfs", "/nowhere", "--symbols", programs.to_str().unwrap()];
        let json = tool::answer(&[&places[..], &[path.to_str().unwrap()]].concat());
        let json: Value = serde_json::from_str(&json).unwrap();
        let mut sums: BTreeMap<Key, u64> = BTreeMap::new();
        for event in json["events"].as_array().unwrap() {
            for row in event["rows"].as_array().unwrap() {
                let text = |value: &Value| value.as_str().unwrap().to_owned();
                let key = (text(&event["name"]), text(&row["comm"]), text(&row["dso"]), text(&row["symbol"]));
                *sums.entry(key).or_default() += row["total_period"].as_u64().unwrap();
            }
        }
        // Functions of one name in one binary are rows of their own; of those only the sum is at least as large.
        for (key, period) in &expected {
            let mine = sums.get(key).copied().unwrap_or(0);
            assert!(mine >= *period, "{name}: {key:?}: {mine} < {period}");
        }
        let same = expected.iter().filter(|(key, period)| sums.get(*key) == Some(period)).count();
        assert!(same * 100 >= expected.len() * 98, "{name}: {same} of {}", expected.len());
        assert_eq!(sums.len(), expected.len(), "{name}: the same rows");
    }
    assert!(with_stacks >= 3, "only {with_stacks} fixtures have stacks");
}

#[test]
fn json_is_as_documented() {
    let json = tool::json("report", &fixture("main"));
    assert_eq!(json["sort"], serde_json::json!(["comm", "dso", "symbol"]));
    assert!(json["issues"].is_array());
    let row = &json["events"][0]["rows"][0];
    for (key, kind) in [
        ("comm", "s"),
        ("dso", "s"),
        ("dso_path", "s"),
        ("symbol", "s"),
        ("self_period", "n"),
        ("total_period", "n"),
        ("samples", "n"),
    ] {
        let fits = if kind == "s" { row[key].is_string() } else { row[key].is_u64() };
        assert!(fits, "{key} of {row}");
    }
    assert!(row.get("callchains").is_none(), "only with -g");
    let path = fixture("multi");
    let text = tool::answer(&["report", "--json", "-g", "caller,0", path.to_str().unwrap()]);
    let json: Value = serde_json::from_str(&text).unwrap();
    let mut chains = 0;
    for event in json["events"].as_array().unwrap() {
        for row in event["rows"].as_array().unwrap() {
            let listed = row["callchains"].as_array().into_iter().flatten();
            let sum: u64 = listed.clone().map(|chain| chain["period"].as_u64().unwrap()).sum();
            chains += listed.count();
            assert!(sum <= row["total_period"].as_u64().unwrap(), "{row}");
            if row["callchains"].is_array() {
                assert_eq!(
                    sum,
                    row["total_period"].as_u64().unwrap(),
                    "without a threshold nothing is left out: {row}"
                );
            }
        }
    }
    assert!(chains > 10, "{chains}");
}

#[test]
fn csv_reads_back() {
    let path = fixture("main");
    let json = tool::json("report", &path);
    for (arguments, separator) in [(&["--csv"][..], b','), (&["-t", ";"], b';')] {
        let text = tool::answer(&[&["report", path.to_str().unwrap()], arguments].concat());
        let mut reader = csv::ReaderBuilder::new().delimiter(separator).from_reader(text.as_bytes());
        let column = reader.headers().unwrap().iter().position(|name| name == "self_period").unwrap();
        let sum: u64 = reader.records().map(|row| row.unwrap()[column].parse::<u64>().unwrap()).sum();
        assert_eq!(Some(sum), json["events"][0]["period"].as_u64());
    }
}

#[test]
fn rows_below_the_limit_are_summed_up() {
    let path = fixture("main");
    let path = path.to_str().unwrap();
    let text = tool::answer(&["report", "--percent-limit", "20", path]);
    assert!(text.contains("rows below 20 %"), "{text}");
    let run = |limit: &str| -> Value {
        serde_json::from_str(&tool::answer(&["report", "--json", "--percent-limit", limit, path])).unwrap()
    };
    let (all, some) = (run("0"), run("20"));
    let own = |json: &Value| -> u64 {
        let rows = json["events"][0]["rows"].as_array().unwrap();
        rows.iter().map(|row| row["self_period"].as_u64().unwrap()).sum()
    };
    assert!(all["events"][0].get("left_out").is_none());
    let left = some["events"][0]["left_out"]["self_period"].as_u64().unwrap();
    assert_eq!(own(&some) + left, own(&all));
    assert!(own(&some) < own(&all));
}

#[test]
fn the_value_of_the_call_graph_may_be_left_out() {
    let path = fixture("multi");
    let path = path.to_str().unwrap();
    let graph = tool::answer(&["report", "-g", "graph", path]);
    assert_eq!(tool::answer(&["report", "-g", path]), graph);
    assert_eq!(tool::answer(&["report", path, "-g"]), graph);
    assert!(graph.contains("─ "), "{graph}");
    assert!(!tool::answer(&["report", "-g", "none", path]).contains("─ "));
}

#[test]
fn mistakes_end_with_two_and_a_hint() {
    let path = fixture("main");
    let path = path.to_str().unwrap();
    for (arguments, hint) in [
        (&["--sort", "symbl"][..], "did you mean symbol"),
        (&["-F", "overhed,comm"], "did you mean overhead"),
        (&["-F", "overhead"], "no key makes rows"),
        (&["-g", "sideways"], "no word of a call graph"),
        (&["--time", "50%/3"], "no number of a part"),
        (&["--time-quantum", "5"], "expected a number and ns"),
        (&["-t", "ab"], "one ASCII character"),
    ] {
        let output = tool::run(&[&["report", path], arguments].concat());
        let said = tool::stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(hint), "{arguments:?}: {said}");
    }
}

#[test]
fn slices_of_time_add_up() {
    let path = fixture("main");
    let path = path.to_str().unwrap();
    let samples = |time: &str| -> u64 {
        let text = tool::answer(&["report", "--json", "--time", time, path]);
        let json: Value = serde_json::from_str(&text).unwrap();
        json["events"].as_array().unwrap().iter().map(|event| event["samples"].as_u64().unwrap()).sum()
    };
    let all = samples("0%-100%");
    let quarters: Vec<u64> = (1..=4).map(|nr| samples(&format!("25%/{nr}"))).collect();
    assert_eq!(quarters.iter().sum::<u64>(), all, "{quarters:?}");
    assert!(quarters.iter().all(|quarter| *quarter < all), "{quarters:?}");
    assert_eq!(samples("25%/1,25%/3"), quarters[0] + quarters[2]);
}

/// Two binaries that are not here have code at equal addresses; and there is code that no mapping covers.
#[test]
fn places_without_a_line_tell_their_binary() {
    let dir = scratch();
    let path = dir.path().join("made.data");
    let mut pipe = Pipe::sound(&[Attr::default()]);
    for (start, name) in [(0x50_0000, "/no/such/one"), (0x60_0000, "/no/such/two")] {
        pipe.map(PID, start, name, Some(9), 0);
        pipe.samples(100, &Sample { ip: start + 0x10, chain: Vec::new(), ..Sample::default() });
    }
    pipe.samples(100, &Sample { ip: 0x70_0010, chain: Vec::new(), ..Sample::default() });
    std::fs::write(&path, &pipe.bytes).unwrap();
    let rows = |key: &str| {
        let answer =
            tool::answer(&["report", "--no-children", "--csv", "--sort", key, path.to_str().unwrap()]);
        answer.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(rows("srcline"), ["0x0000000000700010", "one[10]", "two[10]"]);
    assert_eq!(rows("srcfile"), ["[unknown]", "[one]", "[two]"]);
    let json =
        tool::answer(&["report", "--no-children", "--json", "--sort", "srcfile", path.to_str().unwrap()]);
    assert!(!json.contains("one"), "a file that is not known is null: {json}");
}

#[test]
fn every_key_gives_an_answer() {
    let dir = scratch();
    {
        let (name, path) = ("everything", fixture("everything"));
        for key in readperf::profile::view::key::KEYS {
            let out = dir.path().join("out");
            let arguments =
                ["report", "--json", "--sort", key.name, path.to_str().unwrap(), "-o", out.to_str().unwrap()];
            tool::answer(&arguments);
            let json: Value = serde_json::from_str(&std::fs::read_to_string(&out).unwrap()).unwrap();
            assert_eq!(json["sort"][0], key.name);
            for event in json["events"].as_array().unwrap() {
                let own: u64 = event["rows"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|row| row["self_period"].as_u64().unwrap())
                    .sum();
                assert_eq!(Some(own), event["period"].as_u64(), "{name} by {}", key.name);
            }
        }
    }
}
