//! What samples were taken of, in Perfetto's words: from them its importer learns the unit.

use super::message::{RawEvent, Timebase, Tracepoint};
use crate::export::circumstances::Unit;
use crate::export::{Export, Weight};
use crate::text::printable;
use perffile::wire::attr::{AttrFlags, EventAttr};
use perffile::wire::event_type::{EventType, HardwareEvent};

/// Numbers of `PerfEvents.Counter`, in the order of `perf_hw_id`: cycles, instructions, …, reference cycles.
const HARDWARE_COUNTERS: std::ops::RangeInclusive<u32> = 10..=19;
/// Numbers of `PerfEvents.Counter`, in the order of `perf_sw_ids`: cpu-clock, task-clock, page-faults, context-switches, migrations, minor and major faults,
/// alignment and emulation faults, dummy.
const SOFTWARE_COUNTERS: [u32; 10] = [1, 3, 2, 4, 5, 6, 7, 8, 9, 20];

/// What an event is, and how it was sampled.
pub(super) fn of(export: &Export<'_>, event: usize) -> Timebase {
    let name = printable(export.event_name(event)).into_owned();
    let Some(attr) = export.metadata.schema.event(event).map(|event| &event.attr) else {
        return Timebase { name, ..Timebase::default() };
    };
    let by_frequency = attr.flags.has(AttrFlags::freq);
    let tracepoint = attr.tracepoint().map(|_| Tracepoint { name: name.clone() });
    let counter = counter(attr).filter(|counter| counts_its_unit(export, event, *counter));
    let raw = tracepoint.is_none() && counter.is_none();
    Timebase {
        frequency: by_frequency.then_some(attr.sample_period),
        period: (!by_frequency).then_some(attr.sample_period),
        tracepoint,
        counter,
        event: raw.then_some(RawEvent { kind: attr.kind.0, config: attr.config }),
        name,
    }
}

/// The counter, if Perfetto has a number for it.
fn counter(attr: &EventAttr) -> Option<u32> {
    let number = |config: u64| usize::try_from(config).ok();
    match attr.kind {
        EventType::HARDWARE => {
            HARDWARE_COUNTERS.clone().nth(number(HardwareEvent::of_config(attr.config).0)?)
        }
        EventType::SOFTWARE => SOFTWARE_COUNTERS.get(number(attr.config)?).copied(),
        _ => None,
    }
}

/// Whether what is written counts in the unit of the counter: samples are no cycles, and a clock without periods counts no time.
fn counts_its_unit(export: &Export<'_>, event: usize, counter: u32) -> bool {
    let is_clock = SOFTWARE_COUNTERS.iter().take(2).any(|clock| *clock == counter);
    export.profile.weight() == Weight::Period && (!is_clock || export.unit(event) == Unit::Nanoseconds)
}
