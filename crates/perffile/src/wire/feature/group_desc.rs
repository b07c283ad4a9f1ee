//! GROUP_DESC (17): events that were opened as groups.

use crate::wire::declare::fields;
use crate::wire::text::HeaderString;

fields! {
    /// The groups of more than one event.
    pub struct GroupDesc<'a> {
        /// In the order of their leaders.
        groups: Vec<EventGroup<'a>> as vec counted u32 "nr",
    }
}

fields! {
    /// A group: a leader, and the events right behind it.
    pub struct EventGroup<'a> {
        /// Its name; `{anon_group}` if the user gave none.
        name: HeaderString<'a>,
        /// Index of the leader among the attrs.
        leader_idx: u32,
        /// How many events, the leader among them.
        nr_members: u32,
    }
}

impl<'a> EventGroup<'a> {
    /// The name that the user gave, if any.
    pub fn given_name(&self) -> Option<&'a [u8]> {
        let name = self.name.bytes();
        (name != b"{anon_group}").then_some(name)
    }
}
