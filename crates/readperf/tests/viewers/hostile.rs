//! Names that are markup, code or control characters; nothing at all; one sample.

use crate::handmade::{self, Attr, CODE, KERNEL_CODE, PID, Pipe, Sample};
use crate::oracle::{self, fixture, tool};
use crate::{chrome, firefox, perfetto, pprof, run};
use std::path::PathBuf;

const FORMATS: [&str; 5] = ["pprof", "firefox", "speedscope", "perfetto", "chrome"];
const HOSTILE: &str = "\u{1b}[2J\";alert(1)</script>\\\u{7}";

/// A recording of `count` samples whose thread and binary have such a name.
fn recording(dir: &tempfile::TempDir, count: u64) -> PathBuf {
    let mut pipe = Pipe::new(&[Attr::default()]);
    pipe.kernel_map(KERNEL_CODE);
    pipe.comm(PID, PID, "\u{1b}[2J\"</b>");
    pipe.map(PID, CODE, &format!("/bin/{HOSTILE}"), Some(7), 0);
    pipe.samples(count, &Sample::default());
    let path = dir.path().join("perf.data");
    std::fs::write(&path, &pipe.bytes).unwrap();
    path
}

#[test]
fn hostile_names_are_escaped() {
    let dir = oracle::scratch();
    let file = recording(&dir, 3);
    for format in FORMATS {
        let mut bytes = run::export(format, &file, &[]);
        if bytes.starts_with(&[0x1f, 0x8b]) {
            bytes = run::unzipped(&bytes);
        }
        // Keys and lengths of protocol buffers can be control characters, too.
        assert!(!bytes.windows(4).any(|part| part == b"\x1b[2J"), "{format}: no escape");
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.contains("x1b[2J"), "{format}: the name is there, harmless");
    }
    firefox::assert_shape(&firefox::profile(&file, &[]));
}

#[test]
fn one_sample() {
    let dir = oracle::scratch();
    let file = recording(&dir, 1);
    let profile = firefox::profile(&file, &[]);
    assert_eq!(firefox::threads(&profile).len(), 1);
    assert_eq!(profile["threads"][0]["samples"]["length"], 1);
    assert_eq!(profile["threads"][0]["samples"]["weight"], serde_json::json!([0.001]));
    assert_eq!(pprof::Profile::of(&file, &[]).stacks(1).values().sum::<u64>(), 1000);
    let samples =
        |packets: &[crate::protobuf::Message]| packets.iter().filter(|packet| packet.has(66)).count();
    assert_eq!(samples(&perfetto::packets(&file, &[])), 1);
    let trace = chrome::trace(&file, &[]);
    assert_eq!(chrome::trace_events(&trace).iter().filter(|event| event["ph"] == "P").count(), 1);
    let speedscope = run::json(&run::export("speedscope", &file, &[]));
    assert_eq!(speedscope["profiles"][1]["weights"], serde_json::json!([1000]));
}

/// The kernel gives samples of a thread on its way out the id -1: `pid_t` has a sign.
#[test]
fn a_thread_on_its_way_out_is_minus_one() {
    let dir = oracle::scratch();
    let mut pipe = Pipe::new(&[Attr::default()]);
    pipe.map(PID, CODE, "/bin/work", Some(7), 0);
    pipe.sample(&Sample { tid: u32::MAX, ..Sample::default() });
    let file = dir.path().join("perf.data");
    std::fs::write(&file, &pipe.bytes).unwrap();
    let text = |format: &str, more: &[&str]| String::from_utf8(run::export(format, &file, more)).unwrap();
    assert!(text("jsonl", &[]).contains("\"pid\":10,\"tid\":-1,"), "{}", text("jsonl", &[]));
    assert!(text("csv", &[]).contains(",10,-1,"), "{}", text("csv", &[]));
    assert!(text("folded", &["--with-tid"]).contains("-10/-1;"), "{}", text("folded", &["--with-tid"]));
    assert!(text("speedscope", &[]).contains("(10/-1)"));
    assert!(text("chrome", &[]).contains("\"pid\":10,\"tid\":-1,"));
    let profile = firefox::profile(&file, &[]);
    assert_eq!(profile["threads"][0]["tid"], -1);
    firefox::assert_shape(&profile);
    assert!(pprof::Profile::of(&file, &[]).numbers().contains(&("tid".to_owned(), -1)));
}

/// A picture of time without times is none; that is said.
#[test]
fn samples_without_time_are_told() {
    let dir = oracle::scratch();
    let sample_type = Attr::default().sample_type & !handmade::sample_type::TIME;
    let mut pipe = Pipe::new(&[Attr { sample_type, ..Attr::default() }]);
    pipe.map(PID, CODE, "/bin/work", Some(7), 0);
    pipe.samples(3, &Sample::default());
    let file = dir.path().join("perf.data");
    std::fs::write(&file, &pipe.bytes).unwrap();
    for (format, told) in
        [("firefox", true), ("perfetto", true), ("chrome", true), ("pprof", false), ("csv", false)]
    {
        let output = tool::command().args(["export", "--format", format]).arg(&file).output().unwrap();
        let said = tool::stderr(&output);
        assert_eq!(said.contains("3 samples have no time: they are shown at 0"), told, "{format}: {said}");
    }
}

/// Without any sample there still is a file that says so in the format's way.
#[test]
fn nothing_is_a_file_too() {
    let file = fixture("main");
    let nothing = ["--comm", "nobody"];
    let profile = firefox::profile(&file, &nothing);
    firefox::assert_shape(&profile);
    let samples: u64 =
        firefox::threads(&profile).iter().map(|thread| thread["samples"]["length"].as_u64().unwrap()).sum();
    assert_eq!(samples, 0);
    let profile = pprof::Profile::of(&file, &nothing);
    assert_eq!(profile.types().len(), 2);
    assert!(profile.message.messages(2).is_empty());
    assert!(perfetto::packets(&file, &nothing).iter().all(|packet| !packet.has(66)));
    let trace = chrome::trace(&file, &nothing);
    assert!(chrome::trace_events(&trace).iter().all(|event| event["ph"] != "P"));
    let speedscope = run::json(&run::export("speedscope", &file, &nothing));
    assert_eq!(speedscope["profiles"][0]["samples"], serde_json::json!([]));
    let words = ["export", "-f", "folded", "--comm", "nobody"].map(std::ffi::OsStr::new);
    let output = tool::run(&[&words[..], &[file.as_os_str()]].concat());
    assert_eq!(output.status.code(), Some(0));
    assert!(tool::stderr(&output).ends_with("perf.data: no samples\n"), "{}", tool::stderr(&output));
}

/// The same bytes whatever the number of threads.
#[test]
fn threads_change_nothing() {
    for format in FORMATS {
        let one = run::export(format, &fixture("multi"), &["--threads", "1"]);
        assert!(!one.is_empty());
        assert_eq!(one, run::export(format, &fixture("multi"), &["--threads", "5"]), "{format}");
    }
}
