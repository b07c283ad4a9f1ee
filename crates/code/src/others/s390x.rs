//! IBM Z.

use super::operands::{Radix, with_numbers, without_spaces};
use super::{Dialect, Raw};
use crate::instruction::{Flow, Instruction};
use crate::text::Text;

pub(super) const DIALECT: Dialect = Dialect { flow, refers_to, more: |_| None, spell };

fn flow(raw: &Raw<'_>) -> Flow {
    let target = raw.last_number().filter(|_| is_relative(raw.bytes));
    let jump = |conditional| Flow::Jump { target, conditional };
    match raw.mnemonic {
        "brasl" | "bras" => Flow::Call { target },
        // Register 0 stands for no jump.
        "basr" | "balr" if raw.operands.ends_with("%r0") => Flow::Next,
        "basr" | "balr" | "bas" | "bal" => Flow::Call { target: None },
        "br" if raw.operands == "%r14" => Flow::Return { conditional: false },
        "j" | "jg" | "b" | "br" => jump(false),
        "bcr" | "bc" | "brc" | "brcl" if raw.operands.starts_with("0,") => Flow::Next,
        "svc" => Flow::System,
        "lpswe" | "lpsw" => Flow::Return { conditional: false },
        mnemonic if is_conditional(mnemonic) => match is_to_caller(raw) {
            true => Flow::Return { conditional: true },
            false => jump(true),
        },
        _ => Flow::Next,
    }
}

/// Whether the last operand is where the instruction leads, counted from itself.
fn is_relative(bytes: &[u8]) -> bool {
    matches!(bytes, [0x84 | 0x85 | 0xa7 | 0xc0 | 0xcc | 0xec, ..])
}

/// Whether it is BCR, which leads to a register, with that of the caller's address.
fn is_to_caller(raw: &Raw<'_>) -> bool {
    matches!(raw.bytes, [0x07, second] if second & 15 == 14)
}

fn is_conditional(mnemonic: &str) -> bool {
    const CONDITIONS: [&str; 20] = [
        "o", "h", "nle", "l", "nhe", "lh", "ne", "e", "nlh", "he", "nl", "le", "nh", "no", "p", "m", "z",
        "nz", "np", "nm",
    ];
    let is_condition = |text: &str| CONDITIONS.contains(&text);
    let branches = ["brct", "brctg", "brcth", "bct", "bctr", "bctg", "bctgr", "bxh", "bxle", "bxhg", "bxleg"];
    if branches.contains(&mnemonic) || ["brxh", "brxle", "brxhg", "brxlg"].contains(&mnemonic) {
        return true;
    }
    if matches!(mnemonic, "bcr" | "bc" | "brc" | "brcl") {
        return true;
    }
    // Compare and branch: `cgrjne`, `clije`, and those to registers, `crbh`.
    let compares = mnemonic.strip_prefix('c').is_some_and(|rest| {
        let rest = rest.strip_prefix('l').unwrap_or(rest);
        let rest = rest.strip_prefix('g').unwrap_or(rest);
        let rest = rest.strip_prefix(['r', 'i']).and_then(|rest| rest.strip_prefix(['j', 'b']));
        rest.is_some_and(|rest| rest.is_empty() || is_condition(rest))
    });
    let jumps = mnemonic
        .strip_prefix('j')
        .is_some_and(|rest| is_condition(rest) || rest.strip_prefix('g').is_some_and(is_condition));
    let branches = mnemonic
        .strip_prefix('b')
        .is_some_and(|rest| is_condition(rest) || rest.strip_suffix('r').is_some_and(is_condition));
    compares || jumps || branches
}

/// LARL, and loads, stores and comparisons at an address relative to the instruction.
fn refers_to(raw: &Raw<'_>, _: Option<&Instruction<'_>>) -> Option<u64> {
    match raw.bytes {
        [0xc0, second, ..] if second & 15 == 0 => raw.last_number(),
        [0xc4 | 0xc6, ..] => raw.last_number(),
        _ => None,
    }
}

fn spell(raw: &Raw<'_>, text: &mut Text) {
    let is_address = flow(raw).target().is_some() || refers_to(raw, None).is_some();
    let last = raw.operands.matches(", ").count();
    text.operands = without_spaces(&with_numbers(raw.operands, |number| {
        // An address is written by whoever knows its name.
        if is_address && number.operand == last { Radix::Kept } else { Radix::Decimal }
    }));
    let operands: Vec<&str> = text.operands.split(',').collect();
    let (mnemonic, operands) = match (raw.mnemonic, operands.as_slice()) {
        ("bcr", ["0", "%r0"]) => ("nopr", String::new()),
        ("bcr", ["0", register]) => ("nopr", (*register).to_owned()),
        // The highest bit of the second number says that the other bits become zero.
        ("risbg" | "risbgn", [to, from, start, end, by]) => match end.parse::<u8>() {
            Ok(end) if end & 0x80 != 0 => {
                let name = if raw.mnemonic == "risbg" { "risbgz" } else { "risbgnz" };
                (name, format!("{to},{from},{start},{},{by}", end & 0x7f))
            }
            _ => return,
        },
        _ => return,
    };
    text.operands = operands;
    text.mnemonic = mnemonic.to_owned();
}
