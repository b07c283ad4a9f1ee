//! Whether there are enough samples to say anything, and what each of them stands for.

use super::Concern;
use crate::check::end::End;
use crate::check::finding::{Finding, FindingKind};
use crate::check::seen::Seen;
use crate::check::wording::{count, list, part, plural};
use perffile::EventDescription;
use perffile::wire::attr::{AttrFlags, ReadFormat, SampleType};
use perffile::wire::event_type::SoftwareEvent;
use perffile::wire::record::Record;

const NO_SAMPLES: FindingKind = FindingKind::loss("no_samples");
const FEW_SAMPLES: FindingKind = FindingKind::note("few_samples");
const NO_PERIODS: FindingKind = FindingKind::advice("no_periods");
const SILENT_EVENTS: FindingKind = FindingKind::note("silent_events");

/// Below so many samples a share of five percent has an error as large as itself.
const FEW: u64 = 100;

/// Kinds of recordings that do without samples.
#[derive(Default)]
pub(crate) struct Samples {
    counts: bool,
    traces: bool,
}

impl Concern for Samples {
    fn record(&mut self, record: &Record<'_>, _seen: &Seen<'_, '_>) {
        self.counts |= matches!(record, Record::Stat(_) | Record::StatConfig(_));
        self.traces |=
            matches!(record, Record::Auxtrace(_) | Record::AuxtraceInfo(_) | Record::SchedstatCpu(_));
    }

    fn finish(&mut self, end: &End<'_>, findings: &mut Vec<Finding>) {
        let samples = end.totals.samples;
        match samples {
            0 if self.counts || self.traces => {}
            0 => findings.push(Finding::whole(
                NO_SAMPLES,
                0,
                "There is not a single sample.".to_owned(),
                "See whether the program ran at all, whether the event can happen in the mode recorded (:u is user mode only), and \
                 whether the machine counts it: virtual machines often lack hardware counters, -e cpu-clock works everywhere.",
            )),
            _ if samples < FEW && !self.traces => findings.push(Finding::whole(
                FEW_SAMPLES,
                samples,
                format!("There {} only {}: small shares mean little.", plural(samples, "is", "are"), count(samples, "sample")),
                "Record for longer, or with a higher frequency (-F 4999).",
            )),
            _ => {}
        }
        periods(end, findings);
        silent(end, findings);
    }
}

/// ABI: without PERIOD a sample's weight is unknown where `sample_period` is a frequency.
fn periods(end: &End<'_>, findings: &mut Vec<Finding>) {
    let unknown = |event: &EventDescription| {
        event.attr.flags.has(AttrFlags::freq)
            && !event.attr.sample_type.has(SampleType::PERIOD)
            && !event.attr.sample_type.has(SampleType::READ)
    };
    let samples: u64 = end.sampled().filter(|(event, _)| unknown(event)).map(|(_, samples)| samples).sum();
    if samples > 0 {
        let message = format!(
            "{} {} no period although the period varied: each counts as one, however much it stands for.",
            count(samples, "sample"),
            plural(samples, "has", "have")
        );
        let advice = "Record without --no-period, or with a fixed period (-c).";
        findings.push(
            Finding::whole(NO_PERIODS, samples, message, advice).share(part(samples, end.totals.samples)),
        );
    }
}

/// Whether an event only serves to get records of tasks and mappings.
fn is_dummy(event: &EventDescription) -> bool {
    event.attr.software() == Some(SoftwareEvent::DUMMY)
}

fn silent(end: &End<'_>, findings: &mut Vec<Finding>) {
    // The leader's samples tell what the others of its group have counted.
    let grouped = end.events().iter().any(|event| {
        event.attr.sample_type.has(SampleType::READ) && event.attr.read_format.has(ReadFormat::GROUP)
    });
    if grouped || end.sampled().next().is_none() {
        return;
    }
    let events = end.events().iter().enumerate();
    let names: Vec<String> = events
        .filter(|(index, event)| end.totals.of_event(*index) == 0 && !is_dummy(event))
        .map(|(_, event)| event.name.clone())
        .collect();
    if names.is_empty() {
        return;
    }
    let silent = names.len() as u64;
    let message = format!(
        "{} of {} {} no sample: {}.",
        count(silent, "event"),
        end.events().len(),
        plural(silent, "has", "have"),
        list(&names)
    );
    let advice =
        "See whether the event can happen in what was recorded, and whether its period is too large.";
    findings.push(Finding::whole(SILENT_EVENTS, silent, message, advice));
}
