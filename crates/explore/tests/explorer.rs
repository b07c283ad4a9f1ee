//! The tables of an explorer against those that a profile read for the question alone gives, as `report` makes them.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use perffile::Recording;
use readperf_analysis::{Analysis, PassOptions, Request, analyse_detailed};
use readperf_explore::{Direction, Explorer, Flame, Label, Opening, RowOptions, State, Step};
use readperf_profile::view::column::Column;
use readperf_profile::view::facts::Facts;
use readperf_profile::view::graph::{GraphOptions, GraphOrder};
use readperf_profile::view::histogram::{
    Frames, Histogram, HistogramOptions, HistogramRow, Histograms, Numbers, RowKey, RowValues,
};
use readperf_profile::view::key::{KeyUse, by_name};
use readperf_profile::view::surroundings::Surroundings;
use readperf_profile::view::time_strip::Parts;
use readperf_profile::{DetailOptions, Functions, Keep, Level, Profile, Selection, Transform, Value, Weight};
use readperf_symbols::{Files, Options};
use regex::Regex;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const FIXTURES: [&str; 4] = ["main", "multi", "threads", "dwarf"];

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures").join(name)
}

fn symbols(name: &str) -> Options {
    Options { search_dirs: vec![fixture(name)], inlines: true, cache: None, ..Options::default() }
}

fn request(name: &str) -> Request {
    let symbols = symbols(name);
    Request {
        pass: PassOptions { stacks: true, unwind: Some(symbols.clone()), ..PassOptions::default() },
        symbols,
        ..Request::default()
    }
}

fn explorer<'f>(files: &'f Files, name: &str) -> Explorer<'f> {
    let recording = Recording::open(fixture(name).join("perf.data")).unwrap();
    let opening = Opening { request: request(name), ..Opening::default() };
    Explorer::open(files, &recording, &opening, |_| ()).unwrap()
}

fn pattern(text: &str) -> Functions {
    Functions::Matching(Regex::new(text).unwrap())
}

/// A server may keep it on a thread of its own.
const _: fn() = || {
    fn is_send<T: Send>() {}
    is_send::<Explorer<'static>>();
};

/// What is looked at in the tests, step by step.
fn ways() -> Vec<Vec<Step>> {
    vec![
        vec![],
        vec![Step::binary("multi")],
        vec![Step::ignore("^main$").unwrap()],
        vec![Step::focus("main").unwrap(), Step::Stacks(Transform::CollapseRecursion)],
        vec![Step::Stacks(Transform::Hide(pattern("^(main|_start)$")))],
        vec![Step::Stacks(Transform::ShowFrom(pattern("main"))), Step::focus("work|fib|spin").unwrap()],
        vec![Step::cpu(0)],
        vec![Step::comm(b"nobody")],
        // Everything hidden; one change behind another, with choices between them.
        vec![Step::Stacks(Transform::Hide(pattern("")))],
        vec![Step::Stacks(Transform::Show(pattern("^(main|work|fib|spin)")))],
        vec![Step::Stacks(Transform::Hide(pattern("work|fib"))), Step::ignore("spin").unwrap()],
        vec![
            Step::Stacks(Transform::Hide(pattern("^_start$"))),
            Step::binary("multi"),
            Step::Stacks(Transform::CollapseRecursion),
            Step::Stacks(Transform::Hide(pattern("a"))),
        ],
        vec![Step::Stacks(Transform::CollapseBinaries(vec!["libc.so.6".into(), "[kernel.kallsyms]".into()]))],
        vec![
            Step::Stacks(Transform::CollapseRecursion),
            Step::Stacks(Transform::DropPrefix("__".into())),
            Step::Stacks(Transform::ShowFrom(pattern("main"))),
            Step::Stacks(Transform::Hide(pattern("main"))),
        ],
    ]
}

fn text(facts: &Facts<'_>, value: Value) -> String {
    match value {
        Value::Comm(comm) => facts.session.comm(comm).escape_ascii().to_string(),
        Value::Binary(id) => id
            .map_or_else(String::new, |id| facts.session.binary(id).unwrap().name.escape_ascii().to_string()),
        Value::Function { function, inlined } => {
            format!(
                "{}{}",
                facts.profile.function(function).unwrap().label(),
                if inlined { " (inlined)" } else { "" }
            )
        }
        other => format!("{other:?}"),
    }
}

type Line = (Vec<String>, Numbers);

fn lines(histogram: &Histogram, facts: &Facts<'_>, values: &RowValues) -> Vec<Line> {
    let line = |row: &HistogramRow| {
        (values.values(row.key).map(|value| text(facts, value)).collect(), row.numbers.clone())
    };
    histogram.rows.iter().map(line).collect()
}

/// A frame of calls: depth, name, period, samples, own period, own samples.
type Frame = (u32, String, u64, u64, u64, u64);

/// A recording as it is read for a report, with or without call graphs.
fn read(name: &str, with_graphs: bool) -> Analysis {
    let recording = Recording::open(fixture(name).join("perf.data")).unwrap();
    let mut request = request(name);
    request.keep = Keep { stacks: true, cpus: true, ..Keep::default() };
    let details = DetailOptions { whole_stacks: !with_graphs, ..DetailOptions::default() };
    analyse_detailed(&recording, &request, &details, |_, _| perffile::Result::Ok(())).unwrap()
}

/// What is left of a recording, worked out from the start.
fn chosen(analysis: &Analysis, steps: &[Step]) -> Profile {
    let mut profile = analysis.profile.clone();
    for step in steps {
        let selection = match step.clone() {
            Step::Samples(samples) => Selection { samples, ..Selection::default() },
            Step::Names(names) => Selection { names, ..Selection::default() },
            Step::Stacks(transform) => Selection { transforms: vec![transform], ..Selection::default() },
        };
        profile.choose(&selection, &analysis.session);
    }
    profile
}

/// Rows, and with an order the call graph of each, as a report makes them.
fn reported(
    analysis: &Analysis,
    steps: &[Step],
    keys: &[&str],
    order: Option<GraphOrder>,
) -> Vec<(Line, Vec<Frame>)> {
    let profile = chosen(analysis, steps);
    let surroundings = Surroundings::default();
    let facts = Facts::new(&profile, &analysis.session, &surroundings);
    let options = HistogramOptions {
        keys: self::keys(keys),
        children: true,
        inline: true,
        graph: order.map(|order| GraphOptions { order, most: usize::MAX, ..GraphOptions::default() }),
        ..HistogramOptions::default()
    };
    let mut histograms = Histograms::new(facts, &options);
    let Some(mut histogram) = histograms.of_event(0) else { return Vec::new() };
    let (facts, values) = (&histograms.facts, &histograms.values);
    histogram.sort(&[Column::Children], 0, facts, values);
    let graph = |row: &HistogramRow| -> Vec<Frame> {
        let frames = histogram.graph(row).unwrap_or_default().frames;
        let frame = |frame: &readperf_profile::view::graph::GraphNode| {
            let name = text(facts, histograms.frames().says(frame.frame));
            (frame.depth, name, frame.period, frame.samples, frame.own, frame.own_samples)
        };
        frames.iter().map(frame).collect()
    };
    let rows = lines(&histogram, facts, values);
    rows.into_iter().zip(histogram.rows.iter().map(graph)).collect()
}

/// Opens each fixture, and changes its stacks in each way. `check` gets what is looked at, the same read for reports, and the state with the
/// changes, to which nothing has gone yet.
fn changed_in_each_way(with_graphs: bool, mut check: impl FnMut(&str, &mut Explorer<'_>, &Analysis, State)) {
    for name in FIXTURES {
        let files = Files::new();
        let mut explorer = explorer(&files, name);
        let start = explorer.state().clone();
        let analysis = read(name, with_graphs);
        for steps in ways() {
            check(name, &mut explorer, &analysis, State { steps, ..start.clone() });
        }
    }
}

fn keys(names: &[&str]) -> Vec<KeyUse> {
    names.iter().map(|name| by_name(name).unwrap().into()).collect()
}

fn shown(explorer: &Explorer<'_>) -> Vec<Line> {
    let rows = explorer.rows();
    lines(rows.histogram, &rows.facts, rows.values)
}

#[test]
fn rows_are_those_of_a_report() {
    changed_in_each_way(false, |name, explorer, analysis, start| {
        let steps = &start.steps;
        for keys in [&["comm", "dso", "symbol"][..], &["symbol"], &["cpu", "dso"], &["srcline", "symbol"]] {
            let mut state = start.clone();
            state.rows.keys = self::keys(keys);
            explorer.go(state);
            let expected: Vec<Line> =
                reported(analysis, steps, keys, None).into_iter().map(|(line, _)| line).collect();
            assert_eq!(shown(explorer), expected, "{name}: {keys:?} after {steps:?}");
        }
    });
}

#[test]
fn calls_opened_level_by_level_are_the_call_graph() {
    changed_in_each_way(true, |name, explorer, analysis, state| {
        let steps = state.steps.clone();
        explorer.go(state);
        for (direction, order) in
            [(Direction::Callers, GraphOrder::Callee), (Direction::Callees, GraphOrder::Caller)]
        {
            let expected = reported(analysis, &steps, &["comm", "dso", "symbol"], Some(order));
            let keys: Vec<_> = explorer.rows().histogram.rows.iter().map(|row| row.key).collect();
            assert_eq!(keys.len(), expected.len());
            for (key, (line, graph)) in keys.into_iter().zip(expected) {
                let mut calls = explorer.open_calls_in(key, direction);
                calls.open_all(explorer, usize::MAX);
                let frames = explorer.frames().unwrap();
                let facts = &explorer.rows().facts;
                let opened: Vec<Frame> = calls.lines.iter().map(|line| frame(line, facts, frames)).collect();
                assert_eq!(opened, graph, "{name}: {direction:?} of {line:?} after {steps:?}");
            }
        }
    });
}

fn frame(line: &readperf_explore::CallLine, facts: &Facts<'_>, frames: &Frames) -> Frame {
    let frame = line.frame.as_ref().unwrap();
    let name = text(facts, frames.says(frame.frame));
    (line.depth, name, frame.period, frame.samples, frame.own, frame.own_samples)
}

#[test]
fn lines_close_as_they_were_opened() {
    let files = Files::new();
    let mut explorer = explorer(&files, "multi");
    let key = explorer.rows().histogram.rows[0].key;
    let before = explorer.open_calls_in(key, Direction::Below);
    assert_eq!(before.lines.len(), 1, "the row itself");
    let mut calls = before.clone();
    calls.open_all(&mut explorer, usize::MAX);
    assert!(calls.lines.len() > 1);
    assert_eq!(calls.parent(1), Some(0));
    let total = explorer.rows().histogram.rows[0].numbers.total_period;
    assert_eq!(calls.lines[0].frame.as_ref().unwrap().period, total);
    let own: u64 = calls.lines.iter().filter_map(|line| Some(line.frame.as_ref()?.own)).sum();
    assert_eq!(own, total, "what ends in each frame is all of it");
    calls.close(0);
    assert_eq!(calls.lines.len(), 1);
}

#[test]
fn what_is_taken_back_is_as_before() {
    let files = Files::new();
    let mut explorer = explorer(&files, "threads");
    let start = explorer.state().clone();
    let picture = |explorer: &Explorer<'_>| {
        format!("{:?} {:?}", shown(explorer), explorer.flame().window(Flame::ROOT, 1_000_000, 1000).cells)
    };
    let before = picture(&explorer);
    let mut state = start.clone();
    for step in ways().into_iter().flatten() {
        state.steps.push(step);
        explorer.go(state.clone());
        let _ = picture(&explorer);
    }
    while state.steps.pop().is_some() {
        explorer.go(state.clone());
    }
    assert_eq!((explorer.state(), picture(&explorer)), (&start, before));
    // Another order is the same rows.
    state.rows.order = vec![Column::Key(2)];
    explorer.go(state);
    assert_ne!(shown(&explorer).first(), None);
    explorer.go(start.clone());
    let files = Files::new();
    assert_eq!(shown(&explorer), shown(&self::explorer(&files, "threads")));
}

#[test]
fn flame_graphs_hold_all_samples() {
    for name in FIXTURES {
        let files = Files::new();
        let mut explorer = explorer(&files, name);
        let start = explorer.state().clone();
        for (steps, reversed) in ways().into_iter().flat_map(|steps| [(steps.clone(), false), (steps, true)])
        {
            explorer.go(State { steps, reversed, weight: Weight::Samples, ..start.clone() });
            let samples = explorer.profile().events()[0].samples;
            let window = explorer.flame().window(Flame::ROOT, 1_000_000, 1000);
            assert_eq!(window.cells[0].weight, samples);
            let own: u64 = window.cells.iter().map(|cell| cell.own.samples).sum();
            assert_eq!((own, window.left_out), (samples, 0), "{name}");
            for cell in &window.cells {
                assert!(cell.from + cell.weight <= samples);
            }
        }
    }
}

/// What samples with a stack add up to, by the names from the thread on.
type Folded = BTreeMap<Vec<String>, (u64, u64)>;

fn folded(analysis: &Analysis, steps: &[Step]) -> Folded {
    let profile = chosen(analysis, steps);
    let session = &analysis.session;
    let mut folded = Folded::new();
    for row in profile.rows_of(0) {
        let name = |level: Level| match profile.function(level.function).and_then(|function| function.name())
        {
            Some(name) => name.to_owned(),
            None => {
                let binary =
                    profile.addresses().get(level.address).and_then(|code| session.binary(code.binary?));
                let name =
                    binary.map_or("[unknown]".into(), |binary| binary.short_name.escape_ascii().to_string());
                if name.starts_with('[') { name } else { format!("[{name}]") }
            }
        };
        let levels = profile.places(&row).flat_map(|place| profile.levels_at(place).map(name));
        let mut names: Vec<String> = levels.collect();
        names.push(session.comm(row.comm).escape_ascii().to_string());
        names.reverse();
        let sum = folded.entry(names).or_default();
        *sum = (sum.0 + row.samples, sum.1 + row.period);
    }
    folded
}

#[test]
fn flame_graphs_are_the_stacks_as_they_are_changed() {
    changed_in_each_way(true, |name, explorer, analysis, state| {
        let steps = state.steps.clone();
        explorer.go(state);
        let (flame, profile, session) = (explorer.flame(), explorer.totals(), explorer.session());
        let label = |node: u32| match flame.label(flame.level(node).unwrap()).unwrap() {
            Label::Comm(comm) => session.comm(comm).escape_ascii().to_string(),
            Label::Frame(frame) => frame.label(profile, session).into_owned(),
            Label::Compared(_) => panic!("it is compared with nothing"),
        };
        let mut got = Folded::new();
        for cell in flame.window(Flame::ROOT, 1_000_000, 1000).cells {
            if let Some(node) = cell.node.filter(|_| cell.own.samples > 0) {
                let way = flame.path(node).into_iter().map(label).collect();
                got.insert(way, (cell.own.samples, cell.own.period));
            }
        }
        assert_eq!(got, folded(analysis, &steps), "{name}: {steps:?}");
        // A sample is one of the kernel where its place is, as it is now.
        let profile = explorer.profile();
        let parts = Parts { range_ns: 1..=u64::MAX, count: 1 };
        assert_eq!(
            explorer.strip(&parts),
            profile.strip(explorer.state().event, &parts),
            "{name}: {steps:?}"
        );
    });
}

#[test]
fn a_window_of_a_flame_graph_is_what_stands_on_a_frame() {
    let files = Files::new();
    let explorer = explorer(&files, "multi");
    let flame = explorer.flame();
    let all = flame.window(Flame::ROOT, 1_000_000, 1000).cells;
    let (at, cell) = all
        .iter()
        .enumerate()
        .filter(|(_, cell)| cell.depth == 2)
        .max_by_key(|(_, cell)| cell.weight)
        .unwrap();
    let above: Vec<(u32, u64, u64)> = all[at..]
        .iter()
        .take(1)
        .chain(all[at + 1..].iter().take_while(|other| other.depth > cell.depth))
        .map(|other| (other.depth - cell.depth, other.from - cell.from, other.weight))
        .collect();
    let window = flame.window(cell.node.unwrap(), 1_000_000, 1000).cells;
    let seen: Vec<(u32, u64, u64)> = window.iter().map(|cell| (cell.depth, cell.from, cell.weight)).collect();
    assert_eq!(seen, above);
    assert_eq!(flame.path(cell.node.unwrap()).len(), 2);
    let narrow = flame.window(Flame::ROOT, 10, 3);
    assert!(narrow.left_out > 0 && narrow.cells.iter().all(|cell| cell.depth < 4));
}

#[test]
fn a_search_finds_the_samples_that_a_focus_leaves() {
    for name in FIXTURES {
        let files = Files::new();
        let mut explorer = explorer(&files, name);
        for text in ["main", "^[a-f]", "no such function"] {
            explorer.go(State::default());
            let found = {
                let (profile, session) = (explorer.profile(), explorer.session());
                let named = |label: Label<'_>| match label {
                    Label::Frame(frame) if frame.named => {
                        Cow::Owned(frame.label(profile, session).into_owned())
                    }
                    _ => Cow::Borrowed(""),
                };
                explorer.flame().matching(&Regex::new(text).unwrap(), named).sum
            };
            explorer.go(State { steps: vec![Step::focus(text).unwrap()], ..State::default() });
            let left = &explorer.profile().events()[0];
            assert_eq!((found.samples, found.period), (left.samples, left.period), "{name}: {text}");
        }
    }
}

#[test]
fn parts_of_a_strip_are_what_a_step_to_their_time_leaves() {
    let files = Files::new();
    let mut explorer = explorer(&files, "threads");
    let start = explorer.state().clone();
    let parts = Parts { range_ns: explorer.times_ns().unwrap(), count: 7 };
    let strip = explorer.strip(&parts);
    let total = explorer.profile().events()[0].clone();
    assert_eq!((strip.total.samples, strip.total.period), (total.samples, total.period));
    let threads = explorer.thread_strips(&parts, 2);
    let shown: u64 = threads.threads.iter().map(|(_, strip)| strip.total.samples).sum();
    assert!(shown <= total.samples && threads.threads.len() <= 2);
    for (part, sum) in strip.parts.iter().enumerate() {
        explorer.go(State { steps: vec![Step::time(parts.times(part))], ..start.clone() });
        let left = &explorer.profile().events()[0];
        assert_eq!((sum.samples, sum.period), (left.samples, left.period), "part {part}");
    }
}

#[test]
fn code_has_the_samples_of_its_row() {
    let files = Files::new();
    let mut explorer = explorer(&files, "multi");
    let mut state = explorer.state().clone();
    state.rows.keys = keys(&["symbol"]);
    explorer.go(state);
    let rows: Vec<(Value, u64)> = {
        let rows = explorer.rows();
        let row = |row: &HistogramRow| (rows.values.value(row.key, 0), row.numbers.self_period);
        rows.histogram.rows.iter().map(row).collect()
    };
    let mut listed = 0;
    for (value, own) in rows.into_iter().filter(|(_, own)| *own > 0) {
        let Value::Function { function, inlined: false } = value else { continue };
        let listing = explorer.listing(function, false).unwrap();
        assert_eq!(listing.numbers[0].own.period, own);
        listed += 1;
    }
    assert!(listed > 0);
}

#[test]
fn nothing_has_changed_since_the_same_recording() {
    let mut several = false;
    for name in ["threads", "multi"] {
        let files = Files::new();
        let mut explorer = explorer(&files, name);
        assert_eq!(explorer.changes().map(|_| ()), None, "nothing to compare with");
        let recording = Recording::open(fixture(name).join("perf.data")).unwrap();
        let mut request = request(name);
        request.keep.stacks = true;
        explorer.set_base(readperf_analysis::analyse(&recording, &request).unwrap());
        for steps in [vec![], vec![Step::focus("main").unwrap()], vec![Step::focus("[a-m]").unwrap()]] {
            explorer.go(State { steps, ..explorer.state().clone() });
            several |= has_no_changes(&explorer);
        }
    }
    assert!(several, "several addresses of one binary");
}

/// Where no function has a name, code of a binary weighs in a comparison what its row in a table by binary does: each sample once, however
/// often the binary is in its stack.
#[test]
fn code_without_names_counts_once_in_each_stack() {
    for name in ["main", "multi"] {
        let files = Files::new();
        let symbols = Options { symfs: Some("/nonexistent".into()), cache: None, ..Options::default() };
        let pass = PassOptions { stacks: true, ..PassOptions::default() };
        let mut request = Request { symbols, pass, ..Request::default() };
        let recording = Recording::open(fixture(name).join("perf.data")).unwrap();
        let opening = Opening { request: request.clone(), ..Opening::default() };
        let mut explorer = Explorer::open(&files, &recording, &opening, |_| ()).unwrap();
        request.keep.stacks = true;
        explorer.set_base(readperf_analysis::analyse(&recording, &request).unwrap());
        let state = explorer.state().clone();
        explorer.go(State { rows: RowOptions { keys: keys(&["dso"]), ..state.rows.clone() }, ..state });
        let rows = explorer.rows();
        let session = explorer.session();
        let total = |row: &HistogramRow| {
            let Value::Binary(id) = rows.values.value(row.key, 0) else { panic!("another key") };
            let binary =
                id.and_then(|id| session.binary(id)).map_or(&b"unknown"[..], |known| &known.short_name);
            let label = readperf_profile::frames::unnamed(String::from_utf8_lossy(binary));
            (label.into_owned(), row.numbers.total_period)
        };
        let expected: BTreeMap<String, u64> = rows.histogram.rows.iter().map(total).collect();
        let sums = explorer.upright_compared_flame().unwrap().unnamed();
        // The C library is found by its build-id where there is one with it.
        assert!(sums.len() > 1, "{name}: {sums:?}");
        for (label, sum) in sums {
            assert_eq!(expected.get(label), Some(&sum.period), "{name}: {label}");
        }
    }
}

/// Nothing has changed: says whether several addresses without a name are one row of the comparison.
fn has_no_changes(explorer: &Explorer<'_>) -> bool {
    let (changes, rows) = (explorer.changes().unwrap(), explorer.rows());
    let own = |key: &RowKey| {
        let row = rows.histogram.rows.iter().find(|row| row.key == *key);
        row.map_or(0, |row| row.numbers.samples)
    };
    // Addresses without a name have no change each, but one a binary.
    let unnamed: Vec<RowKey> = changes.unnamed.iter().flat_map(|one| one.rows.iter().copied()).collect();
    assert!(unnamed.iter().all(|key| !changes.rows.contains_key(key)));
    let named = rows.histogram.rows.iter().map(|row| row.key).filter(|key| !unnamed.contains(key));
    assert_eq!(named.filter(|key| own(key) > 0).count(), changes.rows.len());
    assert_eq!(changes.gone.len(), 0);
    let told = changes.unnamed.iter().filter_map(|one| one.change);
    assert!(changes.rows.values().copied().chain(told).all(|change| change.before == change.now));
    for one in &changes.unnamed {
        let samples: u64 = one.rows.iter().map(own).sum();
        assert_eq!(one.change.is_some(), samples > 0, "{:?}", one.key);
        assert_eq!(changes.unnamed.iter().filter(|other| other.key == one.key).count(), 1);
    }
    unnamed.len() > changes.unnamed.len()
}

#[test]
fn both_directions_of_a_flame_graph_are_kept() {
    let files = Files::new();
    let mut explorer = explorer(&files, "multi");
    let total = explorer.flame().sums(Flame::ROOT).0;
    let upright: *const Flame = explorer.upright_flame();
    explorer.go(State { reversed: true, ..explorer.state().clone() });
    assert_eq!(explorer.flame().sums(Flame::ROOT).0, total);
    assert!(!std::ptr::eq(explorer.flame(), explorer.upright_flame()), "turned around");
    assert!(std::ptr::eq(upright, explorer.upright_flame()), "it is still there");
    // What matches is found in the whole stacks, whatever is turned around.
    let found = |flame: &Flame| flame.matching(&Regex::new(".").unwrap(), |_| Cow::Borrowed("a")).sum;
    assert_eq!(found(explorer.upright_flame()), total);
}

#[test]
fn a_graph_of_two_recordings_has_the_samples_of_both() {
    let files = Files::new();
    for (name, other) in [("threads", "threads"), ("multi", "threads")] {
        let mut explorer = explorer(&files, name);
        assert!(explorer.compared_flame().is_none() && explorer.total_before().is_none());
        let recording = Recording::open(fixture(other).join("perf.data")).unwrap();
        let mut request = request(other);
        request.keep.stacks = true;
        let base = readperf_analysis::analyse(&recording, &request).unwrap();
        let event = base.profile.events().iter().position(|event| event.name == "cpu-clock");
        let expected = base.profile.events()[event.unwrap()].samples;
        explorer.set_base(base);
        for reversed in [false, true] {
            explorer.go(State { reversed, ..explorer.state().clone() });
            let total = explorer.profile().events()[explorer.state().event].samples;
            let flame = explorer.compared_flame().unwrap();
            assert_eq!(flame.sums(Flame::ROOT).0.samples, total, "{name}");
            assert_eq!(flame.sums_before(Flame::ROOT).0.samples, expected, "{name} since {other}");
            let cells = flame.window(Flame::ROOT, 1_000_000, 1000).cells;
            let nodes = cells.iter().filter_map(|cell| cell.node);
            assert!(name != other || nodes.clone().all(|node| flame.sums(node) == flame.sums_before(node)));
            assert_eq!(explorer.total_before().unwrap().samples, expected);
        }
        explorer.go(State { steps: vec![Step::comm(b"no such thread")], ..State::default() });
        assert_eq!(explorer.total_before().unwrap().samples, 0, "filters hold for both");
        assert_eq!(explorer.compared_flame().unwrap().sums_before(Flame::ROOT).0.samples, 0);
    }
}

#[test]
fn before_names_are_known_samples_are_told_by_thread_and_binary() {
    let files = Files::new();
    let recording = Recording::open(fixture("main").join("perf.data")).unwrap();
    let opening = Opening { request: request("main"), early: true, ..Opening::default() };
    let mut last = None;
    let explorer = Explorer::open(&files, &recording, &opening, |progress| {
        last = Some((progress.bytes, progress.early.rows(progress.known, 100), progress.early.total()));
    });
    let explorer = explorer.unwrap();
    let ((read, all), rows, total) = last.unwrap();
    let samples: u64 = explorer.whole().events().iter().map(|event| event.samples).sum();
    assert_eq!((read, total.samples), (all, samples));
    assert_eq!(rows.iter().map(|row| row.sum.samples).sum::<u64>(), samples);
}
