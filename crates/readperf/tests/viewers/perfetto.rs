//! Perfetto: read by the field numbers of `perfetto_trace.proto`, and by the published Python package where it is installed.

use crate::oracle::{fixture, skip};
use crate::protobuf::Message;
use crate::run::{self, Stacks, assert_stacks, events, recordings, spelled, weights};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

/// Fields of a packet.
mod packet {
    pub(super) const TIMESTAMP: u64 = 8;
    pub(super) const SEQUENCE: u64 = 10;
    pub(super) const TRACK_EVENT: u64 = 11;
    pub(super) const INTERNED: u64 = 12;
    pub(super) const DEFAULTS: u64 = 59;
    pub(super) const TRACK_DESCRIPTOR: u64 = 60;
    pub(super) const PERF_SAMPLE: u64 = 66;
}

/// What a sequence has told, by field of InternedData and iid.
#[derive(Default)]
struct Sequence {
    event: String,
    told: BTreeMap<(u64, u64), Message>,
    counts: BTreeMap<Option<u64>, u64>,
}

impl Sequence {
    fn text(&self, field: u64, iid: u64) -> String {
        self.told[&(field, iid)].text(2)
    }
}

pub(crate) fn packets(file: &Path, more: &[&str]) -> Vec<Message> {
    Message::new(&run::export("perfetto", file, more)).messages(1)
}

/// Weights by event and stack: how far the event's counter went on since the sample before on the same CPU.
fn stacks(packets: &[Message]) -> BTreeMap<String, Stacks> {
    let mut sequences: BTreeMap<u64, Sequence> = BTreeMap::new();
    let mut stacks: BTreeMap<String, Stacks> = BTreeMap::new();
    for packet in packets {
        let sequence = sequences.entry(packet.number(packet::SEQUENCE)).or_default();
        if let Some(samples) = packet.message(packet::DEFAULTS).and_then(|defaults| defaults.message(12)) {
            sequence.event = samples.message(1).unwrap().text(10);
        }
        if let Some(interned) = packet.message(packet::INTERNED) {
            for field in interned.fields() {
                for message in interned.messages(field) {
                    let again = sequence.told.insert((field, message.number(1)), message);
                    assert!(again.is_none(), "nothing is told twice");
                }
            }
        }
        let Some(sample) = packet.message(packet::PERF_SAMPLE) else { continue };
        assert!(packet.number(packet::TIMESTAMP) > 0);
        let cpu = sample.has(1).then(|| sample.number(1));
        let before = sequence.counts.insert(cpu, sample.number(6)).unwrap_or(0);
        let callstack = &sequence.told[&(7, sample.number(4))];
        let name = |frame: &u64| spelled(&sequence.text(5, sequence.told[&(6, *frame)].number(2)));
        let names: Vec<String> = callstack.numbers(2).iter().map(name).collect();
        let stacks = stacks.entry(sequence.event.clone()).or_default();
        *stacks.entry(names.join(";")).or_default() += sample.number(6) - before;
    }
    stacks
}

#[test]
fn weights_are_those_of_folded_stacks_and_totals_those_of_stats() {
    for file in recordings() {
        for weight in weights(&file) {
            let stacks = stacks(&packets(&file, &["--weight", weight]));
            for (event, ..) in events(&file) {
                assert_stacks("perfetto", &file, &event, &stacks[&event], weight);
            }
            assert_eq!(stacks.len(), events(&file).len());
        }
    }
}

/// Tracks have their parents before them; slices of a thread follow each other; counters add up to the event's total.
#[test]
fn tracks_slices_and_counters() {
    let mut slices = 0;
    for file in recordings() {
        let packets = packets(&file, &[]);
        let mut tracks: BTreeMap<u64, Message> = BTreeMap::new();
        let mut running: BTreeMap<u64, (bool, u64)> = BTreeMap::new();
        let mut counters: BTreeMap<String, u64> = BTreeMap::new();
        for packet in &packets {
            if let Some(track) = packet.message(packet::TRACK_DESCRIPTOR) {
                assert!(!track.has(5) || tracks.contains_key(&track.number(5)), "the parent comes first");
                assert!(tracks.insert(track.number(1), track).is_none(), "no track twice");
            }
            let Some(event) = packet.message(packet::TRACK_EVENT) else { continue };
            let track = &tracks[&event.number(11)];
            let time = packet.number(packet::TIMESTAMP);
            match event.number(9) {
                begin_or_end @ (1 | 2) => {
                    let (runs, since) = running.entry(event.number(11)).or_default();
                    assert_eq!(*runs, begin_or_end == 2, "begin and end by turns");
                    assert!(time >= *since);
                    (*runs, *since) = (!*runs, time);
                    slices += 1;
                }
                3 => {}
                4 => *counters.entry(track.text(2)).or_default() += event.number(30),
                other => panic!("a track event of type {other}"),
            }
        }
        let of_stats = events(&file).into_iter().filter(|(name, ..)| counters.contains_key(name));
        let of_stats: BTreeMap<String, u64> = of_stats.map(|(name, _, period)| (name, period)).collect();
        assert_eq!(counters, of_stats, "{}", file.display());
    }
    assert!(slices > 10, "the recordings have context switches");
}

/// The published schema knows every field, and every packet.
#[test]
#[ignore = "live: needs python3"]
fn the_published_schema_knows_it_all() {
    const SCRIPT: &str = r#"
import sys
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema
from google.protobuf.unknown_fields import UnknownFieldSet

def unknown(message):
    count = len(UnknownFieldSet(message))
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        for one in (value if not hasattr(value, "ListFields") else [value]):
            count += unknown(one)
    return count

trace = schema.Trace()
trace.ParseFromString(sys.stdin.buffer.read())
samples = sum(packet.HasField("perf_sample") for packet in trace.packet)
print(len(trace.packet), unknown(trace), samples)
"#;
    let test = "the_published_schema_knows_it_all";
    if !run::installed("python3", &["-c", "import perfetto.protos.perfetto.trace.perfetto_trace_pb2"]) {
        return skip(test, "python3 has no package `perfetto`");
    }
    for name in ["multi", "everything", "tracepoints"] {
        let file = fixture(name);
        let trace = run::export("perfetto", &file, &[]);
        let mut python = Command::new("python3")
            .args(["-c", SCRIPT])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(python.stdin.as_mut().unwrap(), &trace).unwrap();
        let output = python.wait_with_output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let samples: u64 = events(&file).iter().map(|(_, samples, _)| samples).sum();
        let packets = Message::new(&trace).messages(1).len();
        assert_eq!(said.trim(), format!("{packets} 0 {samples}"), "{name}: packets, unknown fields, samples");
    }
}
