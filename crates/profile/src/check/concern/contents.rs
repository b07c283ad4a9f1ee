//! What this version does not know, and what the recording should have brought along.

use super::Concern;
use crate::check::end::End;
use crate::check::finding::{Finding, FindingKind};
use crate::check::seen::Seen;
use crate::check::tally::Tally;
use crate::check::wording::{count, list, part, percent, plural};
use perffile::wire::attr::SampleType;
use perffile::wire::feature::{self, bit};
use perffile::wire::record::Record;
use std::collections::BTreeSet;

const UNKNOWN_RECORDS: FindingKind = FindingKind::note("unknown_records");
const UNKNOWN_FEATURES: FindingKind = FindingKind::note("unknown_features");
const NO_TRACEPOINT_FORMATS: FindingKind = FindingKind::advice("no_tracepoint_formats");

/// Types told by number at most.
const MOST: usize = 100;

/// Records of unknown types.
#[derive(Default)]
pub(crate) struct Contents {
    records: Tally,
    types: BTreeSet<u32>,
}

impl Concern for Contents {
    fn record(&mut self, record: &Record<'_>, seen: &Seen<'_, '_>) {
        let number = seen.event.head().kind;
        // A number that another producer gave a meaning of its own is not unknown.
        let named = !seen.event.type_name().starts_with("UNKNOWN_");
        if matches!(record, Record::Unknown(_)) && !named {
            self.records.add(seen.event);
            if self.types.len() < MOST {
                self.types.insert(number);
            }
        }
    }

    fn finish(&mut self, end: &End<'_>, findings: &mut Vec<Finding>) {
        formats(end, findings);
        if self.records.any() {
            let share = part(self.records.count, end.totals.records);
            let types: Vec<String> = self.types.iter().map(u32::to_string).collect();
            let message = format!(
                "{}, {} of all, {} of a type unknown to this version: {}.",
                count(self.records.count, "record"),
                percent(share),
                plural(self.records.count, "is", "are"),
                list(&types)
            );
            let advice = "Look for a newer readperf, or use the tool of the producer (numbers from 32768 up are simpleperf's).";
            findings.push(Finding::new(UNKNOWN_RECORDS, &self.records, message, advice).share(share));
        }
        let features = &end.metadata.features;
        let unknown: Vec<u32> = features.bits().filter(|bit| feature::name(*bit).is_none()).collect();
        if let Some(first) = unknown.first() {
            let bits: Vec<String> = unknown.iter().map(u32::to_string).collect();
            let message = format!(
                "{} of the header {} unknown to this version: {}.",
                count(unknown.len() as u64, "feature"),
                plural(unknown.len() as u64, "is", "are"),
                list(&bits)
            );
            let advice = "Look for a newer readperf, or use the tool of the producer (numbers from 128 up are simpleperf's).";
            let tally = Tally { count: unknown.len() as u64, first: features.place(*first) };
            findings.push(Finding::new(UNKNOWN_FEATURES, &tally, message, advice));
        }
    }
}

/// The payload of a tracepoint means nothing without its format.
fn formats(end: &End<'_>, findings: &mut Vec<Finding>) {
    let samples: u64 = end
        .sampled()
        .filter(|(event, _)| event.attr.tracepoint().is_some() && event.attr.sample_type.has(SampleType::RAW))
        .map(|(_, samples)| samples)
        .sum();
    if samples == 0 || end.metadata.features.has(bit::TRACING_DATA) {
        return;
    }
    let message = format!(
        "The formats of the tracepoints are missing: the fields of {} cannot be shown.",
        count(samples, "sample")
    );
    let advice = "Use the file that perf record has written; one whose recorder was killed has none.";
    findings.push(Finding::whole(NO_TRACEPOINT_FORMATS, samples, message, advice));
}
