//! How long what is no known instruction is: as long as its first bits say, so that the next one is found.

use crate::instruction::Content;
use crate::machine::Machine;

/// The bytes of what begins here, at least one. There may be fewer.
pub(super) fn of(machine: Machine, content: Content, bytes: &[u8]) -> usize {
    let [first, second] = bytes.first_chunk().copied().unwrap_or_default();
    let bits = u16::from_le_bytes([first, second]);
    match (machine, content) {
        (Machine::Arm, Content::Thumb) if bits >> 11 >= 0b11101 => 4,
        (Machine::Arm, Content::Thumb) => 2,
        (Machine::Riscv32 | Machine::Riscv64, _) => riscv(bits),
        (Machine::S390x, _) => match first >> 6 {
            0 => 2,
            1 | 2 => 4,
            _ => 6,
        },
        _ => 4,
    }
}

/// The unprivileged specification, 1.5: "Base Instruction-Length Encoding".
fn riscv(bits: u16) -> usize {
    match bits {
        bits if bits & 3 != 3 => 2,
        bits if bits & 0x1f != 0x1f => 4,
        bits if bits & 0x3f == 0x1f => 6,
        bits if bits & 0x7f == 0x3f => 8,
        _ => 2,
    }
}
