//! `readperf report` against `perf report`, on recordings of own programs made in the test: periods of every row, sums over
//! stacks, sort keys, filters, call graphs, groups.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr
)]

mod oracle;
mod report_perf {
    pub(crate) use super::oracle;
    pub(crate) mod table;
    pub(crate) mod workload;
}

use oracle::live::Perf;
use oracle::{names, scratch, tool};
use report_perf::table::{self, Table};
use report_perf::workload;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A recording of the workload with these options.
struct Live {
    perf: &'static Perf,
    data: PathBuf,
    _dir: TempDir,
}

fn record(test: &str, options: &[&str]) -> Option<Live> {
    let perf = Perf::or_skip(test)?;
    let dir = scratch();
    let program = workload::compiled(test, dir.path())?;
    let mut options = options.to_vec();
    options.extend(["--", program.to_str().unwrap()]);
    let data = perf.record(test, dir.path(), &options)?;
    Some(Live { perf, data, _dir: dir })
}

impl Live {
    fn perf(&self, columns: &str, more: &[&str]) -> Table {
        // perf cuts a thread's name to the width of the last name of that thread, unless it is told another width.
        let widths = vec!["500"; columns.split(',').count()].join(",");
        let mut options = vec!["--stdio", "-q", "-g", "none", "-t", "|", "-w", &widths, "-F", columns];
        options.extend(more);
        table::of_perf(&self.perf.report(&self.data, &options), columns.starts_with("overhead_children"))
    }

    fn mine(&self, keys: &str, more: &[&str]) -> Table {
        let mut arguments = vec!["report", "--csv", "--sort", keys];
        arguments.extend(more);
        arguments.push(self.data.to_str().unwrap());
        table::of_readperf(&tool::answer(&arguments), keys.split(',').count())
    }

    /// The same rows with the same periods and numbers of samples.
    fn assert_same(&self, perf_key: &str, key: &str, more: &[&str], mine_more: &[&str]) -> Table {
        let columns = format!("period,sample,{perf_key}");
        let mut options = vec!["--no-children", "-s", perf_key];
        options.extend(more);
        let mut perf = self.perf(&columns, &options);
        let mut options = vec!["--no-children"];
        options.extend(more);
        options.extend(mine_more);
        let mut mine = self.mine(key, &options);
        if key == "srcfile" {
            // perf first merges the rows of all binaries that have the same file, and asks for the binary of the merged row
            // then: samples without a file (in the PLT, say) are gone if the first one was taken in another binary.
            for table in [&mut perf, &mut mine] {
                table.retain(|file, _| !file[0].is_empty() && !file[0].starts_with('['));
            }
        }
        assert!(!perf.is_empty(), "perf has rows for {perf_key}");
        assert_eq!(table::differences(&perf, &mine), [""; 0], "by {key} {more:?}");
        mine
    }
}

/// The period of the samples that have a caller without a name, or one at the first byte of its function.
fn odd_callers(script: &str) -> u64 {
    let is_odd = |caller: &str| caller.ends_with("+0x0") || caller.contains("[unknown]");
    let samples = script.split("\n\n").filter_map(|sample| sample.trim().split_once('\n'));
    let odd = samples.filter(|(_, chain)| chain.lines().skip(1).any(|caller| is_odd(caller.trim())));
    odd.map(|(period, _)| period.trim().trim_end_matches(':').parse::<u64>().unwrap()).sum()
}

#[test]
#[ignore = "live: compares with perf"]
fn rows_and_their_sums_over_stacks_are_perfs() {
    let Some(live) = record("report rows", &["-e", "cpu-clock", "-F", "4000", "-g"]) else { return };
    let perf = live.perf("overhead_children,period,sample,comm,dso,sym", &["--children"]);
    let mine = live.mine("comm,dso,symbol", &["--no-inline"]);
    assert_eq!(table::differences(&perf, &mine), [""; 0]);
    assert!(perf.keys().any(|key| key[2].contains("recursive")), "the workload is there");
    let named = |key: &&Vec<String>| key[2] != "?";
    let keys: BTreeSet<&Vec<String>> = perf.keys().chain(mine.keys()).filter(named).collect();
    let total = |table: &Table, key: &Vec<String>| table.get(key).map_or(0.0, |sum| sum.total);
    // perf looks callers up at the return address. If the call is the last instruction of its function, that is the first byte of
    // the next one, or lies in none; the sums of such samples may be those of other rows. See report-differences.md.
    let odd = odd_callers(&live.perf.script_with(&live.data, &["-F", "period,ip,sym,symoff"]));
    let all: u64 = mine.values().map(|sum| sum.period).sum();
    let allowed = 0.0101 + 100.0 * odd as f64 / all as f64;
    let off: Vec<String> = keys
        .iter()
        .filter(|key| (total(&perf, key) - total(&mine, key)).abs() > allowed)
        .map(|key| format!("{key:?}: perf {}, readperf {}", total(&perf, key), total(&mine, key)))
        .collect();
    assert_eq!(off, [""; 0], "allowed are {allowed} %");
    // Something calls itself and is counted once.
    let recursive = mine.iter().find(|(key, _)| key[2] == "recursive").unwrap().1;
    assert!(recursive.total > 0.0 && recursive.total <= 100.0);
}

#[test]
#[ignore = "live: compares with perf"]
fn rows_without_stacks_are_perfs() {
    let Some(live) = record("report rows without stacks", &["-e", "cpu-clock", "-F", "4000"]) else { return };
    live.assert_same("comm,dso,sym", "comm,dso,symbol", &[], &[]);
    live.assert_same("dso", "dso", &[], &[]);
    live.assert_same("comm", "comm", &[], &[]);
    live.assert_same("srcfile", "srcfile", &["--dsos", "workload"], &[]);
    live.assert_same("addr", "addr", &[], &[]);
}

#[test]
#[ignore = "live: compares with perf"]
fn keys_of_threads_cpus_and_times_are_perfs() {
    let options = ["-e", "cpu-clock", "-F", "2000", "-a", "-g", "--all-cgroups", "--namespaces"];
    let Some(live) = record("report keys", &options) else { return };
    live.assert_same("cpu", "cpu", &[], &[]);
    live.assert_same("socket", "socket", &[], &[]);
    live.assert_same("cgroup", "cgroup", &[], &[]);
    live.assert_same("time", "time", &[], &[]);
    live.assert_same("parent", "parent", &["-p", "do_syscall_64|main"], &[]);
    // What perf calls pid is the thread; idle threads of all CPUs have the number 0.
    let tids = live.assert_same("pid", "tid", &[], &[]);
    assert!(tids.len() > 3, "{tids:?}");
}

#[test]
#[ignore = "live: compares with perf"]
fn numbers_of_cpus_are_shown_as_numbers() {
    let Some(live) = record("report cpu", &["-e", "cpu-clock", "-F", "1000", "-a"]) else { return };
    let text = tool::answer(&["report", "--sort", "cpu", "--json", live.data.to_str().unwrap()]);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let rows = json["events"][0]["rows"].as_array().unwrap();
    assert!(rows.iter().all(|row| row["cpu"].is_u64()), "{rows:?}");
}

#[test]
#[ignore = "live: compares with perf"]
fn keys_of_memory_are_perfs() {
    // In the kernel, perf looks addresses of the user up among the kernel's.
    let options =
        ["-e", "page-faults:u", "-c", "1", "-d", "--phys-data", "--data-page-size", "--code-page-size"];
    let Some(live) = record("report memory", &options) else { return };
    live.assert_same("code_page_size", "code_page_size", &[], &[]);
    for key in ["dso_daddr", "locked", "blocked", "tlb", "snoop", "local_weight"] {
        live.assert_same(key, key, &["--mem-mode"], &[]);
    }
    // perf writes addresses with a mark and zeros in front.
    let by_address = |table: &Table| -> BTreeMap<u64, u64> {
        table
            .iter()
            .filter_map(|(key, sum)| {
                let digits = key[0].trim_start_matches("0x");
                Some((u64::from_str_radix(digits, 16).ok()?, sum.samples))
            })
            .collect()
    };
    let all = |key: &str| {
        let text = live.perf.report(
            &live.data,
            &["--stdio", "-q", "--mem-mode", "-t", "|", "-F", &format!("period,sample,{key}"), "-s", key],
        );
        let text: String = text.lines().map(|line| format!("{}\n", line.replace("0x", "x"))).collect();
        by_address(
            &table::of_perf(&text, false)
                .into_iter()
                .map(|(key, sum)| (vec![key[0].trim_start_matches('x').to_owned()], sum))
                .collect(),
        )
    };
    let perf = all("phys_daddr");
    let text = tool::answer(&[
        "report",
        "--json",
        "--mem-mode",
        "--sort",
        "phys_daddr",
        live.data.to_str().unwrap(),
    ]);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mine: BTreeMap<u64, u64> = json["events"][0]["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let digits = row["phys_daddr"].as_str().unwrap().trim_start_matches("0x");
            (u64::from_str_radix(digits, 16).unwrap(), row["samples"].as_u64().unwrap())
        })
        .collect();
    assert!(mine.len() > 3, "{mine:?}");
    let longer: BTreeMap<u64, u64> = perf.into_iter().filter(|(address, _)| *address > 0).collect();
    let same: Vec<_> =
        longer.iter().filter(|(address, samples)| mine.get(address) == Some(samples)).collect();
    assert_eq!(same.len(), longer.len(), "perf {longer:x?}, readperf {mine:x?}");
}

#[test]
#[ignore = "live: compares with perf"]
fn fields_of_tracepoints_are_perfs() {
    let test = "report tracepoints";
    let Some(perf) = Perf::or_skip(test) else { return };
    let dir = scratch();
    // Whatever else the machine does, these wait for each other, and so give up their CPU.
    let work = [
        "sh",
        "-c",
        "for nr in 1 2 3; do sleep 0.02; done; printf 'a b' >/proc/self/comm; seq 20000 | sort -n | tail -n 1",
    ];
    let options = [&["-e", "sched:sched_switch", "--"][..], &work].concat();
    let Some(data) = perf.record(test, dir.path(), &options) else { return };
    let live = Live { perf, data, _dir: dir };
    let mut most = 0;
    // A name may have blanks, and perf cuts it there if it takes it from the text.
    let keys = ["prev_comm/raw", "next_pid", "prev_state", "sched_switch.next_comm/raw", "trace"];
    for key in keys {
        // perf has no fields of tracepoints among the words of -F.
        let options = ["--stdio", "-q", "--no-children", "-t", "|", "-n", "--show-total-period", "-s", key];
        let text = live.perf.report(&live.data, &options);
        let columns = |line: &str| {
            let cells: Vec<&str> = line.splitn(4, '|').collect();
            format!("{}|{}|{}\n", cells[2], cells[1], cells[3])
        };
        let text: String = text.lines().filter(|line| !line.trim().is_empty()).map(columns).collect();
        let (perf, mine) = (table::of_perf(&text, false), live.mine(key, &["--no-children"]));
        assert!(!perf.is_empty(), "perf has rows by {key}");
        most = most.max(perf.len());
        assert_eq!(table::differences(&perf, &mine), [""; 0], "by {key}");
        if let Some(name) = key.strip_suffix("/raw") {
            assert_eq!(live.mine(name, &["--no-children"]), mine, "by {name}: the whole of it");
        }
    }
    assert!(most > 1, "a row for each thread name");
}

#[test]
#[ignore = "live: compares with perf"]
fn filters_and_percentages_are_perfs() {
    let Some(live) = record("report filters", &["-e", "cpu-clock", "-F", "4000"]) else { return };
    for (perf, mine) in [
        ("--comms=sh,none", "--comm=sh,none"),
        ("--dsos=workload,none", "--dso=workload,none"),
        ("--time=20%-40%", "--time=20%-40%"),
        ("--time=10%/2", "--time=10%/2"),
        ("--time=0%-10%,30%-40%", "--time=0%-10%,30%-40%"),
    ] {
        let columns = "period,sample,comm,dso,sym";
        let theirs = live.perf(columns, &["--no-children", perf]);
        let ours = live.mine("comm,dso,symbol", &["--no-children", mine]);
        assert!(theirs.len() > 1, "{perf}");
        assert_eq!(table::differences(&theirs, &ours), [""; 0], "{perf}");
    }
    let share = |more: &[&str]| {
        let table = live.mine("dso", &[&["--no-children", "--dso=workload"], more].concat());
        table.values().next().unwrap().total
    };
    assert!((share(&[]) - 100.0).abs() < 1e-6);
    let text =
        live.perf.report(&live.data, &["--stdio", "-q", "-t", "|", "-s", "dso", "--dsos=workload,none"]);
    let theirs: f64 = text.trim().split('%').next().unwrap().trim().parse().unwrap();
    let absolute = share(&["--percentage", "absolute"]);
    assert!((absolute - theirs).abs() < 0.006, "{absolute} and {theirs}");
}

/// Chains as perf writes them for `-g folded`: an amount, then the frames, separated by semicolons.
fn folded(text: &str, symbol: &str) -> BTreeMap<String, u64> {
    let mut inside = false;
    let mut chains = BTreeMap::new();
    for line in text.lines() {
        let line = line.trim();
        if line.contains('%') || line.is_empty() {
            inside = line.ends_with(symbol);
            continue;
        }
        if let (true, Some((period, chain))) = (inside, line.split_once(' ')) {
            let digits: String = period.chars().filter(char::is_ascii_digit).collect();
            *chains.entry(chain.to_owned()).or_default() += digits.parse::<u64>().unwrap_or(0);
        }
    }
    chains
}

#[test]
#[ignore = "live: compares with perf"]
fn call_graphs_are_perfs() {
    let Some(live) = record("report graphs", &["-e", "cpu-clock:u", "-F", "4000", "-g"]) else { return };
    for (order, children) in [("callee", "--no-children"), ("caller", "--children"), ("callee", "--children")]
    {
        let words = format!("folded,0,{order},period");
        let columns = if children == "--children" { "overhead_children,sym" } else { "overhead,sym" };
        let perf = live
            .perf
            .report(&live.data, &["--stdio", "-q", children, "-g", &words, "-F", columns, "-s", "sym"]);
        let data = live.data.to_str().unwrap();
        let mine = tool::answer(&["report", children, "--no-inline", "-g", &words, "--sort", "symbol", data]);
        let symbols: &[&str] = if children == "--children" { &["recursive", "sorted"] } else { &["sorted"] };
        for symbol in symbols {
            let (perf, mine) = (folded(&perf, symbol), folded(&mine, symbol));
            let sum = |chains: &BTreeMap<String, u64>| chains.values().sum::<u64>();
            assert!(sum(&perf) > 0, "perf has chains of {symbol}, {order} {children}");
            let named = |chains: &BTreeMap<String, u64>| -> BTreeMap<String, u64> {
                let named =
                    chains.iter().filter(|(chain, _)| !chain.contains("0x") && !chain.contains("[unknown]"));
                // perf begins a graph of callers with the row itself. A sample may fall on the head of a linkage table when a function
                // is first called.
                let plain = |chain: &str| -> String {
                    let frames = chain.trim_start_matches(&format!("{symbol};")).split(';');
                    let frames: Vec<&str> = frames
                        .map(|frame| if names::is_unnamed_linkage(frame) { ".plt" } else { frame })
                        .collect();
                    frames.join(";")
                };
                named.map(|(chain, period)| (plain(chain), *period)).collect()
            };
            let (perf, mine) = (named(&perf), named(&mine));
            let shared = perf.iter().filter(|(chain, period)| mine.get(*chain) == Some(period)).count();
            assert!(
                shared * 20 >= perf.len() * 19,
                "{order} {children} {symbol}: perf {perf:#?}, readperf {mine:#?}"
            );
        }
    }
}

#[test]
#[ignore = "live: compares with perf"]
fn events_of_a_group_stand_side_by_side() {
    let options = ["-e", "{cpu-clock,page-faults}", "-F", "2000"];
    let Some(live) = record("report group", &options) else { return };
    let data = live.data.to_str().unwrap();
    let text = tool::answer(&["report", "--json", "--group", "--no-children", data]);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let events = json["events"].as_array().unwrap();
    assert_eq!(events.len(), 1);
    let alone = tool::json("report", Path::new(data));
    let second = &alone["events"][1];
    assert_eq!(events[0]["group"][0]["period"], second["period"]);
    let sum: u64 = events[0]["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["group"][0]["self_period"].as_u64().unwrap())
        .sum();
    assert_eq!(Some(sum), second["period"].as_u64());
    let perf = live.perf.report(&live.data, &["--stdio", "-q", "--group", "-t", "|", "-F", "overhead,sym"]);
    let text = tool::answer(&["report", "--group", "--no-children", "--sort", "symbol", data]);
    for line in perf.lines().filter(|line| line.contains("] sorted")) {
        let shares: Vec<&str> = line.split('|').next().unwrap().split_whitespace().collect();
        let mine = text.lines().find(|line| line.trim_end().ends_with(" sorted")).unwrap();
        let mine: Vec<String> = mine
            .split_whitespace()
            .filter(|word| word.contains('.'))
            .map(|word| format!("{word}%"))
            .collect();
        assert_eq!(mine, shares, "{line}");
    }
}

#[test]
#[ignore = "live: compares with perf"]
fn output_does_not_depend_on_threads() {
    let Some(live) = record("report threads", &["-e", "cpu-clock", "-F", "3000", "-g"]) else { return };
    let data = live.data.to_str().unwrap();
    for format in [&["--json"][..], &["--csv"], &["-g", "caller"], &["-g", "callee", "--no-children"]] {
        let run = |threads: &str| tool::answer(&[&["report", "--threads", threads, data], format].concat());
        assert_eq!(run("1"), run("4"), "{format:?}");
    }
}
