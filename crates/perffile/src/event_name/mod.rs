//! A name for an event whose recording tells none, made from its attr and the header features.
//!
//! The spelling is that of perf 6.1, so that the same recording has the same names here and there. Names that the
//! recording itself tells (EVENT_DESC, EVENT_UPDATE, the table of version 1) never come through here.

mod breakpoint;
mod cache;
mod hardware;
mod modifiers;
mod pmu;
mod sources;

pub use sources::NameSources;

use crate::wire::attr::EventAttr;
use crate::wire::event_type::{EventType, SoftwareEvent};
use modifiers::{appended, modifiers};

/// The name of an event by its attr, with what the header features say of PMUs and tracepoints.
///
/// Never fails and never is empty: what has no name is told by its numbers.
pub fn of_attr(attr: &EventAttr, sources: &NameSources) -> String {
    let base = match attr.kind {
        EventType::HARDWARE => hardware::name(attr.config, sources),
        EventType::SOFTWARE => SoftwareEvent(attr.config).name().unwrap_or("unknown-software").to_owned(),
        EventType::HW_CACHE => cache::name(attr.config, sources),
        EventType::RAW => format!("raw {:#x}", attr.config),
        EventType::BREAKPOINT => breakpoint::name(attr),
        // perf appends nothing to a tracepoint's name.
        EventType::TRACEPOINT => return sources.tracepoint(attr.config),
        EventType(number) => return pmu::name(number, attr, sources),
    };
    appended(base, &modifiers(attr))
}

/// Whether the `config` of a type means the same on every machine.
pub(crate) fn is_numbered_for_all(kind: EventType) -> bool {
    matches!(kind, EventType::HARDWARE | EventType::SOFTWARE | EventType::HW_CACHE | EventType::BREAKPOINT)
}
