//! Generated code whose frames a runtime dumped. Dumps, tables and stacks are written by hand.
//!
//! Layouts: `jitdump-specification.txt` of the kernel's `tools/perf/Documentation`; DWARF 4, 6.4 and 7.23; Linux Standard Base, 10.6.

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use readperf_symbols::unwind::{BinaryId, Cache, End, Machine, Mapping, Registers, Space, Stack, Unwinder};
use readperf_symbols::{FileBytes, FileLoader, Options, Reason, Subject};

use crate::hostile::Random;

/// Processes have lower numbers.
const PID: u32 = 4_200_000_001;
/// Bytes of each piece of code; no multiple of eight.
const CODE: u32 = 61;
/// Where callers are: code of which nothing is told.
const CALLER: u64 = 0x1500;

/// An x86-64 dump.
struct Dump {
    bytes: Vec<u8>,
    time: u64,
}

/// Where `.eh_frame` says that code is.
#[derive(Clone, Copy)]
enum Told {
    /// The same as V8 does it: with pointers to other data, which are left out.
    BehindAsByV8,
    /// At a distance: behind the code.
    Behind,
    /// Absolute, for a section at this address, which tells of code at others.
    At(u64, &'static [(u64, u8)]),
}

impl Dump {
    fn new(machine: u32) -> Dump {
        let words = [0x4a69_5444, 1, 40, machine, 0, PID, 0, 0, 0, 0];
        Dump { bytes: words.iter().flat_map(|word: &u32| word.to_le_bytes()).collect(), time: 100 }
    }

    fn record(&mut self, kind: u32, body: &[u8]) {
        self.bytes.extend(kind.to_le_bytes());
        self.bytes.extend((16 + body.len() as u32).to_le_bytes());
        self.bytes.extend(self.time.to_le_bytes());
        self.bytes.extend(body);
        self.time += 1;
    }

    fn load(&mut self, address: u64, index: u64) {
        let words = [u64::from(PID), address, address, u64::from(CODE), index];
        let mut body: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        body.extend(b"name\0");
        body.extend([0x90; CODE as usize]);
        self.record(0, &body);
    }

    fn moved(&mut self, from: u64, to: u64, index: u64) {
        let words = [u64::from(PID), to, from, to, u64::from(CODE), index];
        let body: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.record(1, &body);
    }

    /// Frames of so many bytes, the return address among them.
    fn frames(&mut self, told: Told, frame: u8) {
        let rules = [0x0c, 7, 8, 0x80 | 16, 1, 0, 0];
        let cie = match told {
            Told::BehindAsByV8 => &b"\x03zLR\0\x01\x78\x10\x02\xff\x1b"[..],
            _ => b"\x01zR\0\x01\x78\x10\x01\x1b",
        };
        let mut section = entry(0, &[cie, &rules].concat());
        let behind = [(0, frame)];
        let (at, codes) = match told {
            // The code is so far below, with its bytes made up to a multiple of eight.
            Told::Behind | Told::BehindAsByV8 => (64, &behind[..]),
            Told::At(at, codes) => (at, codes),
        };
        for (code, frame) in codes {
            let place = section.len() as u64;
            let distance = code.wrapping_sub(at + place + 8) as u32;
            let mut body = distance.to_le_bytes().to_vec();
            body.extend(CODE.to_le_bytes());
            body.extend([0, 0x0e, *frame, 0]);
            section.extend(entry(place as u32 + 4, &body));
        }
        section.extend([0; 4]);
        let header = match told {
            Told::Behind | Told::BehindAsByV8 => vec![1, 0x1b, 0xff, 0xff, 0, 0, 0, 0],
            Told::At(at, _) => [&[1, 0x0c, 0xff, 0xff][..], &at.to_le_bytes()].concat(),
        };
        let sizes = [(section.len() + header.len()) as u64, header.len() as u64, 0];
        let mut body: Vec<u8> = sizes.iter().flat_map(|size| size.to_le_bytes()).collect();
        body.extend([section, header].concat());
        body.resize(body.len().next_multiple_of(8), 0);
        self.record(4, &body);
    }
}

/// An entry of `.eh_frame`: its length, what it belongs to, and what it says.
fn entry(cie: u32, body: &[u8]) -> Vec<u8> {
    [&(body.len() as u32 + 4).to_le_bytes()[..], &cie.to_le_bytes(), body].concat()
}

fn unwinder(bytes: Vec<u8>) -> Unwinder {
    // There has to be a file of the name.
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unwind_generated");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join(format!("jit-{PID}.dump")), b"").unwrap();
    let shared: FileBytes = Arc::new(bytes);
    let file_loader = FileLoader::new(move |_| Ok(Arc::clone(&shared)));
    let search_dirs = vec![dir];
    Unwinder::new(&Options { file_loader, search_dirs, build_id_cache: None, ..Options::default() })
}

fn code_of(unwinder: &Unwinder, generation: u32) -> BinaryId {
    let dump = Some(format!("/nonexistent/jit-{PID}.dump").into());
    unwinder.binary(&Subject::Generated { pid: PID, inner_pid: None, dump, generation })
}

/// How long the frame at an address of a generation is: the words of the stack are addresses of callers that tell where they were.
fn frame(unwinder: &Unwinder, cache: &mut Cache, generation: u32, ip: u64) -> Option<u64> {
    let code = Mapping {
        start: 0x1_0000,
        end: 0x10_0000,
        offset: 0x1_0000,
        binary: Some(code_of(unwinder, generation)),
    };
    let space = Space::new(vec![Mapping { start: 0x1000, end: 0x2000, offset: 0, binary: None }, code]);
    let words: Vec<u8> = (0..16).flat_map(|nr| (CALLER + nr * 8).to_le_bytes()).collect();
    // BP, SP and IP. The first one points nowhere.
    let registers = Registers::recorded(Machine::X86_64, 0b1_1100_0000, &[1, 0x7000, ip]).unwrap();
    let mut frames = Vec::new();
    let end = unwinder.unwind(
        cache,
        &space,
        &registers,
        Stack { bytes: &words, big_endian: false },
        3,
        &mut frames,
    );
    assert!(end != End::NoUnwindInfo { binary: code.binary });
    frames.get(1).map(|caller| caller + 1 - CALLER + 8)
}

const COMMON: &[(u64, u8)] = &[(0x4_0000, 40), (0x4_0100, 48)];

fn dump() -> Dump {
    let mut dump = Dump::new(62);
    dump.frames(Told::Behind, 24);
    dump.load(0x1_0000, 1);
    // No frames are told of this one.
    dump.load(0x1_0100, 2);
    // The same place again and again, once without frames.
    dump.frames(Told::Behind, 16);
    dump.load(0x2_0000, 3);
    dump.load(0x2_0000, 4);
    dump.frames(Told::Behind, 32);
    dump.load(0x2_0000, 5);
    dump.frames(Told::BehindAsByV8, 56);
    dump.load(0x3_0000, 6);
    dump.moved(0x3_0000, 0x3_1000, 6);
    dump.frames(Told::At(0x9_0000, COMMON), 0);
    dump.load(0x4_0000, 7);
    dump.load(0x4_0100, 8);
    dump.load(0x4_0200, 9);
    dump
}

#[test]
fn frames_are_those_of_the_code_that_was_there() {
    let unwinder = unwinder(dump().bytes);
    let mut cache = Cache::default();
    let mut frame = |generation, ip| frame(&unwinder, &mut cache, generation, ip);
    for at in [0, 1, u64::from(CODE) - 1] {
        assert_eq!(frame(0, 0x1_0000 + at), Some(24));
        assert_eq!(frame(1, 0x2_0000 + at), Some(16));
        assert_eq!(frame(3, 0x2_0000 + at), Some(32));
        assert_eq!(frame(0, 0x3_0000 + at), Some(56));
        assert_eq!(frame(0, 0x3_1000 + at), Some(56));
        assert_eq!(frame(0, 0x4_0000 + at), Some(40));
        assert_eq!(frame(0, 0x4_0100 + at), Some(48));
    }
    let behind = 0x1_0000 + u64::from(CODE);
    // Behind the code; no frames told; not known which; of a generation that is not there.
    for (generation, ip) in [
        (0, behind),
        (0, 0x1_0100),
        (0, 0x2_0000),
        (2, 0x2_0000),
        (4, 0x2_0000),
        (1, 0x1_0000),
        (0, 0x4_0200),
    ] {
        assert_eq!(frame(generation, ip), None, "{generation} {ip:#x}");
    }
}

#[test]
fn dumps_of_other_machines() {
    let mut dump = Dump::new(183);
    dump.frames(Told::Behind, 24);
    dump.load(0x1_0000, 1);
    let unwinder = unwinder(dump.bytes);
    assert_eq!(frame(&unwinder, &mut Cache::default(), 0, 0x1_0000), None);
    let reason = unwinder.reason(code_of(&unwinder, 0));
    assert!(matches!(reason, Some(Reason::OtherMachine { .. })), "{reason:?}");
}

/// CPython 3.13.0 (`python3.13 -X perf_jit`) leaves the machine out of the header. This is the unwinding record of one of its
/// trampolines, which take 16 bytes of the stack, as it came with the code `sub $8,%rsp; call *%rcx; add $8,%rsp; ret`.
#[test]
fn dumps_that_do_not_tell_their_machine_are_of_the_recordings() {
    const EH_FRAME: &str =
        "1400000000000000017a5200017810011b0c070890010000140000001c000000d0ffffff0b00000000440e10460e0800";
    const HEADER: &str = "011b033bccffffff01000000c0ffffffe8ffffff";
    const TRAMPOLINE: [u8; 11] = [0x48, 0x83, 0xec, 8, 0xff, 0xd1, 0x48, 0x83, 0xc4, 8, 0xc3];
    let hex = |text: &str| -> Vec<u8> {
        (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
    };
    let (eh_frame, header) = (hex(EH_FRAME), hex(HEADER));
    let start = 0x1_0000_u64;
    let mut dump = Dump::new(0);
    let sizes = [(eh_frame.len() + header.len()) as u64, header.len() as u64, 80];
    let mut body: Vec<u8> = sizes.iter().flat_map(|size| size.to_le_bytes()).collect();
    // The writer fills up to a multiple of eight.
    body.extend([&eh_frame[..], &header, &[0; 4]].concat());
    dump.record(4, &body);
    let words = [u64::from(PID), start, start, TRAMPOLINE.len() as u64, 1];
    let mut body: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    body.extend(b"py::burn:/tmp/hot.py\0");
    body.extend(TRAMPOLINE);
    dump.record(0, &body);
    let unwinder = unwinder(dump.bytes);
    let mut cache = Cache::default();
    // Before the first instruction, within the call, before the return.
    for (at, length) in [(0, 8), (4, 16), (5, 16), (10, 8)] {
        assert_eq!(frame(&unwinder, &mut cache, 0, start + at), Some(length), "{at}");
    }
    assert_eq!(unwinder.reason(code_of(&unwinder, 0)), None);
}

thread_local! {
    /// How often something panicked on this thread; other tests may run beside. The unwinder goes on after that, as if there
    /// were no rule.
    static PANICS: Cell<u32> = const { Cell::new(0) };
}

#[test]
fn damaged_dumps() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        PANICS.set(PANICS.get() + 1);
        hook(info);
    }));
    let good = dump().bytes;
    let mut random = Random(0x05ee_d0dd_ba11);
    let asked = [(0, 0x1_0000), (1, 0x2_0000), (3, 0x2_0010), (0, 0x3_1003), (0, 0x4_0100)];
    let (mut right, mut other, mut none) = (0, 0, 0);
    let start = Instant::now();
    for round in 0..4000 {
        let mut bytes = good.clone();
        for _ in 0..=random.below(8) {
            let at = 40 + random.below(bytes.len() - 40);
            match round % 3 {
                0 => bytes[at] = random.next() as u8,
                1 => bytes[at] = 0xff,
                // Sizes near the end of all numbers.
                _ => {
                    let end = bytes.len().min(at + 8);
                    bytes[at..end]
                        .copy_from_slice(&(u64::MAX - random.next() % 64).to_le_bytes()[..end - at]);
                }
            }
        }
        let unwinder = unwinder(bytes);
        let mut cache = Cache::default();
        for ((generation, ip), expected) in asked.into_iter().zip([24, 16, 32, 56, 48]) {
            match frame(&unwinder, &mut cache, generation, ip) {
                Some(found) if found == expected => right += 1,
                Some(_) => other += 1,
                None => none += 1,
            }
            assert_ne!(unwinder.reason(code_of(&unwinder, generation)), Some(Reason::Defect), "{round}");
        }
    }
    eprintln!("{right} frames as before, {other} others, {none} are lost; {:?}", start.elapsed());
    assert!(right > 1000 && other > 20 && none > 1000, "{right} {other} {none}");
    assert_eq!(PANICS.get(), 0);
    assert!(start.elapsed() < Duration::from_secs(60));
}
