//! What each thing that one does in a viewer takes, in ms: CPU time of all threads, and time by the clock. cargo run --release -p readperf-explore --example steps -- FILE [THREADS]
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::indexing_slicing, unsafe_code)]

use perffile::Recording;
use readperf_analysis::{PassOptions, Request};
use readperf_explore::{Direction, Explorer, Flame, Opening, RowOptions, State, Step, TimeAsked};
use readperf_profile::view::histogram::RowKey;
use readperf_profile::view::time_strip::Parts;
use readperf_profile::{Functions, Transform, Weight, pattern};
use readperf_symbols::{Files, Options};
use std::num::NonZero;
use std::time::{Duration, Instant};

fn main() {
    let file = std::env::args().nth(1).unwrap();
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    let threads = std::env::args().nth(2).map_or(processors, |threads| threads.parse().unwrap());
    let symbols = Options { inlines: true, ..Options::default() };
    let request = Request {
        pass: PassOptions { stacks: true, unwind: Some(symbols.clone()), ..PassOptions::default() },
        symbols,
        ..Request::default()
    };
    let files = Files::default();
    let recording = Recording::open(&file).unwrap();
    let start = now();
    let rows = RowOptions { threads, ..RowOptions::default() };
    let opening = Opening { request, rows, ..Opening::default() };
    let mut explorer = Explorer::open(&files, &recording, &opening, |_| ()).unwrap();
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
        let start = now();
        explorer.go(State { steps, ..whole.clone() });
        say(&format!("{name}: choose"), start);
        look(&mut explorer, name);
        let start = now();
        explorer.go(whole.clone());
        explorer.rows();
        say(&format!("{name}: back"), start);
    }
    let start = now();
    explorer.go(State { weight: Weight::Samples, ..whole.clone() });
    say("weight: choose", start);
    look(&mut explorer, "weight");
}

fn look(explorer: &mut Explorer<'_>, name: &str) {
    let start = now();
    let row = explorer.rows().histogram.rows.first().map(|row| row.key);
    say(&format!("{name}: rows"), start);
    let Some(row) = row else { return };
    let start = now();
    explorer.open_calls_in(row, Direction::Callers);
    say(&format!("{name}: calls"), start);
    let start = now();
    explorer.open_calls_in(row, Direction::Callees);
    say(&format!("{name}: calls again"), start);
    let start = now();
    explorer.flame().window(Flame::ROOT, 200, 60);
    say(&format!("{name}: flame"), start);
    let start = now();
    explorer.flame().window(Flame::ROOT, 2000, 200);
    say(&format!("{name}: window"), start);
    let state = explorer.state().clone();
    let start = now();
    explorer.go(State { reversed: true, ..state.clone() });
    explorer.flame().window(Flame::ROOT, 200, 60);
    say(&format!("{name}: flame turned"), start);
    explorer.go(state);
    let (first, last) = explorer.times_ns().map(|times| times.into_inner()).unwrap();
    let start = now();
    let asked =
        TimeAsked { by_thread: false, thread: None, range_ns: 0..=u64::MAX, columns: 2000, rows: 200 };
    explorer.window_in_time(&asked);
    say(&format!("{name}: flame in time"), start);
    let start = now();
    let parts = Parts { range_ns: first..=last, count: 1000 };
    explorer.strip(&parts);
    explorer.thread_strips(&parts, 20);
    say(&format!("{name}: strips"), start);
}

fn say(what: &str, (on_cpu, clock): (Duration, Instant)) {
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    println!("{:8.1} CPU {:8.1} clock  {what}", ms(process_time() - on_cpu), ms(clock.elapsed()));
}

fn now() -> (Duration, Instant) {
    (process_time(), Instant::now())
}

/// How long all threads were on a CPU, those that are gone among them.
fn process_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes to what it is given.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    assert_eq!(failed, 0, "no such clock");
    Duration::new(time.tv_sec.try_into().unwrap(), time.tv_nsec.try_into().unwrap())
}
