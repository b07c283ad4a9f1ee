//! LOST and LOST_SAMPLES: what did not fit, or was dropped.
//!
//! ABI: LOST counts records of any type for which the ring buffer had no room; LOST_SAMPLES counts samples. Since Linux 6.0
//! perf asks each counter at the end for its own count (`PERF_FORMAT_LOST`) and writes it as LOST_SAMPLES, so that the same
//! sample may be in both. With `misc` bit 15 they were dropped by a filter, as wished.

use super::Concern;
use crate::check::end::End;
use crate::check::finding::{Finding, FindingKind};
use crate::check::seen::Seen;
use crate::check::tally::Tally;
use crate::check::wording::{count, part, percent, plural};
use perffile::wire::misc;
use perffile::wire::record::Record;

const LOST_RECORDS: FindingKind = FindingKind::loss("lost_records");
const LOST_SAMPLES: FindingKind = FindingKind::loss("lost_samples");
const FILTERED_SAMPLES: FindingKind = FindingKind::note("filtered_samples");

/// Sums of what was lost.
#[derive(Default)]
pub(crate) struct Losses {
    records: Tally,
    /// How many LOST records told of them.
    times: u64,
    samples: Tally,
    filtered: Tally,
}

impl Concern for Losses {
    fn record(&mut self, record: &Record<'_>, seen: &Seen<'_, '_>) {
        match record {
            Record::Lost(lost) if lost.lost > 0 => {
                self.times += 1;
                self.records.add_many(lost.lost, seen.event);
            }
            Record::LostSamples(lost) if lost.lost > 0 => {
                let filtered = seen.event.head().misc & misc::LOST_SAMPLES_BPF != 0;
                let tally = if filtered { &mut self.filtered } else { &mut self.samples };
                tally.add_many(lost.lost, seen.event);
            }
            _ => {}
        }
    }

    fn finish(&mut self, end: &End<'_>, findings: &mut Vec<Finding>) {
        if self.records.any() {
            let lost = self.records.count;
            let share = part(lost, lost.saturating_add(end.totals.kernel_records));
            let message = format!(
                "{} {} lost, {} of all, because the buffer was full {}.",
                count(lost, "record"),
                plural(lost, "was", "were"),
                percent(share),
                if self.times == 1 { "once".to_owned() } else { format!("{} times", self.times) }
            );
            let advice = "Record with a larger buffer (-m 8M), a lower frequency (-F) or fewer events; call chains with --call-graph dwarf \
                          need the most room.";
            findings.push(Finding::new(LOST_RECORDS, &self.records, message, advice).share(share));
        }
        if self.samples.any() {
            let lost = self.samples.count;
            let share = part(lost, lost.saturating_add(end.totals.samples));
            let also = if self.records.any() { "; some may be among the lost records" } else { "" };
            let message = format!(
                "{} {} lost, {} of all{also}.",
                count(lost, "sample"),
                plural(lost, "was", "were"),
                percent(share)
            );
            let advice =
                "Record with a larger buffer (-m 8M) or a lower frequency (-F, or a larger period with -c).";
            findings.push(Finding::new(LOST_SAMPLES, &self.samples, message, advice).share(share));
        }
        if self.filtered.any() {
            let lost = self.filtered.count;
            let share = part(lost, lost.saturating_add(end.totals.samples));
            let message = format!(
                "{} {} dropped by a filter given to perf record.",
                count(lost, "sample"),
                plural(lost, "was", "were")
            );
            let advice = "Nothing has to be done if the filter was meant so.";
            findings.push(Finding::new(FILTERED_SAMPLES, &self.filtered, message, advice).share(share));
        }
    }
}
