//! The programs in `fixtures` and what gdb said of their stacks.

use std::path::PathBuf;

use object::{Object as _, ObjectSegment as _};
use readperf_symbols::unwind::{
    BinaryId, Cache, End, Lookup, Machine, Mapping, Registers, Space, Stack, Unwinder,
};
use readperf_symbols::{Options, Subject};

/// The machines, with the names of their files, and whether their byte order is big.
pub(crate) const PROGRAMS: &[(&str, Machine, bool)] = &[
    ("x86_64", Machine::X86_64, false),
    ("i386", Machine::I386, false),
    ("aarch64", Machine::Aarch64, false),
    ("arm", Machine::Arm, false),
    ("s390x", Machine::S390x, true),
    ("riscv64", Machine::Riscv64, false),
    ("ppc64le", Machine::Powerpc64, false),
];

pub(crate) fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/unwind/fixtures").join(name)
}

/// A moment of a program: its registers and stack, and the address of each frame.
pub(crate) struct Stop {
    pub(crate) registers: (u64, Vec<u64>),
    pub(crate) stack: Vec<u8>,
    pub(crate) frames: Vec<u64>,
}

pub(crate) fn stops(program: &str) -> Vec<Stop> {
    let text = std::fs::read_to_string(file(&format!("{program}.txt"))).unwrap();
    let numbers = |line: &str, kind: &str| -> Vec<u64> {
        let rest = line.strip_prefix(kind).unwrap_or_else(|| panic!("{kind} in {line}"));
        rest.split_whitespace().map(|number| u64::from_str_radix(number, 16).unwrap()).collect()
    };
    let lines: Vec<&str> = text.lines().collect();
    let stop = |lines: &[&str]| {
        let mut registers = numbers(lines[0], "registers");
        let mask = registers.remove(0);
        let stack = lines[1].strip_prefix("stack ").unwrap().as_bytes();
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        let stack = stack.chunks(2).map(byte).collect();
        Stop { registers: (mask, registers), stack, frames: numbers(lines[2], "frames") }
    };
    lines.chunks(3).map(stop).collect()
}

/// The program mapped as its headers say.
pub(crate) fn space(program: &std::path::Path, binary: BinaryId) -> Space {
    let data = std::fs::read(program).unwrap();
    let file = object::File::parse(&*data).unwrap();
    let mapping = |segment: object::Segment<'_, '_>| Mapping {
        start: segment.address(),
        end: segment.address() + segment.size(),
        offset: segment.file_range().0,
        binary: Some(binary),
    };
    Space::new(file.segments().map(mapping).collect())
}

/// An unwinder for one file, and where it is mapped.
pub(crate) struct Program {
    pub(crate) unwinder: Unwinder,
    pub(crate) space: Space,
    pub(crate) cache: Cache,
}

impl Program {
    pub(crate) fn new(path: &std::path::Path) -> Program {
        let unwinder = Unwinder::new(&Options { build_id_cache: None, ..Options::default() });
        let binary = unwinder.binary(&Subject::File { path: path.to_owned(), build_id: None });
        Program { space: space(path, binary), unwinder, cache: Cache::default() }
    }

    pub(crate) fn unwind(&mut self, machine: Machine, big_endian: bool, stop: &Stop) -> (Vec<u64>, End) {
        let (mask, values) = &stop.registers;
        let registers = Registers::recorded(machine, *mask, values).unwrap();
        let stack = Stack { bytes: &stop.stack, big_endian };
        self.unwind_in(&self.space.clone(), &registers, stack)
    }

    pub(crate) fn unwind_in(
        &mut self,
        lookup: &impl Lookup,
        registers: &Registers,
        stack: Stack<'_>,
    ) -> (Vec<u64>, End) {
        let mut frames = Vec::new();
        let end = self.unwinder.unwind(&mut self.cache, lookup, registers, stack, 127, &mut frames);
        (frames, end)
    }
}
