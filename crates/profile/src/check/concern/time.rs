//! Times that jump back.

use super::Concern;
use crate::check::end::End;
use crate::check::finding::{Finding, Kind};
use crate::check::seen::Seen;
use crate::check::tally::Tally;
use crate::check::wording::duration;
use readperf_session::SampleMoment;

const TIME_JUMPS_BACK: Kind = Kind::loss("time_jumps_back");

/// Buffers are emptied more often than this: what is older than so much is no matter of their order.
const FAR_NS: u64 = 1_000_000_000;

/// The latest time so far, and how often it was left far behind.
#[derive(Default)]
pub(crate) struct Time {
    latest_ns: u64,
    jumps: Tally,
    farthest_ns: u64,
    inside_jump: bool,
}

impl Concern for Time {
    fn sample(&mut self, sample: &SampleMoment<'_>, seen: &Seen<'_, '_>) {
        if sample.time_ns == 0 {
            return;
        }
        let back_ns = self.latest_ns.saturating_sub(sample.time_ns);
        let far = back_ns >= FAR_NS;
        // A stretch of samples that are all back there is one jump.
        if far && !self.inside_jump {
            self.jumps.add(seen.event);
        }
        self.inside_jump = far;
        self.farthest_ns = self.farthest_ns.max(back_ns);
        self.latest_ns = self.latest_ns.max(sample.time_ns);
    }

    fn finish(&mut self, end: &End<'_>, findings: &mut Vec<Finding>) {
        // Without times of all records they come in the order of the file, CPU by CPU.
        if !self.jumps.any() || !end.metadata.schema.has_time() {
            return;
        }
        let jumps = self.jumps.count;
        let message = format!(
            "The time jumps back by more than a second {}, once by {}.",
            if jumps == 1 { "once".to_owned() } else { format!("{jumps} times") },
            duration(self.farthest_ns)
        );
        let advice = "Record with another clock (-k CLOCK_MONOTONIC) if the machine's clocks of its CPUs drift, and do not put recordings \
                      together by appending them.";
        findings.push(Finding::new(TIME_JUMPS_BACK, &self.jumps, message, advice));
    }
}
