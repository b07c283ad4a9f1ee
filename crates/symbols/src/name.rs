//! How much of a name is kept. Names come from files that anybody may have written, and one of megabytes may stand for
//! thousands of addresses.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Most bytes of a name that are kept. The longest names of compilers have some thousand.
pub(crate) const MAX_BYTES: usize = 16 << 10;

/// What stands at the end of a name that was cut.
const CUT: &str = "…[cut: longer than 16384 bytes]";

/// A name as text. What is longer than [`MAX_BYTES`] is cut, and says so.
pub(crate) fn as_name(bytes: &[u8]) -> Cow<'_, str> {
    let Some(kept) = bytes.get(..MAX_BYTES).filter(|kept| kept.len() < bytes.len()) else {
        return as_text(bytes);
    };
    // Not in the middle of a character.
    let is_inside = |at: &usize| bytes.get(*at).is_some_and(|byte| byte & 0xc0 == 0x80);
    let end = (kept.len().saturating_sub(3)..=kept.len()).rev().find(|at| !is_inside(at));
    let kept = end.and_then(|end| kept.get(..end)).unwrap_or(kept);
    Cow::Owned(as_text(kept).into_owned() + CUT)
}

/// Bytes as text: what is no UTF-8 becomes an escape (`\xff`), so that names that differ still differ.
pub(crate) fn as_text(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len().saturating_add(8));
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a string does not fail.
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_and_say_so() {
        assert!(CUT.contains(&MAX_BYTES.to_string()));
        let at_limit = vec![b'a'; MAX_BYTES];
        assert_eq!(as_name(&at_limit).len(), MAX_BYTES);
        let one_more = vec![b'a'; MAX_BYTES + 1];
        assert_eq!(as_name(&one_more), format!("{}{CUT}", "a".repeat(MAX_BYTES)));
        // A character of two bytes at the border.
        let text = "a".repeat(MAX_BYTES - 1) + "ä";
        assert_eq!(as_name(text.as_bytes()), format!("{}{CUT}", "a".repeat(MAX_BYTES - 1)));
        assert_eq!(as_name(b"a\xffb\xfe"), r"a\xffb\xfe");
    }
}
