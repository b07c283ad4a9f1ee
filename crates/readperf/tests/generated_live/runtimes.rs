//! Runtimes that tell of the code they generate, as far as they are installed: the samples of each function are those that perf
//! has after it has made files of the dump, or by itself where there is a perf map.

use crate::oracle::live::Perf;
use crate::oracle::{scratch, skip, tool};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

const PYTHON: &str = "def burn(n):
    s = 0
    for i in range(n):
        s += i * i % 7
    return s
def middle(n):
    return burn(n) + burn(n // 2)
def main():
    for _ in range(150):
        middle(40000)
main()
";

const PHP: &str = "<?php
function burn($n) { $s = 0; for ($i = 0; $i < $n; $i++) { $s += $i * $i % 7; } return $s; }
function middle($n) { return burn($n) + burn(intdiv($n, 2)); }
for ($k = 0; $k < 4000; $k++) middle(30000);
";

const ERLANG: &str = "-module(hot).
-export([main/0]).
burn(0, S) -> S;
burn(N, S) -> burn(N - 1, (S + N * N rem 7) band 16#ffffff).
middle(N) -> burn(N, 0) + burn(N div 2, 0).
loop(0, T) -> T;
loop(K, T) -> loop(K - 1, T + middle(100000)).
main() -> loop(1000, 0), halt().
";

const JAVA: &str = "public class Hot {
  static int burn(int n) { int s = 0; for (int i = 0; i < n; i++) s += i * i % 7; return s; }
  static int middle(int n) { return burn(n) + burn(n / 2); }
  public static void main(String[] a) { long t = 0; for (int k = 0; k < 200000; k++) t += middle(1500); System.out.println(t); }
}
";

/// An interpreter of at least CPython 3.13 that can write a dump: in the path, or where pyenv keeps its versions.
fn python() -> Option<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let versions = std::fs::read_dir(home.join(".pyenv/versions")).into_iter().flatten().flatten();
    let installed = versions.map(|version| version.path().join("bin/python3"));
    let in_path = ["python3", "python3.14", "python3.13"].into_iter().map(PathBuf::from);
    in_path.chain(installed).find(|python| {
        let works = ["-X", "perf_jit", "-c", "import sys; sys.exit(sys.version_info < (3, 13))"];
        Command::new(python).args(works).output().is_ok_and(|output| output.status.success())
    })
}

/// CPython 3.13.0 leaves the machine out of its dump. perf takes no notice of that.
#[test]
#[ignore = "live: compares with perf"]
fn stacks_through_cpythons_trampolines_are_complete() {
    let test = "stacks_through_cpythons_trampolines_are_complete";
    let Some(perf) = Perf::or_skip(test) else { return };
    let Some(python) = python() else { return skip(test, "no CPython 3.13 with -X perf_jit") };
    let dir = scratch();
    std::fs::write(dir.path().join("hot.py"), PYTHON).unwrap();
    let python = python.to_str().unwrap();
    let record = ["-k", "mono", "-e", "cpu-clock:u", "-F", "999", "--call-graph", "dwarf,32768", "--"];
    let program = [python, "-X", "perf_jit", "hot.py"];
    let Some(data) = perf.record(test, dir.path(), &[&record[..], &program].concat()) else { return };
    let mut script = tool::command();
    script.args(["script", "--no-cache", "--no-inline", "-F", "time,ip,sym", "-i"]).arg(&data);
    let mine = stacks(&String::from_utf8_lossy(&script.output().unwrap().stdout));
    let burning = mine.values().filter(|stack| stack.contains("py::burn:"));
    let (complete, cut): (Vec<&String>, Vec<&String>) = burning.partition(|stack| {
        ["py::middle:", "py::main:", "py::<module>:"].iter().all(|name| stack.contains(name))
    });
    eprintln!("{test}: {} complete, {} cut", complete.len(), cut.len());
    assert!(complete.len() > 100 && cut.is_empty(), "{} complete; {:?}", complete.len(), cut.first());
    // The same stacks as perf's, which knows generated code after it has made files of it.
    let Some(made) = made(perf, &data) else { return skip(test, "perf cannot read the dump") };
    let theirs = stacks(&perf.script_with(&made, &["-F", "time,ip,sym"]));
    let times = |stacks: &BTreeMap<String, String>| stacks.keys().cloned().collect::<Vec<_>>();
    assert_eq!(times(&mine), times(&theirs));
    // While the interpreter starts, perf now and then ends a stack too early, in code of C without frame
    // pointers. Its stack is the first part of ours then. In the code that is looked at none may differ.
    let differ: Vec<(&String, &String)> =
        mine.values().zip(theirs.values()).filter(|(a, b)| a != b).collect();
    for (mine, theirs) in &differ {
        assert!(mine.starts_with(*theirs) && !mine.contains("py::burn:"), "{mine}\nperf:\n{theirs}");
    }
    assert!(differ.len() * 50 <= mine.len(), "{differ:?}");
}

/// The functions of generated code in each stack, from the innermost on, by the time of the sample.
fn stacks(script: &str) -> BTreeMap<String, String> {
    let stacks = script.split("\n\n").filter(|stack| !stack.trim().is_empty());
    let one = |stack: &str| {
        let mut lines = stack.trim().lines();
        let time = lines.next().unwrap_or("").trim().to_owned();
        let generated: Vec<&str> = lines.filter_map(|line| line.get(line.find("py::")?..)).collect();
        (time, generated.join("\n"))
    };
    stacks.map(one).collect()
}

fn made(perf: &Perf, data: &Path) -> Option<PathBuf> {
    let made = data.with_file_name("made.data");
    perf.says("inject", data, &["--jit", "-o", made.to_str().unwrap()]);
    made.exists().then_some(made)
}

/// The samples of each function in whose name this is.
fn counts(script: &str, of: &str) -> BTreeMap<String, u64> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    // perf has other addresses in the files it has made.
    let names = script.lines().filter_map(|line| line.trim().split_once(' '));
    for (_, name) in names.filter(|(_, name)| name.contains(of)) {
        *counts.entry(name.to_owned()).or_default() += 1;
    }
    counts
}

/// Records a program that spends its time in functions that have this in their names, and compares.
fn compare(test: &str, perf: &Perf, dir: &Path, program: &[&str], of: &str, dumps: bool) {
    let record = ["-k", "mono", "-e", "cpu-clock:u", "-F", "999", "--"];
    let Some(data) = perf.record(test, dir, &[&record[..], program].concat()) else { return };
    let theirs = if dumps { made(perf, &data) } else { Some(data.clone()) };
    let Some(theirs) = theirs else { return skip(test, &format!("perf has no dump of {}", program[0])) };
    let theirs = counts(&perf.script_with(&theirs, &["-F", "ip,sym"]), of);
    let output =
        tool::command().args(["script", "--no-cache", "-F", "ip,sym", "-i"]).arg(&data).output().unwrap();
    assert_eq!(tool::stderr(&output), "", "{program:?}");
    let mine = counts(&String::from_utf8_lossy(&output.stdout), of);
    let samples: u64 = mine.values().sum();
    eprintln!("{test}: {}: {samples} samples, {mine:?}", program[0]);
    assert_eq!(mine, theirs, "{program:?}");
    assert!(samples > 50, "{program:?}: {mine:?}");
}

/// Whether a program is there; says so if not.
fn has(test: &str, program: &str, argument: &str) -> bool {
    let is_there = Command::new(program).arg(argument).output().is_ok();
    if !is_there {
        skip(test, &format!("no {program}"));
    }
    is_there
}

#[test]
#[ignore = "live: compares with perf"]
fn functions_of_runtimes_are_those_of_perf() {
    let test = "functions_of_runtimes_are_those_of_perf";
    let Some(perf) = Perf::or_skip(test) else { return };
    let dir = scratch();
    let files = [("hot.php", PHP), ("hot.erl", ERLANG), ("Hot.java", JAVA)];
    files.iter().for_each(|(name, text)| std::fs::write(dir.path().join(name), text).unwrap());
    let built = |program: &str, source: &str| {
        Command::new(program)
            .arg(source)
            .current_dir(dir.path())
            .status()
            .is_ok_and(|status| status.success())
    };
    if has(test, "php", "--version") {
        // It leaves files alone that were written just now.
        let flags = "-dopcache.file_update_protection=0 -dopcache.enable_cli=1 -dopcache.jit_buffer_size=32M -dopcache.jit=function -dopcache.jit_debug";
        for (debug, dumps) in [("16", false), ("32", true)] {
            let flags = format!("{flags}={debug}");
            let program: Vec<&str> = ["php"].into_iter().chain(flags.split(' ')).chain(["hot.php"]).collect();
            compare(test, perf, dir.path(), &program, "burn", dumps);
        }
    }
    if has(test, "erlc", "-h") && built("erlc", "hot.erl") {
        // It dumps all its libraries, too, of which perf would make ten thousand files: the map has the same names.
        let program = ["erl", "+JPperf", "map", "+S", "1", "-noshell", "-eval", "hot:main()."];
        compare(test, perf, dir.path(), &program, "hot:", false);
    }
    if has(test, "javac", "-version") && built("javac", "Hot.java") {
        let flags = "-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit";
        let program: Vec<&str> = ["java"].into_iter().chain(flags.split(' ')).chain(["Hot"]).collect();
        compare(test, perf, dir.path(), &program, "Hot.", false);
    }
}
