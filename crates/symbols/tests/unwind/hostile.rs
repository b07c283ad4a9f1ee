//! Bytes that nobody meant: no panic, no end that does not come, and frames stay within what was asked for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use readperf_symbols::unwind::{Cache, End, Registers, Stack, Unwinder};
use readperf_symbols::{FileBytes, FileLoader, Options, Subject};

use crate::program::{PROGRAMS, Program, file, space, stops};

/// Numbers that look random and are the same in every run (xorshift, Marsaglia 2003).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

#[test]
fn any_registers_and_stack() {
    let mut random = Random(0x1234_5678_9abc_def1);
    for (name, machine, big_endian) in PROGRAMS {
        let path = file(&format!("{name}.elf"));
        let mut program = Program::new(&path);
        let places = program.space.clone();
        let stops = stops(name);
        for round in 0..4000 {
            let stop = &stops[round % stops.len()];
            let mut values = stop.registers.1.clone();
            let mut stack = stop.stack.clone();
            for _ in 0..random.below(4) {
                let at = random.below(values.len());
                values[at] = match random.below(3) {
                    0 => random.next(),
                    1 => u64::MAX - random.next() % 64,
                    _ => values[random.below(stop.registers.1.len())].wrapping_add(random.next() % 64),
                };
            }
            for _ in 0..random.below(8) {
                let at = random.below(stack.len());
                stack[at] = random.next() as u8;
            }
            stack.truncate(random.below(stack.len() + 1));
            let registers = Registers::recorded(*machine, stop.registers.0, &values).unwrap();
            let (frames, end) =
                program.unwind_in(&places, &registers, Stack { bytes: &stack, big_endian: *big_endian });
            assert!(!frames.is_empty() && frames.len() <= 127, "{name}: {end}");
            assert_eq!(end == End::TooDeep, frames.len() == 127, "{name}: {end}");
        }
    }
}

#[test]
fn any_tables() {
    let mut random = Random(0x0dd_ba11_5eed);
    let start = Instant::now();
    let mut other = 0;
    for (name, machine, big_endian) in PROGRAMS {
        let path = file(&format!("{name}.elf"));
        let places = space(&path, readperf_symbols::unwind::BinaryId(0));
        let original = std::fs::read(&path).unwrap();
        let stops = stops(name);
        for _ in 0..300 {
            let mut bytes = original.clone();
            for _ in 0..=random.below(12) {
                let at = random.below(bytes.len());
                bytes[at] = random.next() as u8;
            }
            let shared: FileBytes = Arc::new(bytes);
            let loader = FileLoader::new(move |_| Ok(Arc::clone(&shared)));
            let unwinder =
                Unwinder::new(&Options { file_loader: loader, build_id_cache: None, ..Options::default() });
            unwinder.binary(&Subject::File { path: path.clone(), build_id: None });
            let mut cache = Cache::default();
            let mut frames = Vec::new();
            for stop in &stops {
                let registers = Registers::recorded(*machine, stop.registers.0, &stop.registers.1).unwrap();
                let stack = Stack { bytes: &stop.stack, big_endian: *big_endian };
                unwinder.unwind(&mut cache, &places, &registers, stack, 127, &mut frames);
                assert!(!frames.is_empty() && frames.len() <= 127, "{name}");
                other += usize::from(frames.len() != stop.frames.len());
            }
        }
    }
    // Otherwise the damage was nowhere that matters, and this test says nothing.
    assert!(other > 1000, "{other} stacks are different");
    assert!(start.elapsed() < Duration::from_secs(120), "{:?}", start.elapsed());
}

#[test]
fn limits_are_kept() {
    let mut program = Program::new(&file("x86_64.elf"));
    let places = program.space.clone();
    let stops = stops("x86_64");
    let stop = stops.iter().find(|stop| stop.frames.len() >= 6).unwrap();
    let registers = Registers::recorded(PROGRAMS[0].1, stop.registers.0, &stop.registers.1).unwrap();
    let stack = Stack { bytes: &stop.stack, big_endian: false };
    let mut frames = Vec::new();
    for most in 0..4 {
        let end = program.unwinder.unwind(&mut program.cache, &places, &registers, stack, most, &mut frames);
        assert_eq!((frames.len(), end), (most, End::TooDeep));
    }
    // A part of a stack gives the first of the frames, and says so.
    let (all, _) = program.unwind_in(&places, &registers, stack);
    let mut lengths = Vec::new();
    for recorded in (0..stop.stack.len()).step_by(8) {
        let part = Stack { bytes: &stop.stack[..recorded], big_endian: false };
        let (some, end) = program.unwind_in(&places, &registers, part);
        assert_eq!(some, all[..some.len()]);
        assert_eq!(end, if some.len() < all.len() { End::StackTruncated } else { End::Bottom });
        lengths.push(some.len());
    }
    lengths.dedup();
    assert_eq!(lengths, (1..=all.len()).collect::<Vec<_>>());
}
