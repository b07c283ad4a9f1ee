//! Text for terminals: names made harmless, numbers made readable, columns.

use crate::hidden::is_hidden;
pub use perffile::wire::text::decoded;
pub use readperf_profile::grouped::{counted, grouped};
use std::borrow::Cow;
use std::fmt::Write as _;
use unicode_width::UnicodeWidthChar as _;

/// A recorded name as it may be shown: what [`is_hidden`] becomes an escape, as in `\x1b`, `\u{202e}`, `\n`.
///
/// A backslash stays as it is, since names have some (`dev-disk-by\x2duuid`): the text for people does not tell a recorded
/// `\x1b` from an escape; JSON does. What is shown once is not changed by being shown again.
pub fn printable(name: &str) -> Cow<'_, str> {
    // Nearly all names are plain, which is seen without looking at characters.
    let is_plain = |byte: u8| (0x20..0x7f).contains(&byte);
    if name.bytes().all(is_plain) || !name.contains(is_hidden) {
        return Cow::Borrowed(name);
    }
    let mut shown = String::with_capacity(name.len() + 16);
    for c in name.chars() {
        match is_hidden(c) {
            true => push_escape(&mut shown, c),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// A recorded name of bytes as it may be shown: what is no UTF-8 becomes an escape, too, as in `\xff`.
pub fn printable_bytes(name: &[u8]) -> Cow<'_, str> {
    match decoded(name) {
        Cow::Borrowed(name) => printable(name),
        Cow::Owned(name) => Cow::Owned(printable(&name).into_owned()),
    }
}

/// The most characters of a name in a line of text. Longer ones are cut: each line that has them, and each that is padded to
/// them, would be as long.
const LONGEST: usize = 1000;

/// A recorded name in a line of text: as [`printable`] has it, and without its middle if it is very long. Both ends tell names
/// apart.
pub fn shown(name: &str) -> Cow<'_, str> {
    match printable(name) {
        Cow::Borrowed(name) => without_long_middle(name),
        Cow::Owned(name) => Cow::Owned(without_long_middle(&name).into_owned()),
    }
}

/// A recorded name of bytes in a line of text.
pub fn shown_bytes(name: &[u8]) -> Cow<'_, str> {
    match decoded(name) {
        Cow::Borrowed(name) => shown(name),
        Cow::Owned(name) => Cow::Owned(shown(&name).into_owned()),
    }
}

/// A text without its middle if it is very long. Characters count, whatever columns they take: some take none.
pub fn without_long_middle(text: &str) -> Cow<'_, str> {
    if text.len() <= LONGEST || text.chars().nth(LONGEST).is_none() {
        return Cow::Borrowed(text);
    }
    let front = text.char_indices().nth(LONGEST / 2).map(|(end, _)| end);
    let back = text.char_indices().nth_back(LONGEST / 2 - 2).map(|(start, _)| start);
    match (front, back) {
        (Some(end), Some(start)) => {
            let part = |range| text.get(range).unwrap_or_default();
            Cow::Owned(format!("{}…{}", part(0..end), part(start..text.len())))
        }
        _ => Cow::Borrowed(text),
    }
}

/// A character as those of programming languages write it. Below 0x80 it is a byte; `\x80` and above are bytes that are no UTF-8.
fn push_escape(text: &mut String, c: char) {
    let number = u32::from(c);
    // Writing to a string does not fail.
    let _ = match c {
        '\n' | '\r' | '\t' => write!(text, "{}", c.escape_default()),
        _ if c.is_ascii() => write!(text, "\\x{number:02x}"),
        _ => write!(text, "\\u{{{number:x}}}"),
    };
}

/// A time of the recording's clock in seconds, to the nanosecond.
pub fn seconds(time_ns: u64) -> String {
    format!("{}.{:09}", time_ns / 1_000_000_000, time_ns % 1_000_000_000)
}

/// A size with a binary unit.
pub fn binary_size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut whole, mut tenth, mut unit) = (bytes, 0, "B");
    for next in UNITS.iter().skip(1) {
        if whole < 1024 {
            break;
        }
        tenth = whole % 1024 * 10 / 1024;
        whole /= 1024;
        unit = next;
    }
    if unit == "B" { format!("{whole} B") } else { format!("{whole}.{tenth} {unit}") }
}

/// How many columns of a terminal a text takes.
pub fn width(text: &str) -> usize {
    match text.is_ascii() {
        true => text.len(),
        // A character at a time: then the width of a text is that of its parts.
        false => text.chars().map(|c| c.width().unwrap_or(0)).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_hidden_becomes_an_escape() {
        assert_eq!(printable("\x1b[2Jwork\n\0\x7f"), "\\x1b[2Jwork\\n\\x00\\x7f");
        assert_eq!(printable("a\u{9b}b\u{202e}c\u{e0041}"), "a\\u{9b}b\\u{202e}c\\u{e0041}");
        assert_eq!(printable("größe 函数 e\u{301} \\x2d"), "größe 函数 e\u{301} \\x2d");
    }

    #[test]
    fn showing_twice_is_showing_once() {
        let once = printable_bytes(b"\x1b\xff\\ \xe2\x80\xae").into_owned();
        assert_eq!(once, "\\x1b\\xff\\ \\u{202e}");
        assert!(matches!(printable(&once), Cow::Borrowed(_)));
    }

    #[test]
    fn very_long_names_lose_their_middle() {
        for (length, is_cut) in [(999, false), (1000, false), (1001, true), (60_000, true)] {
            for letter in ["a", "ß", "😀"] {
                let name = letter.repeat(length);
                let shown = shown(&name);
                assert_eq!(shown.contains('…'), is_cut, "{length} times {letter}");
                assert_eq!(shown.chars().count(), length.min(1000), "{length} times {letter}");
            }
        }
        assert!(shown(&format!("front{}back", "\u{301}".repeat(60_000))).ends_with("back"));
        assert!(shown_bytes(&[0xff; 60_000]).len() < 1010);
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(
            [0, 7, 999, 1000, 12_345, 1_234_567].map(grouped),
            ["0", "7", "999", "1,000", "12,345", "1,234,567"]
        );
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(
            [0, 1023, 1024, 1536, 118 << 20].map(binary_size),
            ["0 B", "1023 B", "1.0 KiB", "1.5 KiB", "118.0 MiB"]
        );
    }
}
