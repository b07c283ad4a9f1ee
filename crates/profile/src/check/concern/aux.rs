//! AUX traces: what of them was not recorded.

use super::Concern;
use crate::check::end::End;
use crate::check::finding::{Finding, FindingKind};
use crate::check::seen::Seen;
use crate::check::tally::Tally;
use crate::check::wording::{count, part, percent, plural};
use perffile::wire::record::Record;
use perffile::wire::record::aux::AuxFlags;

const TRUNCATED_AUX: FindingKind = FindingKind::loss("truncated_aux");
const AUX_GAPS: FindingKind = FindingKind::loss("aux_gaps");
const AUX_COLLISIONS: FindingKind = FindingKind::loss("aux_collisions");
const MISSING_AUX_DATA: FindingKind = FindingKind::loss("missing_aux_data");
const AUXTRACE_ERRORS: FindingKind = FindingKind::loss("auxtrace_errors");

/// Counts of AUX records by what their flags say.
#[derive(Default)]
pub(crate) struct Aux {
    pieces: Tally,
    truncated: Tally,
    gaps: Tally,
    collisions: Tally,
    traces: u64,
    errors: Tally,
}

impl Concern for Aux {
    fn record(&mut self, record: &Record<'_>, seen: &Seen<'_, '_>) {
        match record {
            Record::Aux(aux) => {
                if aux.aux_size > 0 {
                    self.pieces.add(seen.event);
                }
                for (flag, tally) in [
                    (AuxFlags::truncated, &mut self.truncated),
                    (AuxFlags::partial, &mut self.gaps),
                    (AuxFlags::collision, &mut self.collisions),
                ] {
                    if aux.flags.has(flag) {
                        tally.add(seen.event);
                    }
                }
            }
            Record::Auxtrace(_) => self.traces += 1,
            Record::AuxtraceError(_) => self.errors.add(seen.event),
            _ => {}
        }
    }

    fn finish(&mut self, _end: &End<'_>, findings: &mut Vec<Finding>) {
        let larger = "Record with a larger AUX buffer (-m ,64M), trace less (a filter, fewer CPUs, user mode only), or take snapshots (-S).";
        let of_pieces = |kind, tally: &Tally, what: &str, advice: &str| {
            let share = part(tally.count, self.pieces.count.max(tally.count));
            let pieces = count(tally.count, "piece");
            let message = format!("{pieces} of the hardware trace, {} of all, {what}.", percent(share));
            Finding::new(kind, tally, message, advice).share(share)
        };
        if self.truncated.any() {
            let what = "was cut because its buffer was full";
            findings.push(of_pieces(
                TRUNCATED_AUX,
                &self.truncated,
                plural(self.truncated.count, what, "were cut because their buffer was full"),
                larger,
            ));
        }
        if self.gaps.any() {
            let what = plural(self.gaps.count, "has gaps", "have gaps");
            findings.push(of_pieces(AUX_GAPS, &self.gaps, what, larger));
        }
        if self.collisions.any() {
            let what = plural(self.collisions.count, "has", "have");
            let what = format!("{what} samples that collided and were dropped");
            let advice = "Record with a larger period (-c), so that the hardware is done with one sample before it takes the next.";
            findings.push(of_pieces(AUX_COLLISIONS, &self.collisions, &what, advice));
        }
        if self.pieces.any() && self.traces == 0 {
            let pieces = count(self.pieces.count, "piece");
            let verb = plural(self.pieces.count, "is", "are");
            let message = format!(
                "{pieces} of a hardware trace {verb} announced, but the trace itself is not in the file."
            );
            let advice = "Use the file that perf record has written: perf inject, or a filter, has taken the trace out.";
            findings.push(Finding::new(MISSING_AUX_DATA, &self.pieces, message, advice));
        }
        if self.errors.any() {
            let errors = self.errors.count;
            let message = format!(
                "{} of decoding a hardware trace {} recorded.",
                count(errors, "error"),
                plural(errors, "is", "are")
            );
            let advice =
                "See readperf dump for what the decoder said, and decode with the binaries that ran.";
            findings.push(Finding::new(AUXTRACE_ERRORS, &self.errors, message, advice));
        }
    }
}
