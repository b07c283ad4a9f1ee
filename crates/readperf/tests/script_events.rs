//! `readperf script`, event by event: names of the kernel in the texts of tracepoints, a file for each event, samples chosen
//! by names, the code between branches, and what the JSON lines say.

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
use oracle::{fixture, kind, live, scratch, skip, tool};
use script_support::{agree, script, without_plt_names};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Timers, work queues and memory show kernel addresses as symbols, with and without offset. What is left out: flags of which
/// perf evaluates `value & (a | b)` as `value & a | b`.
#[test]
#[ignore = "live: compares with perf"]
fn tracepoints_name_kernel_functions_as_perf() {
    let test = "tracepoints_name_kernel_functions_as_perf";
    let Some(perf) = Perf::or_skip(test) else { return };
    let dir = scratch();
    let events =
        ["timer:hrtimer_start", "timer:timer_expire_entry", "workqueue:*", "kmem:kmalloc", "kmem:kfree"];
    let mut record = Vec::new();
    for event in events {
        record.extend(["-e", event]);
    }
    record.extend(["-a", "--", "sh", "-c", "ls -R /usr/include/linux > listed; sleep 0.1"]);
    let Some(data) = perf.record(test, dir.path(), &record) else { return };
    for options in [&["--time", "0%-30%"][..], &["--time", "0%-30%", "-F", "event,trace"]] {
        let (theirs, mine) = (perf.script_with(&data, options), script(&data, options));
        let is_named = |line: &&str| line.contains("call_site=") && line.contains("+0x");
        let named = theirs.lines().filter(is_named).count();
        if named == 0 {
            return skip(test, "perf names no kernel function: kernel.kptr_restrict?");
        }
        let agreement = agree(&theirs, &mine);
        eprintln!("{test} {options:?}: {agreement:?}, {named} with names");
        assert!(agreement.share() >= 0.998, "{agreement:?}");
    }
    let json = script(&data, &["--json", "--time", "0%-30%"]);
    let json = json.lines().find(|line| line.contains("\"kmem:kmalloc\"")).expect("a kmalloc");
    let object: Value = serde_json::from_str(json).unwrap();
    assert!(object["text"].as_str().unwrap().contains("+0x"), "{object}");
}

/// The files are beside the recording; records that are no samples stay on standard output.
#[test]
#[ignore = "live: compares with perf"]
fn each_event_has_a_file_as_with_perf() {
    let test = "each_event_has_a_file_as_with_perf";
    let Some(perf) = Perf::or_skip(test) else { return };
    let dir = scratch();
    if live::program(test, dir.path(), "burn").is_none() {
        return;
    }
    let record = ["-g", "-e", "cpu-clock,page-faults,dummy", "--", "./burn"];
    let Some(data) = perf.record(test, dir.path(), &record) else { return };
    let options = ["--per-event-dump", "--show-task-events"];
    let told = perf.script_with(&data, &options);
    let dumps = || {
        let files = std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
        let is_dump = |path: &std::path::PathBuf| path.extension().is_some_and(|end| end == "dump");
        let dumps: BTreeSet<_> = files.filter(is_dump).collect();
        dumps.into_iter().map(|path| (std::fs::read_to_string(&path).unwrap(), path)).collect::<Vec<_>>()
    };
    let theirs = dumps();
    assert_eq!(theirs.len(), 3, "{told}");
    theirs.iter().for_each(|(_, path)| std::fs::remove_file(path).unwrap());
    let mine_told = script(&data, &options);
    let mine = dumps();
    let paths = |dumps: &[(String, std::path::PathBuf)]| -> Vec<_> {
        dumps.iter().map(|(_, path)| path.clone()).collect()
    };
    assert_eq!(paths(&theirs), paths(&mine));
    for ((theirs, path), (mine, _)) in theirs.iter().zip(&mine) {
        let agreement = agree(theirs, mine);
        assert!(agreement.lines == 0 || agreement.share() >= 0.99, "{}: {agreement:?}", path.display());
    }
    // Sizes are other ones: perf does not count all that it writes.
    let told_of = |text: &str| -> Vec<String> {
        let files = text.lines().filter(|line| line.contains(" Wrote "));
        files.map(|line| line.split(" MB ").nth(1).unwrap().to_owned()).collect()
    };
    assert_eq!(told_of(&told), told_of(&mine_told));
    assert_eq!(told_of(&told).len(), 3);
    let records = |text: &str| text.lines().filter(|line| line.contains("PERF_RECORD_")).count();
    assert!(records(&told) > 3);
    assert_eq!(records(&told), records(&mine_told));
}

#[test]
#[ignore = "live: compares with perf"]
fn samples_are_chosen_by_names_as_perf_does() {
    let test = "samples_are_chosen_by_names_as_perf_does";
    let Some(perf) = Perf::or_skip(test) else { return };
    let dir = scratch();
    if live::program(test, dir.path(), "burn").is_none() {
        return;
    }
    let record = ["-F", "2000", "-g", "-e", "cpu-clock:u", "--", "./burn"];
    let Some(data) = perf.record(test, dir.path(), &record) else { return };
    let all = script(&data, &["-G"]).lines().count();
    for options in [&["-S", "much"][..], &["-S", "much,main"], &["--dsos", "libc.so.6"], &["--dsos", "burn"]]
    {
        let (theirs, mine) = (perf.script_with(&data, options), script(&data, options));
        let shown = script(&data, &[options, &["-G"]].concat()).lines().count();
        // All samples may be in the program itself.
        assert!(shown < all || options == ["--dsos", "burn"], "{options:?}: {shown} of {all}");
        let agreement = agree(&without_plt_names(&theirs), &without_plt_names(&mine));
        // Of the C library there may be no sample at all.
        let (same, lines) = (agreement.same, agreement.lines);
        assert!(same * 100 >= lines * 99, "{options:?}: {same} of {lines}");
        if options[0] == "-S" {
            assert!(shown > 10, "{options:?}: {shown} of {all}");
        }
    }
    // The filters of report, which perf's script does not have.
    let focused = script(&data, &["-G", "--focus", "^little$"]).lines().count();
    let ignored = script(&data, &["-G", "--ignore", "^little$"]).lines().count();
    assert!(focused > 0 && ignored > 0, "{focused} {ignored}");
    assert_eq!(focused + ignored, all);
}

/// No machine at hand records branches, so a script gives them to a recording: see `branches.py`.
#[test]
#[ignore = "live: compares with perf"]
fn the_code_between_branches_is_that_of_perf() {
    let test = "the_code_between_branches_is_that_of_perf";
    let Some(perf) = Perf::or_skip(test) else { return };
    let dir = scratch();
    if live::program(test, dir.path(), "burn").is_none() {
        return;
    }
    let record = ["-F", "400", "-e", "cpu-clock:u", "--", "./burn"];
    let Some(plain) = perf.record(test, dir.path(), &record) else { return };
    let refused = tool::run(&["script", "-F", "+brstackinsn", plain.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(tool::stderr(&refused).contains("record with -b"), "{}", tool::stderr(&refused));
    let data = dir.path().join("branches.data");
    let maker = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/script_support/branches.py");
    let make = |data: &Path, more: &[&str]| {
        let mut script = Command::new("python3");
        script.arg(&maker).args([&plain, data]).arg(dir.path().join("burn")).args(more).output()
    };
    match make(&data, &[]) {
        Ok(made) if made.status.success() => {}
        Ok(made) => return skip(test, &format!("no objdump? {}", String::from_utf8_lossy(&made.stderr))),
        Err(error) => return skip(test, &format!("python3: {error}")),
    }
    for options in [
        &["-F", "comm,tid,time,event,ip,sym,brstackinsn"][..],
        &["-F", "comm,brstackinsnlen"],
        &["-F", "ip,brstackinsn,insn,insnlen,brstack", "--max-blocks", "1"],
        &["-F", "ip,brstackinsnlen,brstacksym", "--max-blocks", "3"],
    ] {
        let (theirs, mine) = (perf.script_with(&data, options), script(&data, options));
        assert!(theirs.contains("\tinsn: "), "{options:?}: perf shows none");
        let is_same = |theirs: &str, mine: &str| theirs == mine || is_undefined(dir.path(), theirs, mine);
        let differing = theirs.lines().zip(mine.lines()).find(|(theirs, mine)| !is_same(theirs, mine));
        assert_eq!(differing, None, "{options:?}");
        assert_eq!(theirs.lines().count(), mine.lines().count(), "{options:?}");
    }
    let whole = perf.script_with(&data, &["-F", "brstackinsn"]);
    let rare = ["mismatch of LBR data and executable", "... not reaching sample ...", " ABORT"];
    for held in rare.into_iter().chain([" IPC", " PRED", " MISPRED"]) {
        assert!(whole.contains(held), "{held} is not tried");
    }
    // Thousands of branches through the same code: the rest is left out, and said to be.
    let long = dir.path().join("long.data");
    assert!(make(&long, &["long"]).unwrap().status.success());
    let shown = script(&long, &["-F", "brstackinsn"]);
    assert!(shown.contains("\t... more code than is shown ...\n"));
    let of_sample = shown.split("more code than is shown").map(|text| text.lines().count());
    assert!(of_sample.max().unwrap() < 100_000);
}

/// Each field of a sample that `dump --json` tells is in the line of `script --json`, with the same value. The call chain is
/// there as frames, the payload of a tracepoint as fields.
#[test]
fn json_lines_have_every_recorded_field() {
    const TOLD_OTHERWISE: [&str; 3] = ["callchain", "callchain_words", "raw"];
    const OF_THE_RECORD: [&str; 7] = ["index", "offset", "part", "type", "number", "misc", "misc_words"];
    let mut seen = BTreeSet::new();
    for name in ["everything", "tracepoints", "main", "dwarf", "group"] {
        let data = fixture(name);
        let data = data.to_str().unwrap();
        let dump = tool::answer(&["dump", "--json", "--sorted", "--type", "sample", data]);
        let bin = kind("bin");
        let lines = script(Path::new(data), &["--json", "--symbols", bin.to_str().unwrap()]);
        let mut lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let mut compared = 0;
        for record in dump.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
            let record = record.as_object().unwrap();
            let Some(line) = lines.next() else { break };
            for (field, value) in record {
                if OF_THE_RECORD.contains(&field.as_str()) || field == "size" {
                    continue;
                }
                if TOLD_OTHERWISE.contains(&field.as_str()) {
                    assert!(line.get("frames").is_some() || line.get("fields").is_some(), "{name}: {line}");
                    continue;
                }
                // A tracepoint's text names symbols in the one and has numbers in the other; counts of a group are shared.
                if field == "text" || name == "group" && (field == "period" || field == "event") {
                    continue;
                }
                assert_eq!(line.get(field), Some(value), "{name}: {field} of {line}");
                seen.insert(field.clone());
                compared += 1;
            }
            if name == "group" {
                // A line for each event of the group.
                break;
            }
        }
        assert!(compared > if name == "group" { 4 } else { 100 }, "{name}: {compared}");
    }
    for field in
        ["ip", "time", "cpu", "addr", "regs_user", "regs_intr", "weight_struct", "data_src", "phys_addr"]
    {
        assert!(seen.contains(field), "{field} is in no fixture: {seen:?}");
    }
    for field in ["stack_user", "read", "transaction", "cgroup", "code_page_size", "fields"] {
        assert!(seen.contains(field), "{field} is in no fixture: {seen:?}");
    }
}

#[test]
fn other_options_of_perf_are_taken_or_refused_with_a_reason() {
    let data = fixture("main");
    let plain = script(&data, &[]);
    assert_eq!(plain, script(&data, &["-f", "-v", "-I", "--demangle-kernel"]));
    for (option, reason) in [
        ("--itrace=i0", "AUX data"),
        ("-D", "readperf dump"),
        ("--switch-on=x", "--time"),
        ("--xed", "-F insn"),
        ("-l", "--json"),
        ("--metric-only", "unexpected argument"),
    ] {
        let output = tool::run(&["script", option, data.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(2), "{option}");
        assert!(tool::stderr(&output).contains(reason), "{option}: {}", tool::stderr(&output));
    }
}

/// The key `trace` of a report, which is the default for tracepoints, shows the same names.
#[test]
#[ignore = "live: compares with perf"]
fn a_report_names_kernel_functions_as_perf() {
    let test = "a_report_names_kernel_functions_as_perf";
    let Some(perf) = Perf::or_skip(test) else { return };
    let dir = scratch();
    let record = ["-e", "kmem:kmalloc", "--", "ls", "/usr/include"];
    let Some(data) = perf.record(test, dir.path(), &record) else { return };
    let path = data.to_str().unwrap();
    let sites = |text: &str| -> BTreeSet<String> {
        let words = text.split_whitespace().filter_map(|word| word.strip_prefix("call_site="));
        words.map(str::to_owned).collect()
    };
    let theirs = sites(&perf.report(&data, &["--stdio", "-s", "trace"]));
    if !theirs.iter().any(|site| site.contains("+0x")) {
        return skip(test, "perf names no kernel function: kernel.kptr_restrict?");
    }
    let options = ["report", "--no-progress", "--sort", "trace", "--percent-limit", "0", path];
    assert_eq!(theirs, sites(&tool::answer(&options)));
}

/// Whether perf shows as the instruction of a sample what is none: some samples were put between two instructions, and perf's
/// decoder knows lengths alone. `objdump` knows what is not defined.
fn is_undefined(dir: &Path, theirs: &str, mine: &str) -> bool {
    let told = theirs.split_once("ilen: ").filter(|(start, _)| mine == format!("{start}ilen: 0"));
    let Some((_, bytes)) = told.and_then(|(_, rest)| rest.split_once("insn: ")) else { return false };
    let bytes =
        bytes.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect::<Vec<_>>();
    let file = dir.join("instruction");
    std::fs::write(&file, bytes).unwrap();
    let objdump =
        Command::new("objdump").args(["-D", "-b", "binary", "-m", "i386:x86-64"]).arg(file).output();
    String::from_utf8_lossy(&objdump.unwrap().stdout).contains("(bad)")
}
