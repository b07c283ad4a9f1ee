//! Firefox Profiler: checked against the documentation of the processed format (docs-developer: CHANGELOG-formats and
//! the types of version 57), and read by it.

pub(crate) use crate::firefox_rules::assert_shape;
use crate::handmade::{Attr, CODE, PID, Pipe, Sample};
use crate::oracle::{fixture, tool};
use crate::run::{self, Stacks, assert_stacks, events, recordings, weights};
use crate::stacks::{names, number};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

pub(crate) fn profile(file: &Path, more: &[&str]) -> Value {
    run::json(&run::unzipped(&run::export("firefox", file, more)))
}

pub(crate) fn threads(profile: &Value) -> &Vec<Value> {
    profile["threads"].as_array().unwrap()
}

/// A weight in ns of a number of ms, exactly.
fn nanoseconds(weight: &Value) -> u64 {
    let text = weight.to_string();
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    assert!(part.len() <= 6, "{text} ms is whole ns");
    format!("{whole}{part:0<6}").parse().unwrap()
}

fn stacks(profile: &Value) -> Stacks {
    let mut stacks = Stacks::new();
    for thread in threads(profile) {
        let samples = &thread["samples"];
        for row in 0..samples["length"].as_u64().unwrap() {
            let stack = number(samples, "stack", row).unwrap();
            let weight = &samples["weight"][row as usize];
            let weight = match samples["weightType"].as_str().unwrap() {
                "tracing-ms" => nanoseconds(weight),
                "samples" if samples["weight"].is_null() => 1,
                "samples" => weight.as_u64().unwrap(),
                other => panic!("weight type {other}"),
            };
            *stacks.entry(names(profile, thread, stack)).or_default() += weight;
        }
    }
    stacks
}

#[test]
fn weights_are_those_of_folded_stacks_and_totals_those_of_stats() {
    for file in recordings() {
        for (event, ..) in events(&file) {
            for weight in weights(&file) {
                let profile = profile(&file, &["--event", &event, "--weight", weight]);
                assert_shape(&profile);
                assert_stacks("firefox", &file, &event, &stacks(&profile), weight);
            }
        }
    }
}

/// Inlined functions lie above the function that they are in, at the same address.
#[test]
fn inlined_functions_have_their_depth() {
    let profile = profile(&fixture("main"), &[]);
    let mut inlined = 0;
    for thread in threads(&profile) {
        for stack in 0..thread["stackTable"]["length"].as_u64().unwrap() {
            let frame = number(&thread["stackTable"], "frame", stack).unwrap();
            let depth = number(&thread["frameTable"], "inlineDepth", frame).unwrap();
            if depth == 0 {
                continue;
            }
            inlined += 1;
            let caller = number(&thread["stackTable"], "prefix", stack).unwrap();
            let outer = number(&thread["stackTable"], "frame", caller).unwrap();
            let same = |column: &str| {
                assert_eq!(
                    thread["frameTable"][column][frame as usize],
                    thread["frameTable"][column][outer as usize],
                    "{column}"
                );
            };
            same("address");
            same("nativeSymbol");
            assert_eq!(number(&thread["frameTable"], "inlineDepth", outer), Some(depth - 1));
        }
    }
    assert!(inlined > 0, "the fixture has inlined functions");
}

/// Symbols are as large as the symbol table of the binary says.
#[test]
fn functions_have_their_sizes() {
    let binary = fixture("main").with_file_name("work");
    let Ok(output) = std::process::Command::new("nm").arg("-S").arg(&binary).output() else {
        eprintln!("**** no nm: sizes of functions are not compared ****");
        return;
    };
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().filter_map(|line| line.split_once(" T ").or_else(|| line.split_once(" t ")));
    let sizes: BTreeMap<&str, u64> = lines
        .filter_map(|(numbers, name)| Some((name, numbers.split_once(' ')?.1)))
        .map(|(name, size)| (name, u64::from_str_radix(size, 16).unwrap()))
        .collect();
    let profile = profile(&fixture("main"), &[]);
    let mut compared = 0;
    for thread in threads(&profile) {
        let symbols = &thread["nativeSymbols"];
        for row in 0..symbols["length"].as_u64().unwrap() {
            let name = number(symbols, "name", row).unwrap() as usize;
            let name = profile["shared"]["stringArray"][name].as_str().unwrap();
            if let Some(size) = sizes.get(name) {
                assert_eq!(number(symbols, "functionSize", row), Some(*size), "{name}");
                compared += 1;
            }
        }
    }
    assert!(compared > 3, "{compared} of {}", sizes.len());
}

/// Samples of the events that are not shown are markers, and lose nothing of their periods. Those of a process that are enough
/// for a graph are a counter, too.
#[test]
fn other_events_are_markers_and_counters() {
    let file = fixture("multi");
    let profile = profile(&file, &[]);
    assert_shape(&profile);
    let mut graphs = 0;
    let by_samples = self::profile(&file, &["--weight", "samples"]);
    for (event, samples, period) in events(&file).into_iter().skip(1) {
        let mut processes: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        for thread in threads(&profile) {
            let markers = &thread["markers"];
            let sums = processes.entry(thread["pid"].as_str().unwrap()).or_default();
            for row in 0..markers["length"].as_u64().unwrap() {
                let name = number(markers, "name", row).unwrap();
                if profile["shared"]["stringArray"][name as usize] == event.as_str() {
                    let data = &markers["data"][row as usize];
                    sums.0 += 1;
                    sums.1 += data["period"].as_u64().unwrap();
                    let stack = data["cause"]["stack"].as_u64().unwrap();
                    assert!(!names(&profile, thread, stack).is_empty());
                }
            }
        }
        let all = processes.values().fold((0, 0), |all, sums| (all.0 + sums.0, all.1 + sums.1));
        assert_eq!(all, (samples, period), "{event}");
        for (pid, (samples, period)) in processes {
            let enough = samples >= 10;
            let expected = |sum: u64| enough.then_some(sum);
            assert_eq!(counted(&profile, &event, pid), expected(period), "{event} of {pid}");
            assert_eq!(counted(&by_samples, &event, pid), expected(samples), "{event} of {pid} by samples");
            graphs += usize::from(enough);
        }
    }
    assert!(graphs > 0);
}

/// What the counter of an event in a process adds up to, if there is one.
fn counted(profile: &Value, event: &str, pid: &str) -> Option<u64> {
    let counters = profile["counters"].as_array().unwrap();
    let counter = counters.iter().find(|counter| counter["name"] == event && counter["pid"] == pid)?;
    Some(counter["samples"]["count"].as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).sum())
}

/// A counter has a point a bin, not one a sample, and what is no graph has none: tracepoints, and events of few samples.
#[test]
fn counters_are_graphs() {
    let profile = profile(&fixture("multi"), &[]);
    for counter in profile["counters"].as_array().unwrap() {
        let samples = &counter["samples"];
        let (counts, deltas) = (&samples["count"], samples["timeDeltas"].as_array().unwrap());
        assert_eq!((&counts[0], &deltas[0]), (&0.into(), &0.into()), "a rate needs a point before");
        let widths: Vec<u64> = deltas[1..].iter().map(nanoseconds).collect();
        let (last, bins) = widths.split_last().unwrap();
        let width = widths.iter().min().unwrap();
        assert!(bins.iter().all(|bin| bin % width == 0), "of one width, or several empty ones: {widths:?}");
        assert!(widths.len() < 2 || last < &(2 * bins[0]), "a rest is no bin of its own: {widths:?}");
    }
    let profile = self::profile(&fixture("tracepoints"), &[]);
    assert_eq!(profile["counters"], serde_json::json!([]));
    let kinds = profile["meta"]["markerSchema"].as_array().unwrap();
    assert!(kinds.iter().all(|kind| kind.get("graphs").is_none()), "each would be a track a thread");
    let of_tracepoints = profile["meta"]["categories"].as_array().unwrap();
    let named = |name: &str| of_tracepoints.iter().any(|category| category["name"] == name);
    assert!(named("sched") && named("syscalls"), "{of_tracepoints:?}");
}

/// CPUs on demand: every sample once more, below the name of its thread.
#[test]
fn cpus_have_the_samples_of_their_threads() {
    let file = fixture("everything");
    let plain = profile(&file, &[]);
    let profile = profile(&file, &["--with-cpu"]);
    assert_shape(&profile);
    let (cpus, rest): (Vec<&Value>, Vec<&Value>) =
        threads(&profile).iter().partition(|thread| thread["pid"] == "CPUs");
    assert_eq!(rest.len(), threads(&plain).len());
    let length = |threads: &[&Value]| -> u64 {
        threads.iter().map(|thread| thread["samples"]["length"].as_u64().unwrap()).sum()
    };
    assert!(!cpus.is_empty() && length(&cpus) == length(&rest));
    for cpu in &cpus {
        for row in 0..cpu["samples"]["length"].as_u64().unwrap() {
            let stack = names(&profile, cpu, number(&cpu["samples"], "stack", row).unwrap());
            let (thread, stack) = stack.split_once(';').unwrap();
            let (_, tid) = thread.trim_end_matches(')').rsplit_once('(').unwrap();
            let same = |of: &&&Value| of["tid"] == tid.parse::<i64>().unwrap();
            let of = rest.iter().find(same).unwrap();
            let rows = 0..of["samples"]["length"].as_u64().unwrap();
            let known = rows.filter_map(|row| number(&of["samples"], "stack", row));
            assert!(
                known.map(|known| names(&profile, of, known)).any(|known| known == stack),
                "{thread}: {stack}"
            );
        }
    }
    let selected = profile["meta"]["initialSelectedThreads"][0].as_u64().unwrap() as usize;
    assert_eq!(threads(&profile)[selected]["pid"], "CPUs");
}

/// The date is that of the recording where it tells; where it does not, there is none: at 0 nothing is shown.
#[test]
fn the_date_is_recorded_or_none() {
    let dir = crate::oracle::scratch();
    let mut pipe = Pipe::new(&[Attr::default()]);
    pipe.map(PID, CODE, "/bin/work", Some(7), 0);
    let write = |pipe: &Pipe| {
        let file = dir.path().join("perf.data");
        std::fs::write(&file, &pipe.bytes).unwrap();
        profile(&file, &[])["meta"].clone()
    };
    let mut undated = pipe.clone();
    undated.sample(&Sample { time: 2_000_000_000, ..Sample::default() });
    assert_eq!(write(&undated)["startTime"], 0);
    // CLOCK_DATA: version, CLOCK_MONOTONIC, a moment as time of day and by the clock of the recording.
    let mut clock = [1u32.to_le_bytes(), 1u32.to_le_bytes()].concat();
    clock.extend(1_700_000_000_000_000_000u64.to_le_bytes());
    clock.extend(1_500_000_000u64.to_le_bytes());
    pipe.feature(29, &clock);
    pipe.sample(&Sample { time: 2_000_000_000, ..Sample::default() });
    pipe.sample(&Sample { time: 2_250_000_000, ..Sample::default() });
    let meta = write(&pipe);
    assert_eq!(meta["startTime"], serde_json::json!(1_700_000_000_500u64), "half a second after");
    assert_eq!(meta["startTimeAsClockMonotonicNanosecondsSinceBoot"], 2_000_000_000u64);
    assert_eq!(
        (&meta["profilingStartTime"], &meta["profilingEndTime"]),
        (&0.into(), &250.001.into()),
        "the last sample has its interval"
    );
}

/// Who was recorded where and how, with the path of the recorder.
#[test]
fn titles_name_program_host_and_command() {
    let profile = profile(&fixture("main"), &[]);
    let info = tool::json("info", &fixture("main"));
    let words = info["features"]["cmdline"].as_array().unwrap();
    let command: Vec<&str> = words.iter().map(|word| word.as_str().unwrap()).collect();
    assert!(command[0].ends_with("/perf") && command[1] == "record", "{command:?}");
    let host = info["features"]["hostname"].as_str().unwrap();
    assert_eq!(profile["meta"]["product"], format!("work on {host}: {}", command.join(" ")));
    assert_eq!(profile["meta"]["arguments"], command.join(" "));
    let titled = self::profile(&fixture("main"), &["--title", "before"]);
    assert_eq!(titled["meta"]["product"], "before");
}

/// The samples of all threads lie between the first and the last that `stats` has.
#[test]
fn times_are_those_of_stats() {
    let file = fixture("multi");
    let profile = profile(&file, &[]);
    let stats = tool::json("stats", &file);
    let span = tool::number(&stats["last_time_ns"]) - tool::number(&stats["first_time_ns"]);
    let mut latest = 0;
    for thread in threads(&profile) {
        let deltas = thread["samples"]["timeDeltas"].as_array().unwrap();
        latest = latest.max(deltas.iter().map(nanoseconds).sum());
        assert!(deltas.iter().all(|delta| delta.as_f64().unwrap() >= 0.0));
    }
    let markers =
        threads(&profile).iter().flat_map(|thread| thread["markers"]["startTime"].as_array().unwrap());
    let latest = markers.filter(|time| !time.is_null()).map(nanoseconds).fold(latest, u64::max);
    assert_eq!(latest, span);
}
