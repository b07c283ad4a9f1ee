//! What samples were taken of, in Perfetto's words: from them its importer learns the unit.

use super::message::{RawEvent, Timebase, Tracepoint};
use crate::export::circumstances::Unit;
use crate::export::{Export, Weight};
use crate::text::printable;
use perffile::wire::attr::{AttrFlags, EventAttr};

/// `perf_type_id` (linux/perf_event.h).
const HARDWARE: u32 = 0;
const SOFTWARE: u32 = 1;
const TRACEPOINT: u32 = 2;

/// Numbers of `PerfEvents.Counter`, in the order of `perf_hw_id`: cycles, instructions, …, reference cycles.
const HARDWARE_COUNTERS: std::ops::RangeInclusive<u32> = 10..=19;
/// The same of `perf_sw_ids`: cpu-clock, task-clock, page-faults, context-switches, migrations, minor and major faults,
/// alignment and emulation faults, dummy.
const SOFTWARE_COUNTERS: [u32; 10] = [1, 3, 2, 4, 5, 6, 7, 8, 9, 20];
/// Above these bits the configuration says of which processor (`PERF_HW_EVENT_MASK`).
const HARDWARE_EVENT: u64 = 0xffff_ffff;

/// What an event is, and how it was sampled.
pub(super) fn of(export: &Export<'_>, event: usize) -> Timebase {
    let name = printable(export.event_name(event)).into_owned();
    let Some(attr) = export.metadata.schema.event(event).map(|event| &event.attr) else {
        return Timebase { name, ..Timebase::default() };
    };
    let by_frequency = attr.flags.has(AttrFlags::freq);
    let tracepoint = (attr.kind == TRACEPOINT).then(|| Tracepoint { name: name.clone() });
    let counter = counter(attr).filter(|counter| counts_its_unit(export, event, *counter));
    let raw = tracepoint.is_none() && counter.is_none();
    Timebase {
        frequency: by_frequency.then_some(attr.sample_period),
        period: (!by_frequency).then_some(attr.sample_period),
        tracepoint,
        counter,
        event: raw.then_some(RawEvent { kind: attr.kind, config: attr.config }),
        name,
    }
}

/// The counter, if Perfetto has a number for it.
fn counter(attr: &EventAttr) -> Option<u32> {
    let number = |config: u64| usize::try_from(config).ok();
    match attr.kind {
        HARDWARE => HARDWARE_COUNTERS.clone().nth(number(attr.config & HARDWARE_EVENT)?),
        SOFTWARE => SOFTWARE_COUNTERS.get(number(attr.config)?).copied(),
        _ => None,
    }
}

/// Whether what is written counts in the unit of the counter: samples are no cycles, and a clock without periods counts no time.
fn counts_its_unit(export: &Export<'_>, event: usize, counter: u32) -> bool {
    let is_clock = SOFTWARE_COUNTERS.iter().take(2).any(|clock| *clock == counter);
    export.options.weight == Weight::Period && (!is_clock || export.unit(event) == Unit::Nanoseconds)
}
