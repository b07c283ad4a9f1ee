//! The exports of one small recording, as text, to the last letter. That they are right is shown elsewhere; here it is shown
//! that they stay so.
//!
//! After a deliberate change: `READPERF_BLESS=1 cargo test -p readperf --test viewers golden`, and look at the difference.

use crate::handmade::{Attr, CODE, KERNEL_CODE, LOST, PID, Pipe, Sample};
use crate::oracle::{self, golden::assert_golden};
use crate::protobuf::{Content, Message};
use crate::run;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Two threads, two events, a call chain and a sample without one, something lost.
fn recording(dir: &tempfile::TempDir) -> PathBuf {
    let faults = Attr { config: 2, ids: vec![2], ..Attr::default() };
    let mut pipe = Pipe::sound(&[Attr::default(), faults]);
    pipe.comm(PID, PID + 1, "helper");
    pipe.samples(2, &Sample::default());
    pipe.sample(&Sample { tid: PID + 1, time: 1_000_500_000, cpu: 1, ..Sample::default() });
    let chain = vec![-128i64 as u64, KERNEL_CODE + 0x40, -512i64 as u64, CODE + 0x30];
    pipe.sample(&Sample {
        mode: 1,
        ip: KERNEL_CODE + 0x40,
        chain,
        time: 1_002_000_000,
        id: 2,
        ..Sample::default()
    });
    pipe.words(LOST, 0, &[1, 5], 1_002_500_000);
    pipe.sample(&Sample { ip: 0x99, chain: Vec::new(), time: 1_003_000_000, ..Sample::default() });
    // The path of perf, then its command without its own name: so it is in all recordings of perf.
    pipe.cmdline(&["/usr/bin/perf", "record", "./work"]);
    let path = dir.path().join("perf.data");
    std::fs::write(&path, &pipe.bytes).unwrap();
    path
}

/// A message as an indented list of its fields. What looks like a message is shown as one; that can be wrong, but is the same
/// each time.
fn listing(message: &Message, depth: usize, text: &mut String) {
    for (field, content) in message.in_order() {
        let indent = "  ".repeat(depth);
        match content {
            Content::Number(number) => writeln!(text, "{indent}{field}: {number}").unwrap(),
            Content::Bytes(bytes) => match (Message::maybe(bytes), std::str::from_utf8(bytes)) {
                (_, Ok(string)) if !string.is_empty() && string.chars().all(|c| !c.is_control()) => {
                    writeln!(text, "{indent}{field}: {string:?}").unwrap();
                }
                (Some(nested), _) if !bytes.is_empty() => {
                    writeln!(text, "{indent}{field}:").unwrap();
                    listing(&nested, depth + 1, text);
                }
                _ => writeln!(text, "{indent}{field}: {bytes:02x?}").unwrap(),
            },
        }
    }
}

#[test]
fn exports_stay_as_they_are() {
    let dir = oracle::scratch();
    let file = recording(&dir);
    for format in ["pprof", "perfetto"] {
        let mut bytes = run::export(format, &file, &[]);
        if format == "pprof" {
            bytes = run::unzipped(&bytes);
        }
        let mut text = String::new();
        listing(&Message::new(&bytes), 0, &mut text);
        assert_golden(&format!("export/{format}.txt"), &text);
    }
    for format in ["firefox", "speedscope", "chrome"] {
        let mut bytes = run::export(format, &file, &[]);
        if format == "firefox" {
            bytes = run::unzipped(&bytes);
        }
        let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        assert_golden(
            &format!("export/{format}.json"),
            &(serde_json::to_string_pretty(&value).unwrap() + "\n"),
        );
    }
}
