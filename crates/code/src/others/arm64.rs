//! 64-bit Arm.

use super::operands::{Radix, with_numbers};
use super::{Dialect, Raw, word};
use crate::instruction::{Flow, Instruction};
use crate::text::Text;

pub(super) const DIALECT: Dialect = Dialect { flow, refers_to, more: |_| None, spell };

fn flow(raw: &Raw<'_>) -> Flow {
    let target = raw.last_number();
    match raw.mnemonic {
        "b" => Flow::Jump { target, conditional: false },
        "bl" => Flow::Call { target },
        "cbz" | "cbnz" | "tbz" | "tbnz" => Flow::Jump { target, conditional: true },
        // With authentication of pointers (`braa`), too.
        "br" | "braa" | "braaz" | "brab" | "brabz" => Flow::Jump { target: None, conditional: false },
        "blr" | "blraa" | "blraaz" | "blrab" | "blrabz" => Flow::Call { target: None },
        "ret" | "retaa" | "retab" | "eret" | "eretaa" | "eretab" => Flow::Return { conditional: false },
        "svc" | "hvc" | "smc" => Flow::System,
        "brk" | "hlt" | "udf" => Flow::Stop,
        mnemonic if mnemonic.starts_with("b.") || mnemonic.starts_with("bc.") => {
            Flow::Jump { target, conditional: true }
        }
        _ => Flow::Next,
    }
}

/// ADRP gives the page, and the instruction that uses its register mostly follows.
fn refers_to(raw: &Raw<'_>, last: Option<&Instruction<'_>>) -> Option<u64> {
    match raw.mnemonic {
        "adr" | "adrp" => return raw.last_number(),
        "ldr" | "ldrsw" | "prfm" if !raw.operands.contains('[') => return raw.last_number(),
        _ => {}
    }
    let last = last.filter(|last| word(last.bytes) & 0x9f00_0000 == 0x9000_0000)?;
    let (page, word) = (last.refers_to?, raw.word());
    if word >> 5 & 31 != self::word(last.bytes) & 31 {
        return None;
    }
    let value = u64::from(word >> 10 & 0xfff);
    let offset = match word {
        // ADD, 64 bits, of a number.
        word if word & 0xff80_0000 == 0x9100_0000 => value << ((word >> 22 & 1) * 12),
        // Loads and stores with an offset without sign; those of 16 bytes have the size in another bit.
        word if word & 0x3b00_0000 == 0x3900_0000 => {
            let is_vector = word & 0x0480_0000 == 0x0480_0000;
            value << if is_vector && word >> 30 == 0 { 4 } else { word >> 30 }
        }
        _ => return None,
    };
    Some(page.wrapping_add(offset))
}

fn spell(raw: &Raw<'_>, text: &mut Text) {
    let name = raw.mnemonic;
    let is_distance = is_shift(name);
    // Numbers are hexadecimal but for offsets, and how far or how many bits.
    text.operands = with_numbers(raw.operands, |number| match number.is_of_memory || is_distance {
        true => Radix::Decimal,
        false => Radix::Hexadecimal,
    });
    if let Some((kept, amount)) = text.operands.rsplit_once(" #0x")
        && ["lsl", "lsr", "asr", "ror", "msl", "sxtw", "uxtw", "sxtx", "uxtx", "uxtb", "uxth", "sxtb", "sxth"]
            .iter()
            .any(|shift| kept.ends_with(shift))
        && let Ok(amount) = u32::from_str_radix(amount, 16)
    {
        text.operands = format!("{kept} #{amount}");
    }
    if let Some((kept, negative)) = text.operands.rsplit_once("#-0x")
        && !kept.contains('[')
        && let Ok(value) = u64::from_str_radix(negative, 16)
    {
        let value = value.wrapping_neg();
        let value = if raw.operands.starts_with('w') { value & 0xffff_ffff } else { value };
        text.operands = format!("{kept}#{value:#x}");
    }
    // Conditions have two names.
    for (theirs, ours) in [("hs", "cs"), ("lo", "cc")] {
        if let Some(kept) = text.operands.strip_suffix(theirs).filter(|kept| kept.ends_with(' ')) {
            text.operands = format!("{kept}{ours}");
        }
        if name.strip_prefix("b.") == Some(theirs) {
            text.mnemonic = format!("b.{ours}");
        }
    }
    if let Some(long) = name.strip_prefix(['u', 's']).filter(|_| text.operands.ends_with(", #0"))
        && matches!(long, "shll" | "shll2")
    {
        let kept = text.operands.len().saturating_sub(", #0".len());
        text.operands.truncate(kept);
        text.mnemonic = name.replacen("shll", "xtl", 1);
    }
}

/// Whether the numbers of an instruction say how far it shifts, or which bits.
fn is_shift(name: &str) -> bool {
    matches!(
        name,
        "lsl"
            | "lsr"
            | "asr"
            | "ror"
            | "extr"
            | "ubfx"
            | "sbfx"
            | "ubfiz"
            | "sbfiz"
            | "bfi"
            | "bfxil"
            | "bfc"
            | "bfm"
            | "ubfm"
            | "sbfm"
            | "tbz"
            | "tbnz"
            | "shl"
            | "sshr"
            | "ushr"
            | "sshll"
            | "ushll"
            | "sshll2"
            | "ushll2"
            | "shrn"
            | "shrn2"
            | "ssra"
            | "usra"
            | "sli"
            | "sri"
            | "ext"
    )
}
