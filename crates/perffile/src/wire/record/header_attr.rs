//! PERF_RECORD_HEADER_ATTR (64): an event of a pipe: its attr, then its ids.

use crate::wire::attr::EventAttr;
use crate::wire::pass::{Fields, Pass, Step};
use crate::wire::words::U64s;

/// An attr and the ids of its counters. The ids begin where the attr says it ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeaderAttr<'a> {
    /// How the event was opened.
    pub attr: EventAttr,
    /// Ids of its counters.
    pub ids: U64s<'a>,
}

impl<'a> Fields<'a> for HeaderAttr<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        pass.inner("attr", &mut self.attr)?;
        let ids = pass.left().map_or(self.ids.len(), |left| left / 8);
        pass.u64s("ids", ids as u64, &mut self.ids)
    }
}
