//! Which functions are inlined where a caller called: `report`, folded stacks, callgrind and `script` say the same, and say what
//! llvm-symbolizer says of the byte before the return address.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr
)]

mod oracle;

use oracle::live::Perf;
use oracle::{fixture, kind, scratch, skip, tool};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A stack by names, the outermost first, and its period.
type Stacks = BTreeMap<Vec<String>, u64>;

/// What a command says of a recording. Of a fixture only its own programs have names: other files of the machine are none of it.
fn lines(arguments: &[&str], file: &Path) -> String {
    let fixtures = kind("");
    let mut all = arguments.to_vec();
    let programs = fixtures.join("bin");
    if file.starts_with(&fixtures) {
        all.extend(["--symfs", "/nowhere", "--symbols", programs.to_str().unwrap()]);
    }
    all.push(file.to_str().unwrap());
    tool::answer(&all)
}

fn samples(file: &Path) -> Vec<Value> {
    lines(&["script", "--json"], file).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Code without a name is called by its binary, as in folded stacks.
fn label(symbol: &Value, dso: &Value) -> String {
    let binary = || {
        let name = dso.as_str().unwrap_or("[unknown]").rsplit('/').next().unwrap().trim_matches(['[', ']']);
        format!("[{name}]")
    };
    symbol.as_str().map_or_else(binary, |name| name.replace(';', ":"))
}

/// The stacks of one event, as `script --json` has them.
fn of_json(samples: &[Value], event: &str) -> Stacks {
    let mut stacks = Stacks::new();
    for sample in samples.iter().filter(|sample| sample["event"] == event) {
        let frames = sample["frames"].as_array().unwrap().iter().rev();
        let names = frames.map(|frame| label(&frame["symbol"], &frame["dso"])).collect();
        *stacks.entry(names).or_default() += sample["period"].as_u64().unwrap();
    }
    stacks
}

/// The same of `script --inline`, whose lines of a stack begin with a tab and the address.
fn of_text(file: &Path, event: &str) -> Stacks {
    let text = lines(&["script", "--inline", "--max-stack", "1000", "-F", "event,period,ip,sym,dso"], file);
    let mut stacks = Stacks::new();
    for sample in text.split("\n\n") {
        let Some((head, frames)) = sample.trim_start().split_once('\n') else { continue };
        let (period, name) = head.trim().split_once(' ').unwrap();
        if name.trim().trim_end_matches(':') != event {
            continue;
        }
        let name = |line: &str| {
            let (_, place) = line.trim().split_once(' ').unwrap();
            let (symbol, dso) = match place.strip_suffix(" (inlined)") {
                Some(symbol) => (symbol, ""),
                None => place.rsplit_once(" (").unwrap(),
            };
            let symbol = (symbol != "[unknown]").then(|| symbol.to_owned());
            label(&symbol.into(), &dso.trim_end_matches(')').into())
        };
        let names: Vec<String> = frames.lines().rev().map(name).collect();
        *stacks.entry(names).or_default() += period.parse::<u64>().unwrap();
    }
    stacks
}

/// The same of folded stacks, whose first part is the process.
fn of_folded(file: &Path, event: &str) -> Stacks {
    let text = lines(&["export", "--format", "folded", "--event", event], file);
    let mut stacks = Stacks::new();
    for line in text.lines() {
        let (frames, period) = line.rsplit_once(' ').unwrap();
        let names = frames.split(';').skip(1).map(str::to_owned).collect();
        *stacks.entry(names).or_default() += period.parse::<u64>().unwrap();
    }
    stacks
}

/// What each named function stands for, itself and what it calls.
fn totals(stacks: &Stacks) -> BTreeMap<String, u64> {
    let mut totals = BTreeMap::new();
    for (names, period) in stacks {
        let named: BTreeSet<&String> = names.iter().filter(|name| !name.starts_with('[')).collect();
        named.into_iter().for_each(|name| *totals.entry(name.clone()).or_default() += period);
    }
    totals
}

/// The same as `report` has it.
fn of_report(file: &Path, event: &str) -> BTreeMap<String, u64> {
    let text = lines(&["report", "--children", "--json", "--sort", "symbol", "--event", event], file);
    let report: Value = serde_json::from_str(&text).unwrap();
    let events = report["events"].as_array().unwrap();
    let rows = events.iter().filter(|of| of["name"] == event).flat_map(|of| of["rows"].as_array().unwrap());
    let mut totals = BTreeMap::new();
    for row in rows {
        let Some(name) = row["symbol"].as_str().filter(|name| !name.starts_with("0x")) else { continue };
        let name = name.strip_suffix(" (inlined)").unwrap_or(name).replace(';', ":");
        *totals.entry(name).or_default() += row["total_period"].as_u64().unwrap();
    }
    totals
}

/// Who calls whom.
fn calls(stacks: &Stacks) -> BTreeSet<(String, String)> {
    let pairs = stacks.keys().flat_map(|names| names.windows(2));
    pairs
        .map(|pair| (pair[0].clone(), pair[1].clone()))
        .filter(|(caller, callee)| is_pair(caller, callee))
        .collect()
}

/// Calls within a function are none to callgrind, its threads call the first functions, and what has no name has other words there.
fn is_pair(caller: &str, callee: &str) -> bool {
    caller != callee
        && !caller.ends_with(" (thread)")
        && ![caller, callee].iter().any(|name| name.starts_with('['))
}

/// The same as the callgrind file has it: `fn=(1) name` once, then `fn=(1)`; a call is `cfn=` in it.
fn of_callgrind(file: &Path, event: &str) -> BTreeSet<(String, String)> {
    let text = lines(&["export", "--format", "callgrind", "--event", event], file);
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    let mut name_of = |told: &str| {
        let (number, name) = told.split_once(')').unwrap();
        let known = names.entry(number.to_owned()).or_default();
        if !name.is_empty() {
            name.trim_start().clone_into(known);
        }
        known.clone()
    };
    let (mut caller, mut calls) = (String::new(), BTreeSet::new());
    for line in text.lines() {
        if let Some(told) = line.strip_prefix("fn=") {
            caller = name_of(told);
        } else if let Some(told) = line.strip_prefix("cfn=") {
            let callee = name_of(told);
            if is_pair(&caller, &callee) {
                calls.insert((caller.clone(), callee));
            }
        }
    }
    calls
}

/// All outputs have the same stacks; how many inlined functions these have among the callers.
fn assert_all_agree(file: &Path) -> usize {
    let samples = samples(file);
    let events: BTreeSet<&str> = samples.iter().map(|sample| sample["event"].as_str().unwrap()).collect();
    for event in events {
        let stacks = of_json(&samples, event);
        let said = |what: &str, theirs: Stacks| {
            let differs = theirs.iter().find(|(names, period)| stacks.get(*names) != Some(period));
            assert_eq!(differs, None, "{what} of {event}");
            assert_eq!(theirs.len(), stacks.len(), "stacks of {what} of {event}");
        };
        said("folded stacks", of_folded(file, event));
        said("script --inline", of_text(file, event));
        let (theirs, ours) = (of_callgrind(file, event), calls(&stacks));
        assert_eq!(theirs.symmetric_difference(&ours).next(), None, "calls of the callgrind file of {event}");
        let (report, script) = (of_report(file, event), totals(&stacks));
        // A function that is inlined in some places only has two rows; a stack with both counts in both.
        for (name, period) in &script {
            let has_two_rows = samples.iter().flat_map(|sample| sample["frames"].as_array().unwrap());
            let kinds: BTreeSet<bool> = has_two_rows
                .filter(|frame| frame["symbol"] == **name)
                .map(|frame| frame["inlined"] == true)
                .collect();
            let total = report.get(name).copied().unwrap_or(0);
            assert!(
                total == *period || kinds.len() == 2 && total >= *period,
                "{name} of {event}: {total}, {period}"
            );
        }
        let unknown: Vec<&String> = report.keys().filter(|name| !script.contains_key(*name)).collect();
        assert_eq!(unknown, [""; 0], "rows of {event} that no stack has");
    }
    let frames = samples.iter().flat_map(|sample| sample["frames"].as_array().unwrap().iter().skip(1));
    frames.filter(|frame| frame["inlined"] == true).count()
}

#[test]
fn all_outputs_have_the_same_stacks() {
    let inlined: usize =
        ["multi", "dwarf", "everything"].into_iter().map(|name| assert_all_agree(&fixture(name))).sum();
    assert!(inlined > 0, "no inlined function among the callers: nothing was tried");
}

/// A function, and what is inlined in it, or the function itself.
type Inlined = (String, String);

/// By function and inlined function, the period of the samples that were taken there, and of those with it in their stack; what has
/// no name is left out.
fn inlined_of_json(samples: &[Value], event: &str) -> BTreeMap<Inlined, (u64, u64)> {
    let mut sums: BTreeMap<Inlined, (u64, u64)> = BTreeMap::new();
    for sample in samples.iter().filter(|sample| sample["event"] == event) {
        let frames = sample["frames"].as_array().unwrap();
        let pairs = frames.iter().enumerate().map(|(nr, frame)| {
            let function = frames[nr..].iter().find(|frame| frame["inlined"] != true).unwrap();
            let suffix = if frame["inlined"] == true { " (inlined)" } else { "" };
            Some((function["symbol"].as_str()?.to_owned(), format!("{}{suffix}", frame["symbol"].as_str()?)))
        });
        let pairs: Vec<Option<Inlined>> = pairs.collect();
        let period = sample["period"].as_u64().unwrap();
        if let Some(innermost) = pairs[0].clone() {
            sums.entry(innermost).or_default().0 += period;
        }
        let all: BTreeSet<Inlined> = pairs.into_iter().flatten().collect();
        all.into_iter().for_each(|pair| sums.entry(pair).or_default().1 += period);
    }
    sums
}

/// With the key `inlined` rows count a sample for the innermost inlined function, and `function` is the real one.
#[test]
fn rows_by_inlined_function_are_those_of_the_stacks() {
    let mut inlined = 0;
    for file in ["multi", "dwarf", "everything", "rust"].map(fixture) {
        let samples = samples(&file);
        let text = lines(&["report", "--children", "--json", "--sort", "function,inlined"], &file);
        let report: Value = serde_json::from_str(&text).unwrap();
        for event in report["events"].as_array().unwrap() {
            let mut rows: BTreeMap<Inlined, (u64, u64)> = BTreeMap::new();
            for row in event["rows"].as_array().unwrap() {
                let name = |key: &str| row[key].as_str().filter(|name| !name.starts_with("0x"));
                let (Some(function), Some(level)) = (name("symbol"), name("inlined")) else { continue };
                assert!(!function.ends_with(" (inlined)"), "{function}");
                inlined += usize::from(level.ends_with(" (inlined)"));
                let period = |key: &str| row[key].as_u64().unwrap();
                let sums = rows.entry((function.to_owned(), level.to_owned())).or_default();
                // The same name in two binaries has two rows.
                *sums = (sums.0 + period("self_period"), sums.1 + period("total_period"));
            }
            let script = inlined_of_json(&samples, event["name"].as_str().unwrap());
            let differs = script.iter().find(|(pair, sums)| rows.get(*pair) != Some(sums));
            assert_eq!(differs, None, "{file:?}: {:?}", differs.and_then(|(pair, _)| rows.get(pair)));
            assert_eq!(rows.len(), script.len(), "{file:?}");
        }
    }
    assert!(inlined > 0, "no inlined function: nothing was tried");
}

/// What is inlined behind a call is of no concern to the caller: `std::sort` and its parts, one call after another.
const PROGRAM: &str = r#"
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <vector>
volatile long sink;
__attribute__((noinline)) static int largest(const std::vector<int> &v) { return *std::max_element(v.begin(), v.end()); }
__attribute__((noinline)) static void work(std::vector<int> &v) {
    std::sort(v.begin(), v.end());
    sink += largest(v);
    std::sort(v.begin(), v.end(), std::greater<int>());
}
int main() {
    for (int round = 0; round < 20; round++) {
        std::vector<int> v(100000);
        for (auto &x : v) x = rand();
        work(v);
    }
}
"#;

/// Records a program that is called `sorts`.
fn recorded(test: &str, dir: &Path, source: &str) -> Option<PathBuf> {
    let perf = Perf::or_skip(test)?;
    std::fs::write(dir.join("sorts.cpp"), source).unwrap();
    let options = ["-g", "-O2", "-no-pie", "-fno-omit-frame-pointer", "sorts.cpp", "-o", "sorts"];
    match Command::new("c++").args(options).current_dir(dir).output() {
        Ok(output) => assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => {
            skip(test, &format!("c++: {error}"));
            return None;
        }
    }
    perf.record(test, dir, &["-e", "cpu-clock:u", "-F", "2000", "-g", "--", "./sorts"])
}

fn hex(address: &Value) -> u64 {
    u64::from_str_radix(address.as_str().unwrap().trim_start_matches("0x"), 16).unwrap()
}

/// The function, its inlined ones first, that llvm-symbolizer names at each of these addresses.
fn symbolized(binary: &Path, addresses: &BTreeSet<u64>) -> Option<BTreeMap<u64, Vec<String>>> {
    let asked = addresses.iter().map(|address| format!("{address:#x}"));
    let output = Command::new("llvm-symbolizer")
        .args(["--no-demangle", "--output-style=JSON", "--obj"])
        .arg(binary)
        .args(asked)
        .output()
        .ok()?;
    let answers: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let answers = answers.iter().map(|answer| {
        let levels = answer["Symbol"].as_array().unwrap().iter();
        let names = levels.map(|level| level["FunctionName"].as_str().unwrap().to_owned()).collect();
        (hex(&answer["Address"]), names)
    });
    Some(answers.collect())
}

#[test]
#[ignore = "live: records with perf, compares with llvm-symbolizer"]
fn callers_are_those_at_the_call() {
    let test = "callers_are_those_at_the_call";
    let dir = scratch();
    let Some(data) = recorded(test, dir.path(), PROGRAM) else { return };
    assert!(assert_all_agree(&data) > 100);
    let binary = dir.path().join("sorts");
    let text = lines(&["script", "--json", "--demangle", "none"], &data);
    let recorded = lines(&["dump", "--json", "--sorted", "--type", "SAMPLE"], &data);
    let mut ours: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for (line, record) in text.lines().zip(recorded.lines()) {
        let sample: Value = serde_json::from_str(line).unwrap();
        let record: Value = serde_json::from_str(record).unwrap();
        let frames = sample["frames"].as_array().unwrap();
        // Without relocation an address at run time is that in the file.
        let levels: Vec<&[Value]> = frames.chunk_by(|inner, _| inner["inlined"] == true).collect();
        // Addresses are shown as they were recorded; the first entry is the marker of user code.
        let chain: Vec<u64> = record["callchain"].as_array().unwrap().iter().skip(1).map(hex).collect();
        assert_eq!(levels.iter().map(|levels| hex(&levels[0]["ip"])).collect::<Vec<_>>(), chain);
        for (nr, levels) in levels.into_iter().enumerate() {
            if levels[0]["dso"].as_str() != binary.to_str() {
                continue;
            }
            let names = levels.iter().map(|level| level["symbol"].as_str().unwrap_or_default().to_owned());
            ours.insert(hex(&levels[0]["ip"]) - u64::from(nr > 0), names.collect());
        }
    }
    let Some(theirs) = symbolized(&binary, &ours.keys().copied().collect()) else {
        return skip(test, "no llvm-symbolizer");
    };
    let inlined = ours.values().filter(|levels| levels.len() > 1).count();
    assert!(inlined > 10, "{inlined} places with inlined functions");
    for (address, levels) in &theirs {
        // Code of the C library's start files has no debug information.
        if levels.len() > 1 || ours[address].len() > 1 {
            assert_eq!(&ours[address], levels, "at {address:#x}");
        }
    }
}

const HANDLER: &str = r#"
#include <csignal>
#include <sys/time.h>
volatile long sink;
__attribute__((noinline)) static void in_handler() { for (int i = 0; i < 2000000; i++) sink = sink + i; }
static void handler(int) { in_handler(); sink = sink + 1; }
int main() {
    signal(SIGPROF, handler);
    itimerval timer{{0, 20000}, {0, 20000}};
    setitimer(ITIMER_PROF, &timer, nullptr);
    for (long i = 0; i < 300000000; i++) sink = sink + i;
}
"#;

/// A signal handler returns to the first byte of a trampoline: the byte before is in no function. Further on in the trampoline are only
/// samples of its own code, which is the first frame then.
#[test]
#[ignore = "live: compares with perf"]
fn signal_handlers_were_called_by_the_trampoline() {
    let test = "signal_handlers_were_called_by_the_trampoline";
    let dir = scratch();
    let Some(data) = recorded(test, dir.path(), HANDLER) else { return };
    let perf = Perf::or_skip(test).unwrap().script_with(&data, &["-F", "ip,sym"]);
    let theirs = perf.lines().filter(|line| line.trim().ends_with(" __restore_rt")).count();
    if theirs == 0 {
        return skip(test, "the C library here has no symbol for its trampoline");
    }
    let samples = samples(&data);
    let stacks: Vec<&[Value]> =
        samples.iter().map(|sample| sample["frames"].as_array().unwrap().as_slice()).collect();
    let in_trampoline = |frame: &Value| frame["symbol"] == "__restore_rt";
    assert_eq!(stacks.iter().copied().flatten().filter(|frame| in_trampoline(frame)).count(), theirs);
    let called = stacks.iter().flat_map(|stack| stack.iter().skip(1));
    let returns: Vec<&Value> =
        called.filter(|frame| in_trampoline(frame)).map(|frame| &frame["offset"]).collect();
    assert!(!returns.is_empty());
    assert!(returns.iter().all(|offset| **offset == 0), "{returns:?}");
}
