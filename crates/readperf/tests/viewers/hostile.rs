//! Names that are markup, code or control characters; nothing at all; one sample.

use crate::handmade::{Attr, CODE, KERNEL_CODE, PID, Pipe, Sample};
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
        assert!(text.contains("u{1b}[2J"), "{format}: the name is there, harmless");
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
