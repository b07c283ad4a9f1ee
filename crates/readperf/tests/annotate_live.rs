//! `readperf annotate` against `perf annotate --stdio`, which asks objdump, address by address: programs in C, C++ and Rust, optimised
//! or not, position-independent, static, stripped with a debug file beside them.
//!
//! Nothing may differ: perf and readperf read the same samples, of the same binary.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr
)]

mod oracle;

use oracle::live::Perf;
use oracle::{kind, scratch, skip, tool};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// The shares of the instructions of a function in hundredths of a percent, by address.
type Shares = BTreeMap<u64, u64>;

/// The functions by binary and first address.
type Functions = BTreeMap<(String, u64), Shares>;

fn hundredths(share: &str) -> u64 {
    share.replace('.', "").parse().unwrap()
}

/// What perf says, a function after the other: ` 12.34 :   11d0:   push   %r12`.
fn of_perf(text: &str) -> Functions {
    let mut functions = Functions::new();
    let mut dso = String::new();
    let mut shares = Shares::new();
    for line in text.lines().chain([" Percent |	Source code & Disassembly of  for "]) {
        if let Some((_, rest)) = line.split_once("Disassembly of ").filter(|_| line.starts_with(" Percent")) {
            if let Some((start, _)) = shares.first_key_value() {
                functions.insert((dso, *start), std::mem::take(&mut shares));
            }
            dso = rest.split(" for ").next().unwrap().to_owned();
            continue;
        }
        let Some((share, rest)) = line.split_once(':') else { continue };
        let Some((address, _)) = rest.split_once(':') else { continue };
        if let (false, Ok(address)) = (share.trim().is_empty(), u64::from_str_radix(address.trim(), 16)) {
            shares.insert(address, hundredths(share.trim()));
        }
    }
    functions
}

/// What readperf says, and which of the functions are called `_init`.
fn of_readperf(recording: &Path, more: &[&str]) -> (Functions, BTreeSet<(String, u64)>) {
    let path = recording.to_str().unwrap();
    let text = tool::answer(&[&["annotate", "--json", "--top", "1000", path][..], more].concat());
    let annotated: Value = serde_json::from_str(&text).unwrap();
    let (mut functions, mut inits) = (Functions::new(), BTreeSet::new());
    for function in annotated["functions"].as_array().unwrap() {
        for part in function["parts"].as_array().unwrap() {
            let whole = part["events"][0]["self_period"].as_u64().unwrap();
            let elsewhere = part["elsewhere"].as_array().unwrap();
            assert!(elsewhere.is_empty() || !part["no_code"].is_null(), "{elsewhere:?}");
            let rows = part["instructions"].as_array().unwrap().iter().map(|row| {
                let address = row["address"].as_str().unwrap().strip_prefix("0x").unwrap();
                let own = row["events"][0]["self_period"].as_u64().unwrap();
                #[allow(clippy::cast_precision_loss)]
                let share = format!("{:.2}", own as f64 * 100.0 / whole as f64);
                (u64::from_str_radix(address, 16).unwrap(), hundredths(&share))
            });
            let shares: Shares = rows.collect();
            let Some((start, _)) = shares.first_key_value() else { continue };
            let place = (part["dso"].as_str().unwrap().to_owned(), *start);
            if function["symbol"] == "_init" {
                inits.insert(place.clone());
            }
            functions.insert(place, shares);
        }
    }
    (functions, inits)
}

/// Records a program and compares. Says how many functions and instructions were compared.
fn compare(perf: &Perf, dir: &Path, program: &[&str], more: &[&str]) -> Option<(usize, usize)> {
    let data = dir.join("perf.data");
    let _ = std::fs::remove_file(&data);
    let options = [&["-F", "4999", "-e", "cpu-clock:u", "--"], program].concat();
    let data = perf.record("annotate", dir, &options)?;
    let expected = of_perf(&perf.says("annotate", &data, &["--stdio", "--no-source", "-f"]));
    let (found, inits) = of_readperf(&data, more);
    let mut instructions = 0;
    assert!(!expected.is_empty(), "{program:?}: perf shows nothing");
    for (function, expected) in &expected {
        // perf takes entries of the PLT for the end of `_init`, which has no size: here it ends with its section, and they have their own names.
        let Some(mine) = found.get(function).filter(|_| !inits.contains(function)) else {
            let of_dso = || found.iter().filter(|((dso, _), _)| *dso == function.0).map(|(_, shares)| shares);
            let sampled = expected.iter().filter(|(_, share)| **share > 0);
            let is_elsewhere =
                |address: &u64| of_dso().any(|shares| shares.get(address).is_some_and(|share| *share > 0));
            let mut sampled = sampled.map(|(address, _)| address);
            assert!(sampled.all(is_elsewhere), "{program:?}: {function:x?} is missing");
            continue;
        };
        let addresses = |shares: &Shares| shares.keys().copied().collect::<Vec<_>>();
        assert_eq!(addresses(mine), addresses(expected), "{program:?}: addresses of {function:x?}");
        for (address, share) in expected {
            // Halves are rounded to even by one and upwards by the other.
            assert!(
                mine[address].abs_diff(*share) <= 1,
                "{program:?}: {function:x?}: {address:x}: {} {share}",
                mine[address]
            );
        }
        instructions += expected.len();
    }
    Some((expected.len(), instructions))
}

fn build(dir: &Path, command: &[&str]) -> bool {
    match Command::new(command[0]).args(&command[1..]).current_dir(dir).output() {
        Ok(output) => {
            assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
            true
        }
        Err(_) => false,
    }
}

/// A program in Rust as it is without optimisation.
const PLAIN: &str = "
fn mix(x: u64) -> u64 { (x ^ x >> 7).wrapping_mul(31) }
fn main() { let mut x = 1u64; for nr in 0..6_000_000u64 { x = mix(x.wrapping_add(nr)); } println!(\"{x}\"); }
";

/// A program that takes its time before it begins: in what the linker calls `_init`.
const INIT: &str = "
#include <stdlib.h>
__asm__(\".section .init\\n mov $300000000, %ecx\\n 1: dec %ecx\\n jnz 1b\\n .text\\n\");
int main(int count, char **words) { return atoi(words[0]) > count; }
";

/// The programs, each with the command that builds it.
fn builds<'s>(work: &'s str, tree: &'s str, rusty: &'s str) -> [(&'s str, Vec<&'s str>); 8] {
    [
        ("c0", vec!["cc", "-O0", "-g", "-o", "c0", work, "-ldl", "-lpthread", "-Wl,-rpath,$ORIGIN"]),
        ("c2", vec!["cc", "-O2", "-g", "-o", "c2", work, "-ldl", "-lpthread", "-Wl,-rpath,$ORIGIN"]),
        (
            "c2nopie",
            vec![
                "cc",
                "-O2",
                "-g",
                "-no-pie",
                "-o",
                "c2nopie",
                work,
                "-ldl",
                "-lpthread",
                "-Wl,-rpath,$ORIGIN",
            ],
        ),
        ("static", vec!["c++", "-O2", "-g", "-static", "-o", "static", tree]),
        ("cpp0", vec!["c++", "-O0", "-g", "-o", "cpp0", tree]),
        ("cpp2", vec!["c++", "-O2", "-g", "-o", "cpp2", tree]),
        ("rust0", vec!["rustc", "--edition=2024", "-g", "-o", "rust0", "plain.rs"]),
        (
            "rust",
            vec![
                "rustc",
                "--edition=2024",
                "-O",
                "-g",
                "-Cpanic=abort",
                "-Crelocation-model=pic",
                "-Clink-arg=-lc",
                "-o",
                "rust",
                rusty,
            ],
        ),
    ]
}

#[test]
#[ignore = "live: compares with perf annotate and objdump"]
fn shares_of_instructions_are_those_of_perf() {
    let test = "shares_of_instructions_are_those_of_perf";
    let Some(perf) = Perf::or_skip(test) else { return };
    let dir = scratch();
    let dir = dir.path();
    let source = |name: &str| kind("src").join(name).to_str().unwrap().to_owned();
    let (work, tree, rusty) = (source("work.c"), source("tree.cpp"), source("rusty.rs"));
    let builds = builds(&work, &tree, &rusty);
    let (mut functions, mut instructions) = (0, 0);
    let mut add = |compared: Option<(usize, usize)>| {
        let compared = compared.unwrap_or_default();
        functions += compared.0;
        instructions += compared.1;
    };
    let libwork = source("libwork.c");
    std::fs::write(dir.join("plain.rs"), PLAIN).unwrap();
    build(dir, &["cc", "-O2", "-g", "-shared", "-fPIC", "-o", "libwork.so", &libwork]);
    for (name, command) in &builds {
        if !build(dir, command) {
            skip(test, &format!("no {}", command[0]));
            continue;
        }
        let program = format!("./{name}");
        let program: Vec<&str> = match name.starts_with('c') && !name.starts_with("cpp") {
            true => vec![&program, "hot", "900"],
            false => vec![&program],
        };
        add(compare(perf, dir, &program, &[]));
    }
    // The debug information in a file of its own, found by the link.
    if build(dir, &["objcopy", "--only-keep-debug", "cpp2", "cpp2.debug"]) {
        build(dir, &["strip", "--strip-all", "-o", "stripped", "cpp2"]);
        build(dir, &["objcopy", "--add-gnu-debuglink=cpp2.debug", "stripped"]);
        add(compare(perf, dir, &["./stripped"], &[]));
    }
    if cfg!(target_arch = "x86_64") {
        std::fs::write(dir.join("init.c"), INIT).unwrap();
        build(dir, &["cc", "-g", "-o", "init", "init.c"]);
        add(compare(perf, dir, &["./init"], &[]));
    }
    eprintln!("{functions} functions, {instructions} instructions");
    assert!(functions >= 30 && instructions >= 1000, "{functions} functions, {instructions} instructions");
}

/// Code that a runtime made has its bytes and lines in the dump: all samples of its hottest function are on instructions. V8 loses the
/// beginning of the name of the source file in one run of three. What perf
/// calls the binary of such code is no file of it: nothing is said of how old the source is.
#[test]
#[ignore = "live: records with perf"]
fn generated_code_comes_out_of_the_dump() {
    const SCRIPT: &str =
        "function hot(n) { let s = 0; for (let i = 0; i < n; i++) { s = (s * 31 + i) | 0; } return s; }
let t = 0; for (let r = 0; r < 300; r++) t += hot(1e6); console.log(t);
";
    let test = "generated_code_comes_out_of_the_dump";
    let Some(perf) = Perf::or_skip(test) else { return };
    let dir = scratch();
    std::fs::write(dir.path().join("hot.js"), SCRIPT).unwrap();
    let record = ["-k", "mono", "-e", "cpu-clock:u", "-F", "2000", "--", "node", "--perf-prof", "hot.js"];
    let Some(data) = perf.record(test, dir.path(), &record) else { return };
    if !std::fs::read_dir(dir.path())
        .unwrap()
        .any(|file| file.unwrap().path().extension() == Some("dump".as_ref()))
    {
        return skip(test, "no node, or no dump of it");
    }
    let path = data.to_str().unwrap();
    let text = tool::answer(&["annotate", "--json", path, "/:hot|\\*hot/"]);
    let annotated: Value = serde_json::from_str(&text).unwrap();
    let functions = annotated["functions"].as_array().unwrap();
    let hot = functions.first().expect("the function that takes all the time");
    assert!(hot["symbol"].as_str().unwrap().contains("*hot"), "{}", hot["symbol"]);
    let (mut samples, mut lines) = (0, 0);
    for part in hot["parts"].as_array().unwrap() {
        for instruction in part["instructions"].as_array().unwrap() {
            samples += instruction["events"][0]["self_samples"].as_u64().unwrap_or(0);
        }
    }
    for line in hot["lines"].as_array().unwrap() {
        lines += u64::from(line["line"].as_u64() == Some(1));
    }
    let report: Value =
        serde_json::from_str(&tool::answer(&["report", "--json", "--no-children", "--sort", "symbol", path]))
            .unwrap();
    let rows = report["events"][0]["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["symbol"] == hot["symbol"]).unwrap();
    assert_eq!(Some(samples), row["samples"].as_u64());
    assert!(samples > 100 && lines > 0, "{samples} samples, {lines} lines");
    let text = tool::answer(&["annotate", path, hot["symbol"].as_str().unwrap()]);
    assert!(text.contains("hot.js:1  function hot(n)") && !text.contains("newer than"), "{text}");
}

/// The code that the kernel maps into every process is read from the memory of this one.
#[test]
#[ignore = "live: records with perf"]
fn code_of_the_vdso() {
    const CLOCK: &str = "#include <time.h>
int main(void) { struct timespec t; for (int i = 0; i < 8000000; i++) clock_gettime(CLOCK_MONOTONIC, &t); return 0; }
";
    let test = "code_of_the_vdso";
    let Some(perf) = Perf::or_skip(test) else { return };
    let dir = scratch();
    std::fs::write(dir.path().join("clock.c"), CLOCK).unwrap();
    if !build(dir.path(), &["cc", "-O2", "-o", "clock", "clock.c"]) {
        return skip(test, "no cc");
    }
    let record = ["-F", "4999", "-e", "cpu-clock:u", "--", "./clock"];
    let Some(data) = perf.record(test, dir.path(), &record) else { return };
    let path = data.to_str().unwrap();
    let words = ["report", "--json", "--no-children", "--sort", "symbol", "--dsos", "[vdso]", path];
    let report: Value = serde_json::from_str(&tool::answer(&words)).unwrap();
    let Some(row) = report["events"][0]["rows"].get(0) else {
        return skip(test, "this system has another clock");
    };
    let symbol = format!("[vdso]:{}", row["symbol"].as_str().unwrap());
    let annotated: Value =
        serde_json::from_str(&tool::answer(&["annotate", "--json", path, &symbol])).unwrap();
    let part = &annotated["functions"][0]["parts"][0];
    assert_eq!((&part["dso"], &part["no_code"]), (&"[vdso]".into(), &Value::Null));
    let rows = part["instructions"].as_array().unwrap();
    let samples: u64 = rows.iter().filter_map(|row| row["events"][0]["self_samples"].as_u64()).sum();
    assert_eq!(Some(samples), row["samples"].as_u64());
    assert!(rows.iter().all(|row| row["text"] != "(bad)") && rows.len() > 10, "{part}");
}
