//! Is this recording sound? What is wrong with it, in plain words, and what to do about it.
//!
//! A [`Check`] is a fold over the records in order of time. It hands each record to every concern of a registry; at the
//! end each of them says what it has found. A concern counts on the way and keeps the first place only: what it costs does
//! not depend on how often it finds something.

mod concern;
mod end;
mod finding;
mod seen;
mod tally;
mod wording;

pub use end::{CheckSurroundings, DumpLookup, NameLookup, UnusedDump};
pub use finding::{Finding, FindingKind, Severity, Verdict};

use concern::{CONCERNS, Concern};
use end::{End, Totals};
use perffile::wire::record::kind;
use perffile::{Event, Issues, Metadata, Ordering, Recording};
use readperf_session::{Moment, Session};
use seen::Seen;

/// The fold.
pub struct Check {
    concerns: Vec<Box<dyn Concern>>,
    totals: Totals,
    issues: Issues,
}

impl std::fmt::Debug for Check {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Check").field("totals", &self.totals).finish_non_exhaustive()
    }
}

impl Default for Check {
    fn default() -> Self {
        let concerns = CONCERNS.iter().map(|make| make()).collect();
        Check { concerns, totals: Totals::default(), issues: Issues::default() }
    }
}

impl Check {
    /// Checks a whole recording. `progress` is told the bytes done and the bytes in all.
    ///
    /// # Errors
    /// A stream that has been read already.
    pub fn run(
        recording: &Recording,
        surroundings: &CheckSurroundings<'_>,
        mut progress: impl FnMut((u64, u64)),
    ) -> perffile::Result<Verdict> {
        let mut batches = recording.batches(Ordering::Time)?;
        let mut session = Session::new(recording.metadata());
        let mut check = Check::default();
        while let Some(batch) = batches.next() {
            progress(batches.progress());
            for event in batch.iter() {
                let moment = session.apply(&event);
                check.add(&event, &moment, &session);
            }
        }
        let metadata = batches.metadata().clone();
        // A pipe tells its build-ids on the way.
        session.learn(&metadata.features);
        Ok(check.finish(&metadata, &session, surroundings))
    }

    /// Takes a record in. `moment` is what the session made of it.
    pub fn add(&mut self, event: &Event<'_>, moment: &Moment<'_>, session: &Session) {
        self.totals.add(event, moment);
        let seen = Seen { event, session };
        if let Moment::Sample(sample) = moment {
            self.concerns.iter_mut().for_each(|concern| concern.sample(sample, &seen));
            return;
        }
        // Samples that cannot be used, and what the session could not decode, are among its issues already.
        if matches!(moment, Moment::Undecodable) || event.head().kind == kind::SAMPLE {
            return;
        }
        match event.record() {
            Ok((record, _)) => self.concerns.iter_mut().for_each(|concern| concern.record(&record, &seen)),
            Err(error) => event.tell_undecodable(&error, &mut self.issues),
        }
    }

    /// What was found. `metadata` is what is known at the end; its issues count.
    pub fn finish(
        mut self,
        metadata: &Metadata,
        session: &Session,
        surroundings: &CheckSurroundings<'_>,
    ) -> Verdict {
        let mut issues = metadata.issues.clone();
        issues.extend(session.issues());
        issues.extend(&self.issues);
        let end = End { metadata, session, issues: &issues, totals: &self.totals, surroundings };
        let mut findings = Vec::new();
        self.concerns.iter_mut().for_each(|concern| concern.finish(&end, &mut findings));
        // Worst first; equals in the order of the registry.
        findings.sort_by_key(|finding: &Finding| finding.kind.severity);
        Verdict { findings, samples: self.totals.samples, records: self.totals.records, issues }
    }
}
