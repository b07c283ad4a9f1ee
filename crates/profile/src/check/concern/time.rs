//! Times that jump back, and single ones that lie far from all around them.

use super::Concern;
use crate::check::end::End;
use crate::check::finding::{Finding, FindingKind};
use crate::check::seen::Seen;
use crate::check::tally::Tally;
use crate::check::wording::{count, duration, plural};
use readperf_session::SampleMoment;

const TIME_JUMPS_BACK: FindingKind = FindingKind::loss("time_jumps_back");
const STRAY_TIMES: FindingKind = FindingKind::loss("stray_times");

/// Buffers are emptied more often than this: what is older than so much is no matter of their order.
const FAR_NS: u64 = 1_000_000_000;

/// The latest time so far, and how often it was left far behind.
#[derive(Default)]
pub(crate) struct Time {
    latest_ns: u64,
    /// The time of the last sample if it is far behind the latest: one alone may be wrong, a second one confirms it.
    ahead: Option<(u64, Tally)>,
    jumps: Tally,
    farthest_ns: u64,
    inside_jump: bool,
    strays: Tally,
}

impl Time {
    /// The last sample was far ahead: either time has gone on there, or that one was alone.
    fn settle(&mut self, time_ns: u64) {
        let Some((ahead_ns, tally)) = self.ahead.take() else { return };
        if ahead_ns.saturating_sub(time_ns) < FAR_NS {
            self.latest_ns = ahead_ns;
        } else {
            self.strays.count += 1;
            self.strays.first = self.strays.first.or(tally.first);
        }
    }
}

impl Concern for Time {
    fn sample(&mut self, sample: &SampleMoment<'_>, seen: &Seen<'_, '_>) {
        // A sample whose chain was completed comes when that happens, not when it was taken.
        if sample.time_ns == 0 || seen.event.was_joined() {
            return;
        }
        if !sample.is_timed {
            return self.strays.add(seen.event);
        }
        self.settle(sample.time_ns);
        if self.latest_ns != 0 && sample.time_ns.saturating_sub(self.latest_ns) >= FAR_NS {
            let mut tally = Tally::default();
            tally.add(seen.event);
            self.ahead = Some((sample.time_ns, tally));
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
        if !end.metadata.schema.has_time() {
            return;
        }
        if self.jumps.any() {
            let jumps = self.jumps.count;
            let message = format!(
                "The time jumps back by more than a second {}, once by {}.",
                if jumps == 1 { "once".to_owned() } else { format!("{jumps} times") },
                duration(self.farthest_ns)
            );
            let advice = "Record with another clock (-k CLOCK_MONOTONIC) if the machine's clocks of its CPUs drift, and do not put \
                          recordings together by appending them.";
            findings.push(Finding::new(TIME_JUMPS_BACK, &self.jumps, message, advice));
        }
        if self.strays.any() {
            let strays = self.strays.count;
            let message = format!(
                "{} {} a time far from that of all samples around.",
                count(strays, "sample"),
                plural(strays, "has", "have")
            );
            let advice = "See readperf dump for the place: a byte of the recording was changed, or a CPU's clock went wrong for a \
                          moment. All other times can be used.";
            findings.push(Finding::new(STRAY_TIMES, &self.strays, message, advice));
        }
    }
}
