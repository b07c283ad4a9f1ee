//! What each thing that one does in a viewer takes, in ms of this thread: cargo run --release -p readperf-explore --example steps -- FILE
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::indexing_slicing)]

use perffile::Recording;
use readperf_analysis::{PassOptions, Request};
use readperf_explore::{Direction, Explorer, Flame, Opening, State, Step, TimeAsked};
use readperf_profile::view::histogram::RowKey;
use readperf_profile::view::time_strip::Parts;
use readperf_profile::{Functions, Transform, Weight, pattern};
use readperf_symbols::{Files, Options};
use std::time::Duration;

fn main() {
    let file = std::env::args().nth(1).unwrap();
    let symbols = Options { inlines: true, ..Options::default() };
    let request = Request {
        pass: PassOptions { stacks: true, unwind: Some(symbols.clone()), ..PassOptions::default() },
        symbols,
        ..Request::default()
    };
    let files = Files::default();
    let recording = Recording::open(&file).unwrap();
    let start = on_cpu();
    let mut explorer =
        Explorer::open(&files, &recording, &Opening { request, ..Opening::default() }, |_| ()).unwrap();
    say("open", start);
    let whole = explorer.state().clone();
    look(&mut explorer, "whole");
    let first = explorer.rows().histogram.rows[0].key;
    let times = explorer.times_ns().unwrap();
    let quarter = (times.end() - times.start()) / 4;
    let range = times.start() + quarter..=times.start() + 2 * quarter;
    let binary = {
        let rows = explorer.rows();
        let session = explorer.session();
        let dsos = |row: RowKey| rows.values.value(row, 1);
        let name = rows.histogram.rows.iter().find_map(|row| match dsos(row.key) {
            readperf_profile::Value::Binary(Some(id)) => {
                session.binary(id).map(|binary| binary.short_name.to_vec())
            }
            _ => None,
        });
        String::from_utf8(name.unwrap()).unwrap()
    };
    let _ = first;
    let ways: Vec<(&str, Vec<Step>)> = vec![
        ("range", vec![Step::time(range)]),
        ("binary", vec![Step::binary(&binary)]),
        ("focus", vec![Step::focus("alloc|read|main").unwrap()]),
        ("ignore", vec![Step::ignore("main").unwrap()]),
        ("cpu", vec![Step::cpu(0)]),
        ("hide", vec![Step::Stacks(Transform::Hide(Functions::Matching(pattern("main").unwrap())))]),
        (
            "hide a leaf",
            vec![Step::Stacks(Transform::Hide(Functions::Matching(
                pattern("^_int_malloc$|^malloc$").unwrap(),
            )))],
        ),
        ("from", vec![Step::Stacks(Transform::ShowFrom(Functions::Matching(pattern("main").unwrap())))]),
    ];
    for (name, steps) in ways {
        let start = on_cpu();
        explorer.go(State { steps, ..whole.clone() });
        say(&format!("{name}: choose"), start);
        look(&mut explorer, name);
        let start = on_cpu();
        explorer.go(whole.clone());
        explorer.rows();
        say(&format!("{name}: back"), start);
    }
    let start = on_cpu();
    explorer.go(State { weight: Weight::Samples, ..whole.clone() });
    say("weight: choose", start);
    look(&mut explorer, "weight");
}

fn look(explorer: &mut Explorer<'_>, name: &str) {
    let start = on_cpu();
    let row = explorer.rows().histogram.rows.first().map(|row| row.key);
    say(&format!("{name}: rows"), start);
    let Some(row) = row else { return };
    let start = on_cpu();
    explorer.open_calls_in(row, Direction::Callers);
    say(&format!("{name}: calls"), start);
    let start = on_cpu();
    explorer.open_calls_in(row, Direction::Callees);
    say(&format!("{name}: calls again"), start);
    let start = on_cpu();
    explorer.flame().window(Flame::ROOT, 200, 60);
    say(&format!("{name}: flame"), start);
    let start = on_cpu();
    explorer.flame().window(Flame::ROOT, 2000, 200);
    say(&format!("{name}: window"), start);
    let state = explorer.state().clone();
    let start = on_cpu();
    explorer.go(State { reversed: true, ..state.clone() });
    explorer.flame().window(Flame::ROOT, 200, 60);
    say(&format!("{name}: flame turned"), start);
    explorer.go(state);
    let (first, last) = explorer.times_ns().map(|times| times.into_inner()).unwrap();
    let start = on_cpu();
    let asked =
        TimeAsked { by_thread: false, thread: None, range_ns: 0..=u64::MAX, columns: 2000, rows: 200 };
    explorer.window_in_time(&asked);
    say(&format!("{name}: flame in time"), start);
    let start = on_cpu();
    let parts = Parts { range_ns: first..=last, count: 1000 };
    explorer.strip(&parts);
    explorer.thread_strips(&parts, 20);
    say(&format!("{name}: strips"), start);
}

fn say(what: &str, since: Duration) {
    println!("{:8.1} ms  {what}", (on_cpu() - since).as_secs_f64() * 1000.0);
}

/// How long this thread was on a CPU.
fn on_cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(stat.split(' ').next().unwrap().parse().unwrap())
}
