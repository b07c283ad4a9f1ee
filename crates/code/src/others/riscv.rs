//! RISC-V.

use super::{Dialect, Raw, last_operand, word};
use crate::instruction::{Flow, Instruction};
use crate::text::Text;

pub(super) const DIALECT: Dialect = Dialect { flow, refers_to, spell };

fn flow(raw: &Raw<'_>) -> Flow {
    // Capstone tells distances.
    let target = raw.last_number().map(|distance| raw.address.wrapping_add(distance));
    match raw.mnemonic.strip_prefix("c.").unwrap_or(raw.mnemonic) {
        "j" => Flow::Jump { target, conditional: false },
        "jal" => Flow::Call { target },
        "ret" | "mret" | "sret" | "uret" => Flow::Return,
        "jr" if raw.operands == "ra" => Flow::Return,
        "jr" => Flow::Jump { target: None, conditional: false },
        "jalr" => jalr(raw),
        "ecall" => Flow::System,
        "ebreak" | "unimp" => Flow::Stop,
        "beq" | "bne" | "blt" | "bge" | "bltu" | "bgeu" | "beqz" | "bnez" | "blez" | "bgez" | "bltz"
        | "bgtz" | "bgt" | "ble" | "bgtu" | "bleu" => Flow::Jump { target, conditional: true },
        _ => Flow::Next,
    }
}

/// It is a jump if it keeps no address to return to.
fn jalr(raw: &Raw<'_>) -> Flow {
    match raw.bytes.len() == 4 && raw.word() >> 7 & 31 == 0 {
        true => Flow::Jump { target: None, conditional: false },
        false => Flow::Call { target: None },
    }
}

/// AUIPC gives the upper bits, and the instruction that uses its register mostly follows.
fn refers_to(raw: &Raw<'_>, last: Option<&Instruction<'_>>) -> Option<u64> {
    let last = last.filter(|last| last.bytes.len() == 4 && word(last.bytes) & 0x7f == 0x17)?;
    let (upper, word) = (word(last.bytes), raw.word());
    if raw.bytes.len() != 4 || word >> 15 & 31 != upper >> 7 & 31 {
        return None;
    }
    let lower = match word & 0x7f {
        // Loads, ADDI.
        0x03 | 0x07 => word >> 20,
        0x13 if word >> 12 & 7 == 0 => word >> 20,
        // Stores.
        0x23 | 0x27 => word >> 25 << 5 | word >> 7 & 31,
        _ => return None,
    };
    let sign_extended =
        |value: u32, bits: u32| i64::from((value << (32 - bits)).cast_signed() >> (32 - bits));
    let distance = sign_extended(upper & 0xffff_f000, 32).wrapping_add(sign_extended(lower, 12));
    Some(last.address.wrapping_add_signed(distance))
}

fn spell(_raw: &Raw<'_>, text: &mut Text) {
    if let Some(short) = text.mnemonic.strip_prefix("c.") {
        text.mnemonic = short.to_owned();
    }
    let _ = last_operand(&text.operands);
}
