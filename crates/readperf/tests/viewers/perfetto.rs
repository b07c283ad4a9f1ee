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
    pub(super) const TASK_STATE: u64 = 117;
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

/// Tracks have their parents before them; slices of a thread follow each other.
#[test]
fn tracks_and_slices() {
    for file in recordings() {
        let packets = packets(&file, &[]);
        let mut tracks: BTreeMap<u64, Message> = BTreeMap::new();
        let mut running: BTreeMap<u64, (bool, u64)> = BTreeMap::new();
        for packet in &packets {
            if let Some(track) = packet.message(packet::TRACK_DESCRIPTOR) {
                assert!(!track.has(5) || tracks.contains_key(&track.number(5)), "the parent comes first");
                assert!(tracks.insert(track.number(1), track).is_none(), "no track twice");
            }
            let Some(event) = packet.message(packet::TRACK_EVENT) else { continue };
            assert!(tracks.contains_key(&event.number(11)));
            let time = packet.number(packet::TIMESTAMP);
            match event.number(9) {
                begin_or_end @ (1 | 2) => {
                    let (runs, since) = running.entry(event.number(11)).or_default();
                    assert_eq!(*runs, begin_or_end == 2, "begin and end by turns");
                    assert!(time >= *since);
                    (*runs, *since) = (!*runs, time);
                }
                3 => {}
                // Counters are made of the samples by Perfetto: any here would be there twice.
                other => panic!("a track event of type {other}"),
            }
        }
    }
}

/// States of threads are those between switches, and say what Perfetto's importer accepts: no thread runs twice in a row, a
/// CPU runs one thread at a time, and times do not go back.
#[test]
fn states_follow_each_other() {
    const RUNNING: u64 = 3;
    let mut seen: BTreeMap<u64, usize> = BTreeMap::new();
    for file in recordings() {
        let mut threads: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        let mut events: Vec<(u64, bool, u64, u64)> = Vec::new();
        for packet in packets(&file, &[]) {
            let Some(task) = packet.message(packet::TASK_STATE) else { continue };
            let (time, cpu, tid, state) =
                (packet.number(packet::TIMESTAMP), task.number(1), task.number(3), task.number(4));
            assert!(!task.text(2).is_empty(), "a thread has a name");
            let (last, since) = threads.insert(tid, (state, time)).unwrap_or_default();
            assert!(since <= time && (state == RUNNING) != (last == RUNNING), "{last}, {state} of {tid}");
            *seen.entry(state).or_default() += 1;
            events.push((time, state == RUNNING, cpu, tid));
        }
        // What ends at a time comes before what begins then.
        events.sort_unstable();
        let mut on: BTreeMap<u64, u64> = BTreeMap::new();
        for (_, runs, cpu, tid) in events {
            match runs {
                true => assert_eq!(on.insert(cpu, tid), None, "CPU {cpu} of {}", file.display()),
                false => assert_eq!(on.remove(&cpu), Some(tid), "CPU {cpu} of {}", file.display()),
            }
        }
    }
    assert!(seen[&RUNNING] > 10 && seen[&2] > 0 && seen[&4] > 0 && seen[&7] > 0, "{seen:?}");
}

/// Perfetto's importer knows units of its own counters, and the kernel by a mapping with this path, no addresses and no
/// build-id.
#[test]
fn events_and_the_kernel_are_told_as_the_importer_knows_them() {
    let told = |file: &Path, more: &[&str]| -> Vec<Message> {
        let defaults = packets(file, more).into_iter().filter_map(|packet| packet.message(packet::DEFAULTS));
        defaults.filter_map(|defaults| defaults.message(12)?.message(1)).collect()
    };
    // By name: a counter, a tracepoint, or an event of the kernel.
    let what = |timebase: &Message| (timebase.text(10), [4, 3, 5].map(|field| timebase.has(field)));
    let counter = |timebase: &Message| (timebase.text(10), timebase.number(4));
    let multi = told(&fixture("multi"), &[]);
    let names: Vec<(String, u64)> = multi.iter().map(counter).collect();
    assert_eq!(names[0], ("cpu-clock".to_owned(), 1));
    assert!(
        names.iter().any(|(name, counter)| name.starts_with("page-faults") && *counter == 2),
        "{names:?}"
    );
    assert!(multi.iter().all(|timebase| what(timebase).1 == [true, false, false]));
    // Samples are no nanoseconds.
    let samples = told(&fixture("multi"), &["--weight", "samples"]);
    assert!(samples.iter().all(|timebase| what(timebase).1 == [false, false, true]));
    let tracepoints = told(&fixture("tracepoints"), &[]);
    assert!(tracepoints.iter().any(|timebase| {
        what(timebase).1 == [false, true, false] && timebase.message(3).unwrap().text(1) == timebase.text(10)
    }));
    let (mut kernels, mut kinds) = (0, BTreeMap::new());
    for packet in packets(&fixture("multi"), &[]) {
        let Some(interned) = packet.message(packet::INTERNED) else { continue };
        let path = |mapping: &Message| mapping.numbers(7);
        let kernel = interned.messages(17).into_iter().find(|path| path.text(2) == "kernel");
        for mapping in interned.messages(19) {
            if kernel.as_ref().is_some_and(|kernel| path(&mapping) == [kernel.number(1)]) {
                assert_eq!(mapping.fields().collect::<Vec<_>>(), [1, 7], "nothing but a number and a path");
                kernels += 1;
            }
        }
        interned.messages(6).iter().for_each(|frame| *kinds.entry(frame.number(7)).or_insert(0) += 1);
    }
    assert!(kernels > 0 && kinds[&1] > 0 && kinds[&2] > 0, "{kernels}, {kinds:?}");
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
