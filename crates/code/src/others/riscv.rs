//! RISC-V.

use super::operands::{Radix, with_numbers, without_spaces};
use super::{Dialect, Raw, word};
use crate::instruction::{Flow, Instruction};
use crate::text::Text;

pub(super) const DIALECT: Dialect = Dialect { flow, refers_to, more: |_| None, spell };

fn flow(raw: &Raw<'_>) -> Flow {
    // Capstone tells distances.
    let target = raw.last_number().map(|distance| raw.address.wrapping_add(distance));
    match raw.mnemonic.strip_prefix("c.").unwrap_or(raw.mnemonic) {
        "j" => Flow::Jump { target, conditional: false },
        "jal" => Flow::Call { target },
        "ret" | "mret" | "sret" | "uret" => Flow::Return { conditional: false },
        "jr" if raw.operands == "ra" => Flow::Return { conditional: false },
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

fn spell(raw: &Raw<'_>, text: &mut Text) {
    let name = raw.mnemonic;
    let is_hexadecimal = matches!(name.trim_start_matches("c."), "lui" | "auipc") || is_shift(name);
    let operands = with_numbers(raw.operands, |_| match is_hexadecimal {
        true => Radix::Hexadecimal,
        false => Radix::Decimal,
    });
    text.operands = without_spaces(&operands);
    if let Some(short) = name.strip_prefix("c.") {
        spell_compressed(short, text);
    }
    // What some instructions are when an operand is nothing.
    let operands: Vec<&str> = text.operands.split(',').collect();
    let (mnemonic, operands) = match (text.mnemonic.as_str(), operands.as_slice()) {
        ("addi", ["zero", "zero", "0"]) => ("nop", String::new()),
        ("addi", [to, "zero", value]) => ("li", format!("{to},{value}")),
        ("addi", [to, from, "0"]) if *from != "zero" => ("mv", format!("{to},{from}")),
        ("addiw", [to, from, "0"]) => ("sext.w", format!("{to},{from}")),
        ("andi", [to, from, "255"]) => ("zext.b", format!("{to},{from}")),
        ("jalr", [to, from, "0"]) => ("jalr", format!("{to},{from}")),
        ("jr", ["ra"]) => ("ret", String::new()),
        _ => return,
    };
    text.operands = operands;
    text.mnemonic = mnemonic.to_owned();
}

/// Whether the number of an instruction says how far it shifts.
fn is_shift(name: &str) -> bool {
    matches!(name.trim_start_matches("c."), "slli" | "srli" | "srai" | "slliw" | "srliw" | "sraiw")
}

/// Instructions of two bytes have the names of those that they are short for.
fn spell_compressed(short: &str, text: &mut Text) {
    let (first, rest) = text.operands.split_once(',').unwrap_or((&text.operands, ""));
    let operands = match short {
        "add" | "addi" | "addw" | "addiw" | "sub" | "subw" | "and" | "andi" | "or" | "xor" | "slli"
        | "srli" | "srai" | "addi16sp" => Some(format!("{first},{first},{rest}")),
        _ => None,
    };
    text.mnemonic = match short {
        "addi16sp" | "addi4spn" => "addi",
        "ldsp" | "sdsp" | "lwsp" | "swsp" | "fldsp" | "fsdsp" | "flwsp" | "fswsp" => {
            short.trim_end_matches("sp")
        }
        _ => short,
    }
    .to_owned();
    if let Some(operands) = operands {
        text.operands = operands;
    }
}
