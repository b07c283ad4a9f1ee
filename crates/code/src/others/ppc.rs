//! PowerPC.

use super::{Dialect, Raw};
use crate::instruction::{Flow, Instruction};
use crate::text::Text;

pub(super) const DIALECT: Dialect = Dialect { flow, refers_to, spell };

fn flow(raw: &Raw<'_>) -> Flow {
    match raw.mnemonic {
        "sc" | "scv" => return Flow::System,
        "trap" => return Flow::Stop,
        "rfid" | "rfi" | "hrfid" | "rfscv" => return Flow::Return,
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
        "blr" => Flow::Return,
        "bctr" | "btar" => Flow::Jump { target: None, conditional: false },
        _ if name.ends_with("lrl") || name.ends_with("ctrl") || name.ends_with("tarl") => {
            Flow::Call { target: None }
        }
        _ if name.ends_with("lr") || name.ends_with("ctr") || name.ends_with("tar") => {
            Flow::Jump { target: None, conditional: true }
        }
        // `bnel`, `bdnzla`; the conditions that end in `l` do not exist.
        _ if name.ends_with('l') || name.ends_with("la") => Flow::Call { target: raw.last_number() },
        _ => Flow::Jump { target: raw.last_number(), conditional: true },
    }
}

fn refers_to(_: &Raw<'_>, _: Option<&Instruction<'_>>) -> Option<u64> {
    None
}

fn spell(_raw: &Raw<'_>, _text: &mut Text) {}
