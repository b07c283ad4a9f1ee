//! 64-bit Arm.

use super::{Dialect, Raw, word};
use crate::instruction::{Flow, Instruction};
use crate::text::Text;

pub(super) const DIALECT: Dialect = Dialect { flow, refers_to, spell };

fn flow(raw: &Raw<'_>) -> Flow {
    let target = raw.last_number();
    match raw.mnemonic {
        "b" => Flow::Jump { target, conditional: false },
        "bl" => Flow::Call { target },
        "cbz" | "cbnz" | "tbz" | "tbnz" => Flow::Jump { target, conditional: true },
        // With authentication of pointers (`braa`), too.
        "br" | "braa" | "braaz" | "brab" | "brabz" => Flow::Jump { target: None, conditional: false },
        "blr" | "blraa" | "blraaz" | "blrab" | "blrabz" => Flow::Call { target: None },
        "ret" | "retaa" | "retab" | "eret" | "eretaa" | "eretab" => Flow::Return,
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

fn spell(_raw: &Raw<'_>, text: &mut Text) {
    // The other names of these conditions.
    text.mnemonic = match text.mnemonic.as_str() {
        "b.hs" => "b.cs".to_owned(),
        "b.lo" => "b.cc".to_owned(),
        _ => return,
    };
}
