//! PERF_RECORD_EVENT_UPDATE (78): unit, scale, name or CPUs of an event.

use super::cpu_map::CpuMap;
use crate::wire::pass::{Fields, Pass, Step, WireField};
use crate::wire::text::CStr8;
use crate::wire::value::numbers;

numbers! {
    /// Which property of an event is updated.
    pub struct EventUpdateType(u64) {
        0 UNIT "unit", 1 SCALE "scale", 2 NAME "name", 3 CPUS "cpus",
    }
}

/// Something more about an event.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EventUpdate<'a> {
    /// Which property.
    pub update_type: EventUpdateType,
    /// Event id.
    pub event_id: u64,
    /// Unit or name.
    pub text: CStr8<'a>,
    /// Scale: what a count has to be multiplied by.
    pub scale: f64,
    /// CPUs the event counts on.
    pub cpus: CpuMap<'a>,
}

impl<'a> Fields<'a> for EventUpdate<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        self.update_type.field("update_type", pass)?;
        pass.u64("event_id", &mut self.event_id)?;
        match self.update_type {
            EventUpdateType::UNIT => pass.cstr8("unit", &mut self.text),
            EventUpdateType::SCALE => pass.f64("scale", &mut self.scale),
            EventUpdateType::NAME => pass.cstr8("name", &mut self.text),
            EventUpdateType::CPUS => pass.inner("cpus", &mut self.cpus),
            _ => Ok(()),
        }
    }
}
