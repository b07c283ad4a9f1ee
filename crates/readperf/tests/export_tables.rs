//! callgrind, dot, and samples as JSON lines and CSV: read back by callgrind_annotate, graphviz and Python, and compared with
//! folded stacks, with `stats`, and with what perf says of the same samples.
//!
//! After a deliberate change: `READPERF_BLESS=1 cargo test -p readperf --test export_tables golden`, and look at the
//! difference.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test may fail loudly"
)]

mod handmade;
mod oracle;
#[path = "tables/readers.rs"]
mod readers;
#[path = "tables/recordings.rs"]
mod recordings;

use handmade::{Attr, CODE, PID, Pipe, Sample, sample_type};
use oracle::golden::assert_golden;
use oracle::{SAMPLED, fixture, kind, scratch, skip, tool};
use readers::{Annotated, Graph, Rows};
use recordings::{NAME, hostile, pages, small};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The columns of CSV, whatever was recorded.
const COLUMNS: &str = "event,time_ns,comm,pid,tid,cpu,period,dso,symbol,stack,ip,addr,phys_addr,weight,ins_lat,p_stage_cyc,\
     data_src,transaction,cgroup,data_page_size,code_page_size,text,fields,raw";
const FORMATS: [&str; 4] = ["callgrind", "dot", "jsonl", "csv"];
fn export(format: &str, file: &Path, words: &[&str]) -> String {
    let nothing = scratch();
    let output = tool::command()
        .args(["export", "--format", format, "--no-progress", "--kallsyms", "/dev/null", "--symfs"])
        .arg(nothing.path())
        .arg("--symbols")
        .arg(kind("bin"))
        .args(words)
        .arg(file)
        .env("HOME", nothing.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{format}: {}", tool::stderr(&output));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Events with samples, as `stats` has them: name, samples, period.
fn events(file: &Path) -> Vec<(String, u64, u64)> {
    let stats = tool::json("stats", file);
    let event = |event: &serde_json::Value| {
        let name = event["name"].as_str().unwrap().to_owned();
        (name, tool::number(&event["samples"]), tool::number(&event["period"]))
    };
    let events: Vec<_> = stats["events"].as_array().unwrap().iter().map(event).collect();
    let events: Vec<_> = events.into_iter().filter(|(_, samples, _)| *samples > 0).collect();
    assert!(!events.is_empty(), "{} has events", file.display());
    events
}

/// Lines of folded stacks: `comm;outermost;…;innermost` and weight.
fn folded(file: &Path, words: &[&str]) -> BTreeMap<String, u64> {
    let text = export("folded", file, words);
    let line = |line: &str| {
        let (stack, weight) = line.rsplit_once(' ').unwrap();
        (stack.to_owned(), weight.parse().unwrap())
    };
    text.lines().map(line).collect()
}

/// The weights of functions themselves, with all they call, and of calls; recursion counts once a stack. Without the threads.
type Worth<K> = BTreeMap<K, u64>;
type WorthOfAll<'f> = (Worth<&'f str>, Worth<&'f str>, Worth<(&'f str, &'f str)>);
fn worth(folded: &BTreeMap<String, u64>) -> WorthOfAll<'_> {
    let (mut own, mut total, mut calls) = (Worth::new(), Worth::new(), Worth::new());
    for (stack, weight) in folded {
        let names: Vec<&str> = stack.split(';').skip(1).collect();
        *own.entry(*names.last().unwrap()).or_default() += weight;
        for name in names.iter().collect::<BTreeSet<_>>() {
            *total.entry(*name).or_default() += weight;
        }
        for call in names.windows(2).map(|pair| (pair[0], pair[1])).collect::<BTreeSet<_>>() {
            *calls.entry(call).or_default() += weight;
        }
    }
    (own, total, calls)
}

fn save(pipe: &Pipe, directory: &Path) -> PathBuf {
    let file = directory.join("handmade.data");
    std::fs::write(&file, &pipe.bytes).unwrap();
    file
}

#[test]
#[ignore = "live: needs callgrind_annotate"]
fn callgrind_annotate_sees_what_folded_stacks_say() {
    if !readers::installed("callgrind_annotate", &["--version"]) {
        return skip("callgrind_annotate_sees_what_folded_stacks_say", "there is no callgrind_annotate");
    }
    for name in SAMPLED {
        let file = fixture(name);
        for (event, samples, period) in events(&file) {
            for (weight, total) in [("period", period), ("samples", samples)] {
                let words = ["--event", event.as_str(), "--weight", weight];
                assert_annotated(&format!("{name}, {event} by {weight}"), &file, &words, total);
            }
        }
    }
}

fn assert_annotated(what: &str, file: &Path, words: &[&str], event_total: u64) {
    let text = export("callgrind", file, words);
    let folded = folded(file, words);
    let (own, total, _) = worth(&folded);
    let annotated = Annotated::of(&text, false);
    assert_eq!(annotated.total, event_total, "{what}");
    assert_eq!(annotated.costs.values().sum::<u64>(), event_total, "{what}: nothing is elsewhere");
    assert_eq!(annotated.by_name(), own.iter().map(|(k, v)| ((*k).to_owned(), *v)).collect(), "{what}: own");
    let inclusive = Annotated::of(&text, true);
    let threads: u64 =
        inclusive.costs.iter().filter(|(name, _)| name.ends_with("(thread)")).map(|(_, c)| c).sum();
    assert_eq!(threads, event_total, "{what}: all stacks stand on threads");
    // A name that stands for several functions can be twice in a stack.
    let mut compared = 0;
    for ((_, name), cost) in inclusive.unique() {
        if let Some(expected) = total.get(name.as_str()) {
            assert_eq!(cost, *expected, "{what}: {name} with all it calls");
            compared += 1;
        }
    }
    assert!(compared * 10 >= total.len() * 8, "{what}: {compared} of {} compared", total.len());
}

#[test]
fn callgrind_has_a_column_for_every_event() {
    for name in ["multi", "group", "everything"] {
        let file = fixture(name);
        let text = export("callgrind", &file, &[]);
        let said = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).unwrap();
        let events = events(&file);
        assert_eq!(said("events: ").split(' ').count(), events.len(), "{name}");
        let periods: Vec<String> = events.iter().map(|(_, _, period)| period.to_string()).collect();
        assert_eq!(
            (said("summary: "), said("totals: ")),
            (&*periods.join(" "), &*periods.join(" ")),
            "{name}"
        );
    }
}

/// Addresses of instructions are those that a disassembler shows: this binary's segments lie elsewhere in memory than in the
/// file. What calls is known by where it goes on, and is shown at the call.
#[test]
#[ignore = "live: needs objdump"]
fn objdump_shows_the_instructions_of_callgrind() {
    let binary = kind("bin").join("rusty");
    let Ok(output) = std::process::Command::new("objdump").arg("-d").arg(&binary).output() else {
        return skip("objdump_shows_the_instructions_of_callgrind", "there is no objdump");
    };
    let listing = String::from_utf8(output.stdout).unwrap();
    let address = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok();
    let instructions: BTreeSet<u64> =
        listing.lines().filter_map(|line| address(line.trim().split_once(':')?.0)).collect();
    let functions: BTreeSet<u64> = listing
        .lines()
        .filter(|line| line.ends_with(">:"))
        .filter_map(|line| address(line.get(..16)?))
        .collect();
    let text = export("callgrind", &fixture("rust"), &["--dso", "rusty"]);
    let (mut costs, mut called, mut inside) = (0, 0, false);
    for line in text.lines() {
        if let Some(object) = line.strip_prefix("ob=") {
            inside = object.starts_with("(2)");
            assert!(!object.contains(' ') || object.ends_with("/rusty") == inside, "{object}");
        } else if let Some(call) = line.strip_prefix("calls=") {
            let start = address(call.split(' ').nth(1).unwrap()).unwrap();
            assert!(start == 0 || functions.contains(&start), "{line}");
            called += usize::from(start > 0);
        } else if let (true, true, Some(at)) = (inside, line.starts_with("0x"), line.split(' ').next()) {
            assert!(instructions.contains(&address(at).unwrap()), "{line}");
            costs += 1;
        }
    }
    assert!(costs > 10 && called > 3, "{costs} instructions, {called} functions called");
}

/// What tracepoints said is there by field, and what else was recorded of a sample; columns of CSV do not depend on it.
#[test]
fn fields_of_tracepoints_and_addresses_of_data() {
    let file = fixture("tracepoints");
    let text = export("jsonl", &file, &[]);
    let script = oracle::said("tracepoints", "perf.script.txt").unwrap();
    let mut fields = 0;
    for line in text.lines() {
        let sample: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(sample.get("addr").is_none(), "not recorded, not there: {line}");
        let Some(text) = sample["text"].as_str() else { continue };
        assert!(script.contains(text), "{text}");
        assert!(!sample["fields"].as_object().unwrap().is_empty(), "{line}");
        if sample["event"] == "sched:sched_process_exec" {
            let told = ["filename", "pid", "old_pid"].map(|name| &sample["fields"][name]);
            assert_eq!(
                text,
                format!("filename={} pid={} old_pid={}", told[0].as_str().unwrap(), told[1], told[2])
            );
            fields += 1;
        }
    }
    assert!(fields > 0, "{fields}");
    let table = export("csv", &file, &[]);
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    assert_eq!(reader.headers().unwrap().iter().collect::<Vec<_>>().join(","), COLUMNS);
    let at = |name: &str| COLUMNS.split(',').position(|column| column == name).unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    for (row, line) in rows.iter().zip(text.lines()) {
        let sample: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(row[at("ip")], *sample["ip"].as_str().unwrap());
        assert_eq!(row[at("text")], *sample["text"].as_str().unwrap_or_default());
        if let Some(fields) = sample.get("fields") {
            assert_eq!(serde_json::from_str::<serde_json::Value>(&row[at("fields")]).unwrap(), *fields);
        }
    }
    // Data addresses, as a record of our own has them.
    let directory = scratch();
    let mut pipe = Pipe::new(&[Attr {
        sample_type: Attr::default().sample_type | sample_type::ADDR,
        ..Attr::default()
    }]);
    pipe.map(PID, CODE, "/bin/work", Some(7), 0);
    pipe.sample(&Sample { addr: 0x7ffe_0000_1234, ..Sample::default() });
    let file = save(&pipe, directory.path());
    assert!(export("jsonl", &file, &[]).contains(r#""ip":"0x400010","addr":"0x7ffe00001234","stack""#));
    assert!(export("csv", &file, &[]).ends_with(",0x400010,0x7ffe00001234,,,,,,,,,,,,\n"));
}

/// a calls itself, at once and by way of b; what it costs is counted once.
#[test]
#[ignore = "live: needs callgrind_annotate"]
fn recursion_is_counted_once() {
    let directory = scratch();
    let file = save(&pages(&["maaba", "ma", "mab", "b"]), directory.path());
    let text = export("callgrind", &file, &[]);
    // b calls a, which is running: seen once, for nothing.
    let one_line = text.replace('\n', " ");
    assert!(one_line.contains("calls=1 0x0 0 0xf 0 0"), "{text}");
    if readers::installed("callgrind_annotate", &["--version"]) {
        let annotated = Annotated::of(&text, true).by_name();
        let expected = [("[a]", 3000), ("[b]", 3000), ("[m]", 3000), ("work (thread)", 4000)];
        assert_eq!(annotated, expected.map(|(name, cost)| (name.to_owned(), cost)).into());
    } else {
        skip("recursion_is_counted_once", "there is no callgrind_annotate");
    }
    let graph = Graph::of(&export("dot", &file, &[]));
    assert_eq!(graph.nodes["[a]"], (2000, 3000));
    let calls: Vec<(&str, &str, u64)> =
        graph.edges.iter().map(|((a, b), (w, _))| (a.as_str(), b.as_str(), *w)).collect();
    let expected = [("[a]", "[a]", 1000), ("[a]", "[b]", 2000), ("[b]", "[a]", 1000), ("[m]", "[a]", 3000)];
    assert_eq!(calls, expected);
}

#[test]
fn graphs_are_what_folded_stacks_say() {
    for name in SAMPLED {
        let file = fixture(name);
        for (event, samples, period) in events(&file) {
            for (weight, sum) in [("period", period), ("samples", samples)] {
                let words = ["--event", event.as_str(), "--weight", weight];
                let folded = folded(&file, &words);
                let graph = Graph::of(&export("dot", &file, &words));
                let what = format!("{name}, {event} by {weight}");
                assert_graph(&what, &graph, &worth(&folded), sum);
            }
        }
    }
}

fn assert_graph(what: &str, graph: &Graph, (own, total, calls): &WorthOfAll<'_>, sum: u64) {
    // Functions of one name in several binaries are shown with these; together they are what folded stacks have.
    let twice = |name: &str| graph.nodes.keys().any(|node| node.starts_with(&format!("{name} (")));
    let mut compared = 0;
    for (function, all) in total {
        let Some((seen_own, seen_all)) = graph.nodes.get(*function) else {
            assert!(all * 1000 < sum * 5 || twice(function), "{what}: {function} {all}");
            continue;
        };
        assert!(all * 1000 >= sum * 5, "{what}: {function} {all}");
        let expected = (own.get(function).copied().unwrap_or(0), *all);
        assert_eq!((*seen_own, *seen_all), expected, "{what}: {function}");
        compared += 1;
    }
    assert!(compared > 0 && compared * 10 >= graph.nodes.len() * 7, "{what}: {compared} compared");
    for ((from, to), weight) in calls {
        if !graph.nodes.contains_key(*from) || !graph.nodes.contains_key(*to) {
            continue;
        }
        let edge = graph.edges.get(&((*from).to_owned(), (*to).to_owned()));
        // A way through functions that are left out may come on top.
        let seen = edge.is_some_and(|(seen, dashed)| seen >= weight && !dashed);
        assert!(seen || weight * 1000 < sum, "{what}: {from} calls {to}: {edge:?}, {weight}");
    }
}

/// x is small; the way from m to y leads through it.
#[test]
fn what_is_left_out_of_a_graph_is_said() {
    let directory = scratch();
    let mut chains = vec!["my"; 400];
    chains.extend(["mxy", "mx"]);
    chains.push("mz");
    let file = save(&pages(&chains), directory.path());
    let text = export("dot", &file, &[]);
    assert!(text.contains("2 functions with less than 0.5 % left out; 0.50 % was spent in them"), "{text}");
    let graph = Graph::of(&text);
    assert_eq!(graph.nodes.keys().collect::<Vec<_>>(), ["[m]", "[y]"]);
    assert_eq!(graph.edges.into_values().collect::<Vec<_>>(), [(401_000, false)]);
    // Now the only way is through x.
    let mut chains = vec!["my"; 0];
    chains.extend(vec!["m"; 1000]);
    chains.extend(["mwy", "mxy", "mvy", "muy", "mty", "msy"]);
    let text = export("dot", &save(&pages(&chains), directory.path()), &[]);
    let graph = Graph::of(&text);
    assert_eq!(graph.edges.into_values().collect::<Vec<_>>(), [(6000, true)], "{text}");
}

#[test]
#[ignore = "live: needs dot"]
fn graphviz_draws_the_graph() {
    if !readers::installed("dot", &["-V"]) {
        return skip("graphviz_draws_the_graph", "there is no dot");
    }
    let directory = scratch();
    for file in [fixture("dwarf"), fixture("rust"), save(&hostile(), directory.path())] {
        let text = export("dot", &file, &[]);
        let names = readers::drawn(&text);
        for function in &Graph::of(&text).labels {
            assert!(names.contains(function), "{function} is not in {names:?}");
        }
        let (width, height) = readers::size(&text);
        assert!(width <= 1440.0 && height <= 720.0, "{width} by {height} pt are more than a window");
        let (first, last) = readers::rows(&text, "cpu-clock");
        assert!(first < last, "the graph comes first: {first}, {last}");
    }
}

/// Every sample, by Python's reader: totals, stacks.
#[test]
#[ignore = "live: needs python3"]
fn python_reads_samples() {
    if !readers::installed("python3", &["--version"]) {
        return skip("python_reads_samples", "there is no python3");
    }
    for name in SAMPLED {
        let file = fixture(name);
        let events = events(&file);
        for format in ["jsonl", "csv"] {
            let rows = Rows::of(format, &export(format, &file, &[]));
            assert_eq!(rows.by_event.len(), events.len(), "{format} of {name}");
            for (event, samples, period) in &events {
                let (seen, sum) = rows.by_event[event];
                assert_eq!((seen, sum), (*samples, *period), "{format} of {name}: {event}");
                assert_eq!(
                    rows.stacks[event],
                    folded(&file, &["--event", event]),
                    "{format} of {name}: {event}"
                );
            }
        }
    }
}

/// perf's own lines: comm, process and thread, CPU, time, period of every sample, in order of time.
#[test]
#[ignore = "live: needs python3"]
fn samples_are_those_of_perf_script() {
    if !readers::installed("python3", &["--version"]) {
        return skip("samples_are_those_of_perf_script", "there is no python3");
    }
    for name in ["main", "multi", "kernel", "everything", "dwarf", "rust"] {
        let script = oracle::said(name, "perf.script.txt").expect("perf had something to say");
        let expected = readers::perf_samples(&script);
        assert!(expected.len() > 20, "{name}");
        for format in ["jsonl", "csv"] {
            let rows = Rows::of(format, &export(format, &fixture(name), &[]));
            for (seen, expected) in rows.heads.iter().zip(&expected) {
                assert_eq!(seen, expected, "{format} of {name}");
            }
            assert_eq!(rows.heads.len(), expected.len(), "{format} of {name}");
        }
    }
}

#[test]
fn hostile_names() {
    let directory = scratch();
    let file = save(&hostile(), directory.path());
    for format in FORMATS {
        let text = export(format, &file, &[]);
        assert!(text.contains("2J"), "{format}: the name is there");
        assert!(!text.contains(|c: char| c.is_control() && c != '\n' && c != '\r'), "{format}: {text:?}");
    }
    assert_eq!(export("jsonl", &file, &[]).lines().count(), 1);
    assert_eq!(export("csv", &file, &[]).lines().count(), 2);
    let read: serde_json::Value = serde_json::from_str(&export("jsonl", &file, &[])).unwrap();
    assert_eq!(read["comm"], "\u{1b}\",;\nfn=1");
    assert_eq!(read["stack"][0]["dso"], NAME.replace('/', "|"));
    if readers::installed("callgrind_annotate", &["--version"]) {
        let annotated = Annotated::of(&export("callgrind", &file, &[]), true).by_name();
        assert_eq!(annotated.len(), 3, "{annotated:?}");
        assert_eq!(annotated["[(7)]"], 1000);
    }
}

#[test]
fn nothing_and_one_sample() {
    let directory = scratch();
    let empty = save(&Pipe::sound(&[Attr::default()]), directory.path());
    let text = export("callgrind", &empty, &[]);
    assert!(text.contains("events: cpu-clock:HG\nsummary: 0\n") && text.ends_with("totals: 0\n"), "{text}");
    assert!(Graph::of(&export("dot", &empty, &[])).nodes.is_empty());
    assert_eq!(export("jsonl", &empty, &[]), "");
    assert_eq!(export("csv", &empty, &[]), format!("{COLUMNS}\n"));
    let one = save(&pages(&["ab"]), directory.path());
    assert!(export("callgrind", &one, &[]).ends_with("totals: 1000\n"));
    let graph = Graph::of(&export("dot", &one, &[]));
    assert_eq!(graph.nodes, [("[a]".to_owned(), (0, 1000)), ("[b]".to_owned(), (1000, 1000))].into());
    let read: serde_json::Value = serde_json::from_str(&export("jsonl", &one, &[])).unwrap();
    assert_eq!((&read["period"], &read["stack"][1]["dso"]), (&1000.into(), &"a".into()));
    let row = export("csv", &one, &[]).lines().nth(1).unwrap().to_owned();
    assert_eq!(
        row,
        "cpu-clock:HG,1000000000,work,10,10,0,1000,b,0x0000000000000010,[a];[b],0x500010,,,,,,,,,,,,,"
    );
}

#[test]
fn one_event_of_many() {
    let file = fixture("multi");
    let events = events(&file);
    assert!(events.len() > 1);
    for (event, samples, period) in &events {
        let words = ["--event", event.as_str()];
        assert!(export("callgrind", &file, &words).ends_with(&format!("\ntotals: {period}\n")));
        assert_eq!(export("jsonl", &file, &words).lines().count() as u64, *samples);
        assert_eq!(export("csv", &file, &words).lines().count() as u64, samples + 1);
    }
    let output = tool::run(&["export", "-f", "dot", file.to_str().unwrap()]);
    assert!(tool::stderr(&output).contains("is shown; --event chooses"), "{}", tool::stderr(&output));
}

#[test]
fn threads_change_nothing() {
    for format in FORMATS {
        let one = export(format, &fixture("multi"), &["--threads", "1"]);
        assert_eq!(one, export(format, &fixture("multi"), &["--threads", "5"]), "{format}");
    }
}

#[test]
fn golden_files() {
    let directory = scratch();
    let small = save(&small(), directory.path());
    for (name, file) in [("small", small), ("rust", fixture("rust"))] {
        for format in FORMATS.iter().filter(|format| name == "small" || ["callgrind", "dot"].contains(format))
        {
            let written = export(format, &file, &[]).replace(env!("CARGO_PKG_VERSION"), "VERSION");
            assert_golden(&format!("export/{name}.{format}"), &written);
        }
    }
}

/// What is usually compressed is written as it is where the name of the file says so; it is the same, and formats are known by the names.
#[test]
fn names_of_files_say_what_is_compressed() {
    use std::io::Read as _;
    let dir = oracle::scratch();
    let input = fixture("multi");
    let export = |name: &str, format: &[&str]| {
        let path = dir.path().join(name);
        let mut args: Vec<&std::ffi::OsStr> =
            vec!["export".as_ref(), input.as_os_str(), "-o".as_ref(), path.as_os_str()];
        args.extend(format.iter().map(std::ffi::OsStr::new));
        let output = oracle::tool::run(&args);
        assert!(output.status.success(), "{}", oracle::tool::stderr(&output));
        std::fs::read(path).unwrap()
    };
    let unpacked = |bytes: &[u8]| {
        assert_eq!(bytes[..2], [0x1f, 0x8b], "gzip");
        let mut plain = Vec::new();
        flate2::read::GzDecoder::new(bytes).read_to_end(&mut plain).unwrap();
        plain
    };
    for (packed, plain, format) in [
        ("p.json.gz", "p.firefox.json", &[][..]),
        ("q.json.gz", "q.json", &["--format", "firefox"]),
        ("r.pb.gz", "r.pb", &[]),
    ] {
        assert_eq!(export(plain, format), unpacked(&export(packed, format)), "{plain}");
    }
}
