//! The text of an instruction.

use std::fmt;

/// What an address in an instruction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refers {
    /// Where a jump or a call leads.
    Code,
    /// The place of data.
    Data,
}

/// Says how an address is spelled; `None` for the number.
pub type Names<'n> = dyn FnMut(u64, Refers) -> Option<String> + 'n;

/// The text of an instruction in its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Text {
    /// What it does: `mov`, with its prefixes (`rep stos`).
    pub mnemonic: String,
    /// What it does it with; empty if with nothing.
    pub operands: String,
    /// The address of data that the operands do not show, or its name.
    pub comment: Option<String>,
}

impl fmt::Display for Text {
    /// As `objdump` does it for x86: the mnemonic takes six columns.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.operands.is_empty() {
            true => f.write_str(&self.mnemonic)?,
            false => write!(f, "{:<6} {}", self.mnemonic, self.operands)?,
        }
        match &self.comment {
            Some(comment) => write!(f, "        # {comment}"),
            None => Ok(()),
        }
    }
}

/// An address as it is spelled.
pub(crate) fn spelled(names: &mut Names<'_>, address: u64, refers: Refers) -> String {
    names(address, refers).unwrap_or_else(|| format!("{address:x}"))
}

/// The text of bytes that are no instruction.
pub(crate) fn bad() -> Text {
    Text { mnemonic: "(bad)".to_owned(), ..Text::default() }
}
