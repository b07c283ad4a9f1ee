//! More places than are held: those of one function become one, and addresses without a name are told to the page. Sums are worked out in
//! the test, from what it recorded.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "handmade/mod.rs"]
mod handmade;
mod oracle;

use handmade::heap::{HEAP, Random, name_functions};
use handmade::{Attr, PID, Pipe, Sample};
use oracle::{scratch, tool};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use tempfile::TempDir;

const SAMPLES: u64 = 10_000;
const PERIOD: u64 = 1000;
/// Behind the functions, in their page, nothing has a name.
const FUNCTIONS: u64 = 200;
/// Where nothing is mapped. Some of these addresses lie at the beginning of a page.
const NOWHERE: u64 = 0x5500_0000_0000;
const PAGE: u64 = 4096;
const PAGES: u64 = 24;

struct Recorded {
    /// The addresses of each stack, the innermost first.
    stacks: Vec<Vec<u64>>,
    file: PathBuf,
    dir: TempDir,
}

/// Stacks of some functions and, if that is wanted, of addresses that have no name, most of which come once: where nothing is mapped, and
/// behind the functions.
fn recorded(has_unnamed: bool) -> Recorded {
    let dir = scratch();
    name_functions(dir.path(), FUNCTIONS);
    let mut pipe = Pipe::new(&[Attr::default()]);
    pipe.comm(PID, PID, "work");
    pipe.map(PID, HEAP, "//anon", None, 0);
    let (mut random, mut stacks) = (Random(7), Vec::new());
    for nr in 0..SAMPLES {
        let depth = 1 + random.below(5);
        let mut stack: Vec<u64> = (0..depth).map(|_| HEAP + random.below(FUNCTIONS * 16)).collect();
        if has_unnamed {
            let behind = HEAP + FUNCTIONS * 16 + random.below(PAGE / 4) * 4;
            let words = [NOWHERE + random.below(PAGES * PAGE), NOWHERE + random.below(PAGES) * PAGE, behind];
            // At the outer end, or where the sample was taken.
            match nr % 4 {
                0 => stack.push(words[0]),
                1 => stack.extend([words[1], words[0]]),
                2 => stack.insert(0, words[2]),
                _ => {}
            }
        }
        // Callers are looked up one byte before the address at which they go on.
        let chain: Vec<u64> =
            stack.iter().enumerate().map(|(level, address)| address + u64::from(level > 0)).collect();
        pipe.sample(&Sample { ip: chain[0], chain, tid: PID, time: nr, ..Sample::default() });
        stacks.push(stack);
    }
    let file = dir.path().join("perf.data");
    std::fs::write(&file, pipe.as_file()).unwrap();
    Recorded { stacks, file, dir }
}

impl Recorded {
    /// What a command answers, and what it says besides.
    fn run(&self, arguments: &[&str], threads: &str) -> (String, String) {
        let symbols = ["--no-cache", "--threads", threads, "--symbols", self.dir.path().to_str().unwrap()];
        let output = tool::run(&[arguments, &symbols, &[self.file.to_str().unwrap()]].concat());
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", tool::stderr(&output));
        (String::from_utf8(output.stdout.clone()).unwrap(), tool::stderr(&output))
    }

    /// The name of the function at an address, or the address told to so many bytes.
    fn label(address: u64, to: u64) -> String {
        let function = address.checked_sub(HEAP).map(|offset| offset / 16);
        let function = function.filter(|function| *function < FUNCTIONS);
        function.map_or_else(|| format!("{:#018x}", address / to * to), |function| format!("f{function}"))
    }

    /// Own and total periods by label.
    fn sums(&self, to: u64) -> BTreeMap<String, (u64, u64)> {
        let mut sums: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for stack in &self.stacks {
            let labels: Vec<String> = stack.iter().map(|address| Recorded::label(*address, to)).collect();
            sums.entry(labels[0].clone()).or_default().0 += PERIOD;
            for label in labels.into_iter().collect::<BTreeSet<_>>() {
                sums.entry(label).or_default().1 += PERIOD;
            }
        }
        sums
    }
}

/// Own and total periods as a report has them.
fn reported(report: &str) -> BTreeMap<String, (u64, u64)> {
    let answer: Value = serde_json::from_str(report).unwrap();
    let rows = answer["events"][0]["rows"].as_array().unwrap();
    let period = |row: &Value, key: &str| row[key].as_u64().unwrap();
    let mut sums: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for row in rows {
        // What is mapped and what is not are two rows, also if they are told alike.
        let sum = sums.entry(row["symbol"].as_str().unwrap().to_owned()).or_default();
        *sum = (sum.0 + period(row, "self_period"), sum.1 + period(row, "total_period"));
    }
    sums
}

fn assert_same(found: &BTreeMap<String, (u64, u64)>, expected: &BTreeMap<String, (u64, u64)>, of: &str) {
    let keys: BTreeSet<&String> = found.keys().chain(expected.keys()).collect();
    let different = keys.into_iter().find(|key| found.get(*key) != expected.get(*key));
    let values = different.map(|key| (key, found.get(key), expected.get(key)));
    assert!(values.is_none(), "{of}: found and expected {values:?}");
}

const BY_SYMBOL: [&str; 6] = ["report", "--json", "--children", "--percent-limit", "0", "--sort=symbol"];

#[test]
fn sums_are_right_when_addresses_are_told_to_the_page() {
    let recorded = recorded(true);
    for threads in ["1", "2", "5"] {
        for most in ["900", "2000"] {
            let (report, said) = recorded.run(&[&BY_SYMBOL[..], &["--most-places", most]].concat(), threads);
            assert!(said.contains("addresses without a name are told to 4 KiB"), "{said}");
            assert_same(
                &reported(&report),
                &recorded.sums(PAGE),
                &format!("{threads} threads, {most} places"),
            );
        }
        let (report, said) = recorded.run(&BY_SYMBOL, threads);
        assert_eq!(said, "");
        assert_same(&reported(&report), &recorded.sums(1), &format!("{threads} threads"));
    }
}

#[test]
fn addresses_are_told_less_exactly_if_pages_are_too_many() {
    let recorded = recorded(true);
    let (report, said) = recorded.run(&[&BY_SYMBOL[..], &["--most-places", "40"]].concat(), "2");
    assert!(said.contains("addresses without a name are told to 1 MiB"), "{said}");
    assert_same(&reported(&report), &recorded.sums(1 << 20), "40 places");
}

/// Where all has names, nothing is lost but addresses, for which nobody asks.
#[test]
fn what_has_names_is_the_same_however_few_places_are_held() {
    let recorded = recorded(false);
    for arguments in [
        &["report"][..],
        &["report", "--no-children", "-g", "none"],
        &["report", "-g", "caller", "--percent-limit", "0"],
        &["report", "--sort", "comm,symbol", "--csv"],
        &["export", "--format", "folded"],
        &["export", "--format", "dot"],
        &["export", "--format", "flamegraph"],
    ] {
        let (all, said) = recorded.run(arguments, "1");
        assert_eq!(said, "");
        for threads in ["1", "3"] {
            for most in ["100", "1500"] {
                let (some, said) = recorded.run(&[arguments, &["--most-places", most]].concat(), threads);
                assert!(some == all, "{arguments:?}: {threads} threads, {most} places");
                assert_eq!(said, "", "{arguments:?}");
            }
        }
    }
}

#[test]
fn output_is_the_same_for_any_number_of_threads() {
    let recorded = recorded(true);
    for arguments in [
        &["report"][..],
        &["report", "--no-children", "-g", "none"],
        &["report", "-g", "callee", "--percent-limit", "0"],
        &["export", "--format", "folded"],
    ] {
        let arguments = [arguments, &["--most-places", "1000"]].concat();
        let one = recorded.run(&arguments, "1");
        for threads in ["2", "5"] {
            assert!(recorded.run(&arguments, threads) == one, "{arguments:?}: {threads} threads");
        }
    }
}

#[test]
fn who_asks_for_addresses_gets_all() {
    let recorded = recorded(true);
    for keys in ["symoff", "symbol,addr"] {
        let arguments = ["report", "--percent-limit", "0", "--sort", keys];
        let all = recorded.run(&arguments, "2");
        assert!(recorded.run(&[&arguments[..], &["--most-places", "500"]].concat(), "2") == all, "{keys}");
    }
    let (all, _) = recorded.run(&["export", "--format", "pprof", "-o", "/dev/null"], "2");
    let (some, said) =
        recorded.run(&["export", "--format", "pprof", "-o", "/dev/null", "--most-places", "500"], "2");
    assert_eq!(some, all);
    assert!(said.contains("pprof has no place for --most-places"), "{said}");
}
