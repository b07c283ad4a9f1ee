//! EVENT_ID (32774): ids of events that were opened while recording.

use crate::wire::declare::fields;
use crate::wire::list::List;
use crate::wire::pass::Element;

fields! {
    /// An id and its event.
    #[derive(Copy)]
    pub struct EventIdEntry {
        /// Index of the attr.
        attr_id: u64,
        /// Event id.
        event_id: u64,
    }
}
impl Element for EventIdEntry {}

fields! {
    /// More ids of events.
    #[derive(Copy)]
    pub struct EventId<'a> {
        /// One entry per id.
        entries: List<'a, EventIdEntry> as list counted u64 "count",
    }
}
