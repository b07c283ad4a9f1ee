//! Text for terminals: names made harmless, numbers made readable, columns.

pub use readperf_profile::grouped::grouped;
use std::borrow::Cow;
use unicode_width::UnicodeWidthChar as _;

/// A recorded name as it may be shown: control characters, which could drive a terminal, become escapes.
pub fn printable(name: &str) -> Cow<'_, str> {
    // The first byte of a control character is one of these; of other characters it rarely is.
    let may_control = |byte: u8| byte < 0x20 || byte == 0x7f || byte == 0xc2;
    if name.bytes().any(may_control) && name.chars().any(char::is_control) {
        let escaped = name.chars().flat_map(|c| {
            let escape = c.is_control().then(|| c.escape_default());
            let plain = (!c.is_control()).then_some(c);
            escape.into_iter().flatten().chain(plain)
        });
        return Cow::Owned(escaped.collect());
    }
    Cow::Borrowed(name)
}

/// A recorded name of bytes as it may be shown.
pub fn printable_bytes(name: &[u8]) -> String {
    printable(&String::from_utf8_lossy(name)).into_owned()
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
    fn escapes_are_neutralised() {
        assert_eq!(printable("\x1b[2Jwork\n"), "\\u{1b}[2Jwork\\n");
        assert_eq!(printable("größe"), "größe");
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
