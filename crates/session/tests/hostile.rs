//! Recordings that are made to hurt: any bytes in any record, and shapes that would cost too much if done naively.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)] // Tests may fail loudly.

mod stream;

use perffile::wire::record::kind;
use proptest::prelude::*;
use readperf_session::Moment;
use stream::{KERNEL, Stream, USER};

const KINDS: [u32; 12] = [
    kind::MMAP,
    kind::MMAP2,
    kind::COMM,
    kind::FORK,
    kind::EXIT,
    kind::SAMPLE,
    kind::KSYMBOL,
    kind::HEADER_BUILD_ID,
    kind::SWITCH,
    kind::SWITCH_CPU_WIDE,
    kind::LOST,
    kind::LOST_SAMPLES,
];

/// Bodies of few different bytes, so that pids and addresses meet again.
fn body() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![4 => Just(0u8), 2 => Just(1), 2 => Just(255), 1 => Just(b'['), 1 => Just(b'/'), 1 => any::<u8>()];
    prop::collection::vec(byte, 0..120)
}

proptest! {
    #[test]
    fn no_bytes_are_too_much(records in prop::collection::vec((0..KINDS.len(), any::<u16>(), body()), 0..60)) {
        let mut stream = Stream::new();
        for (kind, misc, body) in &records {
            stream.raw(KINDS[*kind], *misc, body);
        }
        let mut moments = Vec::new();
        let session = stream.run_unsound(|session, moment| {
            if let Moment::Sample(sample) = moment {
                let chain = session.callchain(sample.process, &sample.sample, sample.mode);
                moments.push((sample.code(session), chain.count()));
            }
        });
        let samples = records.iter().filter(|(kind, ..)| KINDS[*kind] == kind::SAMPLE).count() as u64;
        prop_assert_eq!(session.summary().all_samples(), samples, "none is lost");
        prop_assert_eq!(moments.len() as u64, session.summary().samples);
        let by_process: u64 = session.processes().iter().map(|process| process.samples).sum();
        prop_assert_eq!(by_process, session.summary().samples);
        let threads: usize = session.processes().iter().map(|process| process.threads.len()).sum();
        prop_assert_eq!(threads, session.threads().len(), "each thread belongs to one process");
        for (code, _) in &moments {
            prop_assert!(code.binary.is_none_or(|id| session.binary(id).is_some()));
        }
    }
}

/// If each of the 20,000 children copied the 20,000 mappings they share, this would take 16 GB.
#[test]
fn children_share_what_they_do_not_change() {
    const MANY: u32 = 20_000;
    let mut stream = Stream::new();
    for nr in 0..u64::from(MANY) {
        stream.mmap(0, USER, 1, (nr * 0x1000, 0x1000, 0), if nr % 2 == 0 { "/a" } else { "/b" });
    }
    for pid in 2..MANY {
        stream.fork(u64::from(pid), 0, (1, 1), (pid, pid));
        stream.mmap(u64::from(pid), USER, pid, (u64::from(pid) * 0x1000, 0x800, 0), "/own");
    }
    stream.sample(u64::from(MANY), USER, 77, 77, 77 * 0x1000 + 4);
    stream.sample(u64::from(MANY) + 1, USER, 77, 77, 77 * 0x1000 + 0x804);
    stream.sample(u64::from(MANY) + 2, USER, 77, 77, 78 * 0x1000 + 4);
    stream.sample(u64::from(MANY) + 3, USER, 1, 1, 77 * 0x1000 + 4);
    let (_, seen) = stream.samples();
    let found: Vec<_> = seen.iter().map(|s| (s.binary.as_deref().unwrap(), s.code.address)).collect();
    assert_eq!(found, [("own", 4), ("b", 0x804), ("a", 4), ("b", 4)]);
}

/// A session can be read by many threads at once, and an address space kept while the session goes on.
#[test]
fn what_is_known_can_be_shared() {
    fn shared<T: Send + Sync>() {}
    shared::<readperf_session::Session>();
    let mut stream = Stream::new();
    stream.mmap(0, USER, 1, (0x1000, 0x1000, 0), "/a");
    stream.mmap(1, USER, 1, (0x1000, 0x1000, 0), "/b");
    let mut kept = Vec::new();
    stream.run(|session, _| kept.extend(session.processes().first().map(|process| process.space().clone())));
    let names: Vec<_> =
        kept.iter().map(|space| space.find(0x1004).map(|found| found.binary.index())).collect();
    assert_eq!(names, [Some(0), Some(1)]);
}

/// Pids, kernel symbols and build-ids told again and again.
#[test]
fn repetition_stays_linear() {
    let mut stream = Stream::new();
    for nr in 0..50_000u64 {
        stream.fork(nr + 1, 0, (1, 1), (9, 9));
        stream.ksymbol(nr + 1, 0x1000 + nr % 2, 8, u16::from(nr % 3 == 0), "bpf_prog_1_x");
        stream.mmap(nr + 1, KERNEL, u32::MAX, (nr << 12, 0x2000, 0), "[mod]");
    }
    let session = stream.run(|_, _| {});
    assert_eq!(session.processes().iter().filter(|process| process.pid == 9).count(), 50_000);
}
