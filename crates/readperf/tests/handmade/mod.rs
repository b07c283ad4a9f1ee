//! Recordings put together byte by byte, without any code of readperf: little-endian pipe streams.
//!
//! ABI: `perf_event.h` for attr, head, records and trailer; perf's pipe header and its records from 64 up.

// Each test binary uses a part of this module.
#![allow(dead_code, clippy::cast_possible_truncation)]

pub(crate) mod deep;
pub(crate) mod elf;
pub(crate) mod heap;

pub(crate) const MMAP: u32 = 1;
pub(crate) const LOST: u32 = 2;
pub(crate) const COMM: u32 = 3;
pub(crate) const THROTTLE: u32 = 5;
pub(crate) const UNTHROTTLE: u32 = 6;
pub(crate) const READ: u32 = 8;
pub(crate) const SAMPLE: u32 = 9;
pub(crate) const MMAP2: u32 = 10;
pub(crate) const AUX: u32 = 11;
pub(crate) const LOST_SAMPLES: u32 = 13;
pub(crate) const KSYMBOL: u32 = 17;
pub(crate) const CGROUP: u32 = 19;
pub(crate) const HEADER_ATTR: u32 = 64;
pub(crate) const HEADER_TRACING_DATA: u32 = 66;
pub(crate) const AUXTRACE: u32 = 71;
pub(crate) const AUXTRACE_ERROR: u32 = 72;
pub(crate) const THREAD_MAP: u32 = 73;
pub(crate) const STAT: u32 = 76;
pub(crate) const EVENT_UPDATE: u32 = 78;
pub(crate) const TIME_CONV: u32 = 79;
pub(crate) const HEADER_FEATURE: u32 = 80;

pub(crate) const KERNEL: u16 = 1;
pub(crate) const USER: u16 = 2;

pub(crate) const PID: u32 = 10;
/// Where `/bin/work` is mapped, and where the kernel's image lies.
pub(crate) const CODE: u64 = 0x40_0000;
pub(crate) const KERNEL_CODE: u64 = 0xffff_ffff_8100_0000;

/// Bits of `sample_type`.
pub(crate) mod sample_type {
    pub(crate) const IP: u64 = 1;
    pub(crate) const TID: u64 = 1 << 1;
    pub(crate) const TIME: u64 = 1 << 2;
    pub(crate) const ADDR: u64 = 1 << 3;
    pub(crate) const READ: u64 = 1 << 4;
    pub(crate) const CALLCHAIN: u64 = 1 << 5;
    pub(crate) const ID: u64 = 1 << 6;
    pub(crate) const CPU: u64 = 1 << 7;
    pub(crate) const PERIOD: u64 = 1 << 8;
    pub(crate) const RAW: u64 = 1 << 10;
    pub(crate) const STACK_USER: u64 = 1 << 13;
    pub(crate) const CGROUP: u64 = 1 << 21;
}

/// Bits of an attr's flags.
pub(crate) mod flag {
    pub(crate) const INHERIT: u64 = 1 << 1;
    pub(crate) const EXCLUDE_KERNEL: u64 = 1 << 5;
    pub(crate) const FREQ: u64 = 1 << 10;
    pub(crate) const SAMPLE_ID_ALL: u64 = 1 << 18;
    pub(crate) const USE_CLOCKID: u64 = 1 << 25;
}

/// How an event is opened.
#[derive(Clone)]
pub(crate) struct Attr {
    pub(crate) kind: u32,
    pub(crate) config: u64,
    pub(crate) period: u64,
    pub(crate) sample_type: u64,
    pub(crate) read_format: u64,
    pub(crate) flags: u64,
    pub(crate) stack_user: u32,
    pub(crate) clockid: i32,
    pub(crate) max_stack: u16,
    pub(crate) ids: Vec<u64>,
}

impl Default for Attr {
    /// cpu-clock with call chains and CPU numbers.
    fn default() -> Self {
        use sample_type::*;
        Attr {
            kind: 1,
            config: 0,
            period: 1000,
            sample_type: IP | TID | TIME | ID | CPU | PERIOD | CALLCHAIN,
            read_format: 0,
            flags: flag::SAMPLE_ID_ALL,
            stack_user: 0,
            clockid: 0,
            max_stack: 0,
            ids: vec![1],
        }
    }
}

impl Attr {
    /// Its 112 bytes (`PERF_ATTR_SIZE_VER5`).
    fn bytes(&self) -> Vec<u8> {
        let mut b = Vec::new();
        b.extend(self.kind.to_le_bytes());
        b.extend(112u32.to_le_bytes());
        for word in [self.config, self.period, self.sample_type, self.read_format, self.flags] {
            b.extend(word.to_le_bytes());
        }
        b.resize(88, 0);
        b.extend(self.stack_user.to_le_bytes());
        b.extend(self.clockid.to_le_bytes());
        b.resize(108, 0);
        b.extend(self.max_stack.to_le_bytes());
        b.resize(112, 0);
        b
    }
}

/// A sample; what the event does not record is left out.
#[derive(Clone)]
pub(crate) struct Sample {
    pub(crate) mode: u16,
    pub(crate) ip: u64,
    pub(crate) pid: u32,
    pub(crate) tid: u32,
    pub(crate) time: u64,
    /// Of the data.
    pub(crate) addr: u64,
    pub(crate) id: u64,
    pub(crate) cpu: u32,
    /// Value, time enabled, time running.
    pub(crate) read: [u64; 3],
    pub(crate) chain: Vec<u64>,
    /// The payload of a tracepoint: four bytes, or four more than a multiple of eight.
    pub(crate) raw: Vec<u8>,
    /// Size of the copy of the stack, and how much of it is valid.
    pub(crate) stack: (u64, u64),
}

impl Default for Sample {
    fn default() -> Self {
        let chain = vec![-512i64 as u64, CODE + 0x10, CODE + 0x20, CODE + 0x30];
        Sample {
            mode: USER,
            ip: CODE + 0x10,
            pid: PID,
            tid: PID,
            time: 1_000_000_000,
            addr: 0,
            id: 1,
            cpu: 0,
            read: [1, 100, 100],
            chain,
            raw: vec![0; 4],
            stack: (64, 32),
        }
    }
}

/// A pipe stream.
#[derive(Clone)]
pub(crate) struct Pipe {
    pub(crate) bytes: Vec<u8>,
    attrs: Vec<Attr>,
}

impl Pipe {
    /// A stream with these events.
    pub(crate) fn new(attrs: &[Attr]) -> Self {
        let mut bytes = b"PERFILE2".to_vec();
        bytes.extend(16u64.to_le_bytes());
        let mut pipe = Pipe { bytes, attrs: attrs.to_vec() };
        for attr in attrs {
            let mut body = attr.bytes();
            attr.ids.iter().for_each(|id| body.extend(id.to_le_bytes()));
            pipe.raw(HEADER_ATTR, 0, &body);
        }
        pipe
    }

    /// The same records in a file without features: the events are in its header.
    pub(crate) fn as_file(&self) -> Vec<u8> {
        const HEADER: u64 = 104;
        const EVENT: u64 = 112 + 16;
        let ids: Vec<u8> =
            self.attrs.iter().flat_map(|attr| &attr.ids).flat_map(|id| id.to_le_bytes()).collect();
        let told = 16 + self.attrs.len() * (8 + 112) + ids.len();
        let (events, ids_len) = (self.attrs.len() as u64 * EVENT, ids.len() as u64);
        let (attrs_at, data_at) = (HEADER + ids_len, HEADER + ids_len + events);
        let mut bytes = b"PERFILE2".to_vec();
        let data_len = (self.bytes.len() - told) as u64;
        for word in [HEADER, EVENT, attrs_at, events, data_at, data_len, 0, 0, 0, 0, 0, 0] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(ids);
        let mut ids_at = HEADER;
        for attr in &self.attrs {
            let len = attr.ids.len() as u64 * 8;
            bytes.extend(attr.bytes());
            bytes.extend([ids_at, len].iter().flat_map(|word| word.to_le_bytes()));
            ids_at += len;
        }
        bytes.extend(&self.bytes[told..]);
        bytes
    }

    /// A stream that `check` has nothing to say about, up to its samples.
    pub(crate) fn sound(attrs: &[Attr]) -> Self {
        let mut pipe = Pipe::new(attrs);
        pipe.kernel_map(KERNEL_CODE);
        pipe.comm(PID, PID, "work");
        pipe.map(PID, CODE, "/bin/work", Some(7), 0);
        pipe
    }

    /// A record as it is.
    pub(crate) fn raw(&mut self, kind: u32, misc: u16, body: &[u8]) {
        self.bytes.extend(kind.to_le_bytes());
        self.bytes.extend(misc.to_le_bytes());
        self.bytes.extend((body.len() as u16 + 8).to_le_bytes());
        self.bytes.extend(body);
    }

    /// A record of the kernel: body and trailer.
    pub(crate) fn kernel(&mut self, kind: u32, misc: u16, body: &[u8], time: u64) {
        let attr = self.attrs[0].clone();
        let mut body = body.to_vec();
        if attr.flags & flag::SAMPLE_ID_ALL != 0 {
            use sample_type::*;
            let pid_tid = u64::from(PID) << 32 | u64::from(PID);
            for (bit, word) in [(TID, pid_tid), (TIME, time), (ID, 1), (CPU, 0)] {
                if attr.sample_type & bit != 0 {
                    body.extend(word.to_le_bytes());
                }
            }
        }
        self.raw(kind, misc, &body);
    }

    /// A record of the kernel whose body is words.
    pub(crate) fn words(&mut self, kind: u32, misc: u16, words: &[u64], time: u64) {
        let body: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.kernel(kind, misc, &body, time);
    }

    pub(crate) fn comm(&mut self, pid: u32, tid: u32, name: &(impl AsRef<[u8]> + ?Sized)) {
        let mut body = [pid.to_le_bytes(), tid.to_le_bytes()].concat();
        body.extend(padded(name));
        self.kernel(COMM, 0, &body, 0);
    }

    /// A page of code, with a build-id of such bytes or an inode.
    pub(crate) fn map(
        &mut self,
        pid: u32,
        start: u64,
        name: &(impl AsRef<[u8]> + ?Sized),
        build_id: Option<u8>,
        misc: u16,
    ) {
        self.map_at(0, pid, start, name, build_id, misc);
    }

    /// The same, at a time.
    pub(crate) fn map_at(
        &mut self,
        time: u64,
        pid: u32,
        start: u64,
        name: &(impl AsRef<[u8]> + ?Sized),
        build_id: Option<u8>,
        misc: u16,
    ) {
        let mut body = [pid.to_le_bytes(), pid.to_le_bytes()].concat();
        for word in [start, 0x1000, 0] {
            body.extend(u64::to_le_bytes(word));
        }
        match build_id {
            Some(byte) => {
                body.extend([20, 0, 0, 0]);
                body.extend([byte; 20]);
            }
            None => body.extend([1; 24]),
        }
        body.extend(5u32.to_le_bytes());
        body.extend(2u32.to_le_bytes());
        body.extend(padded(name));
        let variant = if build_id.is_some() { 1 << 14 } else { 0 };
        self.kernel(MMAP2, USER | variant | misc, &body, time);
    }

    /// The kernel's image; `reference` is the address of its `_text`.
    pub(crate) fn kernel_map(&mut self, reference: u64) {
        let mut body = [u32::MAX.to_le_bytes(), 0u32.to_le_bytes()].concat();
        for word in [reference, 0x100_0000, reference] {
            body.extend(u64::to_le_bytes(word));
        }
        body.extend(padded("[kernel.kallsyms]_text"));
        self.kernel(MMAP, KERNEL, &body, 0);
    }

    pub(crate) fn sample(&mut self, s: &Sample) {
        use sample_type::*;
        let attr = self.attrs.iter().find(|attr| attr.ids.contains(&s.id)).unwrap_or(&self.attrs[0]).clone();
        let mut b = Vec::new();
        let has = |bit| attr.sample_type & bit != 0;
        let mut word = |bit, word: u64| {
            if has(bit) {
                b.extend(word.to_le_bytes());
            }
        };
        word(IP, s.ip);
        word(TID, u64::from(s.tid) << 32 | u64::from(s.pid));
        word(TIME, s.time);
        word(ADDR, s.addr);
        word(ID, s.id);
        word(CPU, u64::from(s.cpu));
        word(PERIOD, 1000);
        if has(READ) {
            s.read.iter().for_each(|value| word(READ, *value));
        }
        word(CALLCHAIN, s.chain.len() as u64);
        s.chain.iter().for_each(|entry| word(CALLCHAIN, *entry));
        if has(RAW) {
            b.extend((s.raw.len() as u32).to_le_bytes());
            b.extend(&s.raw);
        }
        if has(STACK_USER) {
            b.extend(s.stack.0.to_le_bytes());
            b.extend(vec![0; s.stack.0 as usize]);
            b.extend(s.stack.1.to_le_bytes());
        }
        if has(CGROUP) {
            b.extend(1u64.to_le_bytes());
        }
        self.raw(SAMPLE, s.mode, &b);
    }

    /// So many samples like this one, a millisecond apart.
    pub(crate) fn samples(&mut self, count: u64, like: &Sample) {
        for nr in 0..count {
            self.sample(&Sample { time: like.time + nr * 1_000_000, ..like.clone() });
        }
    }

    /// A header feature.
    pub(crate) fn feature(&mut self, bit: u64, payload: &[u8]) {
        self.raw(HEADER_FEATURE, 0, &[&bit.to_le_bytes(), payload].concat());
    }

    /// How perf was called.
    pub(crate) fn cmdline(&mut self, words: &[&str]) {
        let mut payload = (words.len() as u32).to_le_bytes().to_vec();
        for word in words {
            let mut text = word.as_bytes().to_vec();
            text.resize(64, 0);
            payload.extend(64u32.to_le_bytes());
            payload.extend(text);
        }
        self.feature(11, &payload);
    }
}

/// A name with its NUL, padded to eight bytes.
pub(crate) fn padded(name: &(impl AsRef<[u8]> + ?Sized)) -> Vec<u8> {
    let mut bytes = name.as_ref().to_vec();
    bytes.resize((bytes.len() + 8) / 8 * 8, 0);
    bytes
}
