//! Stacks that are changed to be read: `report`, `diff`, `timeline` and the exports against what is done here with the stacks that
//! `script --json` tells.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod oracle;

use oracle::{fixture, kind, tool};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// A level of a stack.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Level {
    /// Its name, or the binary of what has none.
    label: String,
    dso: String,
    named: bool,
}

/// Stacks, the outermost level first, and their period.
type Stacks = Vec<(Vec<Level>, u64)>;

/// A change of stacks, made by hand.
type ByHand = fn(Vec<Level>) -> Option<Vec<Level>>;

fn lines(arguments: &[&str], file: &Path) -> String {
    let programs = kind("").join("bin");
    let mut all = arguments.to_vec();
    all.extend(["--symfs", "/nowhere", "--symbols", programs.to_str().unwrap(), file.to_str().unwrap()]);
    tool::answer(&all)
}

fn stacks(file: &Path, event: &str) -> Stacks {
    let samples = lines(&["script", "--json"], file);
    let samples = samples.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let level = |frame: &Value| {
        let dso = frame["dso"].as_str().unwrap_or("[unknown]").rsplit('/').next().unwrap().to_owned();
        let label = || format!("[{}]", dso.trim_matches(['[', ']']));
        let name = frame["symbol"].as_str();
        Level { label: name.map_or_else(label, str::to_owned), named: name.is_some(), dso }
    };
    samples
        .filter(|sample| sample["event"] == event)
        .map(|sample| {
            let frames = sample["frames"].as_array().unwrap();
            (frames.iter().rev().map(level).collect(), sample["period"].as_u64().unwrap())
        })
        .collect()
}

/// What each stack stands for after a change, as folded stacks have it.
fn folded_by_hand(stacks: &Stacks, change: ByHand) -> BTreeMap<String, u64> {
    let mut folded = BTreeMap::new();
    for (levels, period) in stacks {
        let Some(levels) = change(levels.clone()) else { continue };
        let names: Vec<String> = levels.into_iter().map(|level| level.label.replace(';', ":")).collect();
        let names = if names.is_empty() { "[hidden]".to_owned() } else { names.join(";") };
        *folded.entry(names).or_default() += period;
    }
    folded
}

fn folded(options: &[&str], file: &Path, event: &str) -> BTreeMap<String, u64> {
    let text = lines(&[&["export", "--format", "folded", "--event", event], options].concat(), file);
    let mut folded: BTreeMap<String, u64> = BTreeMap::new();
    for line in text.lines() {
        let (stack, period) = line.rsplit_once(' ').unwrap();
        let (_, stack) = stack.split_once(';').unwrap();
        *folded.entry(stack.to_owned()).or_default() += period.parse::<u64>().unwrap();
    }
    folded
}

fn has(level: &Level, part: &str) -> bool {
    level.named && level.label.contains(part)
}

fn without_repeats(levels: Vec<Level>, is_repeat: fn(&Level, &Level) -> bool) -> Vec<Level> {
    let mut kept: Vec<Level> = Vec::new();
    let mut last: Option<Level> = None;
    for level in levels {
        if !last.as_ref().is_some_and(|last| is_repeat(last, &level)) {
            kept.push(level.clone());
        }
        last = Some(level);
    }
    kept
}

/// The flags, and what they do.
const CHANGES: [(&[&str], ByHand); 7] = [
    (&["--hide", "insert"], |levels| {
        Some(levels.into_iter().filter(|level| !has(level, "insert")).collect())
    }),
    (&["--show", "grow|main"], |levels| {
        Some(levels.into_iter().filter(|level| has(level, "grow") || has(level, "main")).collect())
    }),
    (&["--show-from", "grow"], |levels| {
        let root = levels.iter().position(|level| has(level, "grow"))?;
        Some(levels[root..].to_vec())
    }),
    (&["--collapse-recursion"], |levels| {
        Some(without_repeats(levels, |last, level| level.named && last.label == level.label))
    }),
    (&["--collapse", "libc.so.6,[kernel.kallsyms]"], |levels| {
        let is_repeat = |last: &Level, level: &Level| {
            last.dso == level.dso && ["libc.so.6", "[kernel.kallsyms]"].contains(&level.dso.as_str())
        };
        Some(without_repeats(levels, is_repeat))
    }),
    (&["--drop-prefix", "forest::"], |mut levels| {
        levels.iter_mut().filter(|level| level.named).for_each(|level| {
            level.label = level.label.strip_prefix("forest::").unwrap_or(&level.label).to_owned();
        });
        Some(levels)
    }),
    // One after the other.
    (&["--show-from", "grow", "--hide", "below", "--drop-prefix", "forest::"], |levels| {
        let root = levels.iter().position(|level| has(level, "grow"))?;
        let shown = levels[root..].iter().filter(|level| !has(level, "below")).cloned();
        let shown = shown.map(|level| Level {
            label: level.label.strip_prefix("forest::").unwrap_or(&level.label).to_owned(),
            ..level
        });
        Some(shown.collect())
    }),
];

const RECORDINGS: [(&str, &str); 3] =
    [("dwarf", "cpu-clock:u"), ("multi", "cpu-clock"), ("everything", "cpu-clock")];

#[test]
fn stacks_are_changed_as_by_hand() {
    let mut changed = 0;
    for (name, event) in RECORDINGS {
        let file = fixture(name);
        let stacks = stacks(&file, event);
        let as_recorded = folded(&[], &file, event);
        assert_eq!(as_recorded, folded_by_hand(&stacks, Some), "{name}: the stacks themselves");
        for (options, change) in CHANGES {
            let expected = folded_by_hand(&stacks, change);
            changed += usize::from(expected != as_recorded);
            assert_eq!(folded(options, &file, event), expected, "{name} {options:?}");
        }
    }
    assert!(changed > 10, "{changed}");
}

/// Functions that are left out have no row, and what they took is their callers'.
#[test]
fn reports_have_the_same_sums() {
    for (name, event) in RECORDINGS {
        let file = fixture(name);
        let stacks = stacks(&file, event);
        for (options, change) in CHANGES {
            let mut expected: BTreeMap<String, u64> = BTreeMap::new();
            for (stack, period) in folded_by_hand(&stacks, change) {
                let mut names: Vec<&str> = stack.split(';').filter(|name| !name.starts_with('[')).collect();
                names.sort_unstable();
                names.dedup();
                names.into_iter().for_each(|name| *expected.entry(name.to_owned()).or_default() += period);
            }
            let graph = ["report", "--children", "--json", "--sort", "inlined", "--event", event];
            for more in [&[][..], &["-g", "caller"]] {
                let report = lines(&[&graph, more, options].concat(), &file);
                let report: Value = serde_json::from_str(&report).unwrap();
                let events = report["events"].as_array().unwrap().iter();
                let rows =
                    events.filter(|of| of["name"] == event).flat_map(|of| of["rows"].as_array().unwrap());
                let (mut own, mut total) = (0, BTreeMap::<String, u64>::new());
                for row in rows {
                    own += row["self_period"].as_u64().unwrap();
                    let Some(name) = row["inlined"].as_str().filter(|name| !name.starts_with("0x")) else {
                        continue;
                    };
                    let name = name.strip_suffix(" (inlined)").unwrap_or(name).replace(';', ":");
                    *total.entry(name).or_default() += row["total_period"].as_u64().unwrap();
                }
                total.remove("[hidden]");
                let periods: u64 = folded_by_hand(&stacks, change).values().sum();
                assert_eq!(own, periods, "{name} {options:?} {more:?}: every sample once");
                for (function, period) in &expected {
                    // What is a function of its own in some places and inlined in others has two rows; a stack with both counts in both.
                    let reported = total.get(function).copied().unwrap_or_default();
                    assert!(
                        reported >= *period,
                        "{name} {options:?} {more:?}: {function}: {reported}, {period}"
                    );
                }
                let unknown: Vec<&String> =
                    total.keys().filter(|name| !expected.contains_key(*name)).collect();
                assert_eq!(unknown, [""; 0], "{name} {options:?} {more:?}");
            }
        }
    }
}

/// Every export takes stacks with changed places, and every command that has the flags.
#[test]
fn every_output_takes_changed_stacks() {
    let file = fixture("dwarf");
    for format in readperf::output::export::FORMATS {
        if format.binary {
            continue;
        }
        let text = lines(&["export", "--format", format.name, "--hide", "insert"], &file);
        assert!(!text.contains("insert_below"), "{}", format.name);
        assert!(text.contains("grow"), "{}", format.name);
    }
    let map = |options: &[&str]| {
        let map = lines(&[&["timeline", "--json"], options].concat(), &file);
        serde_json::from_str::<Value>(&map).unwrap()
    };
    let samples = |map: &Value| map["events"][0]["samples"].as_u64();
    assert!(
        samples(&map(&["--show-from", "grow"])) < samples(&map(&[])),
        "{:?}",
        map(&[])["events"][0]["samples"]
    );
    let file = file.to_str().unwrap();
    let diff = |options: &[&str]| {
        lines(&[&["diff", "--json", "--by", "function"], options, &[file]].concat(), Path::new(file))
    };
    assert!(diff(&[]).contains("insert") && !diff(&["--hide", "insert"]).contains("insert"));
}

/// A viewer goes into a subtree by its functions, not by patterns; and choosing by what was recorded needs no other pass.
#[test]
fn subtrees_and_filters_apply_to_columns() {
    use readperf::profile::{Functions, Keep, SampleFilter, Selection, Times, Transform, Weight};
    use readperf::{PassOptions, Request, symbols};
    let file = fixture("dwarf");
    let symbols = symbols::Options {
        symfs: Some("/nowhere".into()),
        search_dirs: vec![kind("").join("bin")],
        inlines: true,
        ..symbols::Options::default()
    };
    let request = Request {
        pass: PassOptions { stacks: true, unwind: Some(symbols.clone()), ..PassOptions::default() },
        symbols,
        keep: Keep { stacks: true, times: Times::Each, ..Keep::default() },
        ..Request::default()
    };
    let recording = readperf::perffile::Recording::open(&file).unwrap();
    let analysis = readperf::analyse(&recording, &request).unwrap();
    let (profile, session) = (&analysis.profile, &analysis.session);
    let levels = |profile: &readperf::profile::Profile, row: &readperf::profile::SampleRow| {
        let places: Vec<_> = profile.stacks().places(row.stack).collect();
        let levels =
            places.iter().rev().flat_map(|place| profile.levels_at(*place).rev().map(|level| level.function));
        levels.collect::<Vec<_>>()
    };
    let deepest = profile.rows().iter().map(|row| levels(profile, &row)).max_by_key(Vec::len).unwrap();
    for depth in [1, 2, 5, deepest.len()] {
        let path = deepest[..depth].to_vec();
        let transforms = vec![Transform::Subtree(
            path.iter().map(|function| Functions::These([*function].into())).collect(),
        )];
        let changed = profile.chosen(&Selection { transforms, ..Selection::default() }, session);
        let below =
            profile.rows().iter().map(|row| levels(profile, &row)).filter(|levels| levels.starts_with(&path));
        let expected: Vec<_> = below.map(|levels| levels[depth - 1..].to_vec()).collect();
        let found: Vec<_> = changed.rows().iter().map(|row| levels(&changed, &row)).collect();
        assert!(!found.is_empty());
        assert_eq!(found, expected, "the first {depth} of {}", deepest.len());
        assert_eq!(changed.events()[0].samples, expected.len() as u64);
    }
    let times: Vec<u64> = profile.rows().iter().map(|row| row.time_ns).collect();
    let (from, to) = (times[times.len() / 4], times[times.len() / 2]);
    let samples = SampleFilter { times_ns: vec![from..=to], ..SampleFilter::default() };
    let chosen = profile.chosen(&Selection { samples, ..Selection::default() }, session);
    let expected = times.iter().filter(|time| (from..=to).contains(time)).count();
    assert_eq!(chosen.rows().len(), expected);
    assert!(expected > 0 && expected < times.len());
    // What is chosen by shares all else with the whole, and the whole stays as it was.
    assert!(std::ptr::eq(chosen.names(), profile.names()) && std::ptr::eq(chosen.stacks(), profile.stacks()));
    let before: Vec<_> = profile.rows().iter().map(|row| levels(profile, &row)).collect();
    let hidden = vec![Transform::Hide(Functions::These(before[0].iter().copied().take(1).collect()))];
    let selection = Selection { weight: Weight::Samples, transforms: hidden, ..Selection::default() };
    let hidden = profile.chosen(&selection, session);
    assert_eq!((profile.weight(), hidden.weight()), (Weight::Period, Weight::Samples));
    let after: Vec<_> = profile.rows().iter().map(|row| levels(profile, &row)).collect();
    assert_eq!(after, before);
    assert!(hidden.rows().iter().all(|row| !levels(&hidden, &row).contains(&before[0][0])));
}
