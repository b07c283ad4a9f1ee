//! Recordings of several boots and machines become one: made here, since no machine has them all.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use perffile::bytes::Bytes;
use perffile::wire::attr::{AttrFlags, EventAttr, SampleType};
use perffile::wire::clock::ClockId;
use perffile::wire::event_type::EventType;
use perffile::wire::feature::Feature;
use perffile::wire::feature::build_id::{BuildIdEntry, BuildIds};
use perffile::wire::feature::clock_data::ClockData;
use perffile::wire::feature::text::Text;
use perffile::wire::head::CpuMode;
use perffile::wire::record::{Record, comm::Comm, kind, mmap::Mmap, mmap2::Mmap2};
use perffile::wire::sample::{Sample, SampleId};
use perffile::wire::text::HeaderString;
use perffile::wire::words::U64s;
use perffile::wire::{CStr8, callchain::Marker};
use perffile::write::{Options, Writer};
use perffile::{ByteOrder, Ordering, Recording};
use readperf_edit::merge::{Choices, Merge, PIDS_APART, Pids, Source, Survey};
use std::io::Cursor;

const IMAGE_SIZE: u64 = 0x100_0000;

/// A recording with two samples, one in the kernel with a chain into user code, one in user code.
#[derive(Clone, Copy)]
struct Made {
    kernel: u64,
    kernel_build: u8,
    libc_build: u8,
    host: &'static str,
    /// Time of day of the start of its clock, ns.
    boot_ns: Option<u64>,
    user_only: bool,
    time: u64,
}

const FIRST: Made = Made {
    kernel: 0xffff_ffff_8100_0000,
    kernel_build: 1,
    libc_build: 7,
    host: "one",
    boot_ns: Some(1_000_000_000_000),
    user_only: false,
    time: 50_000_000_000,
};

impl Made {
    fn recording(&self) -> Recording {
        let mut bytes = Cursor::new(Vec::new());
        let mut writer = Writer::file(&mut bytes, Options::default());
        let sample_type = SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::CALLCHAIN;
        let flags = AttrFlags::sample_id_all;
        let flags = if self.user_only { flags | AttrFlags::exclude_kernel } else { flags };
        let attr = EventAttr { kind: EventType::SOFTWARE, sample_type, flags, ..EventAttr::default() };
        let event = writer.event(attr, &[5], "cpu-clock");
        writer.feature(Feature::Hostname(Text { text: HeaderString::new(self.host.as_bytes()) })).unwrap();
        if let Some(boot_ns) = self.boot_ns {
            let (clockid, clockid_time_ns) = (ClockId::MONOTONIC, 3_000_000_000);
            let wall_clock_ns = boot_ns + clockid_time_ns;
            let told = ClockData { version: 1, clockid, wall_clock_ns, clockid_time_ns };
            writer.feature(Feature::ClockData(told)).unwrap();
        }
        let id = |misc, build: u8, name| {
            let mut entry = BuildIdEntry::default();
            (entry.misc, entry.pid) = (misc, Some(-1));
            (entry.build_id, entry.filename) = ([build; 20], name);
            entry
        };
        let entries = vec![
            id(CpuMode::Kernel.misc(), self.kernel_build, b"[kernel.kallsyms]\0\0\0"),
            id(CpuMode::User.misc(), self.libc_build, b"/lib/libc.so.6\0\0"),
        ];
        writer.feature(Feature::BuildId(BuildIds { entries })).unwrap();

        let at = |time| SampleId { pid: Some(9), tid: Some(9), time: Some(time), ..SampleId::default() };
        let user = CpuMode::User.misc();
        let image = Mmap {
            pid: u32::MAX,
            tid: 0,
            addr: self.kernel,
            len: IMAGE_SIZE,
            pgoff: self.kernel,
            filename: CStr8::new(b"[kernel.kallsyms]_text"),
        };
        writer.record(event, CpuMode::Kernel.misc(), Record::Mmap(image), &SampleId::default()).unwrap();
        let comm = Comm { pid: 9, tid: 9, comm: CStr8::new(b"work") };
        writer.record(event, 0, Record::Comm(comm), &at(0)).unwrap();
        let filename = CStr8::new(b"/lib/libc.so.6");
        let libc = Mmap2 { pid: 9, tid: 9, addr: 0x7000_0000, len: 0x1000, filename, ..Mmap2::default() };
        writer.record(event, user, Record::Mmap2(libc), &at(0)).unwrap();
        let words = [Marker::KERNEL.0, self.kernel + 0x10, self.kernel + 0x20, Marker::USER.0, 0x7000_0010];
        let bytes_of: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let sample = |ip, time, chain| Sample {
            ip: Some(ip),
            pid: Some(9),
            tid: Some(9),
            time: Some(time),
            callchain: Some(U64s::new(chain, ByteOrder::Little)),
            ..Sample::default()
        };
        if !self.user_only {
            let in_kernel = sample(self.kernel + 0x10, self.time, &bytes_of);
            writer.record(event, CpuMode::Kernel.misc(), Record::Sample(in_kernel), &at(0)).unwrap();
        }
        writer.record(event, user, Record::Sample(sample(0x7000_0010, self.time + 1, &[])), &at(0)).unwrap();
        writer.finish().unwrap();
        Recording::from_bytes(Bytes::new(bytes.into_inner())).unwrap()
    }
}

/// The merged recording, and what was noted; or why there is none.
fn merge(made: &[Made], choices: Choices) -> Result<(Recording, Vec<String>), String> {
    let recordings: Vec<Recording> = made.iter().map(Made::recording).collect();
    let surveys: Vec<Survey> = recordings
        .iter()
        .map(|recording| Survey::of(recording, ByteOrder::Little, |_| {}).unwrap())
        .collect();
    let names: Vec<String> = (1..=made.len()).map(|nr| format!("file {nr}")).collect();
    let sources = recordings.iter().zip(&surveys).zip(&names);
    let sources = sources.map(|((recording, survey), name)| Source { name, recording, survey }).collect();
    let merge = Merge::plan(sources, choices).map_err(|error| error.to_string())?;
    let mut bytes = Cursor::new(Vec::new());
    let merged = merge.write(Writer::file(&mut bytes, Options::default()), |_| {}).unwrap();
    assert!(merged.left_out.is_empty(), "{:?}", merged.left_out);
    let recording = Recording::from_bytes(Bytes::new(bytes.into_inner())).unwrap();
    Ok((recording, merge.notes().to_vec()))
}

/// Process, time and address of each sample, and the addresses of its chain.
type Seen = (u32, u64, u64, Vec<u64>);

fn samples(recording: &Recording) -> Vec<Seen> {
    let mut samples = Vec::new();
    let issues = recording.for_each(|event| {
        let Some(sample) = event.sample() else { return };
        let chain = sample.callchain().map_or_else(Vec::new, |chain| chain.iter().collect());
        samples.push((sample.pid().unwrap(), sample.time().unwrap(), sample.ip().unwrap(), chain));
    });
    assert!(issues.unwrap().is_empty());
    samples
}

fn count(recording: &Recording, number: u32) -> usize {
    let batches = recording.batches(Ordering::File).unwrap();
    batches.map(|batch| batch.iter().filter(|event| event.head().kind == number).count()).sum()
}

#[test]
fn the_kernel_of_another_boot_is_moved_where_the_first_is() {
    let other = Made { kernel: FIRST.kernel + 0x1e0_0000, time: 40_000_000_000, ..FIRST };
    let (merged, notes) = merge(&[FIRST, other], Choices { keep_times: true, ..Choices::default() }).unwrap();
    assert!(notes.iter().any(|note| note.contains("file 2: the kernel is moved")), "{notes:?}");
    let seen = samples(&merged);
    // In order of time, so that the second comes first.
    let times: Vec<u64> = seen.iter().map(|sample| sample.1).collect();
    assert_eq!(times, [40_000_000_000, 40_000_000_001, 50_000_000_000, 50_000_000_001]);
    let chain = |sample: &Seen| sample.3.clone();
    assert_eq!(chain(&seen[0]), chain(&seen[2]));
    assert_eq!((seen[0].2, seen[2].2), (FIRST.kernel + 0x10, FIRST.kernel + 0x10));
    assert_eq!(count(&merged, kind::MMAP), 1, "both tell the same of the kernel now");
}

#[test]
fn another_kernel_is_refused_unless_no_sample_is_in_it() {
    let other = Made { kernel_build: 2, kernel: FIRST.kernel + 0x20_0000, ..FIRST };
    let why = merge(&[FIRST, other], Choices::default()).err().unwrap();
    assert!(why.contains("file 1 and file 2 cannot be one: they are different builds"), "{why}");
    for made in [[FIRST, Made { user_only: true, ..other }], [Made { user_only: true, ..other }, FIRST]] {
        let (merged, _) = merge(&made, Choices::default()).unwrap();
        assert_eq!(samples(&merged).len(), 3);
        assert_eq!(count(&merged, kind::MMAP), 1, "that of the kernel that has samples");
        let in_kernel: Vec<u64> =
            samples(&merged).iter().map(|sample| sample.2).filter(|ip| *ip > 1 << 63).collect();
        assert_eq!(in_kernel, [FIRST.kernel + 0x10]);
    }
}

#[test]
fn clocks_are_aligned_by_the_time_of_day() {
    // Ten seconds after the first had started, another machine started.
    let other = Made { host: "two", boot_ns: Some(1_010_000_000_000), time: 30_000_000_000, ..FIRST };
    for made in [[FIRST, other], [other, FIRST]] {
        let (merged, notes) = merge(&made, Choices::default()).unwrap();
        assert!(notes.iter().any(|note| note.contains("times are moved by 10 s")), "{notes:?}");
        let times: Vec<u64> = samples(&merged).iter().map(|sample| sample.1).collect();
        assert_eq!(times, [40_000_000_000, 40_000_000_001, 50_000_000_000, 50_000_000_001]);
        let told = merged.metadata().features.clock_data().unwrap();
        assert_eq!(told.wall_clock_of(0), Some(1_000_000_000_000));
        let span = merged.metadata().features.sample_time();
        assert!(span.is_none(), "none of them says it");
    }
    let (merged, _) = merge(&[FIRST, other], Choices { keep_times: true, ..Choices::default() }).unwrap();
    assert_eq!(samples(&merged)[0].1, 30_000_000_000);
    // The same clock, read twice: what differs is how exactly it was read.
    let again = Made { boot_ns: Some(1_000_000_400_000), time: 60_000_000_000, ..FIRST };
    let (merged, _) = merge(&[FIRST, again], Choices::default()).unwrap();
    assert_eq!(samples(&merged)[2].1, 60_000_000_000);
    let silent = Made { boot_ns: None, ..FIRST };
    let (merged, notes) = merge(&[FIRST, silent], Choices::default()).unwrap();
    assert!(notes.iter().any(|note| note.contains("file 2: nothing says how its times")), "{notes:?}");
    assert_eq!(samples(&merged)[1].1, FIRST.time);
}

#[test]
fn pids_are_those_of_one_machine_or_kept_apart() {
    let elsewhere = Made { host: "two", ..FIRST };
    let later_boot = Made { boot_ns: Some(2_000_000_000_000), ..FIRST };
    let pids = |made: &[Made], pids| {
        let (merged, _) = merge(made, Choices { pids, ..Choices::default() }).unwrap();
        let mut pids: Vec<u32> = samples(&merged).iter().map(|sample| sample.0).collect();
        pids.sort_unstable();
        (pids, count(&merged, kind::COMM))
    };
    let (one, two) = ((vec![9, 9, 9, 9], 1), (vec![9, 9, 9 + PIDS_APART, 9 + PIDS_APART], 2));
    assert_eq!(pids(&[FIRST, FIRST], Pids::ByEvidence), one);
    assert_eq!(pids(&[FIRST, elsewhere], Pids::ByEvidence), two);
    assert_eq!(pids(&[FIRST, later_boot], Pids::ByEvidence), two);
    assert_eq!(pids(&[FIRST, elsewhere], Pids::Joined), one);
    assert_eq!(pids(&[FIRST, FIRST], Pids::Apart), two);
}

#[test]
fn a_file_that_was_another_build_says_so_in_its_mapping() {
    let other = Made { host: "two", libc_build: 8, ..FIRST };
    let (merged, notes) = merge(&[FIRST, other], Choices::default()).unwrap();
    assert!(notes.iter().any(|note| note.starts_with("HOSTNAME is that of file 1")), "{notes:?}");
    let mut builds = Vec::new();
    merged
        .for_each(|event| {
            if let Ok((Record::Mmap2(map), _)) = event.record() {
                builds.push((map.pid, map.file.build_id().map(<[u8]>::to_vec)));
            }
        })
        .unwrap();
    assert_eq!(builds, [(9, Some(vec![7; 20])), (9 + PIDS_APART, Some(vec![8; 20]))]);
    let table = merged.metadata().features.build_ids().unwrap();
    let names: Vec<&[u8]> = table.entries.iter().map(BuildIdEntry::name).collect();
    assert_eq!(names, [&b"[kernel.kallsyms]"[..]]);
}
