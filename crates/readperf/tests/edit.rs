//! `readperf edit`: what it writes is held against what the other commands say of the recording it was made of.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod oracle;

use oracle::{fixture, tool};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

/// Where tests write to; each has names of its own.
fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("edit");
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs an edit that has to succeed; its output and what it said.
fn edited(from: &Path, name: &str, options: &[&str]) -> (PathBuf, String) {
    let to = folder().join(name);
    let _ = fs::remove_dir_all(&to);
    let output = edit(from, &to, options);
    assert_eq!(output.status.code(), Some(0), "{options:?}: {}", tool::stderr(&output));
    (to, tool::stderr(&output))
}

fn edit(from: &Path, to: &Path, options: &[&str]) -> Output {
    tool::command().arg("edit").arg(from).arg("-o").arg(to).args(options).output().unwrap()
}

/// Samples and period of each event.
fn sums(file: &Path) -> BTreeMap<String, (u64, u64)> {
    let stats = tool::json("stats", file);
    let event = |event: &Value| {
        let number = |field: &str| event[field].as_u64().unwrap();
        (event["name"].as_str().unwrap().to_owned(), (number("samples"), number("period")))
    };
    stats["events"].as_array().unwrap().iter().map(event).collect()
}

/// A line a sample, without names of functions, which need binaries.
fn script(file: &Path, options: &[&str]) -> Vec<String> {
    let own = options.contains(&"-F");
    let fields: &[&str] = if own { &[] } else { &["-F", "comm,pid,tid,time,event,ip,dso,period"] };
    let mut arguments = vec!["script", "--ns", "--symfs", "/nonexistent", "-i", file.to_str().unwrap()];
    arguments.extend(fields);
    arguments.extend(options);
    tool::answer(&arguments).lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
}

fn add(sums: &mut BTreeMap<String, (u64, u64)>, more: BTreeMap<String, (u64, u64)>) {
    for (event, (samples, period)) in more {
        let sum = sums.entry(event).or_default();
        *sum = (sum.0 + samples, sum.1 + period);
    }
}

#[test]
fn parts_add_up_to_the_whole() {
    let halves: &[&[&str]] = &[&["--time", "0%-50%"], &["--time", "50%-100%"]];
    let thirds: &[&[&str]] = &[&["--time", "0%-30%"], &["--time", "30%-70%"], &["--time", "70%-100%"]];
    let cpus: &[&[&str]] = &[&["--cpu", "0"], &["--cpu", "1-63"]];
    let all = [
        ("multi", thirds),
        ("group", thirds),
        ("everything", cpus),
        ("tracepoints", halves),
        ("threads", halves),
    ];
    for (name, parts) in all {
        let mut added = BTreeMap::new();
        for (nr, part) in parts.iter().enumerate() {
            let (file, _) = edited(&fixture(name), &format!("edit-part-{name}-{nr}"), part);
            let part = sums(&file);
            assert!(part.values().any(|(samples, _)| *samples > 0), "{name} {nr}");
            add(&mut added, part);
        }
        assert_eq!(added, sums(&fixture(name)), "{name}");
    }
}

#[test]
fn what_is_chosen_says_what_it_said_among_the_others() {
    let from = fixture("multi");
    let lines = script(&from, &[]);
    let word = |line: &String, nr: usize| line.split_whitespace().nth(nr).unwrap().to_owned();
    let last = lines.iter().rfind(|line| line.contains("cpu-clock:")).unwrap();
    let (comm, ids) = (word(last, 0), word(last, 1));
    let (pid, tid) = ids.split_once('/').unwrap();
    let choices: [&[&str]; 8] = [
        &["--comm", &comm],
        &["--comm", "nobody"],
        &["--pid", pid],
        &["--tid", tid],
        &["--time", "20%-60%"],
        &["--event", "cpu-clock"],
        &["--dso", "work"],
        &["--dso", "libc.so.6", "--comm", "work"],
    ];
    for (nr, choice) in choices.iter().enumerate() {
        for kind in ["--file", "--pipe", "--dir", "--sort"] {
            let options = [choice, &[kind][..]].concat();
            let (file, _) = edited(&from, &format!("edit-chosen-{nr}{kind}"), &options);
            let wanted = script(&from, choice);
            assert_eq!(script(&file, &[]), wanted, "{options:?}");
            assert_eq!(wanted.is_empty(), choice.contains(&"nobody"), "{options:?}");
        }
    }
}

#[test]
fn a_choice_by_names_keeps_what_its_samples_need() {
    let count = |file: &Path, kind: &str| {
        let stats = tool::json("stats", file);
        let records = stats["records"].as_array().unwrap();
        records
            .iter()
            .find(|record| record["type"] == kind)
            .map_or(0, |record| record["count"].as_u64().unwrap())
    };
    let from = fixture("multi");
    let (file, said) = edited(&from, "edit-needed", &["--comm", "work-child"]);
    for kind in ["COMM", "FORK", "EXIT", "MMAP2"] {
        let (now, before) = (count(&file, kind), count(&from, kind));
        assert!(now > 0 && now < before, "{kind}: {now} of {before}: {said}");
    }
    let (file, _) = edited(&from, "edit-needed-by-none", &["--comm", "nobody"]);
    assert_eq!((count(&file, "COMM"), count(&file, "MMAP2"), count(&file, "FORK")), (0, 0, 0));
    assert!(count(&file, "MMAP") > 0, "the kernel is nobody's");
}

#[test]
fn all_kinds_say_the_same() {
    for name in ["multi", "pipe", "zstd", "threads", "tracepoints", "dwarf", "stat"] {
        let from = fixture(name);
        let lines = |file: &Path| match name {
            "stat" => tool::answer(&["stat", file.to_str().unwrap()]).lines().map(str::to_owned).collect(),
            _ => script(file, &[]),
        };
        let wanted = lines(&from);
        for options in [
            &["--file"][..],
            &["--pipe"],
            &["--dir"],
            &["--file", "--compress=5"],
            &["--dir", "--compress"],
            &["--pipe", "--compress"],
            &["--file", "--decompress"],
            &["--file", "--sort"],
            &["--pipe", "--byte-order", "big"],
            &["--dir", "--byte-order", "big", "--compress"],
        ] {
            let (file, said) = edited(&from, &format!("edit-kind-{name}{}", options.concat()), options);
            // Copies of stacks stay in the byte order of their machine, and are not unwound in the other one.
            if name != "dwarf" || !options.contains(&"big") {
                assert_eq!(lines(&file), wanted, "{name} {options:?}");
            }
            assert_eq!(sums(&file), sums(&from), "{name} {options:?}");
            assert_eq!(said.lines().count(), 1, "{said}");
        }
    }
}

#[test]
fn every_so_many_th_sample_stands_for_the_others() {
    for name in ["multi", "group"] {
        let (whole, (file, said)) =
            (sums(&fixture(name)), edited(&fixture(name), "edit-every", &["--every", "4"]));
        let (kept, _) = edited(&fixture(name), "edit-every-kept", &["--every", "4", "--keep-period"]);
        for (event, (samples, period)) in sums(&file) {
            if name == "multi" {
                // Of each event its own samples are counted; those of a group are shares of its leader's.
                assert_eq!(samples, whole[&event].0.div_ceil(4), "{event}: {said}");
                assert_eq!(period, whole[&event].1 / whole[&event].0 * samples * 4, "{event}");
                assert_eq!(sums(&kept)[&event], (samples, period / 4), "{event}");
            } else {
                // What was counted between counts for the next one: but for what comes behind the last, that is all.
                assert!(period <= whole[&event].1 && period > whole[&event].1 * 9 / 10, "{event}: {period}");
                // The first sample says what was counted before it, which is nearly all of the page faults.
                let (_, period_kept) = sums(&kept)[&event];
                assert!(
                    period_kept <= period && (event != "cpu-clock" || period_kept < period / 3),
                    "{event}"
                );
            }
        }
    }
}

#[test]
fn what_is_stripped_is_gone_and_the_rest_is_as_it_was() {
    let from = fixture("dwarf");
    let (file, _) = edited(&from, "edit-strip", &["--strip", "stack,regs"]);
    let fields = |file: &Path| tool::answer(&["info", file.to_str().unwrap()]);
    assert!(fields(&from).contains("STACK_USER") && fields(&from).contains("REGS_USER"));
    assert!(!fields(&file).contains("STACK_USER") && !fields(&file).contains("REGS_USER"));
    assert!(fs::metadata(&file).unwrap().len() * 2 < fs::metadata(&from).unwrap().len());
    let without_stacks = |file: &Path| script(file, &["-F", "comm,pid,tid,time,event,period"]);
    assert_eq!(without_stacks(&file), without_stacks(&from));
    assert!(!without_stacks(&from).is_empty());

    let (short, _) = edited(&fixture("multi"), "edit-short", &["--max-stack", "2"]);
    let addresses = |file: &Path| -> Vec<Vec<String>> {
        let text = tool::answer(&["dump", "--json", "--type", "sample", file.to_str().unwrap()]);
        let chain = |line: &str| {
            let sample: Value = serde_json::from_str(line).unwrap();
            let words = sample["callchain"].as_array().unwrap().clone();
            words
                .iter()
                .map(Value::to_string)
                .filter(|word| !word.contains("0xfffffffffffff") && !word.starts_with("184467440737095"))
                .collect()
        };
        text.lines().map(chain).collect()
    };
    for (short, long) in addresses(&short).iter().zip(addresses(&fixture("multi"))) {
        assert_eq!(*short, long[..long.len().min(2)]);
    }
}

#[test]
fn a_stream_is_edited_as_it_comes() {
    let stdin = fs::File::open(fixture("pipe")).unwrap();
    let output =
        tool::command().args(["edit", "-", "-o", "-", "--event", "cpu-clock"]).stdin(stdin).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", tool::stderr(&output));
    let file = folder().join("edit-stream");
    fs::write(&file, &output.stdout).unwrap();
    assert_eq!(script(&file, &[]), script(&fixture("pipe"), &["--event", "cpu-clock"]));
    // Without options it is what it was, byte by byte.
    let stdin = fs::File::open(fixture("pipe")).unwrap();
    let output = tool::command().args(["edit", "-", "-o", "-"]).stdin(stdin).output().unwrap();
    assert_eq!(output.stdout, fs::read(fixture("pipe")).unwrap());
    assert!(tool::stderr(&output).contains("standard output: all 139 samples"), "{}", tool::stderr(&output));
}

#[test]
fn damaged_recordings_become_sound_ones() {
    for name in ["killed", "cut"] {
        let damaged = fixture(name);
        let as_it_is = edit(&damaged, &folder().join("edit-damaged"), &[]);
        assert_eq!(as_it_is.status.code(), Some(3), "{name}: {}", tool::stderr(&as_it_is));
        let (file, said) = edited(&damaged, &format!("edit-repaired-{name}"), &["--repair"]);
        assert!(said.lines().count() > 1, "what was wrong is said: {said}");
        let before = tool::run(&["stats", "--json", damaged.to_str().unwrap()]);
        let before: Value = serde_json::from_slice(&before.stdout).unwrap();
        let after = tool::json("stats", &file);
        assert_eq!(after["events"], before["events"], "{name}");
        assert_eq!(after["issues"].as_array().map_or(0, Vec::len), 0, "{name}");
    }
}

#[test]
fn version_1_becomes_version_2_and_that_is_said() {
    use readperf::perffile::wire::attr::{AttrFlags, EventAttr, SampleType};
    use readperf::perffile::wire::record::Record;
    use readperf::perffile::wire::sample::{Sample, SampleId};
    use readperf::perffile::write::{Options, Writer};
    let mut bytes = std::io::Cursor::new(Vec::new());
    let mut writer = Writer::file(&mut bytes, Options::default());
    let sample_type = SampleType::IP | SampleType::TID | SampleType::TIME;
    let event = writer.event(
        EventAttr { sample_type, size: 80, flags: AttrFlags::freq, ..EventAttr::default() },
        &[1],
        "cycles",
    );
    let sample = Sample { ip: Some(1), pid: Some(2), tid: Some(2), time: Some(3), ..Sample::default() };
    writer.record(event, 2, Record::Sample(sample), &SampleId::default()).unwrap();
    writer.finish().unwrap();
    let (old, mut bytes) = (folder().join("edit-old"), bytes.into_inner());
    bytes[..8].copy_from_slice(b"PERFFILE");
    fs::write(&old, bytes).unwrap();
    let (file, said) = edited(&old, "edit-version-1", &[]);
    assert!(said.contains("version 1 has become version 2"), "{said}");
    assert_eq!(script(&file, &[]), script(&old, &[]));
    assert!(fs::read(&file).unwrap().starts_with(b"PERFILE2"));
}

#[test]
fn nothing_is_lost_where_it_cannot_write() {
    let folder = folder().join("edit-refused");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    let own = folder.join("perf.data");
    fs::copy(fixture("main"), &own).unwrap();
    std::os::unix::fs::symlink(&own, folder.join("link")).unwrap();
    let refused = |to: &Path, options: &[&str], why: &str| {
        let output = edit(&own, to, options);
        assert_eq!(output.status.code(), Some(1), "{why}");
        assert!(tool::stderr(&output).contains(why), "{}", tool::stderr(&output));
    };
    refused(&own, &[], "is the recording itself");
    refused(&folder.join("link"), &["--sort"], "is the recording itself");
    refused(&folder, &["--dir"], "is there already");
    refused(&folder.join("nowhere/out"), &[], "No such file");
    refused(&folder.join("nowhere/out"), &["--dir"], "No such file");
    refused(Path::new("-"), &["--file"], "only a pipe stream");
    refused(Path::new("/dev/full"), &["--pipe"], "No space left");
    assert_eq!(fs::read(&own).unwrap(), fs::read(fixture("main")).unwrap());
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);

    let stdin = fs::File::open(fixture("pipe")).unwrap();
    let mut cat = std::process::Command::new("cat").stdin(stdin).stdout(Stdio::piped()).spawn().unwrap();
    let stream = cat.stdout.take().unwrap();
    let output =
        tool::command().args(["edit", "-", "-o", "-", "--comm", "work"]).stdin(stream).output().unwrap();
    cat.wait().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(tool::stderr(&output).contains("read a recording twice"), "{}", tool::stderr(&output));

    let output = edit(&own, &folder.join("out"), &["--event", "cpu-clok:u"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(tool::stderr(&output).contains("did you mean cpu-clock:u?"), "{}", tool::stderr(&output));
    let output = edit(&own, &folder.join("out"), &["--compress=99"]);
    assert_eq!(output.status.code(), Some(2), "{}", tool::stderr(&output));
    assert!(!folder.join("out").exists());
}
