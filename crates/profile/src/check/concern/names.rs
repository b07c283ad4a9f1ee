//! Threads whose name nobody told.

use super::Concern;
use crate::check::end::End;
use crate::check::finding::{Finding, FindingKind};
use crate::check::seen::Seen;
use crate::check::tally::Tally;
use crate::check::wording::{count, part, percent, plural};
use perffile::wire::attr::SampleType;
use readperf_session::SampleMoment;

const UNNAMED_THREADS: FindingKind = FindingKind::advice("unnamed_threads");

/// Samples by thread.
#[derive(Default)]
pub(crate) struct Names {
    samples: Vec<Tally>,
}

impl Concern for Names {
    fn sample(&mut self, sample: &SampleMoment<'_>, seen: &Seen<'_, '_>) {
        // A sample that does not tell its thread is another matter.
        let told = seen.event_of(sample).is_some_and(|event| event.attr.sample_type.has(SampleType::TID));
        if !told || sample.sample.pid() == Some(u32::MAX) {
            return;
        }
        let index = sample.thread.index();
        if self.samples.len() <= index {
            self.samples.resize(index + 1, Tally::default());
        }
        if let Some(tally) = self.samples.get_mut(index) {
            tally.add(seen.event);
        }
    }

    fn finish(&mut self, end: &End<'_>, findings: &mut Vec<Finding>) {
        let mut all = Tally::default();
        let mut threads = 0;
        for (thread, tally) in
            end.session.threads().iter().zip(&self.samples).filter(|(_, tally)| tally.any())
        {
            // A session calls a thread that nothing named by a colon and its tid.
            let makeshift = format!(":{}", thread.tid.cast_signed());
            if end.session.comm(thread.comm()) == makeshift.as_bytes() {
                threads += 1;
                all.count += tally.count;
                all.first = all.first.or(tally.first);
            }
        }
        if threads == 0 {
            return;
        }
        let share = part(all.count, end.totals.samples);
        let message = format!(
            "{}, {} of all, {} to {} whose name was never told.",
            count(all.count, "sample"),
            percent(share),
            plural(all.count, "belongs", "belong"),
            count(threads, "thread")
        );
        let advice = "Give perf the right to read /proc, and look for lost records: names come from there and from COMM records.";
        findings.push(Finding::new(UNNAMED_THREADS, &all, message, advice).share(share));
    }
}
