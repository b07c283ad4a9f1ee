//! PERF_RECORD_ID_INDEX (69): which CPU and thread each event id belongs to.

use crate::wire::declare::fields;
use crate::wire::list::List;
use crate::wire::pass::{Element, Fields, Pass, Step};

fields! {
    /// An event id and its counter.
    #[derive(Copy)]
    pub struct IdIndexEntry {
        /// Event id.
        id: u64,
        /// Index of the ring buffer.
        idx: u64,
        /// CPU; -1 any.
        cpu: u64,
        /// Thread; -1 any.
        tid: u64,
    }
}
impl Element for IdIndexEntry {}

fields! {
    /// The guest that an id belongs to.
    #[derive(Copy)]
    pub struct IdIndexGuest {
        /// Process id of the guest; 0 the host.
        machine_pid: u64,
        /// Its virtual CPU.
        vcpu: u64,
    }
}
impl Element for IdIndexGuest {}

/// All event ids.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct IdIndex<'a> {
    /// One entry per id.
    pub entries: List<'a, IdIndexEntry>,
    /// One per entry, in recordings of guests (perf 6.0 and later).
    pub guests: List<'a, IdIndexGuest>,
}

impl<'a> Fields<'a> for IdIndex<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        let nr = pass.count_u64("nr", self.entries.len())?;
        pass.list("entries", nr, &mut self.entries)?;
        let guests = nr.saturating_mul(List::<IdIndexGuest>::element_size() as u64);
        // There if the record is long enough.
        if pass.left().map_or(!self.guests.is_empty(), |left| nr > 0 && left as u64 >= guests) {
            pass.list("guests", nr, &mut self.guests)?;
        }
        Ok(())
    }
}
