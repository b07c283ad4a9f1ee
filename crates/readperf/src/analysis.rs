//! A recording to a profile with names: one pass in order of time, then one batch of addresses a binary.

use crate::naming;
use perffile::{Event, Issues, Metadata, Ordering, Recording};
use readperf_profile::statistics::Statistics;
use readperf_profile::{Builder, Profile};
use readperf_session::{Moment, Session};
use readperf_symbols::Options;

/// What a recording amounts to.
#[derive(Debug)]
pub struct Analysis {
    /// Events and features, as known at the end.
    pub metadata: Metadata,
    /// Processes, threads, binaries.
    pub session: Session,
    /// What the samples add up to, with names.
    pub profile: Profile,
    /// Records by type, samples and periods by event.
    pub statistics: Statistics,
    /// What was wrong.
    pub issues: Issues,
}

/// Analyses a recording.
///
/// # Errors
/// A stream that has been read already.
pub fn analyse(recording: &Recording, options: &Options) -> perffile::Result<Analysis> {
    analyse_with(recording, options, |_, _| Ok(()))
}

/// Analyses a recording, and shows each record on the way, in order of time, with how far the pass is (bytes done, bytes
/// in all).
///
/// # Errors
/// A stream that has been read already; whatever `each` returns.
pub fn analyse_with<E: From<perffile::Error>>(
    recording: &Recording,
    options: &Options,
    mut each: impl FnMut(&Event<'_>, (u64, u64)) -> Result<(), E>,
) -> Result<Analysis, E> {
    let mut batches = recording.batches(Ordering::Time)?;
    let mut session = Session::new(recording.metadata());
    let mut builder = Builder::new();
    let mut statistics = Statistics::default();
    while let Some(batch) = batches.next() {
        let progress = batches.progress();
        for event in batch.iter() {
            statistics.add(&event);
            if let Moment::Sample(sample) = session.apply(&event) {
                builder.add(&sample, session.shares());
            }
            each(&event, progress)?;
        }
    }
    let metadata = batches.metadata().clone();
    // A pipe tells its build-ids on the way.
    session.learn(&metadata.features);
    let mut issues = batches.issues().clone();
    issues.extend(session.issues());
    let mut profile = builder.finish(&metadata.schema);
    naming::name_functions(&mut profile, &session, options);
    Ok(Analysis { metadata, session, profile, statistics, issues })
}
