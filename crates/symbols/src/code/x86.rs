//! How long an x86 instruction is.
//!
//! Intel SDM volume 2, appendix A (opcode maps) and chapter 2 (prefixes, ModRM, VEX, EVEX): what counts here is only whether an
//! opcode has a ModRM byte, and how many bytes of immediate follow.

/// Longest instruction, bytes; the processor refuses longer ones.
const LONGEST: usize = 15;

/// Sizes that prefixes change.
#[derive(Clone, Copy, Debug, Default)]
struct Prefixes {
    is_64_bit: bool,
    /// 66: operands of 16 bits.
    operand: bool,
    /// 67: addresses of the other size.
    address: bool,
    /// F2, which with 0F 78 is another instruction.
    repne: bool,
    /// REX.W: operands of 64 bits.
    wide: bool,
}

impl Prefixes {
    /// Bytes of an immediate that is as large as the operand, but never 8.
    fn immediate(self) -> usize {
        if self.operand && !self.wide { 2 } else { 4 }
    }

    /// Bytes of the distance of a jump: in 64-bit mode the prefix for operands does not count.
    fn distance(self) -> usize {
        if self.operand && !self.is_64_bit { 2 } else { 4 }
    }

    /// Bytes of an address in the instruction.
    fn offset(self) -> usize {
        match (self.is_64_bit, self.address) {
            (true, false) => 8,
            (true, true) | (false, false) => 4,
            (false, true) => 2,
        }
    }
}

/// What follows an opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Form {
    modrm: bool,
    /// Bytes of immediate.
    immediate: usize,
}

const fn form(modrm: bool, immediate: usize) -> Form {
    Form { modrm, immediate }
}

/// The length of the instruction that the bytes begin with; `None` if they are none, or not all of it.
pub(super) fn instruction_length(bytes: &[u8], is_64_bit: bool) -> Option<usize> {
    let mut prefixes = Prefixes { is_64_bit, ..Prefixes::default() };
    let mut at = 0;
    loop {
        match *bytes.get(at)? {
            0x66 => prefixes.operand = true,
            0x67 => prefixes.address = true,
            0xf2 => prefixes.repne = true,
            0x26 | 0x2e | 0x36 | 0x3e | 0x64 | 0x65 | 0xf0 | 0xf3 => {}
            _ => break,
        }
        at += 1;
        if at >= LONGEST {
            return None;
        }
    }
    if is_64_bit && let rex @ 0x40..=0x4f = *bytes.get(at)? {
        prefixes.wide = rex & 8 != 0;
        at += 1;
    }
    let (form, at) = opcode(bytes, at, prefixes)?;
    let operand = if form.modrm { modrm_length(bytes, at, prefixes)? } else { 0 };
    let length = at + operand + form.immediate;
    (length <= LONGEST && length <= bytes.len()).then_some(length)
}

/// Whether an instruction is a jump, a call, a return, an interrupt, or a way into the kernel or out of it.
pub(super) fn is_branch(instruction: &[u8], is_64_bit: bool) -> bool {
    let is_prefix = |byte: &u8| {
        matches!(byte, 0x26 | 0x2e | 0x36 | 0x3e | 0x64..=0x67 | 0xf0 | 0xf2 | 0xf3)
            || is_64_bit && (0x40..=0x4f).contains(byte)
    };
    let start = instruction.iter().position(|byte| !is_prefix(byte)).unwrap_or(instruction.len());
    let opcode = instruction.get(start..).unwrap_or_default();
    // Of the group of FF: calls and jumps, near and far.
    let is_indirect = |modrm: u8| (2..=5).contains(&(modrm >> 3 & 7));
    match *opcode {
        [0x70..=0x7f | 0xc2 | 0xc3 | 0xca..=0xcf | 0xe0..=0xe3 | 0xe8 | 0xe9 | 0xeb, ..] => true,
        [0x9a | 0xea, ..] => !is_64_bit,
        // SYSCALL, SYSRET, SYSENTER, SYSEXIT, Jcc.
        [0x0f, 0x05 | 0x07 | 0x34 | 0x35 | 0x80..=0x8f, ..] => true,
        [0xff, modrm, ..] => is_indirect(modrm),
        _ => false,
    }
}

/// What follows the opcode, and where its bytes end.
fn opcode(bytes: &[u8], at: usize, prefixes: Prefixes) -> Option<(Form, usize)> {
    let first = *bytes.get(at)?;
    let next = bytes.get(at + 1).copied();
    // In 32-bit mode these are old instructions unless what would be their ModRM byte names no memory.
    let is_vector = || Some(prefixes.is_64_bit || next? & 0xc0 == 0xc0);
    Some(match first {
        0x0f => match next? {
            0x38 => (form(true, 0), at + 3),
            0x3a => (form(true, 1), at + 3),
            second => (two_byte(second, prefixes)?, at + 2),
        },
        0xc5 if is_vector()? => (vector(1, *bytes.get(at + 2)?)?, at + 3),
        0xc4 if is_vector()? => (vector(next? & 0x1f, *bytes.get(at + 3)?)?, at + 4),
        0x62 if is_vector()? => (vector(next? & 7, *bytes.get(at + 4)?)?, at + 5),
        // AMD's XOP; map numbers below 8 are a POP.
        0x8f if next? & 0x1f >= 8 => {
            let immediate = match next? & 0x1f {
                8 => 1,
                9 => 0,
                10 => 4,
                _ => return None,
            };
            (form(true, immediate), at + 4)
        }
        _ => (one_byte(first, next, prefixes)?, at + 1),
    })
}

/// The map of single bytes. `next` is what would be the ModRM byte.
fn one_byte(opcode: u8, next: Option<u8>, prefixes: Prefixes) -> Option<Form> {
    let immediate = prefixes.immediate();
    let only_32_bit = |form: Form| (!prefixes.is_64_bit).then_some(form);
    Some(match opcode {
        // Arithmetic: four forms with ModRM, two with immediates, two old ones.
        0x00..=0x3f => match opcode & 7 {
            0..=3 => form(true, 0),
            4 => form(false, 1),
            5 => form(false, immediate),
            _ => return only_32_bit(form(false, 0)),
        },
        0x60 | 0x61 | 0xce | 0xd6 => return only_32_bit(form(false, 0)),
        0x62 => return only_32_bit(form(true, 0)),
        0xc4 | 0xc5 => return only_32_bit(form(true, 0)),
        0x68 => form(false, immediate),
        0x69 | 0x81 | 0xc7 => form(true, immediate),
        0x82 => return only_32_bit(form(true, 1)),
        0x6b | 0x80 | 0x83 | 0xc0 | 0xc1 | 0xc6 => form(true, 1),
        0x6a | 0x70..=0x7f | 0xa8 | 0xb0..=0xb7 | 0xcd | 0xe0..=0xe7 | 0xeb => form(false, 1),
        0xd4 | 0xd5 => return only_32_bit(form(false, 1)),
        0x63 | 0x84..=0x8f | 0xd0..=0xd3 | 0xd8..=0xdf | 0xfe | 0xff => form(true, 0),
        // Far calls and jumps: an address and a segment.
        0x9a | 0xea => return only_32_bit(form(false, immediate + 2)),
        0xa0..=0xa3 => form(false, prefixes.offset()),
        0xa9 => form(false, immediate),
        0xb8..=0xbf if prefixes.wide => form(false, 8),
        0xb8..=0xbf => form(false, immediate),
        0xc2 | 0xca => form(false, 2),
        0xc8 => form(false, 3),
        0xe8 | 0xe9 => form(false, prefixes.distance()),
        // TEST, the only ones of their group with an immediate.
        0xf6 => form(true, if next? & 0x38 < 0x10 { 1 } else { 0 }),
        0xf7 => form(true, if next? & 0x38 < 0x10 { immediate } else { 0 }),
        _ => form(false, 0),
    })
}

/// The map behind 0F.
fn two_byte(opcode: u8, prefixes: Prefixes) -> Option<Form> {
    Some(match opcode {
        0x05..=0x09 | 0x0b | 0x0e | 0x30..=0x37 | 0x77 | 0xa0..=0xa2 | 0xa8..=0xaa | 0xc8..=0xcf => {
            form(false, 0)
        }
        0x04 | 0x0a | 0x0c => return None,
        0x80..=0x8f => form(false, prefixes.distance()),
        // SSE4a: two immediates.
        0x78 if prefixes.operand || prefixes.repne => form(true, 2),
        0x0f | 0x70..=0x73 | 0xa4 | 0xac | 0xba | 0xc2 | 0xc4..=0xc6 => form(true, 1),
        _ => form(true, 0),
    })
}

/// The maps of VEX and EVEX. Maps 5 and 6 are those of half floats.
fn vector(map: u8, opcode: u8) -> Option<Form> {
    Some(match (map, opcode) {
        (1, 0x77) => form(false, 0),
        (1, 0x70..=0x73 | 0xc2 | 0xc4..=0xc6) | (3, _) => form(true, 1),
        (1 | 2 | 5 | 6, _) => form(true, 0),
        _ => return None,
    })
}

/// How long ModRM, SIB and displacement are together.
fn modrm_length(bytes: &[u8], at: usize, prefixes: Prefixes) -> Option<usize> {
    let modrm = *bytes.get(at)?;
    let (mode, memory) = (modrm >> 6, modrm & 7);
    if mode == 3 {
        return Some(1);
    }
    if prefixes.address && !prefixes.is_64_bit {
        return Some(match (mode, memory) {
            (0, 6) | (2, _) => 3,
            (1, _) => 2,
            _ => 1,
        });
    }
    let has_sib = memory == 4;
    let base = if has_sib { *bytes.get(at + 1)? & 7 } else { memory };
    let displacement = match mode {
        0 if base == 5 => 4,
        1 => 1,
        2 => 4,
        _ => 0,
    };
    Some(1 + usize::from(has_sib) + displacement)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes and lengths as `objdump -d` (binutils 2.40) has them.
    #[test]
    fn lengths_are_those_of_a_disassembler() {
        for (bytes, length) in [
            (&[0x48, 0x29, 0xc2, 0x90][..], 3),
            (&[0xc7, 0x43, 0x18, 1, 0, 0, 0], 7),
            (&[0x66, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0], 9),
            (&[0x49, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8], 10),
            (&[0xc5, 0xf8, 0x77, 0x90], 3),
            (&[0xc4, 0xe2, 0x7d, 0x5a, 0x05, 1, 2, 3, 4], 9),
            (&[0x62, 0xf1, 0xfe, 0x28, 0x6f, 0x46, 1], 7),
            (&[0xf3, 0x0f, 0x1e, 0xfa], 4),
            (&[0xf6, 0xc2, 0x01], 3),
            (&[0xf7, 0xd8, 0x90], 2),
        ] {
            assert_eq!(instruction_length(bytes, true), Some(length), "{bytes:x?}");
            assert_eq!(instruction_length(bytes.get(..length - 1).unwrap(), true), None, "cut {bytes:x?}");
        }
        assert_eq!(instruction_length(&[0x40, 0x90], false), Some(1), "inc eax");
        assert_eq!(instruction_length(&[0x40, 0x90], true), Some(2), "a prefix");
        assert_eq!(instruction_length(&[0x06], true), None);
        assert_eq!(instruction_length(&[0x66; 20], true), None);
    }
    /// Bytes as `objdump -d` (binutils 2.40) has them, and whether they go elsewhere (Intel SDM volume 2).
    #[test]
    fn branches_are_told_from_the_rest() {
        for (bytes, branch) in [
            (&[0xe8, 0x64, 0xff, 0xff, 0xff][..], true),
            (&[0xf2, 0xe9, 0, 0, 0, 0], true),
            (&[0x74, 0x15], true),
            (&[0x0f, 0x84, 0, 0, 0, 0], true),
            (&[0xc3], true),
            (&[0xff, 0x25, 0, 0, 0, 0], true),
            (&[0x41, 0xff, 0xd4], true),
            (&[0xff, 0xc0], false),
            (&[0x0f, 0x05], true),
            (&[0x48, 0x8d, 0x3d, 0x91, 0x2f, 0, 0], false),
            (&[0x0f, 0xb6, 0xc0], false),
            (&[0x66, 0x90], false),
            (&[], false),
        ] {
            assert_eq!(is_branch(bytes, true), branch, "{bytes:x?}");
        }
        assert!(!is_branch(&[0x43], false), "inc ebx");
    }
}
