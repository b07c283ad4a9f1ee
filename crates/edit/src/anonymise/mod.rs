//! A recording without names: what tells of programs, paths, the machine and its users becomes tokens, and what cannot be understood goes.
//!
//! Only what is listed here stays. Records and features of other types, raw data, copies of stacks and registers may hold anything, so they are left
//! out, and counted.

mod features;
mod paths;
mod records;
mod tokens;
mod tracing;

use crate::strip::Strip;
use perffile::wire::attr::EventAttr;
use perffile::wire::feature;
use perffile::wire::record::{kind, record_name};
use perffile::write::{Edit, Fate, Head, RecordParts};
use perffile::{ByteOrder, Event, Features, Result};
use std::collections::BTreeMap;
use std::fmt;

pub use tokens::Key;
use tokens::Tokens;

/// What is taken out of samples: it may hold names, or the contents of memory.
pub const STRIPPED: Strip = Strip {
    raw: true,
    stacks: true,
    registers: true,
    branches: false,
    aux: true,
    chains: false,
    max_stack: None,
};

/// Puts tokens in the place of names, after another editor has chosen the records. That one has to take out of samples what
/// [`STRIPPED`] says.
pub struct Anonymiser<E> {
    inner: E,
    tokens: Tokens,
    /// Whether build-ids stay as they are.
    keeps_build_ids: bool,
    /// Records and features that are left out, by name.
    left_out: BTreeMap<String, u64>,
}

impl<E> fmt::Debug for Anonymiser<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Anonymiser").field("left_out", &self.left_out).finish_non_exhaustive()
    }
}

impl<E: Edit> Anonymiser<E> {
    /// With a key, tokens are the same in all recordings that have it, and nobody can guess names without it; without one they are numbers.
    /// Build-ids say which binaries were recorded to whoever has these: they become tokens, too, unless they are kept.
    pub fn new(inner: E, key: Option<Key>, keeps_build_ids: bool) -> Anonymiser<E> {
        Anonymiser { inner, tokens: Tokens::new(key), keeps_build_ids, left_out: BTreeMap::new() }
    }

    /// How many names have become tokens.
    pub fn names(&self) -> usize {
        self.tokens.len()
    }

    /// What was left out because it may hold names: types of records and names of features, and how often.
    pub fn left_out(&self) -> &BTreeMap<String, u64> {
        &self.left_out
    }

    /// The editor that chose the records.
    pub fn inner(&self) -> &E {
        &self.inner
    }

    fn leave_out(&mut self, what: String) {
        *self.left_out.entry(what).or_default() += 1;
    }
}

impl<E: Edit> Edit for Anonymiser<E> {
    fn attr(&mut self, attr: &mut EventAttr) -> bool {
        self.inner.attr(attr)
    }

    fn keeps_feature(&mut self, features: &Features, bit: u32) -> bool {
        if !self.inner.keeps_feature(features, bit) {
            return false;
        }
        let stays = features::stays(features, bit);
        if !stays {
            self.leave_out(feature::name(bit).map_or_else(|| format!("feature {bit}"), str::to_owned));
        }
        stays
    }

    fn section(&mut self, features: &Features, bit: u32, order: ByteOrder) -> Option<Vec<u8>> {
        let Anonymiser { inner, tokens, keeps_build_ids, .. } = self;
        let mut naming = features::Naming { tokens, keeps_build_ids: *keeps_build_ids, inner };
        // What cannot be said anew says nothing.
        (!feature::is_flag(bit)).then(|| naming.section(features, bit, order).unwrap_or_default())
    }

    fn event_name(&mut self, attr: &EventAttr, name: &mut String) {
        *name = self.tokens.event(attr, name.as_bytes());
    }

    fn fate(&mut self, event: &Event<'_>) -> Fate {
        let number = event.schema().dialect().decoded_as(event.head().kind);
        if number != kind::SAMPLE && !records::stays(number) {
            self.leave_out(record_name(event.head().kind).into_owned());
            return Fate::Drop;
        }
        match self.inner.fate(event) {
            Fate::Drop => Fate::Drop,
            _ if number == kind::SAMPLE => Fate::Change,
            _ => Fate::Rewrite,
        }
    }

    fn change(&mut self, parts: &mut RecordParts<'_>) {
        self.inner.change(parts);
        parts.rest = &[];
    }

    fn rewrite(&mut self, event: &Event<'_>, order: ByteOrder, out: &mut Vec<u8>) -> Result<()> {
        records::rewrite(event, order, &mut self.tokens, self.keeps_build_ids, out)
    }

    fn patch(&mut self, event: &Event<'_>, order: ByteOrder, bytes: &mut [u8]) {
        self.inner.patch(event, order, bytes);
    }

    fn progress(&mut self, bytes: (u64, u64)) {
        self.inner.progress(bytes);
    }

    fn finish(&mut self, head: &mut Head) {
        self.inner.finish(head);
    }
}
