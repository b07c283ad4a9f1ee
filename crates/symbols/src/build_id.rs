//! The build-id of a binary: the contents of its NT_GNU_BUILD_ID note.

use std::fmt;

/// Longest build-id kept, in bytes (a SHA-1, and the room the kernel has for one in a record).
const MAX_BYTES: usize = 20;

/// A build-id of at most 20 bytes. Never all zero: that stands for "unknown" and is not a value of this type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BuildId {
    bytes: [u8; MAX_BYTES],
    len: u8,
}

impl BuildId {
    /// Takes the bytes of a note or a record. `None` when there are none or all of them are zero (unknown).
    /// Bytes after the twentieth are dropped, as recorders do.
    pub fn from_bytes(bytes: &[u8]) -> Option<BuildId> {
        if bytes.iter().all(|byte| *byte == 0) {
            return None;
        }
        let mut kept = [0; MAX_BYTES];
        let mut len = 0;
        for (to, from) in kept.iter_mut().zip(bytes) {
            *to = *from;
            len += 1;
        }
        if kept.iter().all(|byte| *byte == 0) {
            return None;
        }
        Some(BuildId { bytes: kept, len })
    }

    /// Reads hex digits, two for each byte. `None` when it is not that, or the id is all zero.
    pub fn parse(hex: &str) -> Option<BuildId> {
        let digits = hex.as_bytes();
        if !digits.len().is_multiple_of(2) || digits.len() > 2 * MAX_BYTES {
            return None;
        }
        let mut bytes = Vec::with_capacity(MAX_BYTES);
        for pair in digits.chunks_exact(2) {
            let pair = std::str::from_utf8(pair).ok()?;
            if !pair.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                return None;
            }
            bytes.push(u8::from_str_radix(pair, 16).ok()?);
        }
        BuildId::from_bytes(&bytes)
    }

    /// The bytes of the id.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or(&self.bytes)
    }

    /// Whether both name the same binary. Only as many bytes as the shorter one has are compared, and the zeros with
    /// which a 16-byte id is filled up to 20 in old records are no part of it.
    pub fn matches(&self, other: &BuildId) -> bool {
        let (left, right) = (self.as_bytes(), other.as_bytes());
        left.iter().zip(right).all(|(a, b)| a == b)
    }

    /// The id in hex, as used in the names of files: the first byte, and the rest.
    pub(crate) fn directory_and_file(&self) -> (String, String) {
        let hex = self.to_string();
        let (first, rest) = hex.split_at(hex.len().min(2));
        (first.to_owned(), rest.to_owned())
    }

    /// The ids under which a file of this binary may be stored: the id itself, and without its zero padding.
    pub(crate) fn spellings(&self) -> Vec<BuildId> {
        let mut all = vec![*self];
        let padded =
            self.as_bytes().get(16..).is_some_and(|tail| !tail.is_empty() && tail.iter().all(|b| *b == 0));
        if padded {
            all.extend(self.as_bytes().get(..16).and_then(BuildId::from_bytes));
        }
        all
    }
}

impl fmt::Display for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BuildId({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_what_it_parsed() {
        let text = "00ff10a5b2c3d4e5f60718293a4b5c6d7e8f9001";
        assert_eq!(BuildId::parse(text).unwrap().to_string(), text);
        assert_eq!(BuildId::parse("00FF").unwrap().to_string(), "00ff");
    }

    #[test]
    fn refuses_what_is_no_id() {
        for text in ["", "0", "0g", "+1", "0000", "00ff10a5b2c3d4e5f60718293a4b5c6d7e8f900102"] {
            assert_eq!(BuildId::parse(text), None, "{text}");
        }
        assert_eq!(BuildId::from_bytes(&[0; 20]), None);
    }

    #[test]
    fn compares_the_shorter_length() {
        let long = BuildId::parse("0102030405060708090a0b0c0d0e0f1000000000").unwrap();
        let short = BuildId::parse("0102030405060708090a0b0c0d0e0f10").unwrap();
        let other = BuildId::parse("0102030405060708090a0b0c0d0e0f11").unwrap();
        assert!(long.matches(&short) && short.matches(&long));
        assert!(!long.matches(&other));
        assert_eq!(long.spellings(), [long, short]);
        assert_eq!(short.spellings(), [short]);
    }

    #[test]
    fn splits_for_file_names() {
        let id = BuildId::parse("abcdef").unwrap();
        assert_eq!(id.directory_and_file(), ("ab".into(), "cdef".into()));
    }
}
