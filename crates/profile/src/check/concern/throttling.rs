//! THROTTLE and UNTHROTTLE: counters that came too often and were stopped for a while.

use super::Concern;
use crate::check::end::End;
use crate::check::finding::{Finding, FindingKind};
use crate::check::seen::Seen;
use crate::check::tally::Tally;
use crate::check::wording::{count, duration, part, plural};
use perffile::wire::record::Record;
use std::collections::{BTreeMap, BTreeSet};

const THROTTLED: FindingKind = FindingKind::loss("throttled");

/// Counters followed at a time: more than any machine has, and a bound for files made to hurt.
const MOST: usize = 1 << 16;

/// How often and for how long.
#[derive(Default)]
pub(crate) struct Throttling {
    stops: Tally,
    /// Stopped counters and since when, ns, by (stream id, id).
    since: BTreeMap<(u64, u64), u64>,
    /// Counters that were ever stopped.
    counters: BTreeSet<(u64, u64)>,
    stopped_ns: u64,
}

impl Concern for Throttling {
    fn record(&mut self, record: &Record<'_>, seen: &Seen<'_, '_>) {
        match record {
            Record::Throttle(stop) => {
                self.stops.add(seen.event);
                let counter = (stop.stream_id, stop.id);
                if self.counters.len() < MOST {
                    self.counters.insert(counter);
                    self.since.entry(counter).or_insert(stop.time);
                }
            }
            Record::Unthrottle(go) => {
                if let Some(since) = self.since.remove(&(go.stream_id, go.id)) {
                    self.stopped_ns = self.stopped_ns.saturating_add(go.time.saturating_sub(since));
                }
            }
            _ => {}
        }
    }

    fn finish(&mut self, end: &End<'_>, findings: &mut Vec<Finding>) {
        if !self.stops.any() {
            return;
        }
        let (stops, counters) = (self.stops.count, self.counters.len() as u64);
        let span = end.totals.span_ns();
        let message = format!(
            "The kernel stopped {} {} for coming too often, for {} in all{}; the recording spans {}.",
            count(counters, "counter"),
            match stops {
                1 => "once".to_owned(),
                _ => format!("{stops} {}", plural(stops, "time", "times")),
            },
            duration(self.stopped_ns),
            // One whose thread has ended is never let go on: nothing is missing then.
            match self.since.len() as u64 {
                0 => String::new(),
                left => format!(", not counting {} stopped to the end", plural(left, "one", "those")),
            },
            duration(span)
        );
        let advice = "Record with a lower frequency (-F) or a larger period (-c), or raise kernel.perf_event_max_sample_rate: what \
                      ran while a counter was stopped has no samples.";
        let finding = Finding::new(THROTTLED, &self.stops, message, advice);
        findings.push(match span {
            0 => finding,
            _ => finding.share(part(self.stopped_ns, span.saturating_mul(counters))),
        });
    }
}
