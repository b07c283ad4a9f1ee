//! EVENT_DESC (12): names, attrs and ids of the events, in the order of the attrs.

use crate::wire::WireError;
use crate::wire::attr::EventAttr;
use crate::wire::pass::{Fields, Pass, Step};
use crate::wire::text::HeaderString;
use crate::wire::words::U64s;

/// All events.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventDesc<'a> {
    /// Size of each attr in bytes.
    pub attr_size: u32,
    /// The events.
    pub events: Vec<DescribedEvent<'a>>,
}

/// One event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DescribedEvent<'a> {
    /// How it was opened.
    pub attr: EventAttr,
    /// Bytes between the end that the attr claims and the end that the table claims.
    pub gap: Vec<u8>,
    /// Its name as the user gave it.
    pub name: HeaderString<'a>,
    /// Ids of its counters.
    pub ids: U64s<'a>,
    /// [`EventDesc::attr_size`].
    attr_size: u32,
}

impl<'a> Fields<'a> for EventDesc<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        let nr = pass.count_u32("nr_events", self.events.len())?;
        pass.u32("attr_size", &mut self.attr_size)?;
        if nr > 0 && self.attr_size < EventAttr::MIN_SIZE {
            return Err(WireError::unreadable("attr_size", u64::from(self.attr_size)));
        }
        let blank = DescribedEvent { attr_size: self.attr_size, ..DescribedEvent::default() };
        pass.vec_of("events", nr, &mut self.events, &blank)
    }
}

impl<'a> Fields<'a> for DescribedEvent<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        pass.inner("attr", &mut self.attr)?;
        let gap = self.attr_size.saturating_sub(self.attr.wire_size());
        pass.owned("gap", u64::from(gap), &mut self.gap)?;
        let ids = pass.count_u32("nr_ids", self.ids.len())?;
        pass.header_string("name", &mut self.name)?;
        pass.u64s("ids", ids, &mut self.ids)
    }
}
