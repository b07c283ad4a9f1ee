#![allow(missing_docs)]
use std::fmt;
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flow {
    Next,
    Jump { target: Option<u64>, conditional: bool },
    Call { target: Option<u64> },
    Return,
    System,
    Stop,
    Bad,
    Data,
}
impl Flow {
    pub fn target(self) -> Option<u64> {
        match self {
            Flow::Jump { target, .. } | Flow::Call { target } => target,
            _ => None,
        }
    }
}
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Text {
    pub mnemonic: String,
    pub operands: String,
    pub comment: Option<String>,
}
impl fmt::Display for Text {
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
