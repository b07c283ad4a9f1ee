//! Data between instructions, as words.

use crate::instruction::{Content, Flow, Instruction};
use crate::text::Text;

/// The longest of the pieces, in bytes.
const WORD: u64 = 4;

/// The first word of some data: up to the next address that a word begins at.
pub(crate) fn first(address: u64, bytes: &[u8]) -> Option<Instruction<'_>> {
    let to_word = usize::try_from(WORD - address % WORD).unwrap_or(1);
    // Half a word and single bytes up to there.
    let length = match (to_word, bytes.len()) {
        (4, 4..) => 4,
        (2 | 4, 2..) => 2,
        _ => 1,
    };
    let bytes = bytes.get(..length)?;
    let content = Content::Data;
    Some(Instruction { address, bytes, flow: Flow::Data, refers_to: None, content, condition: None })
}

/// The text of such a word.
pub(crate) fn text(bytes: &[u8], big_endian: bool) -> Text {
    let mut value = 0_u32;
    let mut add = |byte: &u8| value = value << 8 | u32::from(*byte);
    match big_endian {
        true => bytes.iter().for_each(&mut add),
        false => bytes.iter().rev().for_each(&mut add),
    }
    let (mnemonic, digits) = match bytes.len() {
        4 => (".word", 8),
        2 => (".short", 4),
        _ => (".byte", 2),
    };
    Text { mnemonic: mnemonic.to_owned(), operands: format!("0x{value:0digits$x}"), comment: None }
}
