//! What perf says of recordings that were written here: the same as of those they were made of.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod oracle;

use oracle::live::Perf;
use oracle::{fixture, scratch, tool};
use readperf::perffile::write::{Options, Writer};
use readperf::perffile::{ByteOrder, wire};
use std::fs;
use std::path::Path;

/// What perf says of a recording: records and samples, what the header says, and every sample.
#[derive(Debug, PartialEq)]
struct Said {
    stats: Vec<String>,
    header: Vec<String>,
    script: Vec<String>,
}

impl Said {
    /// `in_any_order`: samples of the same time may change places.
    fn of(perf: &Perf, data: &Path, in_any_order: bool) -> Said {
        let lines = |text: String| text.lines().map(str::to_owned).collect::<Vec<_>>();
        // How records are packed, and which share of all they are, is not what they say.
        let packing = ["TOTAL", "COMPRESSED", "FINISHED_ROUND", "HEADER_FEATURE", "FEATURE", "ATTR"];
        let mut stats = lines(perf.report(data, &["--stats"]));
        stats.retain(|line| !packing.iter().any(|kind| line.contains(&format!(" {kind} events:"))));
        stats.iter_mut().for_each(|line| line.truncate(line.find('(').unwrap_or(line.len())));
        let places = [
            "captured on",
            "data offset",
            "data size",
            "feat offset",
            "compressed",
            "directory data",
            "missing features",
        ];
        let mut header = lines(perf.report(data, &["--header-only"]));
        header.retain(|line| !places.iter().any(|place| line.starts_with(&format!("# {place}"))));
        let mut script = lines(perf.says("script", data, &["--ns", "--no-inline"]));
        if in_any_order {
            script.sort();
        }
        Said { stats, header, script }
    }
}

fn edited(from: &Path, to: &Path, options: &[&str]) {
    let output = tool::command().arg("edit").arg(from).arg("-o").arg(to).args(options).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{options:?}: {}", tool::stderr(&output));
}

#[test]
#[ignore = "live: compares with perf"]
fn perf_says_the_same_before_and_after() {
    let Some(perf) = Perf::or_skip("perf_says_the_same_before_and_after") else { return };
    let dir = scratch();
    for name in ["main", "multi", "kernel", "group", "everything", "dwarf", "tracepoints", "zstd", "rust"] {
        let from = dir.path().join("from.data");
        fs::copy(fixture(name), &from).unwrap();
        for options in
            [&[][..], &["--compress"], &["--decompress"], &["--sort"], &["--dir"], &["--dir", "--compress=3"]]
        {
            let in_any_order = options.contains(&"--dir");
            let before = Said::of(perf, &from, in_any_order);
            assert!(before.stats.len() > 5 && before.script.len() > 50, "{name}: {before:?}");
            let to = dir.path().join(format!("to-{name}{}", options.concat()));
            edited(&from, &to, options);
            assert_eq!(Said::of(perf, &to, in_any_order), before, "{name} {options:?}");
        }
    }
}

/// perf reads names of events from other records in a pipe, and its header without lines between.
#[test]
#[ignore = "live: compares with perf"]
fn perf_reads_pipes_and_the_other_byte_order() {
    let Some(perf) = Perf::or_skip("perf_reads_pipes_and_the_other_byte_order") else { return };
    let dir = scratch();
    for name in ["main", "multi", "kernel", "everything", "tracepoints", "rust"] {
        let from = dir.path().join("from.data");
        fs::copy(fixture(name), &from).unwrap();
        let before = Said::of(perf, &from, false).script;
        for options in [&["--pipe"][..], &["--byte-order", "big"], &["--byte-order", "big", "--compress"]] {
            let to = dir.path().join(format!("to-{name}{}", options.concat()));
            edited(&from, &to, options);
            let after = perf.says("script", &to, &["--ns", "--no-inline"]);
            assert_eq!(after.lines().collect::<Vec<_>>(), before, "{name} {options:?}");
        }
    }
}

#[test]
#[ignore = "live: compares with perf"]
fn perf_reads_what_was_cut_and_repaired() {
    let Some(perf) = Perf::or_skip("perf_reads_what_was_cut_and_repaired") else { return };
    let dir = scratch();
    for name in ["multi", "everything", "zstd"] {
        let whole = fs::read(fixture(name)).unwrap();
        let all = perf.says("script", &fixture(name), &["--ns", "--no-inline", "-F", "time"]);
        for part in 4..12 {
            let (cut, sound) = (dir.path().join("cut.data"), dir.path().join("sound.data"));
            fs::write(&cut, &whole[..whole.len() * part / 13 + part]).unwrap();
            edited(&cut, &sound, &["--repair"]);
            let stats = tool::json("stats", &sound);
            let count = |events: &serde_json::Value| events["samples"].as_u64().unwrap();
            let samples: u64 = stats["events"].as_array().unwrap().iter().map(count).sum();
            let after = perf.says("script", &sound, &["--ns", "--no-inline", "-F", "time"]);
            assert_eq!(after.lines().count() as u64, samples, "{name} {part}");
            assert!(after.lines().all(|line| all.contains(line.trim())), "{name} {part}");
        }
    }
}

/// The example of the documents: the shortest recording of a program that is not perf.
#[test]
#[ignore = "live: compares with perf"]
fn perf_reads_the_shortest_recording() {
    use readperf::perffile::write::OwnSample;
    let Some(perf) = Perf::or_skip("perf_reads_the_shortest_recording") else { return };
    let dir = scratch();
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let data = dir.path().join(format!("{order}.data"));
        let options = Options { order, ..Options::default() };
        let mut writer = Writer::file(fs::File::create(&data).unwrap(), options);
        let (ticks, allocations) = (writer.own_event("ticks"), writer.own_event("allocations"));
        writer.own_thread(7, 7, "engine").unwrap();
        writer.own_mapping(7, 0x1000..0x2000, 0, "/opt/engine").unwrap();
        for (event, seconds) in [(ticks, 1), (allocations, 2), (ticks, 3)] {
            let stack = &[0x1000 + seconds, 0x1080];
            let time_ns = seconds * 1_000_000_000;
            writer.own_sample(event, OwnSample { pid: 7, tid: 7, time_ns, period: 10, stack }).unwrap();
        }
        assert!(writer.finish().unwrap().is_empty());
        let script = perf.says("script", &data, &["-F", "comm,tid,time,event,ip,dso,period"]);
        let words: Vec<&str> = script.split_whitespace().collect();
        let sample = |time, event, ip| {
            // In chains perf shows where in the file an address is.
            let words = ["engine", "7", time, "10", event, ip, "(/opt/engine)", "80", "(/opt/engine)"];
            words.to_vec()
        };
        let wanted = [
            sample("1.000000:", "ticks:", "1"),
            sample("2.000000:", "allocations:", "2"),
            sample("3.000000:", "ticks:", "3"),
        ];
        assert_eq!(words, wanted.concat(), "{order}");
    }
}

/// A recording of a program that is not perf.
#[test]
#[ignore = "live: compares with perf"]
fn perf_reads_what_a_program_wrote() {
    use wire::attr::{AttrFlags, EventAttr, SampleType};
    use wire::event_type::EventType;
    use wire::record::{Record, comm::Comm, mmap::Mmap};
    use wire::sample::{Sample, SampleId};
    let Some(perf) = Perf::or_skip("perf_reads_what_a_program_wrote") else { return };
    let dir = scratch();
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let data = dir.path().join(format!("{order}.data"));
        let options = Options { order, ..Options::default() };
        let mut writer = Writer::file(fs::File::create(&data).unwrap(), options);
        let sample_type = SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::PERIOD;
        let attr = EventAttr {
            kind: EventType::SOFTWARE,
            sample_type,
            flags: AttrFlags::sample_id_all,
            ..EventAttr::default()
        };
        let event = writer.event(attr, &[1], "ticks");
        let id = SampleId { pid: Some(7), tid: Some(7), time: Some(0), ..SampleId::default() };
        let user = wire::head::CpuMode::User.misc();
        let comm = Comm { pid: 7, tid: 7, comm: wire::CStr8::new(b"engine") };
        writer.record(event, 0, Record::Comm(comm), &id).unwrap();
        let filename = wire::CStr8::new(b"/opt/engine");
        let mapping = Mmap { pid: 7, tid: 7, addr: 0x1000, len: 0x1000, pgoff: 0, filename };
        writer.record(event, user, Record::Mmap(mapping), &id).unwrap();
        for nr in 1..=3 {
            let (ip, time, period) = (Some(0x1000 + nr), Some(nr * 1_000_000_000), Some(nr));
            let sample = Sample { ip, pid: Some(7), tid: Some(7), time, period, ..Sample::default() };
            writer.record(event, user, Record::Sample(sample), &id).unwrap();
        }
        assert!(writer.finish().unwrap().is_empty());
        let script = perf.says("script", &data, &["-F", "comm,tid,time,event,ip,dso,period"]);
        let words: Vec<Vec<&str>> = script.lines().map(|line| line.split_whitespace().collect()).collect();
        let wanted = [
            ["engine", "7", "1.000000:", "1", "ticks:", "1001", "(/opt/engine)"],
            ["engine", "7", "2.000000:", "2", "ticks:", "1002", "(/opt/engine)"],
            ["engine", "7", "3.000000:", "3", "ticks:", "1003", "(/opt/engine)"],
        ];
        assert_eq!(words, wanted, "{order}");
    }
}
