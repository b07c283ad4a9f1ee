//! Code without tables: generated code, and memory that nobody knows. The stacks are written by hand.

use readperf_symbols::Options;
use readperf_symbols::unwind::{
    Cache, End, Lookup as _, Machine, Mapping, Registers, Space, Stack, Unwinder,
};

use crate::program::{Program, file, stops};

/// Unwinds from 0x1100 with the stack pointer at 0x7000; 0x1000 to 0x2000 is code of no file.
fn unwind(
    machine: Machine,
    mask: u64,
    registers: &[u64],
    words: &[u64],
    big_endian: bool,
) -> (Vec<u64>, End) {
    let unwinder = Unwinder::new(&Options::default());
    let space = Space::new(vec![Mapping { start: 0x1000, end: 0x2000, offset: 0, binary: None }]);
    let bytes = |word: &u64| if big_endian { word.to_be_bytes() } else { word.to_le_bytes() };
    let stack: Vec<u8> = words.iter().flat_map(bytes).collect();
    let registers = Registers::recorded(machine, mask, registers).unwrap();
    let stack = Stack { bytes: &stack, big_endian };
    let mut frames = Vec::new();
    let end = unwinder.unwind(&mut Cache::default(), &space, &registers, stack, 127, &mut frames);
    (frames, end)
}

/// x86-64 with the registers BP, SP and IP.
fn x86_64(fp: u64, words: &[u64]) -> (Vec<u64>, End) {
    unwind(Machine::X86_64, 0b1_1100_0000, &[fp, 0x7000, 0x1100], words, false)
}

#[test]
fn the_chain_is_followed_to_its_end() {
    let words = [1, 2, 0x7030, 0x1234, 5, 6, 0, 0x1500, 9];
    assert_eq!(x86_64(0x7010, &words), (vec![0x1100, 0x1233, 0x14ff], End::Bottom));
}

#[test]
fn what_is_no_chain_is_not_believed() {
    let alone = (vec![0x1100], End::NoUnwindInfo { binary: None });
    // A return address that is no code; a frame below the stack pointer, above the stack, or between words of it; a
    // caller's frame below its callee's; the same again and again.
    assert_eq!(x86_64(0x7010, &[1, 2, 0x7030, 0x9234, 5, 6, 0, 0x1500]), alone);
    assert_eq!(x86_64(0x6ff0, &[1, 2, 0x7030, 0x1234, 5, 6, 0, 0x1500]), alone);
    assert_eq!(x86_64(0x9000, &[1, 2, 0x7030, 0x1234, 5, 6, 0, 0x1500]), alone);
    assert_eq!(x86_64(0x7010, &[1, 2, 0x7008, 0x1234, 5, 6, 0, 0x1500]), alone);
    assert_eq!(x86_64(0x7010, &[1, 2, 0x7010, 0x1234, 5, 6, 0, 0x1500]), alone);
    assert_eq!(x86_64(u64::MAX - 3, &[1, 2, 3]), alone);
    // Nobody's memory.
    let registers = Registers::recorded(Machine::X86_64, 0b1_1000_0000, &[0x7000, 0x3000]).unwrap();
    let mut frames = Vec::new();
    let stack = Stack { bytes: &[0; 64], big_endian: false };
    let unwinder = Unwinder::new(&Options::default());
    let end = unwinder.unwind(&mut Cache::default(), &Space::default(), &registers, stack, 9, &mut frames);
    assert_eq!((frames, end), (vec![0x3000], End::Unmapped));
}

#[test]
fn other_machines_have_other_chains() {
    // RISC-V ELF psABI: the frame pointer is the caller's stack pointer, its return address 8 bytes below it, its frame
    // pointer 16. Registers pc, sp and s0.
    let words = [1, 2, 0x7040, 0x1234, 5, 6, 0, 0x1500, 9];
    let riscv = unwind(Machine::Riscv64, 0b1_0000_0101, &[0x1100, 0x7000, 0x7020], &words, false);
    assert_eq!(riscv, (vec![0x1100, 0x1233, 0x14ff], End::Bottom));
    // Power: the word at the stack pointer leads to the caller's, whose return address is kept two words up.
    let words = [0x7010, 2, 0x7028, 4, 0x1234, 0, 7, 0x1500];
    let power = unwind(Machine::Powerpc64, 1 << 1 | 1 << 32, &[0x7000, 0x1100], &words, true);
    assert_eq!(power, (vec![0x1100, 0x1233, 0x14ff], End::Bottom));
}

/// Code without a table that keeps a frame, called by code with one that has something else in the register: as the end of a
/// library is called by the dynamic linker. Each stop of the program is made the caller.
#[test]
fn callers_with_a_table_need_no_chain() {
    const NO_POINTER: u64 = 5;
    let program = file("x86_64.elf");
    let mut known = Program::new(&program);
    let without_table = Mapping { start: 0x1000, end: 0x2000, offset: 0, binary: None };
    let space = known.space.clone();
    let nobody = Mapping { start: 0x40_0000, end: 0x50_0000, ..without_table };
    let mut seen = 0;
    for stop in stops("x86_64") {
        // Where it does not matter what the register holds.
        let (mask, mut values) = stop.registers.clone();
        values[6] = NO_POINTER;
        let registers = Registers::recorded(Machine::X86_64, mask, &values).unwrap();
        let stack = Stack { bytes: &stop.stack, big_endian: false };
        let (callers, end) = known.unwind_in(&space, &registers, stack);
        if end != End::Bottom {
            continue;
        }
        seen += 1;
        let (sp, ip) = (values[7], values[8]);
        let mut bytes: Vec<u8> = [NO_POINTER, ip + 1].iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.extend(&stop.stack);
        (values[6], values[7], values[8]) = (sp - 16, sp - 16, 0x1100);
        let registers = Registers::recorded(Machine::X86_64, mask, &values).unwrap();
        let mut unwind = |callers: &dyn Fn(u64) -> Option<Mapping>| {
            let stack = Stack { bytes: &bytes, big_endian: false };
            let lookup = |ip| Some(without_table).filter(|code| code.covers(ip)).or_else(|| callers(ip));
            known.unwind_in(&lookup, &registers, stack)
        };
        let expected = [&[0x1100], &*callers].concat();
        assert_eq!(unwind(&|ip| space.find(ip)), (expected, End::Bottom));
        // Without the caller's table there is nothing to believe.
        let alone = (vec![0x1100], End::NoUnwindInfo { binary: None });
        assert_eq!(unwind(&|ip| Some(nobody).filter(|code| code.covers(ip))), alone);
    }
    assert!(seen > 10, "{seen}");
}
