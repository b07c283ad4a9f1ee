//! Recorded stacks that go through generated code, whose frames only call frame information tells of.

use crate::live;
use crate::oracle::live::Perf;
use crate::oracle::{skip, tool};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Who calls whom in the program, the innermost first. The generated ones have numbers.
const CALLERS: [&str; 5] = ["stays", "inner_", "outer_", "calls_code", "main"];

/// Records the program with these arguments.
fn recorded(test: &str, perf: &Perf, dir: &Path, arguments: &[&str]) -> Option<PathBuf> {
    let record =
        ["-k", "mono", "-e", "cpu-clock:u", "-F", "2000", "--call-graph", "dwarf,16384", "--", "./frames"];
    perf.record(test, dir, &[&record[..], arguments].concat())
}

/// The functions of each stack that begins in generated code, as far as the program knows of them.
fn stacks(script: &str) -> Vec<Vec<String>> {
    let name = |line: &str| line.split_whitespace().nth(1).unwrap_or_default().to_owned();
    let known = |name: &String| CALLERS.iter().any(|known| name.starts_with(known));
    let stacks = script.split("\n\n").map(|stack| stack.trim().lines().map(name).collect::<Vec<String>>());
    let of_code = stacks.filter(|stack| {
        stack.first().is_some_and(|name| CALLERS[..3].iter().any(|known| name.starts_with(known)))
    });
    of_code.map(|stack| stack.into_iter().take_while(known).collect()).collect()
}

fn mine(data: &Path) -> Vec<Vec<String>> {
    let mut script = tool::command();
    script.args(["script", "--no-cache", "--no-inline", "-F", "ip,sym", "-i"]).arg(data);
    stacks(&String::from_utf8_lossy(&script.output().unwrap().stdout))
}

fn is_complete(stack: &[String]) -> bool {
    let first = CALLERS.iter().position(|known| stack[0].starts_with(known)).unwrap();
    let expected = &CALLERS[first..];
    stack.len() == expected.len() && stack.iter().zip(expected).all(|(name, known)| name.starts_with(known))
}

#[test]
#[ignore = "live: compares with perf"]
fn callers_of_generated_code_are_found_by_what_was_dumped() {
    let test = "callers_of_generated_code_are_found_by_what_was_dumped";
    let Some((perf, dir)) = live(test, "frames") else { return };
    for mode in ["writable", "toggles"] {
        let Some(data) = recorded(test, perf, dir.path(), &["40", "4000000", mode]) else { return };
        let stacks = mine(&data);
        eprintln!("{test}: {mode}: {} stacks", stacks.len());
        assert!(!stacks.is_empty());
        let incomplete = stacks.iter().find(|stack| !is_complete(stack));
        assert_eq!(incomplete, None, "{mode}");
    }
    // The same program without what tells of its frames. Only in the first instructions there is something to go by.
    let Some(data) = recorded(test, perf, dir.path(), &["40", "4000000", "bare"]) else { return };
    let stacks = mine(&data);
    let complete = stacks.iter().filter(|stack| is_complete(stack)).count();
    eprintln!("{test}: bare: {complete} of {} stacks", stacks.len());
    assert!(complete < stacks.len() / 2, "{complete} of {}", stacks.len());
}

/// perf works its frames out once for an address, so there is only one piece of code at each.
#[test]
#[ignore = "live: compares with perf"]
fn callers_of_generated_code_are_those_of_perf() {
    let test = "callers_of_generated_code_are_those_of_perf";
    let Some((perf, dir)) = live(test, "frames") else { return };
    let Some(data) = recorded(test, perf, dir.path(), &["1", "100000000"]) else { return };
    let made = dir.path().join("made.data");
    perf.says("inject", &data, &["--jit", "-o", made.to_str().unwrap()]);
    let theirs = stacks(&perf.script_with(&made, &["-F", "ip,sym"]));
    if !theirs.iter().any(|stack| stack.iter().any(|name| name == "main")) {
        return skip(test, "perf cannot unwind here");
    }
    let counts = |stacks: Vec<Vec<String>>| {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        stacks.into_iter().for_each(|stack| *counts.entry(stack.join(" ")).or_default() += 1);
        counts
    };
    let (mine, theirs) = (counts(mine(&data)), counts(theirs));
    eprintln!("{test}: {mine:?}");
    assert_eq!(mine, theirs);
}
