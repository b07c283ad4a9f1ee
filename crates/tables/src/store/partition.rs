//! In which part of a folder a recording lies: folders `key=value`, as readers of such folders know them.

use std::fmt;
use std::path::{Component, Path, PathBuf};

/// Keys and their values, in the order of the folders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Partition(Vec<(String, String)>);

impl Partition {
    /// With these keys and values.
    pub fn new(keys: impl IntoIterator<Item = (String, String)>) -> Partition {
        Partition(keys.into_iter().collect())
    }

    /// The folders, one in the other; empty without a key.
    pub fn path(&self) -> PathBuf {
        self.0.iter().map(|(key, value)| format!("{}={}", escaped(key), escaped(value))).collect()
    }

    /// The partition that a path within a table's folder is in.
    pub(crate) fn of_path(path: &Path) -> Partition {
        let key = |part: Component<'_>| {
            let part = part.as_os_str().to_string_lossy();
            let (key, value) = part.split_once('=')?;
            Some((unescaped(key), unescaped(value)))
        };
        Partition(
            path.parent().map(|folder| folder.components().filter_map(key).collect()).unwrap_or_default(),
        )
    }

    /// Whether both have the same keys in the same order.
    pub(crate) fn has_keys_of(&self, other: &Partition) -> bool {
        self.keys().eq(other.keys())
    }

    fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(key, _)| key.as_str())
    }

    fn told(&self) -> String {
        match self.0.is_empty() {
            true => "no partition".to_owned(),
            false => self.keys().collect::<Vec<_>>().join(", "),
        }
    }
}

/// A folder has parts by other keys than those that are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionError {
    pub(crate) there: Partition,
    pub(crate) wanted: Partition,
}

impl fmt::Display for PartitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (there, wanted) = (self.there.told(), self.wanted.told());
        write!(
            f,
            "the tables there are divided by {there}, these would be by {wanted}: every recording of a folder needs the same keys"
        )
    }
}

/// What file systems and readers of `key=value` take for something else is written as `%` and two hex digits.
fn escaped(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:+@ ".contains(&byte);
    let byte = |byte: u8| match is_plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let digits = behind.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.filter(|_| *first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { behind.get(2..).unwrap_or_default() } else { behind };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn partition(keys: &[(&str, &str)]) -> Partition {
        Partition::new(keys.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())))
    }

    #[test]
    fn folders_are_as_readers_know_them() {
        let path = partition(&[("date", "2026-11-23"), ("service", "a/b=c")]).path();
        assert_eq!(path, Path::new("date=2026-11-23/service=a%2Fb%3Dc"));
        assert_eq!(partition(&[]).path(), Path::new(""));
    }

    #[test]
    fn keys_are_compared_and_not_values() {
        let a = partition(&[("date", "1"), ("service", "x")]);
        assert!(a.has_keys_of(&partition(&[("date", "2"), ("service", "y")])));
        assert!(!a.has_keys_of(&partition(&[("service", "y")])));
        assert!(!a.has_keys_of(&partition(&[])));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(keys in prop::collection::vec((".{1,8}", ".{1,8}"), 0..4)) {
            let partition = Partition::new(keys);
            let path = partition.path();
            prop_assert!(path.components().all(|part| matches!(part, Component::Normal(_))));
            prop_assert_eq!(path.components().count(), partition.0.len());
            prop_assert_eq!(Partition::of_path(&path.join("part-0.parquet")), partition);
        }
    }
}
