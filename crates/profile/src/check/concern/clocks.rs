//! Whether times can be compared, and whether there are any.

use super::Concern;
use crate::check::end::End;
use crate::check::finding::{Finding, FindingKind};
use crate::check::wording::{count, list, part, plural};
use perffile::EventDescription;
use perffile::wire::attr::SampleType;
use perffile::wire::clock::ClockId;

const MIXED_CLOCKS: FindingKind = FindingKind::loss("mixed_clocks");
const NO_TIME: FindingKind = FindingKind::advice("no_time");
const UNTIMED_RECORDS: FindingKind = FindingKind::note("untimed_records");

/// Nothing to count: the events tell.
#[derive(Default)]
pub(crate) struct Clocks;

/// The clock of an event's times; `None` is perf's own.
fn clock(event: &EventDescription) -> Option<ClockId> {
    event.attr.clockid()
}

impl Concern for Clocks {
    fn finish(&mut self, end: &End<'_>, findings: &mut Vec<Finding>) {
        let has_time = |event: &EventDescription| event.attr.sample_type.has(SampleType::TIME);
        let timed: Vec<&EventDescription> = end.events().iter().filter(|event| has_time(event)).collect();
        let mut clocks: Vec<Option<ClockId>> = timed.iter().map(|event| clock(event)).collect();
        clocks.sort_unstable();
        clocks.dedup();
        if clocks.len() > 1 {
            let names: Vec<String> = clocks.iter().map(|clock| name(*clock)).collect();
            let message = format!(
                "The events take their times from {} different clocks ({}): times of different events cannot be compared, and the \
                 order of records is not that in which things happened.",
                clocks.len(),
                list(&names)
            );
            let advice =
                "Record all events with the same clock: give -k once, and no clockid to single events.";
            findings.push(Finding::whole(MIXED_CLOCKS, clocks.len() as u64, message, advice));
        }
        let untimed: Vec<_> = end.sampled().filter(|(event, _)| !has_time(event)).collect();
        if !untimed.is_empty() {
            let samples = untimed.iter().map(|(_, samples)| samples).sum();
            let share = part(samples, end.totals.samples);
            let message = format!(
                "{} {} no time: processes and mappings are taken as of where they stand in the file, and nothing can be shown \
                 over time.",
                count(samples, "sample"),
                plural(samples, "has", "have")
            );
            findings.push(
                Finding::whole(NO_TIME, samples, message, "Record with -T (--timestamp).").share(share),
            );
        } else if end.totals.samples > 0 && !end.metadata.schema.has_time() {
            let message =
                "Only samples have a time, other records do not: records are taken in the order of the file."
                    .to_owned();
            let advice = "Nothing has to be done unless names look wrong; kernels since 2.6.38 tell the time of all records.";
            findings.push(Finding::whole(UNTIMED_RECORDS, 1, message, advice));
        }
    }
}

fn name(clock: Option<ClockId>) -> String {
    clock.map_or_else(|| "perf's own".to_owned(), |clock| clock.to_string())
}
