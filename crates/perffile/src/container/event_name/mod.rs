//! A name for an event whose recording tells none, made from its attr and the header features.
//!
//! The spelling is that of perf 6.1, so that the same recording has the same names here and there. Names that the
//! recording itself tells (EVENT_DESC, EVENT_UPDATE, the table of version 1) never come through here.

mod breakpoint;
mod cache;
mod hardware;
mod modifiers;
mod pmu;
mod software;
mod sources;

pub use sources::NameSources;

use crate::wire::attr::EventAttr;
use modifiers::{appended, modifiers};

/// `perf_event_attr.type`, the numbers that every kernel has (`enum perf_type_id`).
mod kind {
    pub(super) const HARDWARE: u32 = 0;
    pub(super) const SOFTWARE: u32 = 1;
    pub(super) const TRACEPOINT: u32 = 2;
    pub(super) const HW_CACHE: u32 = 3;
    pub(super) const RAW: u32 = 4;
    pub(super) const BREAKPOINT: u32 = 5;
}

/// The name of an event by its attr, with what the header features say of PMUs and tracepoints.
///
/// Never fails and never is empty: what has no name is told by its numbers.
pub fn of_attr(attr: &EventAttr, sources: &NameSources) -> String {
    let base = match attr.kind {
        kind::HARDWARE => hardware::name(attr.config, sources),
        kind::SOFTWARE => software::name(attr.config).to_owned(),
        kind::HW_CACHE => cache::name(attr.config, sources),
        kind::RAW => format!("raw {:#x}", attr.config),
        kind::BREAKPOINT => breakpoint::name(attr),
        // perf appends nothing to a tracepoint's name.
        kind::TRACEPOINT => return sources.tracepoint(attr.config),
        number => return pmu::name(number, attr, sources),
    };
    appended(base, &modifiers(attr))
}

/// Whether the `config` of a type means the same on every machine.
pub(crate) fn is_numbered_for_all(number: u32) -> bool {
    matches!(number, kind::HARDWARE | kind::SOFTWARE | kind::HW_CACHE | kind::BREAKPOINT)
}
