//! META_INFO (129, simpleperf): what simpleperf notes of the device and of its own options.

use crate::wire::declare::fields;
use crate::wire::pass::{Fields, Pass, Step};

/// Keys and values, up to the end of the section.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MetaInfo<'a> {
    /// In the order of the file.
    pub entries: Vec<MetaEntry<'a>>,
}

fields! {
    /// A key and its value, each NUL-terminated.
    pub struct MetaEntry<'a> {
        /// Such as `simpleperf_version`, `clockid`, `event_type_info`.
        key: &'a [u8] as cstr,
        /// Its value as text.
        value: &'a [u8] as cstr,
    }
}

impl<'a> MetaInfo<'a> {
    /// The value of a key.
    pub fn value(&self, key: &str) -> Option<&'a [u8]> {
        self.entries.iter().find(|entry| entry.key == key.as_bytes()).map(|entry| entry.value)
    }
}

impl<'a> Fields<'a> for MetaInfo<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        pass.vec_to_end("entries", &mut self.entries, &MetaEntry::default())
    }
}
