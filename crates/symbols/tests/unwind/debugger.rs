//! Stacks of all machines, instruction by instruction, as gdb sees them.

use readperf_symbols::unwind::{Cache, End, Machine, Registers, Stack};

use crate::program::{PROGRAMS, Program, file, stops};

/// gdb tells return addresses; here the address of a caller is that of the last byte of its call.
fn as_called(frames: &[u64]) -> Vec<u64> {
    frames.iter().enumerate().map(|(depth, pc)| if depth == 0 { *pc } else { pc - 1 }).collect()
}

#[test]
fn every_machine_as_gdb() {
    for (name, machine, big_endian) in PROGRAMS {
        let mut program = Program::new(&file(&format!("{name}.elf")));
        let stops = stops(name);
        assert_eq!(stops.len(), 24, "{name}");
        for (number, stop) in stops.iter().enumerate() {
            let (frames, end) = program.unwind(*machine, *big_endian, stop);
            assert_eq!(frames, as_called(&stop.frames), "{name}, stop {number}: {end}");
            // The first function of the Arm program is marked as one that cannot be unwound, as whole libraries are; but the
            // program starts there.
            assert_eq!(end, End::Bottom, "{name}, stop {number}");
        }
    }
}

/// The tables for exceptions only tell how the body of a function is left. Without those for debuggers the callers are
/// the same, unless the first function was stopped while it made its frame.
#[test]
fn arm_by_its_own_tables() {
    let mut bytes = std::fs::read(file("arm.elf")).unwrap();
    let name = b".debug_frame";
    let at = bytes.windows(name.len()).position(|window| window == name).unwrap();
    bytes[at + 1] = b'x';
    let copy = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(copy.path(), &bytes).unwrap();
    let mut program = Program::new(copy.path());
    let mut different = Vec::new();
    for stop in stops("arm") {
        let (frames, _) = program.unwind(Machine::Arm, false, &stop);
        if frames != as_called(&stop.frames) {
            different.push(stop.frames[0]);
        }
    }
    // Between `push {r7, lr}` and `add r7, sp, #0` of `variable_size`, whose table starts at r7.
    assert_eq!(different, [0x100e2]);
}

#[test]
fn threads_share_an_unwinder() {
    let path = file("x86_64.elf");
    let program = Program::new(&path);
    let stops = stops("x86_64");
    std::thread::scope(|scope| {
        let one = || {
            let mut cache = Cache::default();
            let mut frames = Vec::new();
            for stop in &stops {
                let (mask, values) = &stop.registers;
                let registers = Registers::recorded(Machine::X86_64, *mask, values).unwrap();
                let stack = Stack { bytes: &stop.stack, big_endian: false };
                let end =
                    program.unwinder.unwind(&mut cache, &program.space, &registers, stack, 127, &mut frames);
                assert_eq!((&frames, end), (&as_called(&stop.frames), End::Bottom));
            }
        };
        for _ in 0..4 {
            scope.spawn(one);
        }
    });
}
