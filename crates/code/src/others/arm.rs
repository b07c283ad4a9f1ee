//! 32-bit Arm: A32 and T32.

use super::operands::{Radix, with_numbers};
use super::{Dialect, Raw, number};
use crate::instruction::{Content, Flow, Instruction};
use crate::text::Text;

pub(super) const DIALECT: Dialect = Dialect { flow, refers_to, more: |_| None, spell };

/// Conditions as suffixes.
const CONDITIONS: [&str; 16] =
    ["eq", "ne", "hs", "cs", "lo", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le"];

/// Names that end as conditions do.
const NAMES: [&str; 17] = [
    "adcs", "bics", "hlt", "hvc", "lsls", "mls", "movs", "muls", "rscs", "sbcs", "smlals", "smmls", "smulls",
    "svc", "teq", "umlals", "umulls",
];

/// The instruction that puts a condition on the next one only.
pub(super) fn it(condition: u8) -> [u8; 2] {
    [condition << 4 | 8, 0xbf]
}

/// The conditions that an IT puts on those behind it, the last one first; `None` if it is none.
pub(super) fn conditions(bytes: &[u8]) -> Option<Vec<u8>> {
    let [low, 0xbf] = *bytes else { return None };
    let (first, mask) = (low >> 4, low & 15);
    if mask == 0 {
        return None;
    }
    // Each bit above the lowest one that is set is the last bit of the condition of one more instruction.
    let more = 3_u32.saturating_sub(mask.trailing_zeros());
    let others = (0..more).map(|at| first & !1 | mask >> (3 - at) & 1);
    let mut all: Vec<u8> = std::iter::once(first).chain(others).collect();
    all.reverse();
    Some(all)
}

fn flow(raw: &Raw<'_>) -> Flow {
    let target = raw.last_number();
    let (base, condition, _) = parts(raw.mnemonic);
    let conditional = !condition.is_empty();
    match base {
        "b" => Flow::Jump { target, conditional },
        "bl" | "blx" => Flow::Call { target },
        "cbz" | "cbnz" => Flow::Jump { target, conditional: true },
        "tbb" | "tbh" => Flow::Jump { target: None, conditional: false },
        "udf" | "bkpt" | "hlt" => Flow::Stop,
        "bx" | "bxj" if raw.operands == "lr" => Flow::Return { conditional },
        "bx" | "bxj" => Flow::Jump { target: None, conditional },
        "svc" | "hvc" | "smc" => Flow::System,
        "rfeia" | "eret" => Flow::Return { conditional: false },
        "pop" if raw.operands.contains("pc") => Flow::Return { conditional },
        "ldm" | "ldmdb" | "ldmib" | "ldmda" if raw.operands.contains("pc}") => Flow::Return { conditional },
        "ldr" if raw.operands.starts_with("pc, [sp], ") => Flow::Return { conditional },
        "mov" | "movs" if raw.operands == "pc, lr" => Flow::Return { conditional },
        "subs" if raw.operands.starts_with("pc, lr") => Flow::Return { conditional },
        "ldr" | "mov" | "movs" | "add" | "sub" | "rsb" if raw.operands.starts_with("pc,") => {
            Flow::Jump { target: None, conditional }
        }
        _ => Flow::Next,
    }
}

/// Loads relative to the program counter, which is some bytes ahead.
fn refers_to(raw: &Raw<'_>, _: Option<&Instruction<'_>>) -> Option<u64> {
    let ahead = if raw.content == Content::Thumb { 4 } else { 8 };
    let pc = raw.address.wrapping_add(ahead) & !3;
    if raw.mnemonic.starts_with("adr") {
        return raw.last_number().map(|distance| pc.wrapping_add(distance));
    }
    if !raw.mnemonic.starts_with("ldr") && !raw.mnemonic.starts_with("vldr") {
        return None;
    }
    let (_, place) = raw.operands.split_once("[pc")?;
    let place = place.strip_suffix(']')?;
    let distance = match place {
        "" => Some(0),
        _ => place.strip_prefix(", ").and_then(number),
    };
    distance.map(|distance| pc.wrapping_add(distance) & 0xffff_ffff)
}

fn spell(raw: &Raw<'_>, text: &mut Text) {
    text.operands =
        with_numbers(
            raw.operands,
            |_| if flow(raw).target().is_some() { Radix::Kept } else { Radix::Decimal },
        );
    text.operands = renamed(&text.operands);
    let (base, condition, width) = parts(raw.mnemonic);
    let is_wide = raw.content == Content::Thumb && raw.bytes.len() == 4;
    let condition = match condition {
        "hs" => "cs",
        "lo" => "cc",
        other => other,
    };
    let mut base = base;
    // A stack in memory is a block in memory that is written downwards.
    if let Some(registers) = text.operands.strip_prefix('{').filter(|_| is_wide) {
        match base {
            "push" => (base, text.operands) = ("stmdb", format!("sp!, {{{registers}")),
            "pop" => (base, text.operands) = ("ldmia", format!("sp!, {{{registers}")),
            _ => {}
        }
    }
    // Names of the same instruction.
    match base {
        "ldm" => base = "ldmia",
        "stm" => base = "stmia",
        "rsb" | "rsbs" if raw.content == Content::Thumb && text.operands.ends_with(", #0") && !is_wide => {
            let kept = text.operands.len().saturating_sub(", #0".len());
            text.operands.truncate(kept);
            base = if base == "rsb" { "neg" } else { "negs" };
        }
        name if name.starts_with("it") => {
            text.operands = text.operands.replace("hs", "cs").replace("lo", "cc");
        }
        _ => {}
    }
    let width = match (raw.content, raw.bytes.len()) {
        (Content::Thumb, 2) if base == "b" => ".n",
        (Content::Thumb, 4) if width.is_empty() && has_short_form(base) => ".w",
        _ if matches!(base, "stmdb" | "rsb" | "rsbs") => "",
        _ => width,
    };
    text.mnemonic = format!("{base}{condition}{width}");
}

/// The name of an instruction without its condition and width, and these.
fn parts(name: &str) -> (&str, &str, &str) {
    let (name, width) = match name.strip_suffix(".w") {
        Some(name) => (name, ".w"),
        None => (name, ""),
    };
    // In names of vector instructions conditions are elsewhere.
    let is_whole = NAMES.contains(&name) || name.contains('.');
    match name.split_at_checked(name.len().saturating_sub(2)) {
        Some((base, condition)) if !is_whole && !base.is_empty() && CONDITIONS.contains(&condition) => {
            (base, condition, width)
        }
        _ => (name, "", width),
    }
}

/// Whether an instruction of four bytes has one of two bytes of the same name.
fn has_short_form(base: &str) -> bool {
    let plain = base.strip_suffix('s').unwrap_or(base);
    matches!(
        plain,
        "adc"
            | "add"
            | "and"
            | "asr"
            | "bic"
            | "cmn"
            | "cmp"
            | "eor"
            | "ldmia"
            | "ldr"
            | "ldrb"
            | "ldrh"
            | "ldrsb"
            | "ldrsh"
            | "lsl"
            | "lsr"
            | "mov"
            | "mul"
            | "mvn"
            | "orr"
            | "ror"
            | "sbc"
            | "stmia"
            | "str"
            | "strb"
            | "strh"
            | "sub"
            | "sxtb"
            | "sxth"
            | "tst"
            | "uxtb"
            | "uxth"
            | "b"
            | "nop"
            | "rev"
    )
}

/// Registers under the names that `objdump` has.
fn renamed(operands: &str) -> String {
    let mut written = String::with_capacity(operands.len());
    for word in operands.split_inclusive(|letter: char| !letter.is_ascii_alphanumeric()) {
        match word.strip_prefix("sb") {
            Some(rest) if !rest.starts_with(|letter: char| letter.is_ascii_alphanumeric()) => {
                written.push_str("r9");
                written.push_str(rest);
            }
            _ => written.push_str(word),
        }
    }
    written
}
