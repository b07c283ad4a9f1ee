//! What may be done with a recording while it is copied, and what came of it.

use super::head::Head;
use super::parts::RecordParts;
use crate::error::Result;
use crate::event::Event;
use crate::features::Features;
use crate::issue::Issues;
use crate::schema::Schema;
use crate::wire::attr::EventAttr;
use crate::wire::endian::ByteOrder;
use std::sync::Arc;

/// What becomes of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It stays as it is.
    Keep,
    /// Numbers in it change: its bytes go through [`Edit::patch`].
    Patch,
    /// Its fields go through [`Edit::change`], and then its bytes through [`Edit::patch`].
    Change,
    /// It is written by [`Edit::rewrite`].
    Rewrite,
    /// It is left out.
    Drop,
}

/// Chooses and changes the records of a recording while it is copied.
pub trait Edit {
    /// Changes how an event was opened, as far as that decides which fields its samples have; says whether it did. Asked for
    /// each attr wherever it stands, so the answer must depend on the attr alone.
    fn attr(&mut self, _attr: &mut EventAttr) -> bool {
        false
    }

    /// Whether a feature stays.
    fn keeps_feature(&mut self, _features: &Features, _bit: u32) -> bool {
        true
    }

    /// The section of a feature that stays, in this byte order, if it is to be another one.
    fn section(&mut self, _features: &Features, _bit: u32, _order: ByteOrder) -> Option<Vec<u8>> {
        None
    }

    /// Changes the name of an event that the recording tells otherwise than by EVENT_DESC.
    fn event_name(&mut self, _attr: &EventAttr, _name: &mut String) {}

    /// Whether records are to be added before this one.
    fn adds_before(&self, _event: &Event<'_>) -> bool {
        false
    }

    /// Puts the bytes of a record of the kernel's, in this byte order, into `out`, in place of what is there, if one is to be added before
    /// this one, or at the end (`None`), and says whether there was one. Asked until there is none.
    ///
    /// # Errors
    /// A record that cannot be written: it is left out, and that is said.
    fn next_before(
        &mut self,
        _event: Option<&Event<'_>>,
        _order: ByteOrder,
        _out: &mut Vec<u8>,
    ) -> Result<bool> {
        Ok(false)
    }

    /// What becomes of a record.
    fn fate(&mut self, _event: &Event<'_>) -> Fate {
        Fate::Keep
    }

    /// Changes the fields of a record.
    fn change(&mut self, _parts: &mut RecordParts<'_>) {}

    /// Puts the bytes of a record as it is to be, in this byte order, into `out`, in place of what is there.
    ///
    /// # Errors
    /// A record that cannot be written: it is left out, and that is said.
    fn rewrite(&mut self, event: &Event<'_>, order: ByteOrder, out: &mut Vec<u8>) -> Result<()> {
        RecordParts::of(event)?.encode(order, out)
    }

    /// Changes numbers in the bytes of a record as it is written, in this byte order.
    fn patch(&mut self, _event: &Event<'_>, _order: ByteOrder, _bytes: &mut [u8]) {}

    /// Whether it lets every record through as it is: then what is compressed need not be taken apart.
    fn is_idle(&self) -> bool {
        false
    }

    /// How many bytes were walked, and how many there are: 0 where that is not known.
    fn progress(&mut self, _bytes: (u64, u64)) {}

    /// Changes the features, now that all records have been seen. A pipe says those that change once more.
    fn finish(&mut self, _head: &mut Head) {}
}

/// Changes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unchanged;

impl Edit for Unchanged {
    fn is_idle(&self) -> bool {
        true
    }
}

/// What becomes of compressed records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compressed {
    /// They stay as they are if nothing in them is changed; else what they hold is compressed again.
    #[default]
    Kept,
    /// What they hold is written as the writer is told: compressed or not.
    Anew,
}

/// What was copied.
#[derive(Clone, Debug, Default)]
pub struct Copied {
    /// Records that were written; those in compressed ones count, the compressed ones do not.
    pub records: u64,
    /// Records that were left out because the [`Edit`] said so.
    pub dropped: u64,
    /// The events of the recording that was read, as they are known at its end.
    pub schema: Arc<Schema>,
    /// What was wrong with the recording that was read.
    pub issues: Issues,
    /// What had no place in the one that was written.
    pub left_out: Issues,
}
