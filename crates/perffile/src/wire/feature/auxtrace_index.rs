//! AUXTRACE (18): where the AUXTRACE records lie.
//!
//! perf counts them first; simpleperf (Android) does not. A section with a count is 8 modulo 16 bytes long, one without
//! is a multiple of 16.

use crate::wire::declare::fields;
use crate::wire::list::List;
use crate::wire::pass::{Element, Fields, Pass, Step};

/// The AUXTRACE records of the file, in its order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AuxtraceIndex<'a> {
    /// One entry a record.
    pub entries: List<'a, AuxtraceEntry>,
    /// Without a count before them.
    pub uncounted: bool,
}

fields! {
    /// Where an AUXTRACE record lies.
    #[derive(Copy)]
    pub struct AuxtraceEntry {
        /// Its offset in the file, bytes.
        file_offset: u64 as addr,
        /// Size of the record itself, bytes: the data behind it does not count.
        size: u64,
    }
}
impl Element for AuxtraceEntry {}

impl<'a> Fields<'a> for AuxtraceIndex<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        if let Some(left) = pass.left() {
            self.uncounted = left > 0 && left.is_multiple_of(16);
        }
        let nr = if self.uncounted {
            pass.left().map_or(self.entries.len(), |left| left / 16) as u64
        } else {
            pass.count_u64("nr", self.entries.len())?
        };
        pass.list("entries", nr, &mut self.entries)
    }
}
