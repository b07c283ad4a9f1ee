//! PowerPC.

use super::operands::{Radix, with_numbers, without_spaces};
use super::{Dialect, Raw};
use crate::instruction::{Flow, Instruction};
use crate::text::Text;

pub(super) const DIALECT: Dialect = Dialect { flow, refers_to, more, spell };

fn flow(raw: &Raw<'_>) -> Flow {
    match raw.mnemonic {
        "sc" | "scv" => return Flow::System,
        "trap" => return Flow::Stop,
        "rfid" | "rfi" | "hrfid" | "rfscv" => return Flow::Return { conditional: false },
        mnemonic if !mnemonic.starts_with('b') => return Flow::Next,
        "brh" | "brw" | "brd" | "brinc" | "bpermd" => return Flow::Next,
        mnemonic if mnemonic.starts_with("bcd") && !mnemonic.starts_with("bcdn") => return Flow::Next,
        _ => {}
    }
    // What is expected is no part of the name.
    let name = raw.mnemonic.trim_end_matches(['+', '-']);
    match name {
        "b" | "ba" => Flow::Jump { target: raw.last_number(), conditional: false },
        "bl" | "bla" => Flow::Call { target: raw.last_number() },
        "blr" => Flow::Return { conditional: false },
        "bctr" | "btar" => Flow::Jump { target: None, conditional: false },
        _ if name.ends_with("lrl") || name.ends_with("ctrl") || name.ends_with("tarl") => {
            Flow::Call { target: None }
        }
        _ if name.ends_with("lr") => Flow::Return { conditional: true },
        _ if name.ends_with("ctr") || name.ends_with("tar") => Flow::Jump { target: None, conditional: true },
        // `bnel`, `bdnzla`; the conditions that end in `l` do not exist.
        _ if name.ends_with('l') || name.ends_with("la") => Flow::Call { target: raw.last_number() },
        _ => Flow::Jump { target: raw.last_number(), conditional: true },
    }
}

/// System calls of Power ISA 3.0 ("System Call Vectored").
fn more(word: u32) -> Option<(&'static str, String)> {
    (word & 0xffff_f01f == 0x4400_0001).then(|| ("scv", (word >> 5 & 0x7f).to_string()))
}

fn refers_to(_: &Raw<'_>, _: Option<&Instruction<'_>>) -> Option<u64> {
    None
}

fn spell(raw: &Raw<'_>, text: &mut Text) {
    let is_address = flow(raw).target().is_some();
    let last = raw.operands.matches(", ").count();
    text.operands = without_spaces(&with_numbers(raw.operands, |number| {
        // An address is written by whoever knows its name.
        if is_address && number.operand == last { Radix::Kept } else { Radix::Decimal }
    }));
    // Registers of VSX, which the others are parts of.
    if ["lxv", "stxv", "xx", "xv", "xs"].iter().any(|start| raw.mnemonic.starts_with(start)) {
        text.operands = with_vector_registers(&text.operands);
    }
    let (name, dot) = match raw.mnemonic.strip_suffix('.') {
        Some(name) => (name, "."),
        None => (raw.mnemonic, ""),
    };
    let number = |text: &str| text.parse::<u32>().ok();
    let operands: Vec<&str> = text.operands.split(',').collect();
    // Rotations that do nothing but shift, or clear bits, and operations of a register with itself.
    let (name, operands) = match (name, operands.as_slice()) {
        ("rldicl", [to, from, by, start])
            if number(by).zip(number(start)).is_some_and(|(by, start)| by + start == 64) =>
        {
            ("srdi", format!("{to},{from},{start}"))
        }
        ("rldicr", [to, from, "0", end]) => match number(end).and_then(|end| 63_u32.checked_sub(end)) {
            Some(bits) => ("clrrdi", format!("{to},{from},{bits}")),
            None => return,
        },
        ("rldicr", [to, from, by, end])
            if number(by).zip(number(end)).is_some_and(|(by, end)| by + end == 63) =>
        {
            ("sldi", format!("{to},{from},{by}"))
        }
        ("rlwinm", [to, from, "0", "0", end]) => match number(end).and_then(|end| 31_u32.checked_sub(end)) {
            Some(bits) => ("clrrwi", format!("{to},{from},{bits}")),
            None => return,
        },
        ("or", [to, left, right]) if left == right => ("mr", format!("{to},{left}")),
        ("nor", [to, left, right]) if left == right => ("not", format!("{to},{left}")),
        _ => return,
    };
    text.operands = operands;
    text.mnemonic = format!("{name}{dot}");
}

fn with_vector_registers(operands: &str) -> String {
    let number = |operand: &str, letter: char| operand.strip_prefix(letter)?.parse::<u32>().ok();
    let renamed = operands.split(',').map(|operand| match (number(operand, 'v'), number(operand, 'f')) {
        (Some(number), _) => format!("vs{}", number + 32),
        (_, Some(number)) => format!("vs{number}"),
        _ => operand.to_owned(),
    });
    renamed.collect::<Vec<_>>().join(",")
}
