//! PMU_MAPPINGS (16): names of the PMUs, by the number that `perf_event_attr.type` holds.

use crate::wire::declare::fields;
use crate::wire::pass::{Fields, Pass, Step};
use crate::wire::text::HeaderString;

fields! {
    /// All PMUs of the machine.
    pub struct PmuMappings<'a> {
        /// In the order in which perf found them.
        pmus: Vec<PmuMapping<'a>> as vec counted u32 "nr",
    }
}

/// A PMU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PmuMapping<'a> {
    /// Its number on this machine; below 6 the same on all.
    pub kind: u32,
    /// Its name, as /sys/bus/event_source/devices has it.
    pub name: HeaderString<'a>,
}

impl<'a> Fields<'a> for PmuMapping<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        pass.u32("type", &mut self.kind)?;
        pass.header_string("name", &mut self.name)
    }
}
