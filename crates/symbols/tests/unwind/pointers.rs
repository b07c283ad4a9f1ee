//! Code without tables: generated code, and memory that nobody knows. The stacks are written by hand.

use readperf_symbols::Options;
use readperf_symbols::unwind::{Cache, End, Machine, Mapping, Registers, Space, Stack, Unwinder};

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
