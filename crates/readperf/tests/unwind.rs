//! Recorded user stacks, unwound, against perf and against frame pointers.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::cast_possible_truncation,
    reason = "a test stops where something is not as expected"
)]

mod oracle;
#[path = "unwind/stacks.rs"]
mod stacks;

use oracle::live::Perf;
use readperf_symbols::unwind::End;
use stacks::{Kind, LOST, Unwound, frames_of_script, program};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const DWARF: &[&str] = &["-F", "2500", "-e", "cpu-clock:u", "--call-graph", "dwarf,8192", "--"];
const POINTERS: &[&str] = &["-F", "2500", "-e", "cpu-clock:u", "--call-graph", "fp", "--"];

/// Records `program` in its directory. The workload takes about a second.
fn record(perf: &Perf, test: &str, options: &[&str], program: &Path) -> Option<std::path::PathBuf> {
    let library = program.with_file_name("library.so");
    let workload = [program.to_str().unwrap(), "700", library.to_str().unwrap()];
    perf.record(test, program.parent().unwrap(), &[options, &workload].concat())
}

/// What a stack of ours is to one of perf's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Comparison {
    Same,
    /// As above, but perf takes one from the address of the code that a signal handler returns to, as if it were a
    /// return address. The kernel made it: it is the first address of `__restore_rt`, and one less is no code.
    SameButTrampoline,
    /// Neither can go on: perf shows one more address, that is none.
    SameButMark,
    /// perf gave up earlier.
    PerfIsShorter,
    Different,
}

fn compare(ours: &Unwound, perf: &[u64]) -> Comparison {
    let way = perf.iter().position(|address| *address == LOST);
    let gave_up = way.is_some();
    let perf = &perf[..way.unwrap_or(perf.len())];
    let differences: Vec<usize> =
        (0..ours.frames.len().min(perf.len())).filter(|at| !ours.is_at(*at, perf[*at])).collect();
    let only_trampolines = differences
        .iter()
        .all(|at| ours.is_at(*at, perf[*at].wrapping_add(1)) && *at > 0 && ours.is_signal(*at));
    if !only_trampolines {
        return Comparison::Different;
    }
    match (ours.frames.len(), perf.len()) {
        (own, perf) if own == perf && gave_up && ours.end.is_truncated() => Comparison::SameButMark,
        // Nor at once.
        (1, 0) if ours.end.is_truncated() => Comparison::SameButMark,
        (own, perf) if own == perf && gave_up => Comparison::Different,
        (own, perf) if own == perf && differences.is_empty() => Comparison::Same,
        (own, perf) if own == perf => Comparison::SameButTrampoline,
        (own, perf) if own > perf && perf > 0 => Comparison::PerfIsShorter,
        _ => Comparison::Different,
    }
}

#[test]
#[ignore = "live: compares with perf"]
fn the_same_as_perf() {
    const TEST: &str = "the_same_as_perf";
    let Some(perf) = Perf::or_skip(TEST) else { return };
    let dir = oracle::scratch();
    for kind in [Kind::Pie, Kind::Fixed, Kind::Unoptimised, Kind::Stripped] {
        let Some(program) = program(TEST, dir.path(), kind) else { return };
        let Some(data) = record(perf, TEST, DWARF, &program) else { return };
        let ours = stacks::unwind(&data);
        let theirs = frames_of_script(&perf.says("script", &data, &["--no-inline", "--ns"]));
        assert!(ours.len() > 200, "{kind:?}: {} stacks", ours.len());
        let mut counts: BTreeMap<Comparison, usize> = BTreeMap::new();
        let known: BTreeSet<(u32, u64)> = ours.iter().map(|own| own.sample).collect();
        let unknown = theirs.keys().find(|sample| !known.contains(sample));
        assert_eq!(unknown, None, "{kind:?}: perf has it, readperf has not");
        for own in &ours {
            // perf leaves samples out that it can place nowhere.
            let Some(perf) = theirs.get(&own.sample) else {
                eprintln!("{kind:?}: perf leaves out {own:x?}");
                continue;
            };
            let comparison = compare(own, perf);
            *counts.entry(comparison).or_default() += 1;
            assert_ne!(comparison, Comparison::Different, "{kind:?}: {own:x?} and {perf:x?}");
        }
        let complete = ours.iter().filter(|own| own.end == End::Bottom).count();
        eprintln!("{kind:?}: {counts:?}, {complete} of {} complete", ours.len());
        let left_out = ours.len() - theirs.len();
        assert!(left_out * 100 <= ours.len(), "{kind:?}: perf leaves out {left_out} of {}", ours.len());
        let short = counts.get(&Comparison::PerfIsShorter).copied().unwrap_or(0);
        assert!(short * 50 <= ours.len(), "{kind:?}: {counts:?}");
        assert!(complete * 100 >= ours.len() * 99, "{kind:?}: {complete} of {}", ours.len());
        assert!(counts.contains_key(&Comparison::SameButTrampoline), "{kind:?} handles signals: {counts:?}");
    }
}

/// Paths of functions of the program up to the first one of a thread, and how often each is seen.
fn paths(stacks: &[Unwound], functions: &[(u64, u64, String)]) -> BTreeMap<Vec<String>, usize> {
    let mut counts = BTreeMap::new();
    for stack in stacks {
        let name = |at: usize| {
            let address = stack.frames[at];
            let found = functions.iter().find(|(start, end, _)| (*start..*end).contains(&address));
            found.map(|(_, _, name)| name.clone())
        };
        let mut path: Vec<String> = (0..stack.frames.len()).map_while(name).collect();
        let Some(last) = path.iter().position(|name| name == "main" || name.contains("thread_main")) else {
            continue;
        };
        path.truncate(last + 1);
        // The C library keeps no frame pointers.
        let own = ["burn", "recursive", "with_alloca", "aligned", "thrower", "_ZN7Derived2goEm"];
        if path[0] == "burn" && path[..last].iter().all(|name| own.contains(&name.as_str())) {
            *counts.entry(path).or_default() += 1;
        }
    }
    counts
}

#[test]
#[ignore = "live: compares with perf"]
fn the_same_as_frame_pointers() {
    const TEST: &str = "the_same_as_frame_pointers";
    let Some(perf) = Perf::or_skip(TEST) else { return };
    let dir = oracle::scratch();
    let mut seen = Vec::new();
    for (kind, options) in [(Kind::Pointers, POINTERS), (Kind::Pointers, DWARF), (Kind::Static, DWARF)] {
        let Some(program) = program(TEST, dir.path(), kind) else { return };
        let Some(functions) = stacks::functions(TEST, &program) else { return };
        let Some(data) = record(perf, TEST, options, &program) else { return };
        let stacks = if options == DWARF { stacks::unwind(&data) } else { stacks::recorded_chains(&data) };
        seen.push(paths(&stacks, &functions));
    }
    let often = |paths: &BTreeMap<Vec<String>, usize>, least: f64| -> BTreeSet<Vec<String>> {
        let all: usize = paths.values().sum();
        let often = paths.iter().filter(|(_, count)| **count as f64 >= all as f64 * least);
        often.map(|(path, _)| path.clone()).collect()
    };
    let expected = often(&seen[0], 0.02);
    eprintln!("{} paths seen often by frame pointers", expected.len());
    assert!(expected.iter().any(|path| path.len() > 30), "the deep recursion is among them: {expected:?}");
    assert!(expected.len() >= 4, "{expected:?}");
    for paths in &seen[1..] {
        let often_here = often(paths, 0.02);
        let at_all = often(paths, 0.0);
        assert!(expected.is_subset(&at_all), "missing: {:?}", expected.difference(&at_all));
        let known = often(&seen[0], 0.0);
        assert!(often_here.is_subset(&known), "made up: {:?}", often_here.difference(&known));
    }
}
