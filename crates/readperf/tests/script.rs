//! `readperf script` against `perf script`, line by line: on recordings made in the test, on the fixtures (perf's text lies
//! beside them) and on the corpus, if there is one.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "tests fail by panicking"
)]

mod oracle;
mod script_support;

use oracle::live::Perf;
use oracle::{fixture, kind, said, scratch, skip, tool};
use script_support::{
    Agreement, BUILDS, agree, build, compare, script, without_other_names, without_plt_names,
};
use serde_json::Value;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Records a program built in all ways, and compares with these options, which both understand.
fn live(test: &str, record: &[&str], options: &[&[&str]], least: f64) {
    let all = compare_live(test, record, options, "150");
    assert!(all.lines == 0 || all.share() >= least, "{test}: only {:.4} of {} lines", all.share(), all.lines);
}

/// The same, with programs that work for so many rounds; nothing where perf cannot record.
fn compare_live(test: &str, record: &[&str], options: &[&[&str]], rounds: &str) -> Agreement {
    let mut all = Agreement::default();
    let Some(perf) = Perf::or_skip(test) else { return all };
    let unwinds = record.contains(&"--call-graph");
    for (name, flags) in BUILDS {
        if name == "static" && unwinds {
            // perf does not unwind executables that are static and not position independent.
            continue;
        }
        let dir = scratch();
        if let Err(why) = build(dir.path(), name, flags) {
            skip(test, &format!("{name}: {why}"));
            continue;
        }
        let program = format!("./{name}");
        let arguments = [record, &["--", &program, rounds]].concat();
        let Some(data) = perf.record(test, dir.path(), &arguments) else { return all };
        for options in options {
            let what = format!("{test} {name} {options:?}");
            // No frame: perf looks up the byte before the return address of the outermost one, which is 0.
            let theirs =
                perf.script_with(&data, options).replace("\tffffffffffffffff [unknown] ([unknown])\n", "");
            let (mut theirs, mut mine) =
                (without_plt_names(&theirs), without_plt_names(&script(&data, options)));
            if unwinds && !options.contains(&"--no-inline") {
                let set_aside;
                (theirs, mine, set_aside) = without_other_names(&theirs, &mine);
                eprintln!("{what}: {set_aside} names of functions with inlined ones are not compared");
            }
            all.add(compare(&what, &theirs, &mine));
        }
    }
    if unwinds {
        // Every line of perf's has to be here; some stacks go on longer than perf follows them.
        all.lines = all.theirs;
    }
    eprintln!("{test}: {} of {} lines equal", all.same, all.lines);
    all
}

#[test]
#[ignore = "live: compares with perf"]
fn plain_samples_are_those_of_perf() {
    live(
        "plain_samples_are_those_of_perf",
        &["-F", "2000", "-e", "cpu-clock,page-faults,context-switches"],
        &[
            &[] as &[&str],
            &["--ns"],
            &["-F", "comm,pid,tid,time,event,ip,sym,symoff,dso,period,misc"],
            &["-F", "-period,-comm"],
            &["-F", "ip,sym"],
            &["-F", "sw:event,ip"],
            &["-F", "+flags"],
            &["--reltime"],
            &["--deltatime", "--ns"],
        ],
        0.998,
    );
}

#[test]
#[ignore = "live: compares with perf"]
fn call_chains_are_those_of_perf() {
    live(
        "call_chains_are_those_of_perf",
        &["-F", "2000", "-g", "-e", "cpu-clock,page-faults"],
        &[
            &[] as &[&str],
            &["-G"],
            &["--max-stack", "2"],
            &["-F", "comm,ip,sym,symoff"],
            &["--no-inline", "-F", "+pid"],
        ],
        0.998,
    );
}

#[test]
#[ignore = "live: compares with perf"]
fn unwound_stacks_have_the_inlined_functions() {
    let test = "unwound_stacks_have_the_inlined_functions";
    // The fixed share of stacks at the start and the end of a program, which perf does not always unwind, is small.
    let record = ["-F", "2000", "--call-graph", "dwarf,8192", "-e", "cpu-clock:u"];
    let all = compare_live(test, &record, &[&["--no-inline"], &[], &["--max-stack", "0"]], "1500");
    if all.lines > 0 {
        assert!(all.lines > 4000, "{test}: {} lines are not enough to judge", all.lines);
        assert!(all.share() >= 0.995, "{test}: only {:.4} of {} lines", all.share(), all.lines);
    }
}

#[test]
#[ignore = "live: compares with perf"]
fn other_records_are_those_of_perf() {
    const SHOWN: &[&str] = &[
        "--show-task-events",
        "--show-mmap-events",
        "--show-switch-events",
        "--show-lost-events",
        "--show-namespace-events",
        "--show-bpf-events",
    ];
    live(
        "other_records_are_those_of_perf",
        &["-F", "1000", "-e", "cpu-clock", "--switch-events", "--namespaces", "--sample-cpu"],
        &[SHOWN],
        0.998,
    );
}

#[test]
#[ignore = "live: compares with perf"]
fn memory_and_registers_are_those_of_perf() {
    live(
        "memory_and_registers_are_those_of_perf",
        &[
            "-e",
            "cpu-clock,page-faults",
            "-F",
            "1000",
            "-d",
            "--phys-data",
            "--user-regs=ip,sp,ax",
            "--intr-regs=ip,bp",
        ],
        &[&["-F", "+addr,+phys_addr"], &["-F", "+uregs,+iregs"], &["-F", "comm,tid,event,addr,sym,dso,ip"]],
        // Names of data that a compiler makes (`VTT for T`) are spelled otherwise.
        0.98,
    );
}

#[test]
#[ignore = "live: compares with perf"]
fn tracepoints_are_those_of_perf() {
    let test = "tracepoints_are_those_of_perf";
    let record = [
        "-e",
        "sched:sched_switch,sched:sched_process_exec,raw_syscalls:sys_enter,syscalls:sys_enter_openat",
    ];
    live(test, &record, &[&[] as &[&str], &["-F", "+ip,+sym"], &["-F", "trace:comm,event,trace"]], 0.998);
    live(test, &[&record[..], &["-g"]].concat(), &[&[] as &[&str], &["-G"]], 0.998);
    // Only the leader takes samples: what is said of its members is made of its payload.
    let group = ["-e", "{sched:sched_switch,sched:sched_wakeup}:S", "-c", "1"];
    live(test, &group, &[&[] as &[&str], &["-F", "trace:comm,event,trace"]], 0.998);
}

/// Binaries of which the fixtures' program files are here: the names in others depend on the machine.
const OWN: [&str; 5] = ["/work)", "/libwork.so)", "/tree)", "/rusty)", "([unknown])"];

/// A line without its symbol, unless that is known here. perf calls entries of a procedure linkage table `_init` or nothing.
fn comparable(line: &str, own: bool) -> String {
    let is_address = |word: &str| word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    if own && OWN.iter().any(|end| line.ends_with(end)) && !line.contains("@plt") && !line.contains(" _init ")
    {
        return line.to_owned();
    }
    let Some(binary) = line.rfind(" (") else { return line.to_owned() };
    let (front, binary) = line.split_at(binary);
    let words: Vec<&str> = front.split(' ').collect();
    match words.iter().rposition(|word| is_address(word.trim_start())) {
        Some(at) if line.starts_with('\t') || front.contains(": ") => words[..=at].join(" ") + binary,
        _ => line.to_owned(),
    }
}

#[test]
fn fixtures_are_as_perf_shows_them() {
    let bin = kind("bin");
    let mut compared = 0;
    for name in
        ["main", "multi", "kernel", "group", "everything", "pipe", "zstd", "threads", "tracepoints", "rust"]
    {
        let wanted = said(name, "perf.script.txt").unwrap_or_else(|| panic!("{name}: perf.script.txt"));
        let fields = match name {
            "tracepoints" => "comm,pid,tid,cpu,time,event,trace",
            _ if wanted.contains(" [00") => "comm,pid,tid,cpu,time,period,event,ip,sym,dso",
            _ => "comm,pid,tid,time,period,event,ip,sym,dso",
        };
        let options = ["--no-inline", "--ns", "-F", fields, "--symbols", bin.to_str().unwrap()];
        let mine = script(&fixture(name), &options);
        // Binaries are found by build-id: one of these recordings has none, a pipe tells them behind its samples.
        let own = !matches!(name, "pipe" | "zstd");
        let wanted: Vec<String> = wanted.lines().map(|line| comparable(line, own)).collect();
        let mine: Vec<String> = mine.lines().map(|line| comparable(line, own)).collect();
        assert_eq!(wanted, mine, "{name}");
        compared += wanted.len();
    }
    assert!(compared > 4000, "{compared}");
}

#[test]
fn tasks_of_the_fixtures_are_as_perf_shows_them() {
    let mut compared = 0;
    for name in ["main", "multi", "kernel", "group", "dwarf", "tracepoints", "rust"] {
        let Some(wanted) = said(name, "perf.tasks.txt") else { continue };
        let options = ["--no-inline", "--ns", "--show-task-events", "--show-mmap-events"];
        let mine = script(&fixture(name), &options);
        let records = |text: &str| -> Vec<String> {
            text.lines().filter(|line| line.contains("PERF_RECORD_")).map(str::to_owned).collect()
        };
        assert_eq!(records(&wanted), records(&mine), "{name}");
        compared += wanted.lines().count();
    }
    assert!(compared > 50, "{compared}");
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    for name in ["zstd", "multi", "tracepoints"] {
        let one = script(&fixture(name), &["--threads", "1"]);
        assert!(one.lines().count() > 50, "{name}");
        for threads in ["2", "5"] {
            assert_eq!(one, script(&fixture(name), &["--threads", threads]), "{name} {threads}");
        }
    }
}

#[test]
fn json_lines_say_what_the_text_says() {
    let bin = kind("bin");
    let options = ["--no-inline", "--ns", "-F", "comm,pid,tid,time,period,event,ip,sym,symoff,dso"];
    let options = [&options[..], &["--symbols", bin.to_str().unwrap()]].concat();
    let text = script(&fixture("main"), &options);
    let json = script(&fixture("main"), &["--json", "--symbols", bin.to_str().unwrap()]);
    assert_eq!(text.lines().count(), json.lines().count());
    for (line, object) in text.lines().zip(json.lines()) {
        let object: Value = serde_json::from_str(object).unwrap();
        let frame = object["frames"].as_array().unwrap().last().unwrap();
        let time = object["time"].as_u64().unwrap();
        let symbol = match frame["symbol"].as_str() {
            Some(symbol) => format!("{symbol}+{:#x}", frame["offset"].as_u64().unwrap()),
            None => "[unknown]".to_owned(),
        };
        let expected = format!(
            "{:>16} {:>5}/{:<5} {:5}.{:09}: {:10} {}: {:>17} {symbol} ({})",
            object["comm"].as_str().unwrap(),
            object["pid"],
            object["tid"],
            time / 1_000_000_000,
            time % 1_000_000_000,
            object["period"].as_u64().unwrap(),
            object["event"].as_str().unwrap(),
            object["ip"].as_str().unwrap().trim_start_matches("0x"),
            frame["dso"].as_str().unwrap_or("[unknown]"),
        );
        assert_eq!(line, expected);
    }
}

#[test]
fn tracepoints_have_their_fields_in_json() {
    let json = script(&fixture("tracepoints"), &["--json"]);
    let exec = json.lines().find(|line| line.contains("sched:sched_process_exec")).unwrap();
    let exec: Value = serde_json::from_str(exec).unwrap();
    assert_eq!(exec["fields"]["filename"], "./work");
    assert_eq!(exec["fields"]["pid"], exec["pid"]);
    assert!(exec["text"].as_str().unwrap().starts_with("filename=./work pid="));
}

#[test]
fn wrong_fields_are_usage_errors_with_a_hint() {
    let data = fixture("main");
    for (fields, message) in [
        ("comm,sim", "no field is called \"sim\" (did you mean sym?)"),
        ("xx:comm", "no kind of event is called \"xx\""),
        ("hw:trace", "hw events have no field trace"),
        ("comm,+ip", "use one"),
        ("+weight", "no event of the recording has the field weight: record with --weight"),
        ("symoff", "add sym"),
        ("+metric", "the field metric is not shown: "),
        ("brstackinsn", "record with -b"),
        ("+tod", "record with -k CLOCK_MONOTONIC"),
    ] {
        let output = tool::command().args(["script", "-F", fields]).arg(&data).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{fields}");
        assert!(tool::stderr(&output).contains(message), "{fields}: {}", tool::stderr(&output));
        assert!(output.stdout.is_empty(), "{fields}");
    }
}

/// The corpus: `$READPERF_CORPUS`, else `../shared/corpus` beside the repository.
fn corpus() -> PathBuf {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    std::env::var_os("READPERF_CORPUS").map_or(beside, PathBuf::from)
}

/// What the text of a recording in the corpus may differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Differs {
    /// perf leaves lines out: all that it has is here.
    MoreHere,
    /// perf has lines that nothing is recorded of: all that is here it has, too.
    LessHere,
    /// As many lines, some of which are other ones.
    InPlace,
    /// Something else altogether.
    Otherwise,
}

/// Why the text of a recording in the corpus is another one than perf's: see tests/accept/script-differences.md. With the
/// share of lines that have to agree all the same.
const OTHERWISE: &[(&str, f64, Differs)] = &[
    // Counters: no line here.
    ("stat.data", 0.0, Differs::LessHere),
    ("stat-interval", 0.0, Differs::LessHere),
    // Unwound here, not by perf.
    ("dwarf", 0.65, Differs::MoreHere),
    ("fork_static_gcc", 0.65, Differs::MoreHere),
    ("vector_static_clang", 0.75, Differs::MoreHere),
    ("contentsize", 0.9, Differs::MoreHere),
    ("true.v2", 0.5, Differs::MoreHere),
    ("embedded", 0.4, Differs::MoreHere),
    ("ip_zero", 0.8, Differs::MoreHere),
    // perf reads a branch that is not there.
    ("lbr", 0.97, Differs::LessHere),
    // Foreign byte order in a pipe: perf takes the thread for the process.
    ("own-s390x/pipe", 0.94, Differs::InPlace),
    // Kernel addresses of s390x.
    ("own-s390x", 0.994, Differs::InPlace),
    // Decoded traces.
    ("intel_pt", 0.0, Differs::Otherwise),
    // Generated code of simpleperf.
    ("jit", 0.94, Differs::InPlace),
    ("simpleperf", 0.97, Differs::InPlace),
    // A chain that perf drops.
    ("pmu-cycles", 0.997, Differs::MoreHere),
];

impl Differs {
    fn holds(self, agreement: Agreement) -> bool {
        let Agreement { theirs, ours, same, .. } = agreement;
        match self {
            Differs::MoreHere => same == theirs,
            Differs::LessHere => same == ours,
            Differs::InPlace => theirs == ours,
            Differs::Otherwise => true,
        }
    }
}

#[test]
#[ignore = "live: compares with perf"]
fn the_corpus_is_as_perf_shows_it() {
    let test = "the_corpus_is_as_perf_shows_it";
    let Some(perf) = Perf::or_skip(test) else { return };
    let root = corpus();
    let Ok(folders) = std::fs::read_dir(&root) else {
        return skip(test, &format!("no corpus at {}; set READPERF_CORPUS", root.display()));
    };
    let dir = scratch();
    let empty = dir.path().join("kallsyms");
    std::fs::write(&empty, "").unwrap();
    // Nothing of this machine is asked for names, and names that only readperf knows do not count.
    let options = ["--symfs", "/nonexistent", "--kallsyms", empty.to_str().unwrap(), "-F", "-sym,-symoff"];
    let files =
        folders.flatten().filter_map(|folder| std::fs::read_dir(folder.path()).ok()).flatten().flatten();
    let (mut all, mut every, mut compared) = (Agreement::default(), Agreement::default(), 0);
    for file in files.map(|file| file.path()).filter(|path| path.is_file() && is_recording(path)) {
        let theirs = perf.script_in(dir.path(), &file, &options);
        // What perf refuses proves nothing.
        if theirs.lines().count() < 2 || theirs.starts_with("Too big") {
            continue;
        }
        // Where the corpus lies says nothing of what is in it.
        let name = file.strip_prefix(&root).unwrap().display().to_string();
        let excuse = OTHERWISE.iter().find(|(part, ..)| name.contains(part));
        let mine = script(&file, &options);
        let agreement = if name.contains("own-s390x") {
            agree(&with_one_name_for_memory(&theirs), &with_one_name_for_memory(&mine))
        } else {
            agree(&theirs, &mine)
        };
        compared += 1;
        every.add(agreement);
        match excuse {
            Some((_, least, differs)) => {
                eprintln!("{name}: {} of {} lines equal", agreement.same, agreement.lines);
                assert!(agreement.share() >= *least, "{name}: {agreement:?}");
                assert!(differs.holds(agreement), "{name}: {differs:?} {agreement:?}");
            }
            None => {
                assert!(agreement.share() >= 0.998, "{name}: {agreement:?}");
                all.add(agreement);
            }
        }
    }
    eprintln!(
        "{test}: {compared} recordings; {} of {} lines equal, of those without excuse {} of {}",
        every.same, every.lines, all.same, all.lines
    );
    assert!(compared > 80, "{compared}");
    assert!(all.share() >= 0.998, "{all:?}");
}

/// perf does not swap the protection of foreign mappings, so it does not see that memory without a file can be executed, and
/// calls it `//anon`. On the machine that recorded it calls it as we do.
fn with_one_name_for_memory(text: &str) -> String {
    let is_memory = |name: &str| {
        let digits = name.strip_prefix("/tmp/perf-").and_then(|rest| rest.strip_suffix(".map"));
        name == "//anon" || digits.is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_digit()))
    };
    let line = |line: &str| match line.strip_suffix(')').and_then(|line| line.rsplit_once('(')) {
        Some((front, name)) if is_memory(name) => format!("{front}(memory)\n"),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

fn is_recording(path: &Path) -> bool {
    let mut magic = [0; 8];
    std::fs::File::open(path).is_ok_and(|mut file| file.read_exact(&mut magic).is_ok())
        && matches!(&magic, b"PERFILE2" | b"2ELIFREP" | b"PERFFILE" | b"ELIFFREP")
}
