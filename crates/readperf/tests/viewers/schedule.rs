//! When threads had a CPU: only where every switch in between is told.

use crate::chrome::{trace, trace_events};
use crate::firefox::{assert_shape, profile, threads};
use crate::handmade::{LOST, PID, flag};
use crate::oracle::live::Perf;
use crate::oracle::{self, tool};
use crate::protobuf::Message;
use crate::stacks::names;
use crate::switches::{OUT, PREEMPTED, Recording};
use crate::{perfetto, run};
use serde_json::{Value, json};
use std::path::Path;

const FIRST: u32 = PID;
const SECOND: u32 = PID + 1;

/// A time of a thread without a CPU: from, to (ms since the first sample or switch), why.
type TimeOff = (Option<f64>, Option<f64>, String);

fn thread(profile: &Value, tid: u32) -> &Value {
    threads(profile).iter().find(|thread| thread["tid"] == tid).unwrap()
}

fn times_off(profile: &Value, tid: u32) -> Vec<TimeOff> {
    let markers = &thread(profile, tid)["markers"];
    let rows = 0..markers["length"].as_u64().unwrap() as usize;
    let off = rows.filter(|row| markers["data"][*row]["type"] == "OffCpu");
    off.map(|row| {
        let why = markers["data"][row]["why"].as_str().unwrap().to_owned();
        (markers["startTime"][row].as_f64(), markers["endTime"][row].as_f64(), why)
    })
    .collect()
}

fn time_off(from: f64, to: f64, why: &str) -> TimeOff {
    (Some(from), Some(to), why.to_owned())
}

/// Runs as Chrome's trace has them: thread, from, to (ms).
fn runs(file: &Path, more: &[&str]) -> Vec<(u64, f64, f64)> {
    let trace = trace(file, more);
    let ends = |phase: &'static str| trace_events(&trace).iter().filter(move |event| event["ph"] == phase);
    let time = |event: &Value| event["ts"].as_f64().unwrap() / 1000.0;
    let pairs = ends("b").zip(ends("e"));
    pairs.map(|(from, to)| (from["tid"].as_u64().unwrap(), time(from), time(to))).collect()
}

fn told(file: &Path, format: &str) -> String {
    let output = tool::command().args(["export", "--no-progress", "-f", format]).arg(file).output().unwrap();
    tool::stderr(&output)
}

/// The two threads take turns on one CPU, with a time in which nobody wants it: every switch is there.
fn turns(recording: &mut Recording) {
    recording.switch(0, 100, (0, FIRST), 0);
    recording.sample(0, 105, FIRST);
    recording.switch(0, 110, (FIRST, SECOND), 0);
    recording.sample(0, 115, SECOND);
    recording.switch(0, 120, (SECOND, FIRST), 1);
    recording.sample(0, 125, FIRST);
    recording.switch(0, 130, (FIRST, 0), 1);
    recording.switch(0, 140, (0, SECOND), 0);
    recording.sample(0, 145, SECOND);
    recording.switch(0, 150, (SECOND, 0), 1);
}

#[test]
fn every_switch_tells_when_threads_ran() {
    let dir = oracle::scratch();
    let mut recording = Recording::of_all();
    turns(&mut recording);
    let file = recording.write(&dir);
    let profile = profile(&file, &[]);
    assert_shape(&profile);
    assert_eq!(
        times_off(&profile, FIRST),
        [
            (None, Some(0.0), "not known".to_owned()),
            time_off(10.0, 20.0, "preempted"),
            (Some(30.0), None, "waiting".to_owned())
        ]
    );
    assert_eq!(times_off(&profile, SECOND)[1..2], [time_off(20.0, 40.0, "waiting")]);
    let first = u64::from(FIRST);
    let second = u64::from(SECOND);
    let mut expected = vec![(first, 100.0, 110.0), (first, 120.0, 130.0)];
    expected.extend([(second, 110.0, 120.0), (second, 140.0, 150.0)]);
    assert_eq!(runs(&file, &[]), expected);
    assert_eq!(told(&file, "firefox"), "");
    // Whoever is chosen, the others still tell when they got the CPU.
    let alone = self::profile(&file, &["--tid", &SECOND.to_string()]);
    assert_eq!(threads(&alone).len(), 1);
    assert_eq!(
        times_off(&alone, SECOND)[1..2],
        [time_off(10.0, 30.0, "waiting")],
        "the first of it was at 110"
    );
}

/// A thread without a CPU is shown where it waits, and counts as idle.
#[test]
fn times_off_the_cpu_have_stacks_weights_and_no_processor_time() {
    let dir = oracle::scratch();
    let mut recording = Recording::of_all();
    turns(&mut recording);
    let profile = profile(&recording.write(&dir), &[]);
    let thread = thread(&profile, FIRST);
    let samples = &thread["samples"];
    let stack = |row: usize| names(&profile, thread, samples["stack"][row].as_u64().unwrap());
    let shown: Vec<String> = (0..samples["length"].as_u64().unwrap() as usize).map(stack).collect();
    let (sampled, switched) = ("[work];[work];[work]", "[work];[work]");
    let off = |why: &str| format!("{switched};[off CPU: {why}]");
    assert_eq!(
        shown,
        [sampled, &off("preempted"), &off("preempted"), sampled, &off("waiting"), &off("waiting")],
        "a sample, a time without a CPU, and so on"
    );
    assert_eq!(samples["weightType"], "tracing-ms");
    assert_eq!(samples["weight"], json!([0.001, 10, 0, 0.001, 20, 0]), "to the end of the recording, at 150");
    assert_eq!(samples["timeDeltas"], json!([5, 5, 10, 5, 5, 20]));
    // What it ran since the sample before, ns. That before the first is not looked at.
    assert_eq!(samples["threadCPUDelta"], json!([5_000_000, 5_000_000, 0, 5_000_000, 5_000_000, 0]));
    let markers = &thread["markers"];
    let row = (0..).find(|row| markers["data"][*row]["why"] == "preempted").unwrap();
    let cause = &markers["data"][row]["cause"];
    assert_eq!(names(&profile, thread, cause["stack"].as_u64().unwrap()), switched);
    assert_eq!(cause["time"], 10);
    let category = markers["category"][row].as_u64().unwrap() as usize;
    assert_eq!(profile["meta"]["categories"][category]["name"], "Off CPU");
}

/// Of some switches nothing is made, in any format, and the reason is told.
#[test]
fn some_switches_tell_nothing() {
    let dir = oracle::scratch();
    for (period, flags, how) in [(2, 0, "a period of 2"), (499, flag::FREQ, "a frequency of 499 Hz")] {
        let mut recording = Recording::new(period, flags);
        turns(&mut recording);
        let file = recording.write(&dir);
        let profile = profile(&file, &[]);
        assert_eq!((times_off(&profile, FIRST), times_off(&profile, SECOND)), (vec![], vec![]), "{how}");
        assert_eq!(runs(&file, &[]), [], "{how}");
        // The tracepoints themselves are instants.
        let begins = |event: Message| event.number(9) == 1;
        let packets = perfetto::packets(&file, &[]);
        let slices = packets.iter().filter(|packet| packet.message(11).is_some_and(begins)).count();
        assert_eq!(slices, 0, "{how}");
        for format in ["firefox", "perfetto", "chrome"] {
            let told = told(&file, format);
            assert!(told.contains("when threads ran is not shown") && told.contains(how), "{format}: {told}");
        }
        assert_eq!(told(&file, "pprof"), "", "which shows no times");
        let extra = profile["meta"]["extra"][0]["entries"].to_string();
        assert!(extra.contains("running times") && extra.contains(how), "{extra}");
    }
}

/// Without `-a` a thread tells whom it gives its CPU to, but not who gives it one.
#[test]
fn switches_of_some_threads_tell_nothing() {
    let dir = oracle::scratch();
    let mut recording = Recording::of_all();
    for nr in 0..10 {
        recording.switch(0, 100 + 10 * nr, (FIRST, 7777), 1);
        recording.sample(0, 105 + 10 * nr, FIRST);
    }
    let file = recording.write(&dir);
    assert_eq!(times_off(&profile(&file, &[]), FIRST), []);
    assert!(told(&file, "firefox").contains("of some threads only"), "{}", told(&file, "firefox"));
}

/// What lies around a loss is left out, and counted.
#[test]
fn losses_are_gaps() {
    let dir = oracle::scratch();
    let mut recording = Recording::of_all();
    recording.switch(0, 100, (0, FIRST), 0);
    recording.switch(0, 110, (FIRST, 0), 1);
    recording.pipe.words(LOST, 0, &[1, 5], 120_000_000);
    recording.switch(0, 130, (0, FIRST), 0);
    recording.switch(0, 140, (FIRST, 0), 1);
    recording.switch(0, 150, (0, FIRST), 0);
    recording.sample(0, 155, FIRST);
    let file = recording.write(&dir);
    let profile = profile(&file, &[]);
    assert_eq!(times_off(&profile, FIRST)[1..], [time_off(40.0, 50.0, "waiting")]);
    let told = told(&file, "firefox");
    assert!(told.contains("1 time on or off a CPU not shown"), "{told}");
}

/// A sample of a thread says that it has a CPU, whatever the switches say.
#[test]
fn a_sampled_thread_has_a_cpu() {
    let dir = oracle::scratch();
    let mut recording = Recording::of_all();
    recording.record(0, 100, FIRST, 0);
    recording.record(0, 110, FIRST, OUT);
    recording.sample(1, 120, FIRST);
    recording.record(0, 130, FIRST, 0);
    recording.record(0, 140, FIRST, OUT | PREEMPTED);
    recording.record(1, 150, FIRST, 0);
    recording.sample(1, 155, FIRST);
    let file = recording.write(&dir);
    assert_eq!(times_off(&profile(&file, &[]), FIRST)[1..], [time_off(40.0, 50.0, "preempted")]);
}

/// Not every CPU tells of switches from the same moment on: the first that is told of a thread may not be the first switch.
#[test]
fn a_thread_that_was_sampled_first_had_a_cpu() {
    let dir = oracle::scratch();
    let mut recording = Recording::of_all();
    recording.sample(0, 100, SECOND);
    recording.sample(1, 102, FIRST);
    recording.record(0, 112, FIRST, 0);
    recording.record(0, 120, SECOND, 0);
    let profile = profile(&recording.write(&dir), &[]);
    assert_eq!((times_off(&profile, FIRST), times_off(&profile, SECOND)), (vec![], vec![]));
}

/// What has ended, or not begun, does not wait for a CPU.
#[test]
fn threads_wait_only_while_they_live() {
    let dir = oracle::scratch();
    let mut recording = Recording::of_all();
    let task = |pid: u32, ppid: u32, ms: u64| {
        let time = ms * 1_000_000;
        let mut body: Vec<u8> =
            [pid, ppid, SECOND, FIRST].iter().flat_map(|word| word.to_le_bytes()).collect();
        body.extend(time.to_le_bytes());
        (body, time)
    };
    recording.sample(0, 100, FIRST);
    let (body, time) = task(PID, PID, 110);
    recording.pipe.kernel(7, 0, &body, time);
    recording.record(0, 115, SECOND, 0);
    let (body, time) = task(PID, PID, 120);
    recording.pipe.kernel(4, 0, &body, time);
    recording.record(0, 121, SECOND, OUT);
    recording.sample(0, 200, FIRST);
    let file = recording.write(&dir);
    assert_eq!(times_off(&profile(&file, &[]), SECOND), [time_off(10.0, 15.0, "not started yet")]);
}

/// No sample lies in its own thread's time off the CPU, whatever was recorded and how. (The kernel itself is at work for a
/// thread for some µs after the switch is told.)
#[test]
#[ignore = "live: records with perf"]
fn no_sample_of_a_fresh_recording_is_off_the_cpu() {
    let test = "no_sample_of_a_fresh_recording_is_off_the_cpu";
    let Some(perf) = Perf::or_skip(test) else { return };
    let dir = oracle::scratch();
    let clock = ["-e", "cpu-clock"];
    let recordings: [(&[&str], bool); 5] = [
        (&["-a", "-F", "499", "-e", "sched:*"], false),
        (&["-a", "-c", "1", "-e", "sched:sched_switch"], true),
        (&["-c", "1", "-e", "sched:sched_switch"], false),
        (&["-a", "--switch-events"], true),
        (&["--switch-events"], true),
    ];
    for (options, complete) in recordings {
        let work = ["sh", "-c", "for i in 1 2 3 4 5 6 7 8; do sleep 0.05; seq 200000 >/dev/null; done"];
        let Some(data) = perf.record(test, dir.path(), &[&clock, options, &work].concat()) else { return };
        let profile = run::json(&run::unzipped(&run::export("firefox", &data, &["--event", "cpu-clock"])));
        assert_shape(&profile);
        let mut intervals = 0;
        for thread in threads(&profile) {
            let spans = crate::marks::off_cpu(thread);
            intervals += spans.len();
            let mut time = 0.0;
            for row in 0..thread["samples"]["length"].as_u64().unwrap() as usize {
                time += thread["samples"]["timeDeltas"][row].as_f64().unwrap();
                let stack = names(&profile, thread, thread["samples"]["stack"][row].as_u64().unwrap());
                let inside = spans.iter().find(|(start, end)| (start + 0.05..end - 0.05).contains(&time));
                let own = stack.contains("[off CPU: ");
                assert!(own || inside.is_none(), "{options:?}: {inside:?} at {time} of {}", thread["tid"]);
            }
        }
        assert_eq!(intervals > 5, complete, "{options:?}: {intervals}");
    }
}
