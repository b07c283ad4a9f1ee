//! PERF_RECORD_EVENT_UPDATE (78): unit, scale, name or CPUs of an event.

use super::cpu_map::CpuMap;
use crate::wire::pass::{Fields, Pass, Step};
use crate::wire::text::CStr8;

/// Something more about an event.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EventUpdate<'a> {
    /// 0 unit, 1 scale, 2 name, 3 CPUs.
    pub update_type: u64,
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
        pass.u64("update_type", &mut self.update_type)?;
        pass.u64("event_id", &mut self.event_id)?;
        match self.update_type {
            0 => pass.cstr8("unit", &mut self.text),
            1 => pass.f64("scale", &mut self.scale),
            2 => pass.cstr8("name", &mut self.text),
            3 => pass.inner("cpus", &mut self.cpus),
            _ => Ok(()),
        }
    }
}
