//! A recording to a profile with names: one pass in order of time, then one batch of addresses a binary.

use crate::naming::Namer;
use crate::pass::{Chunk, PassOptions, Passed, pass};
use perffile::{Issues, Metadata, Recording};
use readperf_profile::statistics::Statistics;
use readperf_profile::{Builder, Keep, MarkBuilder, Marks, Names, Profile};
use readperf_session::Session;
use readperf_symbols::Options;

/// What is wanted of a recording.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Where names come from, and whether with lines and inlined functions.
    pub symbols: Options,
    /// What of the samples is taken in.
    pub pass: PassOptions,
    /// What is kept of them.
    pub keep: Keep,
    /// Whether to count records by type, too.
    pub statistics: bool,
    /// Whether to note what else happened.
    pub marks: bool,
}

/// What a recording amounts to.
#[derive(Debug)]
pub struct Analysis {
    /// Events and features, as known at the end.
    pub metadata: Metadata,
    /// Processes, threads, binaries.
    pub session: Session,
    /// What the samples add up to, with names.
    pub profile: Profile,
    /// Records by type, samples and periods by event; of all records, whatever the filter. Empty if not asked for.
    pub statistics: Statistics,
    /// What else happened, if asked for.
    pub marks: Marks,
    /// What was wrong.
    pub issues: Issues,
}

/// Analyses a recording.
///
/// # Errors
/// A stream that has been read already.
pub fn analyse(recording: &Recording, request: &Request) -> perffile::Result<Analysis> {
    analyse_with(recording, request, |_| Ok(()))
}

/// Analyses a recording, and shows the records on the way, a chunk at a time, in order of time.
///
/// # Errors
/// A stream that has been read already; whatever `each` returns.
pub fn analyse_with<E: From<perffile::Error>>(
    recording: &Recording,
    request: &Request,
    mut each: impl FnMut(&Chunk<'_>) -> Result<(), E>,
) -> Result<Analysis, E> {
    let mut builder = Builder::new(request.keep);
    let mut statistics = Statistics::default();
    let mut marks = MarkBuilder::default();
    let filter = &request.pass.filter;
    let passed = pass(recording, &request.pass, |state, chunk| {
        if request.marks {
            for entry in chunk.entries() {
                let counts = chunk.sample(entry).is_some();
                marks.add(&state.session, filter, &entry.event, &entry.moment, counts);
            }
        }
        if request.statistics {
            chunk.entries().iter().for_each(|entry| statistics.add(&entry.event));
        }
        for sample in chunk.samples() {
            builder.add(sample.moment, sample.shares, sample.address, sample.stack.iter().copied());
        }
        each(chunk)
    })?;
    let Passed { metadata, state, issues } = passed;
    let mut names = Names::default();
    Namer::new(request.symbols.clone()).learn(&mut names, &state.addresses, &state.session);
    let marks = marks.finish(&state.session, &metadata);
    let profile = builder.finish(state.addresses, names, &metadata.schema);
    Ok(Analysis { metadata, session: state.session, profile, statistics, marks, issues })
}
