//! Names on the wire: NUL-terminated and padded, and not necessarily UTF-8.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

/// A name at the end of a record: NUL-terminated, zero-padded to eight bytes.
pub type CStr8<'a> = Padded<'a, 8>;

/// A string of a header feature: u32 length, then that many bytes, NUL-terminated and zero-padded; perf pads to 64.
pub type HeaderString<'a> = Padded<'a, 64>;

/// A name, NUL-terminated and zero-padded to a multiple of `N` bytes.
///
/// Read from a file it keeps its padding, so that it is written back byte for byte, whatever the padding holds.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Padded<'a, const N: usize> {
    bytes: &'a [u8],
    /// As it stood in a file: written back unchanged.
    verbatim: bool,
}

impl<'a, const N: usize> Padded<'a, N> {
    /// A name to be written: its NUL and padding are added then.
    pub fn new(name: &'a [u8]) -> Self {
        Padded { bytes: name, verbatim: false }
    }

    /// A field as it stands in a file, padding included.
    pub fn from_padded(bytes: &'a [u8]) -> Self {
        Padded { bytes, verbatim: true }
    }

    /// The name: all bytes before the first NUL.
    pub fn bytes(&self) -> &'a [u8] {
        until_nul(self.bytes)
    }

    /// The name for people: [`decoded`].
    pub fn display(&self) -> Cow<'a, str> {
        decoded(self.bytes())
    }

    /// How many bytes of the field as it stands in a file are behind name and padding. What the padding holds does not count:
    /// perf leaves remains of other names in it.
    pub fn left_over(&self) -> usize {
        let name = self.bytes().len();
        let padded = name + (N - name % N);
        if self.verbatim { self.bytes.len().saturating_sub(padded) } else { 0 }
    }

    /// The field as it is written, and how many NULs follow it.
    pub(crate) fn on_the_wire(&self) -> (&'a [u8], usize) {
        if self.verbatim {
            return (self.bytes, 0);
        }
        let name = self.bytes();
        (name, N - name.len() % N)
    }
}

impl<const N: usize> fmt::Debug for Padded<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.display(), f)
    }
}

/// Bytes as text: what is no UTF-8 becomes an escape (`\xff`), so that names that differ still differ.
pub fn decoded(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len() + 8);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a string does not fail.
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    Cow::Owned(text)
}

/// The bytes before the first NUL, or all.
pub fn until_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|b| *b == 0).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::decoded;

    #[test]
    fn what_is_no_text_is_told_by_its_bytes() {
        assert_eq!(decoded("größe".as_bytes()), "größe");
        // A byte that begins nothing, a character cut short, half of a pair of UTF-16, the remains of one.
        assert_eq!(decoded(b"a\xffb\xe2\x80c\xed\xa0\x80d\x9b"), "a\\xffb\\xe2\\x80c\\xed\\xa0\\x80d\\x9b");
    }
}
