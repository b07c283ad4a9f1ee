//! Recordings made in memory: a pipe stream of one event, with the records a test wants.
#![allow(dead_code)] // Each test and benchmark takes the part it needs.

use perffile::bytes::Bytes;
use perffile::wire::attr::{AttrFlags, EventAttr, SampleType as T};
use perffile::wire::endian::{ByteOrder, Le};
use perffile::wire::protection::{MapFlags, Protection};
use perffile::wire::record::comm::Comm;
use perffile::wire::record::header_attr::HeaderAttr;
use perffile::wire::record::ksymbol::{Ksymbol, KsymbolFlags, KsymbolType};
use perffile::wire::record::mmap::Mmap;
use perffile::wire::record::mmap2::{FileIdentity, Mmap2};
use perffile::wire::record::task::Task;
use perffile::wire::record::{Record, kind};
use perffile::wire::sample::Sample;
use perffile::wire::text::CStr8;
use perffile::wire::words::U64s;
use readperf_session::{CodeAddress, CpuMode, Moment, Session};

pub(crate) const KERNEL: u16 = 1;
pub(crate) const USER: u16 = 2;

/// A stream under construction.
pub(crate) struct Stream {
    bytes: Vec<u8>,
    attr: EventAttr,
}

/// What a test wants to know of a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) comm: String,
    pub(crate) binary: Option<String>,
    pub(crate) code: CodeAddress,
    pub(crate) period: u64,
}

impl Stream {
    pub(crate) fn new() -> Stream {
        let flags = AttrFlags::sample_id_all | AttrFlags::mmap | AttrFlags::comm | AttrFlags::task;
        let sample_type = T::IP | T::TID | T::TIME | T::CPU | T::PERIOD | T::CALLCHAIN;
        let attr = EventAttr { size: 64, sample_period: 11, sample_type, flags, ..EventAttr::default() };
        Stream::of(attr)
    }

    pub(crate) fn of(attr: EventAttr) -> Stream {
        let mut bytes = b"PERFILE2".to_vec();
        bytes.extend_from_slice(&16u64.to_le_bytes());
        let mut stream = Stream { bytes, attr: attr.clone() };
        let ids = U64s::new(&[], ByteOrder::Little);
        stream.record(kind::HEADER_ATTR, 0, &Record::HeaderAttr(HeaderAttr { attr, ids }), &[]);
        stream
    }

    /// Appends a record as it is, `trailer` behind it.
    pub(crate) fn record(&mut self, kind: u32, misc: u16, record: &Record<'_>, trailer: &[u8]) {
        let mut body = Vec::new();
        record.clone().encode::<Le>(&mut body, &self.attr.shape(), misc).unwrap();
        body.extend_from_slice(trailer);
        self.raw(kind, misc, &body);
    }

    pub(crate) fn raw(&mut self, kind: u32, misc: u16, body: &[u8]) {
        self.bytes.extend_from_slice(&kind.to_le_bytes());
        self.bytes.extend_from_slice(&misc.to_le_bytes());
        self.bytes.extend_from_slice(&u16::try_from(body.len() + 8).unwrap().to_le_bytes());
        self.bytes.extend_from_slice(body);
    }

    fn timed(&mut self, kind: u32, misc: u16, record: &Record<'_>, pid: u32, tid: u32, time: u64) {
        let mut trailer = Vec::new();
        trailer.extend_from_slice(&pid.to_le_bytes());
        trailer.extend_from_slice(&tid.to_le_bytes());
        trailer.extend_from_slice(&time.to_le_bytes());
        trailer.extend_from_slice(&3u64.to_le_bytes());
        self.record(kind, misc, record, &trailer);
    }

    pub(crate) fn comm(&mut self, time: u64, pid: u32, tid: u32, name: &str) {
        let comm = Comm { pid, tid, comm: CStr8::new(name.as_bytes()) };
        self.timed(kind::COMM, 0, &Record::Comm(comm), pid, tid, time);
    }

    pub(crate) fn fork(&mut self, time: u64, misc: u16, parent: (u32, u32), child: (u32, u32)) {
        let task = Task { pid: child.0, ppid: parent.0, tid: child.1, ptid: parent.1, time };
        self.timed(kind::FORK, misc, &Record::Fork(task), parent.0, parent.1, time);
    }

    pub(crate) fn exit(&mut self, time: u64, pid: u32, tid: u32) {
        let task = Task { pid, ppid: 1, tid, ptid: 1, time };
        self.timed(kind::EXIT, 0, &Record::Exit(task), pid, tid, time);
    }

    pub(crate) fn mmap(&mut self, time: u64, misc: u16, pid: u32, range: (u64, u64, u64), name: &str) {
        let (addr, len, pgoff) = range;
        let mmap = Mmap { pid, tid: pid, addr, len, pgoff, filename: CStr8::new(name.as_bytes()) };
        self.timed(kind::MMAP, misc, &Record::Mmap(mmap), pid, pid, time);
    }

    /// A mapping with a build-id of one repeated byte.
    pub(crate) fn mmap_build_id(&mut self, time: u64, pid: u32, range: (u64, u64, u64), name: &str, id: u8) {
        let (addr, len, pgoff) = range;
        let file = FileIdentity::BuildId { size: 20, reserved: [0; 3], bytes: [id; 20] };
        let filename = CStr8::new(name.as_bytes());
        let mmap = Mmap2 {
            pid,
            tid: pid,
            addr,
            len,
            pgoff,
            file,
            early: false,
            prot: Protection(5),
            flags: MapFlags(2),
            filename,
        };
        self.timed(kind::MMAP2, USER | 1 << 14, &Record::Mmap2(mmap), pid, pid, time);
    }

    pub(crate) fn ksymbol(&mut self, time: u64, addr: u64, len: u32, flags: u16, name: &str) {
        let symbol = Ksymbol {
            addr,
            len,
            ksym_type: KsymbolType::BPF,
            flags: KsymbolFlags(flags),
            name: CStr8::new(name.as_bytes()),
        };
        self.timed(kind::KSYMBOL, 0, &Record::Ksymbol(symbol), 0, 0, time);
    }

    pub(crate) fn sample(&mut self, time: u64, misc: u16, pid: u32, tid: u32, ip: u64) {
        self.sample_with_chain(time, misc, pid, tid, ip, &[]);
    }

    pub(crate) fn sample_with_chain(
        &mut self,
        time: u64,
        misc: u16,
        pid: u32,
        tid: u32,
        ip: u64,
        chain: &[u64],
    ) {
        let chain: Vec<u8> = chain.iter().flat_map(|word| word.to_le_bytes()).collect();
        let has = |bit| self.attr.sample_type.has(bit);
        let sample = Sample {
            ip: has(T::IP).then_some(ip),
            pid: has(T::TID).then_some(pid),
            tid: has(T::TID).then_some(tid),
            time: has(T::TIME).then_some(time),
            cpu: has(T::CPU).then_some(3),
            cpu_reserved: has(T::CPU).then_some(0),
            period: has(T::PERIOD).then_some(5),
            callchain: has(T::CALLCHAIN).then_some(U64s::new(&chain, ByteOrder::Little)),
            ..Sample::default()
        };
        self.record(kind::SAMPLE, misc, &Record::Sample(sample), &[]);
    }

    /// What has been made so far.
    pub(crate) fn recording(&self) -> perffile::Recording {
        perffile::Recording::from_bytes(Bytes::new(self.bytes.clone())).unwrap()
    }

    /// Runs a session over the stream; `each` is called with it after every record.
    pub(crate) fn run(&self, each: impl FnMut(&Session, &Moment<'_>)) -> Session {
        let (session, issues) = self.run_with_issues(each);
        assert!(issues.is_empty(), "the stream itself is sound: {issues:?}");
        session
    }

    /// As [`Stream::run`], whatever is wrong with the stream.
    pub(crate) fn run_unsound(&self, each: impl FnMut(&Session, &Moment<'_>)) -> Session {
        self.run_with_issues(each).0
    }

    fn run_with_issues(&self, mut each: impl FnMut(&Session, &Moment<'_>)) -> (Session, perffile::Issues) {
        let recording = self.recording();
        let mut session = Session::new(recording.metadata());
        let issues = recording.for_each(|event| {
            let moment = session.apply(event);
            each(&session, &moment);
        });
        (session, issues.unwrap())
    }

    /// Runs a session, and collects its samples.
    pub(crate) fn samples(&self) -> (Session, Vec<Seen>) {
        let mut seen = Vec::new();
        let session = self.run(|session, moment| {
            let Moment::Sample(sample) = moment else { return };
            let code = sample.code(session);
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            seen.push(Seen {
                comm: text(session.comm(sample.comm)),
                binary: code.binary.map(|id| text(&session.binary(id).unwrap().short_name)),
                code,
                period: sample.period,
            });
            assert_eq!((sample.ip, sample.mode), (code.ip, code.mode));
        });
        (session, seen)
    }
}

/// Comm, binary and address of each sample, for comparison at a glance.
pub(crate) fn brief(seen: &[Seen]) -> Vec<(&str, Option<&str>, u64)> {
    seen.iter().map(|s| (s.comm.as_str(), s.binary.as_deref(), s.code.address)).collect()
}

/// The modes by their number in `misc`.
pub(crate) fn mode(misc: u16) -> CpuMode {
    CpuMode::of(misc)
}
