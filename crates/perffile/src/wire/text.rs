//! Names on the wire: NUL-terminated and padded, and not necessarily UTF-8.

use std::borrow::Cow;
use std::fmt;

/// A name at the end of a record: NUL-terminated, zero-padded to eight bytes.
///
/// Read from a file it keeps its padding, so that it is written back byte for byte, whatever the padding holds.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct CStr8<'a> {
    bytes: &'a [u8],
    /// As it stood in a file: written back unchanged.
    verbatim: bool,
}

impl<'a> CStr8<'a> {
    /// A name to be written: its NUL and padding are added then.
    pub fn new(name: &'a [u8]) -> Self {
        CStr8 { bytes: name, verbatim: false }
    }

    /// A field as it stands in a file, padding included.
    pub fn from_padded(bytes: &'a [u8]) -> Self {
        CStr8 { bytes, verbatim: true }
    }

    /// The name: all bytes before the first NUL.
    pub fn bytes(&self) -> &'a [u8] {
        until_nul(self.bytes)
    }

    /// The name for people: what is not UTF-8 is replaced.
    pub fn display(&self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.bytes())
    }

    /// The field as it is written, and how many NULs follow it.
    pub(crate) fn on_the_wire(&self) -> (&'a [u8], usize) {
        if self.verbatim {
            return (self.bytes, 0);
        }
        let name = self.bytes();
        (name, 8 - name.len() % 8)
    }
}

impl fmt::Debug for CStr8<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.display(), f)
    }
}

/// A string of a header feature: u32 length, then that many bytes, NUL-terminated and zero-padded.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct HeaderString<'a> {
    bytes: &'a [u8],
    verbatim: bool,
}

impl<'a> HeaderString<'a> {
    /// A string to be written: length, NUL and padding to 64 bytes are added then.
    pub fn new(text: &'a [u8]) -> Self {
        HeaderString { bytes: text, verbatim: false }
    }

    /// The counted bytes as they stand in a file.
    pub fn from_padded(bytes: &'a [u8]) -> Self {
        HeaderString { bytes, verbatim: true }
    }

    /// The text: all bytes before the first NUL.
    pub fn bytes(&self) -> &'a [u8] {
        until_nul(self.bytes)
    }

    /// The text for people: what is not UTF-8 is replaced.
    pub fn display(&self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.bytes())
    }

    /// The counted bytes as they are written, and how many NULs follow them.
    pub(crate) fn on_the_wire(&self) -> (&'a [u8], usize) {
        if self.verbatim {
            return (self.bytes, 0);
        }
        let text = self.bytes();
        (text, 64 - text.len() % 64)
    }
}

impl fmt::Debug for HeaderString<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.display(), f)
    }
}

/// The bytes before the first NUL, or all.
pub fn until_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|b| *b == 0).next().unwrap_or_default()
}
