//! Call chains whose user part comes later (PERF_RECORD_CALLCHAIN_DEFERRED, Linux 6.19): whole in order of time, as they
//! lie there in the order of the file. The recordings are made word by word from the layouts in `perf_event.h`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "test code"
)]

use perffile::bytes::Bytes;
use perffile::wire::record::kind;
use perffile::{Batch, Event, IssueKind, Ordering, Recording};

const KERNEL: u64 = -128_i64 as u64;
const USER: u64 = -512_i64 as u64;
const DEFERRED: u64 = -640_i64 as u64;

/// Words of eight bytes, in either byte order.
#[derive(Clone, Copy)]
enum Machine {
    Little,
    Big,
}

impl Machine {
    fn words(self, words: &[u64]) -> Vec<u8> {
        words
            .iter()
            .flat_map(|word| match self {
                Machine::Little => word.to_le_bytes(),
                Machine::Big => word.to_be_bytes(),
            })
            .collect()
    }

    /// Two u32 that lie behind each other.
    fn pair(self, first: u64, second: u64) -> u64 {
        match self {
            Machine::Little => second << 32 | first,
            Machine::Big => first << 32 | second,
        }
    }

    /// Type, `misc`, size.
    fn head(self, kind: u64, size: u64) -> u64 {
        match self {
            Machine::Little => size << 48 | 2 << 32 | kind,
            Machine::Big => kind << 32 | 2 << 16 | size,
        }
    }

    fn record(self, kind: u64, body: &[u64]) -> Vec<u8> {
        self.words(&[&[self.head(kind, 8 + 8 * body.len() as u64)][..], body].concat())
    }

    /// TID, TIME, PERIOD and CALLCHAIN, and a DATA_SRC behind the chain.
    fn sample(self, tid: u64, time: u64, chain: &[u64]) -> Vec<u8> {
        let fields =
            [&[self.pair(7, tid), time, 1000 + time, chain.len() as u64], chain, &[0x1e_0508_0021]].concat();
        self.record(9, &fields)
    }

    /// CALLCHAIN_DEFERRED with its trailer: TID, TIME.
    fn user_part(self, tid: u64, time: u64, cookie: u64, ips: &[u64]) -> Vec<u8> {
        self.record(22, &[&[cookie, ips.len() as u64], ips, &[self.pair(7, tid), time]].concat())
    }

    fn exit(self, tid: u64, time: u64) -> Vec<u8> {
        let ids = [self.pair(7, 7), self.pair(tid, tid)];
        self.record(4, &[&ids[..], &[time, self.pair(7, tid), time]].concat())
    }

    /// A file with one event that defers: flags 18 `sample_id_all` and 38 `defer_callchain`, which a big-endian compiler
    /// counts from the other end.
    fn file(self, records: &[Vec<u8>]) -> Recording {
        let (flags, kind_and_size) = match self {
            Machine::Little => (1 << 38 | 1 << 18, 64 << 32 | 1),
            Machine::Big => (1 << (63 - 38) | 1 << (63 - 18), 1 << 32 | 64),
        };
        let records = records.concat();
        let attr = [kind_and_size, 0, 1, 0x2 | 0x4 | 0x20 | 0x100 | 0x8000, 0, flags, 0, 0];
        let head = [0x3245_4c49_4652_4550, 104, 80, 104, 80, 184, records.len() as u64, 0, 0, 0, 0, 0, 0];
        let words = self.words(&[&head[..], &attr, &[0, 0]].concat());
        Recording::from_bytes(Bytes::new([words, records].concat())).unwrap()
    }
}

fn delivered<T>(recording: &Recording, ordering: Ordering, of: impl Fn(&Event<'_>) -> T) -> Vec<T> {
    let batches: Vec<Batch> = recording.batches(ordering).unwrap().collect();
    batches.iter().flat_map(|batch| batch.iter().map(|event| of(&event)).collect::<Vec<_>>()).collect()
}

/// Thread, time, chain and what lies behind it; nothing of records that are no samples.
fn sample(event: &Event<'_>) -> Option<(u32, u64, Vec<u64>, u64)> {
    let (sample, rest) = event.sample()?.decode().unwrap();
    assert!(rest.is_empty());
    assert_eq!(sample.period, sample.time.map(|time| 1000 + time));
    Some((sample.tid?, sample.time?, sample.callchain?.iter().collect(), sample.data_src?.0))
}

const SOURCE: u64 = 0x1e_0508_0021;

fn records(machine: Machine) -> Vec<Vec<u8>> {
    vec![
        machine.sample(7, 10, &[KERNEL, 0x10, DEFERRED, 0xc00c1e]),
        machine.sample(8, 11, &[KERNEL, 0x11, DEFERRED, 0xc00c1e]),
        machine.sample(7, 12, &[KERNEL, 0x12, DEFERRED, 0xc00c1e]),
        machine.sample(7, 13, &[KERNEL, 0x13, USER, 0x400013]),
        machine.user_part(7, 14, 0xc00c1e, &[USER, 0x400000, 0x400100]),
        machine.exit(8, 15),
        machine.sample(9, 16, &[DEFERRED, 5]),
        machine.sample(9, 17, &[DEFERRED, 6]),
        machine.user_part(9, 18, 6, &[0x500000]),
        machine.sample(9, 19, &[DEFERRED, 7]),
    ]
}

#[test]
fn chains_are_whole_in_order_of_time() {
    for machine in [Machine::Little, Machine::Big] {
        let recording = machine.file(&records(machine));
        let samples: Vec<_> = delivered(&recording, Ordering::Time, sample).into_iter().flatten().collect();
        let whole = |own: u64| vec![KERNEL, own, USER, 0x400000, 0x400100];
        assert_eq!(
            samples,
            [
                (7, 13, vec![KERNEL, 0x13, USER, 0x400013], SOURCE),
                (7, 10, whole(0x10), SOURCE),
                (7, 12, whole(0x12), SOURCE),
                // Its thread ended before it came back to user mode.
                (8, 11, vec![KERNEL, 0x11, DEFERRED, 0xc00c1e], SOURCE),
                // The cookie of a later sample: that of this one will not come any more.
                (9, 16, vec![DEFERRED, 5], SOURCE),
                (9, 17, vec![USER, 0x500000], SOURCE),
                // The recording ended before.
                (9, 19, vec![DEFERRED, 7], SOURCE),
            ]
        );
        let issues = recording.for_each(|_| {}).unwrap();
        let issues: Vec<_> = issues.iter().map(|issue| (issue.kind, issue.count)).collect();
        assert_eq!(issues, [(IssueKind::UserPartMissing, 3)]);
        let kinds = delivered(&recording, Ordering::Time, |event| event.head().kind);
        assert_eq!(kinds.iter().filter(|number| **number == kind::CALLCHAIN_DEFERRED).count(), 2);
        assert_eq!(kinds.len(), 10);
    }
}

#[test]
fn places_are_those_of_the_samples() {
    let recording = Machine::Little.file(&records(Machine::Little));
    let mut in_file = delivered(&recording, Ordering::File, |event| (event.index(), event.offset()));
    assert!(in_file.iter().map(|(index, _)| *index).eq(0..10));
    let mut by_time = delivered(&recording, Ordering::Time, |event| (event.index(), event.offset()));
    by_time.sort_unstable();
    in_file.sort_unstable();
    assert_eq!(by_time, in_file);
    let joined = delivered(&recording, Ordering::Time, |event| event.was_joined().then_some(event.index()));
    assert_eq!(joined.into_iter().flatten().collect::<Vec<_>>(), [0, 2, 7]);
}

#[test]
fn records_are_as_they_lie_there_in_the_order_of_the_file() {
    let machine = Machine::Little;
    let recording = machine.file(&records(machine));
    let raw = delivered(&recording, Ordering::File, |event| event.raw().to_vec());
    assert_eq!(raw, records(machine));
    assert!(
        recording.batches(Ordering::File).unwrap().all(|batch| batch.iter().all(|event| !event.was_joined()))
    );
}

/// A chain that would make a record longer than a record can be is delivered as it was.
#[test]
fn what_does_not_fit_is_left_as_it_is() {
    let machine = Machine::Little;
    let own = [&vec![0x10; 5000][..], &[DEFERRED, 3]].concat();
    let user = vec![0x400000; 5000];
    let recording = machine.file(&[machine.sample(7, 10, &own), machine.user_part(7, 11, 3, &user)]);
    let samples: Vec<_> = delivered(&recording, Ordering::Time, sample).into_iter().flatten().collect();
    assert_eq!(samples, [(7, 10, own, SOURCE)]);
    assert_eq!(recording.for_each(|_| {}).unwrap().iter().next().unwrap().count, 1);
}

/// What waits is bounded: 3,000 samples of 32 KB are more than are held back, and none is lost.
#[test]
fn what_waits_is_bounded() {
    let machine = Machine::Little;
    let chain = [&vec![0x10; 4000][..], &[DEFERRED, 3]].concat();
    let mut records: Vec<Vec<u8>> = (0..3000).map(|time| machine.sample(7, 10 + time, &chain)).collect();
    records.push(machine.user_part(7, 5000, 3, &[USER, 0x400000]));
    let recording = machine.file(&records);
    let joined = delivered(&recording, Ordering::Time, |event| event.sample().map(|_| event.was_joined()));
    let joined: Vec<bool> = joined.into_iter().flatten().collect();
    assert_eq!(joined.len(), 3000);
    let whole = joined.iter().filter(|joined| **joined).count();
    assert!((900..1100).contains(&whole), "{whole}");
}
