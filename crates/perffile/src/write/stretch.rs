//! Records that lie behind each other and go over together.

use super::target::Target;
use super::writer::Writer;
use crate::error::Result;
use crate::event::Event;
use crate::place::Part;

/// Some records of the kernel as they lie in the recording that is read, one behind the other.
#[derive(Debug)]
pub(super) struct Stretch<'b> {
    /// The stream of a directory that they go to.
    part: Part,
    /// From the first of them to the end of what is in memory.
    bytes: &'b [u8],
    /// How much of that they are.
    len: usize,
}

impl Default for Stretch<'_> {
    fn default() -> Self {
        Stretch { part: Part::Data, bytes: &[], len: 0 }
    }
}

impl<'b> Stretch<'b> {
    /// One that begins with this record.
    pub(super) fn of(part: Part, event: &Event<'b>) -> Stretch<'b> {
        Stretch { part, bytes: event.bytes_from_here(), len: event.raw().len() }
    }

    /// Takes a record if it lies behind the others and goes where they go; says whether it did.
    #[inline]
    pub(super) fn takes(&mut self, part: Part, event: &Event<'b>) -> bool {
        let raw = event.raw();
        // What lies behind the bytes at hand may begin where they end, and is none of them.
        let behind = self.bytes.get(self.len..).and_then(|rest| rest.get(..raw.len()));
        let follows = self.len > 0
            && self.part == part
            && behind.is_some_and(|behind| std::ptr::eq(behind.as_ptr(), raw.as_ptr()));
        if follows {
            self.len += raw.len();
        }
        follows
    }

    /// Writes what there is; nothing is left then.
    pub(super) fn write<T: Target>(&mut self, writer: &mut Writer<T>) -> Result<()> {
        match self.bytes.get(..std::mem::take(&mut self.len)) {
            Some(records) if !records.is_empty() => writer.raw_records(self.part, records),
            _ => Ok(()),
        }
    }
}
