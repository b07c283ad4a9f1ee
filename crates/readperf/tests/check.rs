//! `readperf check`: each finding is there when it should be, and not there when not.
//!
//! The recordings of most tests are put together byte by byte: one that nothing is said about, and from it others that
//! differ in one thing each. So every test also says that no other finding comes with it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]
#![allow(clippy::cast_possible_truncation, clippy::print_stderr)]

mod handmade;
mod oracle;

use handmade::*;
use oracle::{fixture, scratch, skip, tool};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// `check --json` of the recording alone, and the exit status.
fn check(file: &Path) -> (Value, i32) {
    check_with(&["--no-names"], file)
}

fn check_with(options: &[&str], file: &Path) -> (Value, i32) {
    let output = tool::command().args(["check", "--json"]).args(options).arg(file).output().unwrap();
    let status = output.status.code().unwrap_or_else(|| panic!("{}: ended by a signal", file.display()));
    assert!([0, 3].contains(&status), "{}: status {status}: {}", file.display(), tool::stderr(&output));
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["schema"], 1);
    (value, status)
}

fn findings(value: &Value) -> &Vec<Value> {
    value["findings"].as_array().unwrap()
}

fn kinds(value: &Value) -> Vec<&str> {
    findings(value).iter().map(|finding| finding["kind"].as_str().unwrap()).collect()
}

fn check_pipe(pipe: &Pipe) -> (Value, i32) {
    let dir = scratch();
    let path = dir.path().join("made.data");
    std::fs::write(&path, &pipe.bytes).unwrap();
    check(&path)
}

/// The recording has this one finding and no other; returns it.
fn only(pipe: &Pipe, kind: &str, severity: &str) -> Value {
    let (value, status) = check_pipe(pipe);
    assert_eq!(kinds(&value), [kind], "{value:#}");
    let finding = findings(&value)[0].clone();
    assert_eq!(finding["severity"], severity, "{finding:#}");
    assert_eq!(value["sound"], !matches!(severity, "damage" | "loss"), "{finding:#}");
    assert_eq!(status, if severity == "damage" { 3 } else { 0 });
    for key in ["message", "advice"] {
        let text = finding[key].as_str().unwrap();
        let first = text.chars().next().unwrap();
        assert!(text.ends_with('.') && !first.is_lowercase(), "{key} is a sentence: {text}");
    }
    finding
}

fn nothing(pipe: &Pipe) {
    let (value, status) = check_pipe(pipe);
    assert_eq!(kinds(&value), [""; 0], "{value:#}");
    assert_eq!((&value["sound"], status), (&Value::Bool(true), 0));
}

fn share(finding: &Value) -> f64 {
    finding["share"].as_f64().unwrap_or_else(|| panic!("a share: {finding:#}"))
}

/// The recording that nothing is said about: 200 samples.
fn good() -> Pipe {
    let mut pipe = Pipe::sound(&[Attr::default()]);
    pipe.samples(200, &Sample::default());
    pipe
}

fn with(change: impl FnOnce(&mut Pipe)) -> Pipe {
    let mut pipe = good();
    change(&mut pipe);
    pipe
}

/// A recording of one event that differs from the usual one, with 200 such samples.
fn of_event(attr: Attr, sample: &Sample) -> Pipe {
    let mut pipe = Pipe::sound(&[attr]);
    pipe.samples(200, sample);
    pipe
}

#[test]
fn a_good_recording_is_sound() {
    nothing(&good());
}

#[test]
fn lost_records_are_told_with_share_and_first_place() {
    let offset = good().bytes.len();
    let pipe = with(|pipe| {
        pipe.words(LOST, 0, &[1, 30], 1_200_000_000);
        pipe.words(LOST, 0, &[1, 12], 1_300_000_000);
    });
    let finding = only(&pipe, "lost_records", "loss");
    assert_eq!(finding["count"], 42);
    assert_eq!(finding["offset"], offset);
    // 200 samples, 3 records before them, 2 of LOST.
    assert!((share(&finding) - 42.0 / 247.0).abs() < 1e-9, "{finding:#}");
    assert!(finding["message"].as_str().unwrap().contains("2 times"));
}

#[test]
fn a_lost_record_of_nothing_is_no_loss() {
    nothing(&with(|pipe| pipe.words(LOST, 0, &[1, 0], 1_200_000_000)));
}

#[test]
fn lost_samples_and_filtered_ones_are_told_apart() {
    let pipe = with(|pipe| pipe.words(LOST_SAMPLES, 0, &[50], 1_200_000_000));
    let finding = only(&pipe, "lost_samples", "loss");
    assert_eq!((finding["count"].as_u64(), share(&finding)), (Some(50), 0.2));
    let pipe = with(|pipe| pipe.words(LOST_SAMPLES, 1 << 15, &[50], 1_200_000_000));
    assert_eq!(only(&pipe, "filtered_samples", "note")["count"], 50);
}

#[test]
fn throttling_is_told_with_how_long() {
    let pipe = with(|pipe| {
        pipe.words(THROTTLE, 0, &[1_010_000_000, 1, 1], 1_010_000_000);
        pipe.words(UNTHROTTLE, 0, &[1_030_000_000, 1, 1], 1_030_000_000);
        pipe.words(THROTTLE, 0, &[1_040_000_000, 1, 1], 1_040_000_000);
        pipe.words(UNTHROTTLE, 0, &[1_045_000_000, 1, 1], 1_045_000_000);
        pipe.words(THROTTLE, 0, &[1_050_000_000, 1, 1], 1_050_000_000);
    });
    let finding = only(&pipe, "throttled", "loss");
    assert_eq!(finding["count"], 3);
    let message = finding["message"].as_str().unwrap();
    assert!(message.contains("1 counter 3 times") && message.contains("25.0 ms"), "{message}");
    assert!((share(&finding) - 25.0 / 199.0).abs() < 1e-9);
}

#[test]
fn aux_traces_with_holes_are_told() {
    let traced = |flags: u64| {
        with(|pipe| {
            pipe.words(AUX, 0, &[0, 8, flags], 1_200_000_000);
            let mut body = 8u64.to_le_bytes().to_vec();
            body.resize(40, 0);
            pipe.raw(AUXTRACE, 0, &body);
            pipe.bytes.extend([0; 8]);
        })
    };
    nothing(&traced(0));
    nothing(&traced(2));
    only(&traced(1), "truncated_aux", "loss");
    only(&traced(4), "aux_gaps", "loss");
    only(&traced(8), "aux_collisions", "loss");
    let without_trace = with(|pipe| pipe.words(AUX, 0, &[0, 8, 0], 1_200_000_000));
    only(&without_trace, "missing_aux_data", "loss");
    let error = with(|pipe| pipe.raw(AUXTRACE_ERROR, 0, &[0; 8 * 4 + 64]));
    only(&error, "auxtrace_errors", "loss");
}

#[test]
fn a_memory_map_that_was_not_read_to_the_end_is_told() {
    let pipe = with(|pipe| pipe.map(11, CODE, "/bin/other", Some(8), 1 << 12));
    assert_eq!(only(&pipe, "cut_process_maps", "loss")["count"], 1);
}

#[test]
fn samples_outside_of_all_mappings_are_told() {
    let outside = Sample { ip: 0x10, time: 1_500_000_000, ..Sample::default() };
    let finding = only(&with(|pipe| pipe.samples(50, &outside)), "unmapped_user", "advice");
    assert_eq!((finding["count"].as_u64(), share(&finding)), (Some(50), 0.2));
    nothing(&with(|pipe| pipe.samples(1, &outside)));
}

#[test]
fn samples_of_guests_and_of_no_process_are_told() {
    let guest = Sample { mode: 5, time: 1_500_000_000, ..Sample::default() };
    only(&with(|pipe| pipe.samples(3, &guest)), "guest_samples", "note");
    let nobody = Sample {
        mode: KERNEL,
        ip: KERNEL_CODE,
        pid: u32::MAX,
        tid: u32::MAX,
        time: 1_500_000_000,
        ..Sample::default()
    };
    only(&with(|pipe| pipe.samples(3, &nobody)), "unknown_process", "note");
}

#[test]
fn clocks_have_to_be_the_same() {
    let second = |flags, clockid| {
        let other =
            Attr { config: 2, flags: flag::SAMPLE_ID_ALL | flags, clockid, ids: vec![2], ..Attr::default() };
        let mut pipe = Pipe::sound(&[Attr::default(), other]);
        pipe.samples(200, &Sample::default());
        pipe.samples(5, &Sample { id: 2, time: 1_300_000_000, ..Sample::default() });
        pipe
    };
    nothing(&second(0, 0));
    let finding = only(&second(flag::USE_CLOCKID, 1), "mixed_clocks", "loss");
    assert!(finding["message"].as_str().unwrap().contains("CLOCK_MONOTONIC"));
}

#[test]
fn missing_times_are_told() {
    let base = Attr::default();
    let without = Attr { sample_type: base.sample_type & !sample_type::TIME, ..base.clone() };
    assert_eq!(only(&of_event(without, &Sample::default()), "no_time", "advice")["count"], 200);
    let untimed = Attr { flags: 0, ..base };
    only(&of_event(untimed, &Sample::default()), "untimed_records", "note");
}

#[test]
fn times_that_jump_back_are_told() {
    // A round is over and a later one too: then the samples after them cannot be put before.
    let jump = |back_to| {
        with(|pipe| {
            pipe.raw(68, 0, &[]);
            // One alone could be wrong.
            for _ in 0..2 {
                pipe.sample(&Sample { time: 9_000_000_000, ..Sample::default() });
            }
            pipe.raw(68, 0, &[]);
            pipe.raw(68, 0, &[]);
            pipe.samples(10, &Sample { time: back_to, ..Sample::default() });
        })
    };
    let (value, _) = check_pipe(&jump(5_000_000_000));
    assert_eq!(kinds(&value), ["time_jumps_back", "unordered"]);
    assert_eq!(findings(&value)[0]["count"], 1);
    let (value, _) = check_pipe(&jump(8_500_000_000));
    assert_eq!(kinds(&value), ["unordered"]);
    assert_eq!(findings(&value)[0]["count"], 10);
    nothing(&jump(9_000_000_000));
}

/// Samples, then one at this time in the next round, then more samples.
fn with_a_sample_at(time: u64, tell_range: bool) -> Pipe {
    with(|pipe| {
        if tell_range {
            let range = [1_000_000_000u64, 1_309_000_000];
            pipe.feature(21, &range.map(u64::to_le_bytes).concat());
        }
        pipe.raw(68, 0, &[]);
        pipe.sample(&Sample { time, ..Sample::default() });
        pipe.raw(68, 0, &[]);
        pipe.raw(68, 0, &[]);
        pipe.samples(10, &Sample { time: 1_300_000_000, ..Sample::default() });
    })
}

#[test]
fn a_single_time_far_from_all_others_is_no_jump_back() {
    for time in [900_000_000_000, u64::MAX - 1] {
        let (value, _) = check_pipe(&with_a_sample_at(time, false));
        assert_eq!(kinds(&value), ["stray_times", "unordered"], "{time}");
        assert_eq!(findings(&value)[0]["count"], 1);
    }
    nothing(&with_a_sample_at(1_299_000_000, false));
}

/// Where the recorder tells the times of the first and the last sample, one that cannot be does not end the order of rounds.
#[test]
fn a_time_outside_the_recording_does_no_harm() {
    for time in [900_000_000_000, u64::MAX, u64::MAX - 1] {
        let finding = only(&with_a_sample_at(time, true), "stray_times", "loss");
        assert_eq!(finding["count"], 1, "{time}");
    }
    nothing(&with_a_sample_at(1_299_000_000, true));
}

/// 0 is no time: not the first of all. Where the recorder tells the range of times, it is said.
#[test]
fn a_sample_without_a_time_is_not_the_first() {
    for tell_range in [true, false] {
        let dir = scratch();
        let path = dir.path().join("made.data");
        std::fs::write(&path, &with_a_sample_at(0, tell_range).bytes).unwrap();
        let stats: Value =
            serde_json::from_str(&tool::answer(&["stats", "--json", path.to_str().unwrap()])).unwrap();
        let kinds: Vec<&str> =
            stats["issues"].as_array().unwrap().iter().map(|issue| issue["kind"].as_str().unwrap()).collect();
        assert_eq!(kinds, if tell_range { vec!["stray_time"] } else { Vec::new() });
        let [first, last] = ["first_time_ns", "last_time_ns"].map(|key| stats[key].as_u64().unwrap());
        assert!((1_000_000_000..last).contains(&first) && last == 1_309_000_000, "{first} {last}");
    }
}

/// Samples without a time may be many: they do not use up what is granted to times that were changed.
#[test]
fn samples_without_a_time_do_not_hide_one_that_cannot_be() {
    let pipe = with(|pipe| {
        pipe.feature(21, &[1_000_000_000u64, 1_309_000_000].map(u64::to_le_bytes).concat());
        (0..20).for_each(|_| pipe.sample(&Sample { time: 0, ..Sample::default() }));
        pipe.sample(&Sample { time: 900_000_000_000, ..Sample::default() });
        pipe.samples(10, &Sample { time: 1_300_000_000, ..Sample::default() });
    });
    let dir = scratch();
    let path = dir.path().join("made.data");
    std::fs::write(&path, &pipe.bytes).unwrap();
    let stats: Value =
        serde_json::from_str(&tool::answer(&["stats", "--json", path.to_str().unwrap()])).unwrap();
    assert_eq!(stats["last_time_ns"], 1_309_000_000u64);
    assert_eq!(stats["issues"][0]["kind"], "stray_time");
    assert_eq!(stats["issues"][0]["count"], 21);
}

/// A sample whose chain is completed later is delivered then: that is no jump of the time.
#[test]
fn a_chain_that_is_completed_late_is_no_jump_back() {
    const DEFER_CALLCHAIN: u64 = 1 << 38;
    const USER_DEFERRED: u64 = -640i64 as u64;
    let base = Attr::default();
    let mut pipe = Pipe::sound(&[Attr { flags: base.flags | DEFER_CALLCHAIN, ..base }]);
    pipe.samples(200, &Sample::default());
    pipe.sample(&Sample { time: 1_300_000_000, chain: vec![USER_DEFERRED, 0x77], ..Sample::default() });
    pipe.samples(10, &Sample { time: 5_300_000_000, tid: PID, ..Sample::default() });
    let user = Sample::default().chain;
    let body = [&[0x77, user.len() as u64], user.as_slice()].concat();
    pipe.words(22, USER, &body, 5_400_000_000);
    pipe.samples(10, &Sample { time: 5_500_000_000, ..Sample::default() });
    nothing(&pipe);
}

#[test]
fn too_few_samples_are_told() {
    let (value, _) = check_pipe(&Pipe::sound(&[Attr::default()]));
    assert_eq!(kinds(&value), ["no_samples"]);
    assert_eq!(value["sound"], false);
    let mut few = Pipe::sound(&[Attr::default()]);
    few.samples(99, &Sample::default());
    assert_eq!(only(&few, "few_samples", "note")["count"], 99);
    few.samples(1, &Sample { time: 2_000_000_000, ..Sample::default() });
    nothing(&few);
}

#[test]
fn a_varying_period_has_to_be_recorded() {
    let base = Attr::default();
    let without = base.sample_type & !sample_type::PERIOD;
    let varying = Attr { flags: base.flags | flag::FREQ, ..base.clone() };
    nothing(&of_event(varying.clone(), &Sample::default()));
    let fixed = Attr { sample_type: without, ..base };
    nothing(&of_event(fixed, &Sample::default()));
    let unknown = Attr { sample_type: without, ..varying };
    only(&of_event(unknown, &Sample::default()), "no_periods", "advice");
}

#[test]
fn events_without_samples_are_told_but_for_dummies() {
    let second = |config| {
        let mut pipe = Pipe::sound(&[Attr::default(), Attr { config, ids: vec![2], ..Attr::default() }]);
        pipe.samples(200, &Sample::default());
        pipe
    };
    let finding = only(&second(2), "silent_events", "note");
    assert!(finding["message"].as_str().unwrap().contains("page-faults"), "{finding:#}");
    nothing(&second(9));
}

#[test]
fn shared_counters_are_told() {
    let base = Attr::default();
    let attr = |kind, flags, ids| Attr {
        kind,
        flags: base.flags | flags,
        ids,
        sample_type: base.sample_type | sample_type::READ,
        read_format: 3,
        ..base.clone()
    };
    let made = |attr: Attr, read| of_event(attr, &Sample { read, ..Sample::default() });
    nothing(&made(attr(0, 0, vec![1]), [1, 100, 100]));
    let finding = only(&made(attr(0, 0, vec![1]), [1, 100, 25]), "multiplexed", "advice");
    assert!(finding["message"].as_str().unwrap().contains("25.0 %"), "{finding:#}");
    only(&made(attr(0, 0, vec![1]), [0, 100, 0]), "not_counted", "loss");
    // In software nothing is shared; a task's counter on each CPU runs only where the task is.
    nothing(&made(attr(1, 0, vec![1]), [1, 100, 25]));
    nothing(&made(attr(0, flag::INHERIT, vec![1, 2]), [1, 100, 25]));
    let stat = |enabled: u64, running: u64| {
        with(|pipe| {
            let words = [1, 0, 5, enabled, running];
            let body: Vec<u8> = words.iter().flat_map(|word: &u64| word.to_le_bytes()).collect();
            pipe.raw(STAT, 0, &body);
        })
    };
    nothing(&stat(100, 100));
    only(&stat(100, 60), "multiplexed", "advice");
}

#[test]
fn a_hidden_kernel_is_told_where_it_has_samples() {
    let hidden = |mode, ip| {
        let mut pipe = Pipe::new(&[Attr::default()]);
        pipe.kernel_map(0);
        pipe.comm(PID, PID, "work");
        pipe.map(PID, CODE, "/bin/work", Some(7), 0);
        pipe.samples(200, &Sample { mode, ip, ..Sample::default() });
        pipe
    };
    nothing(&hidden(USER, CODE));
    assert_eq!(only(&hidden(KERNEL, KERNEL_CODE), "hidden_kernel_addresses", "advice")["count"], 200);
    nothing(&of_event(Attr::default(), &Sample { mode: KERNEL, ip: KERNEL_CODE, ..Sample::default() }));
}

#[test]
fn a_fall_back_to_user_mode_is_told() {
    let user_only = |words: &[&str]| {
        let base = Attr::default();
        let mut pipe = Pipe::sound(&[Attr { flags: base.flags | flag::EXCLUDE_KERNEL, ..base }]);
        pipe.cmdline(words);
        pipe.samples(200, &Sample::default());
        pipe
    };
    only(&user_only(&["/usr/bin/perf", "record", "-g"]), "kernel_not_allowed", "advice");
    only(
        &user_only(&["/usr/bin/perf", "record", "-e", "sched:a,cycles:k", "--", "x:u"]),
        "kernel_not_allowed",
        "advice",
    );
    nothing(&user_only(&["/usr/bin/perf", "record", "-e", "cpu-clock:u"]));
    nothing(&user_only(&["/usr/bin/perf", "record", "--all-user"]));
}

#[test]
fn recordings_without_call_chains_are_told() {
    let base = Attr::default();
    let without = Attr { sample_type: base.sample_type & !sample_type::CALLCHAIN, ..base };
    only(&of_event(without, &Sample::default()), "no_callchains", "note");
    let empty = Sample { chain: vec![-512i64 as u64], time: 1_500_000_000, ..Sample::default() };
    assert_eq!(only(&with(|pipe| pipe.samples(4, &empty)), "empty_callchains", "note")["count"], 4);
}

#[test]
fn chains_cut_at_the_limit_are_told() {
    let deep = |max_stack: u16, frames: u64| {
        let mut chain = vec![-512i64 as u64];
        chain.extend((0..frames).map(|nr| CODE + nr));
        of_event(Attr { max_stack, ..Attr::default() }, &Sample { chain, ..Sample::default() })
    };
    nothing(&deep(0, 126));
    assert_eq!(only(&deep(0, 127), "cut_callchains", "advice")["count"], 200);
    nothing(&deep(0, 200));
    only(&deep(16, 16), "cut_callchains", "advice");
    nothing(&deep(16, 15));
}

#[test]
fn broken_chains_are_told_where_frame_pointers_are_followed() {
    let user = -512i64 as u64;
    let one = Sample { chain: vec![user, CODE + 0x10, 0], ..Sample::default() };
    let nowhere = Sample { chain: vec![user, CODE + 0x10, 0x1234], ..Sample::default() };
    for sample in [&one, &nowhere] {
        assert_eq!(only(&of_event(Attr::default(), sample), "broken_callchains", "advice")["count"], 200);
    }
    let base = Attr::default();
    let dwarf = Attr { sample_type: base.sample_type | sample_type::STACK_USER, stack_user: 64, ..base };
    nothing(&of_event(dwarf, &one));
    // A quarter may be broken.
    nothing(&with(|pipe| pipe.samples(60, &Sample { time: 1_500_000_000, ..one.clone() })));
}

#[test]
fn full_copies_of_the_stack_are_told() {
    let base = Attr::default();
    let dwarf = Attr { sample_type: base.sample_type | sample_type::STACK_USER, stack_user: 64, ..base };
    nothing(&of_event(dwarf.clone(), &Sample { stack: (64, 56), ..Sample::default() }));
    let finding =
        only(&of_event(dwarf, &Sample { stack: (64, 64), ..Sample::default() }), "cut_user_stacks", "advice");
    assert_eq!((finding["count"].as_u64(), share(&finding)), (Some(200), 1.0));
}

#[test]
fn code_that_cannot_be_found_again_is_told() {
    let other = |name: &str, build_id| {
        let mut pipe = good();
        pipe.map(PID, 0x50_0000, name, build_id, 0);
        pipe.samples(50, &Sample { ip: 0x50_0010, time: 1_500_000_000, ..Sample::default() });
        pipe
    };
    nothing(&other("/lib/libother.so", Some(9)));
    let finding = only(&other("/lib/libother.so", None), "missing_build_ids", "advice");
    assert_eq!((finding["count"].as_u64(), share(&finding)), (Some(50), 0.2));
    assert!(finding["message"].as_str().unwrap().contains("libother.so"));
    nothing(&other("[vdso]", None));
    only(&other("/lib/libother.so (deleted)", Some(9)), "deleted_files", "advice");
    only(&other("//anon", None), "generated_code", "note");
}

#[test]
fn binaries_that_are_not_here_are_told_unless_not_asked_for() {
    let dir = scratch();
    let path = dir.path().join("made.data");
    let mut pipe = Pipe::sound(&[Attr::default()]);
    pipe.map(PID, 0x50_0000, "/no/such/libgone.so", Some(9), 0);
    pipe.samples(200, &Sample { ip: 0x50_0010, ..Sample::default() });
    std::fs::write(&path, &pipe.bytes).unwrap();
    let (value, status) = check_with(&[], &path);
    assert_eq!((kinds(&value), status), (vec!["no_names_here"], 0));
    let message = findings(&value)[0]["message"].as_str().unwrap();
    assert!(message.contains("libgone.so (no file at /no/such/libgone.so)"), "{message}");
    assert_eq!(kinds(&check_with(&["--no-names"], &path).0), [""; 0]);
    // The fixture brings its program and library along; where they were made they are not.
    let said = |options: &[&str]| check_with(options, &fixture("main")).0.to_string();
    assert!(!said(&[]).contains("work (no file"), "{}", said(&[]));
}

#[test]
fn threads_without_a_name_are_told() {
    let pipe = with(|pipe| {
        pipe.map(77, CODE, "/bin/work", Some(7), 0);
        pipe.samples(3, &Sample { pid: 77, tid: 77, time: 1_500_000_000, ..Sample::default() });
    });
    assert_eq!(only(&pipe, "unnamed_threads", "advice")["count"], 3);
}

#[test]
fn system_wide_recordings_need_cpu_numbers() {
    let wide = |words: &[&str], attr: Attr, online: u32| {
        let mut pipe = Pipe::sound(&[attr]);
        pipe.cmdline(words);
        pipe.feature(7, &[8u32.to_le_bytes(), online.to_le_bytes()].concat());
        pipe.samples(100, &Sample::default());
        pipe.samples(100, &Sample { cpu: 1, ..Sample::default() });
        pipe
    };
    let all = ["/usr/bin/perf", "record", "-ag"];
    let without = Attr { sample_type: Attr::default().sample_type & !sample_type::CPU, ..Attr::default() };
    nothing(&wide(&all, Attr::default(), 2));
    assert_eq!(only(&wide(&all, Attr::default(), 8), "cpus_without_samples", "note")["count"], 6);
    only(&wide(&all, without.clone(), 2), "no_cpu_numbers", "advice");
    let one = ["/usr/bin/perf", "record", "-e", "cpu-clock", "--", "ls", "-a"];
    nothing(&wide(&one, without, 2));
}

#[test]
fn what_this_version_does_not_know_is_told() {
    let finding = only(&with(|pipe| pipe.raw(100, 0, &[0; 8])), "unknown_records", "note");
    assert!(finding["message"].as_str().unwrap().contains("100"));
    only(&with(|pipe| pipe.feature(200, &[1; 8])), "unknown_features", "note");
}

#[test]
fn tracepoints_need_their_formats() {
    let base = Attr::default();
    let attr = Attr { kind: 2, config: 300, sample_type: base.sample_type | sample_type::RAW, ..base };
    only(&of_event(attr, &Sample::default()), "no_tracepoint_formats", "advice");
}

#[test]
fn damage_is_told_and_is_the_exit_status() {
    let mut cut = good();
    cut.bytes.truncate(cut.bytes.len() - 4);
    only(&cut, "cut_data", "damage");
    only(&with(|pipe| pipe.raw(COMM, 0, &[0; 2])), "bad_record_size", "damage");
    // The one that only check decodes.
    only(&with(|pipe| pipe.raw(AUX, 0, &[0; 2])), "bad_record_size", "damage");
    let mut two = Pipe::sound(&[Attr::default(), Attr { config: 9, ids: vec![2], ..Attr::default() }]);
    two.samples(200, &Sample::default());
    two.samples(7, &Sample { id: 99, ..Sample::default() });
    assert_eq!(only(&two, "unknown_event_id", "damage")["count"], 7);
}

/// A copy of a fixture, written that long ago.
fn copy_of(name: &str, dir: &Path, age: Duration) -> PathBuf {
    let path = dir.join(format!("{name}.data"));
    std::fs::copy(fixture(name), &path).unwrap();
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_modified(SystemTime::now() - age).unwrap();
    path
}

#[test]
fn a_recorder_that_was_killed_is_told_from_one_that_is_still_running() {
    let dir = scratch();
    for (age, says, says_not) in
        [(3600, "was killed", "may still"), (0, "may still be running", "was killed")]
    {
        let (value, status) = check(&copy_of("killed", dir.path(), Duration::from_secs(age)));
        assert_eq!(status, 3);
        assert_eq!(kinds(&value)[0], "unfinished");
        let message = findings(&value)[0]["message"].as_str().unwrap();
        assert!(message.contains(says) && !message.contains(says_not), "{message}");
    }
}

#[test]
fn fixtures_show_what_is_known_of_them() {
    // By the commands that made them: see command.txt beside each.
    let expected: &[(&str, i32, &[&str], &[&str])] = &[
        ("main", 0, &["no_callchains"], &["missing_build_ids", "hidden_kernel_addresses", "few_samples"]),
        ("cut", 3, &["cut_data", "missing_build_ids"], &["unfinished"]),
        ("killed", 3, &["unfinished", "missing_build_ids"], &["cut_data"]),
        ("dwarf", 0, &["cut_user_stacks", "few_samples"], &["broken_callchains", "empty_callchains"]),
        ("everything", 0, &["few_samples"], &["multiplexed", "not_counted", "no_cpu_numbers"]),
        ("multi", 0, &[], &["silent_events", "no_callchains", "lost_records"]),
        ("stat", 0, &[], &["no_samples", "no_callchains", "multiplexed"]),
        ("tracepoints", 0, &[], &["no_tracepoint_formats"]),
        ("group", 0, &[], &["silent_events"]),
        ("threads", 0, &[], &["no_samples", "unordered", "time_jumps_back"]),
    ];
    for (name, status, present, absent) in expected {
        let (value, code) = check(&fixture(name));
        assert_eq!(code, *status, "{name}: {value:#}");
        let kinds = kinds(&value);
        for kind in *present {
            assert!(kinds.contains(kind), "{name} lacks {kind}: {kinds:?}");
        }
        for kind in *absent {
            assert!(!kinds.contains(kind), "{name} has {kind}: {kinds:?}");
        }
    }
}

#[test]
fn text_fits_the_columns_and_has_colour_only_when_asked() {
    let run = |arguments: &[&str]| {
        let mut command = tool::command();
        command.env("COLUMNS", "60").args(["check", "--no-names"]).args(arguments).arg(fixture("multi"));
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let plain = run(&[]);
    assert!(plain.starts_with("sound: 306 records, 272 samples, 1 × advice\n"), "{plain}");
    assert!(plain.lines().all(|line| line.chars().count() <= 60 || line.contains("first at")), "{plain}");
    assert!(!plain.contains('\x1b'));
    assert!(run(&["--color", "always"]).contains("\x1b["));
}

#[test]
fn names_in_findings_cannot_drive_a_terminal() {
    let pipe = with(|pipe| {
        pipe.map(PID, 0x50_0000, "/lib/\x1b[2Jx", None, 0);
        pipe.samples(50, &Sample { ip: 0x50_0010, time: 1_500_000_000, ..Sample::default() });
    });
    let dir = scratch();
    let path = dir.path().join("made.data");
    std::fs::write(&path, &pipe.bytes).unwrap();
    let output = tool::command().arg("check").arg(&path).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("[2Jx") && !text.contains('\x1b'), "{text}");
}

/// The corpus of real recordings, where it is at hand.
fn corpus(test: &str) -> Option<PathBuf> {
    let path = oracle::corpus_root();
    if !path.is_dir() {
        skip(test, "no corpus; READPERF_CORPUS names its directory");
        return None;
    }
    Some(path)
}

#[test]
fn corpus_files_show_what_is_known_of_them() {
    let Some(corpus) = corpus("corpus_files_show_what_is_known_of_them") else { return };
    // Counts as a plain walk over the bytes of the records has them, and those of THROTTLE as perf's dump has them.
    let expected: &[(&str, &str, Option<u64>)] = &[
        ("quipper/perf.data.lost_samples-4.4", "lost_samples", Some(2)),
        ("own-aarch64/lost.data", "lost_records", Some(853)),
        ("own-s390x/lost.data", "lost_records", Some(45)),
        ("own-armhf/lost.data", "lost_records", Some(20)),
        ("own-aarch64/pmu-multi.data", "throttled", Some(337)),
        ("simpleperf/perf_with_missing_aux_data.data", "missing_aux_data", None),
        ("chromiumos/perf.data.piped.extradata", "cut_data", None),
        ("quipper/perf.data.piped.corrupted.zero_size_sample-3.2", "bad_record_size", Some(1)),
    ];
    for (name, kind, count) in expected {
        let path = corpus.join(name);
        if !path.exists() {
            skip("corpus_files_show_what_is_known_of_them", &format!("no {name}"));
            continue;
        }
        let (value, _) = check(&path);
        let finding = findings(&value).iter().find(|finding| finding["kind"] == *kind);
        let finding = finding.unwrap_or_else(|| panic!("{name} lacks {kind}: {:?}", kinds(&value)));
        assert!(count.is_none() || finding["count"].as_u64() == *count, "{name}: {finding:#}");
    }
}

#[test]
fn no_corpus_file_brings_it_down() {
    let Some(corpus) = corpus("no_corpus_file_brings_it_down") else { return };
    let mut checked = 0;
    for folder in
        std::fs::read_dir(corpus).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir())
    {
        for file in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let output = tool::command().args(["check", "--json", "--no-names"]).arg(&file).output().unwrap();
            let status = output.status.code();
            assert!(
                matches!(status, Some(0 | 1 | 3)),
                "{}: {status:?} {}",
                file.display(),
                tool::stderr(&output)
            );
            if status == Some(1) {
                continue;
            }
            checked += 1;
            let value: Value = serde_json::from_slice(&output.stdout).unwrap();
            let damaged = findings(&value).iter().any(|finding| finding["severity"] == "damage");
            assert_eq!(damaged, status == Some(3), "{}", file.display());
            assert!(!damaged || value["sound"] == false);
        }
    }
    assert!(checked > 0, "the corpus holds recordings");
}
