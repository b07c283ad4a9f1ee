//! Counters that had to share the hardware.
//!
//! ABI: with `PERF_FORMAT_TOTAL_TIME_ENABLED` and `_RUNNING` a value tells for how long its counter should have counted, and
//! for how long it did. perf stat's STAT records always tell both. A task's counter that is opened for each CPU, as perf
//! record does, runs only while the task is on that CPU: then the two differ without any sharing.

use super::Concern;
use crate::check::end::End;
use crate::check::finding::{Finding, FindingKind};
use crate::check::seen::Seen;
use crate::check::tally::Tally;
use crate::check::wording::{count, part, percent, plural};
use perffile::wire::attr::{AttrFlags, SampleType};
use perffile::wire::event_type::EventType;
use perffile::wire::record::Record;
use perffile::wire::sample::Read;
use readperf_session::SampleMoment;

const MULTIPLEXED: FindingKind = FindingKind::advice("multiplexed");
const NOT_COUNTED: FindingKind = FindingKind::loss("not_counted");

/// Counters in software, of which there is no lack.
const IN_SOFTWARE: [EventType; 2] = [EventType::SOFTWARE, EventType::TRACEPOINT];

/// A counter that ran for less than this part of its time had to share; less is what starting and stopping takes.
const SHARED: f64 = 0.99;

/// Values whose counter did not run all the time.
#[derive(Default)]
pub(crate) struct Multiplexing {
    values: u64,
    shared: Tally,
    /// The least part of its time that one of them ran.
    least: Option<f64>,
    not_counted: Tally,
}

impl Multiplexing {
    fn times(&mut self, enabled_ns: u64, running_ns: u64, seen: &Seen<'_, '_>) {
        if enabled_ns == 0 {
            return;
        }
        self.values += 1;
        if running_ns == 0 {
            return self.not_counted.add(seen.event);
        }
        let ran = part(running_ns, enabled_ns);
        if ran < SHARED {
            self.shared.add(seen.event);
            self.least = Some(self.least.map_or(ran, |least| least.min(ran)));
        }
    }

    fn read(&mut self, read: &Read<'_>, seen: &Seen<'_, '_>) {
        let one_value_is_all = seen.event.event().is_some_and(|event| {
            let in_hardware = !IN_SOFTWARE.contains(&event.attr.kind);
            in_hardware && (!event.attr.flags.has(AttrFlags::inherit) || event.ids.len() <= 1)
        });
        if let (true, Some(enabled), Some(running)) = (one_value_is_all, read.time_enabled, read.time_running)
        {
            self.times(enabled, running, seen);
        }
    }
}

impl Concern for Multiplexing {
    fn sample(&mut self, sample: &SampleMoment<'_>, seen: &Seen<'_, '_>) {
        let reads = seen.event_of(sample).is_some_and(|event| event.attr.sample_type.has(SampleType::READ));
        if reads
            && let Ok((fields, _)) = sample.sample.decode()
            && let Some(read) = fields.read
        {
            self.read(&read, seen);
        }
    }

    fn record(&mut self, record: &Record<'_>, seen: &Seen<'_, '_>) {
        match record {
            Record::Read(read) => self.read(&read.values, seen),
            Record::Stat(stat) => self.times(stat.ena, stat.run, seen),
            _ => {}
        }
    }

    fn finish(&mut self, _end: &End<'_>, findings: &mut Vec<Finding>) {
        if let Some(least) = self.least {
            let share = part(self.shared.count, self.values);
            let message = format!(
                "{}, {} of all, {} from counters that shared the hardware with others: the least of them ran {} of its time, the \
                 rest is extrapolated.",
                count(self.shared.count, "counter value"),
                percent(share),
                plural(self.shared.count, "comes", "come"),
                percent(least)
            );
            let advice = "Record fewer hardware events at a time, or put those that have to be compared into one group ('{a,b}').";
            findings.push(Finding::new(MULTIPLEXED, &self.shared, message, advice).share(share));
        }
        if self.not_counted.any() {
            let share = part(self.not_counted.count, self.values);
            let message = format!(
                "{}, {} of all, {} from counters that never ran.",
                count(self.not_counted.count, "counter value"),
                percent(share),
                plural(self.not_counted.count, "comes", "come")
            );
            let advice = "Record fewer hardware events at a time; a group that needs more counters than the CPU has is never counted.";
            findings.push(Finding::new(NOT_COUNTED, &self.not_counted, message, advice).share(share));
        }
    }
}
