//! A recording to a profile with names: one pass in order of time, then one batch of addresses a binary.

use crate::chunk::Chunk;
use crate::code_times::CodeTimes;
use crate::linked_addresses::{LinkedAddress, linked_addresses};
use crate::naming::{Namer, add_losses};
use crate::only_counts::OnlyCounts;
use crate::pass::{PassOptions, Passed, State, pass_into};
use crate::taking::Taking;
use crate::unwinding::StackEnds;
use perffile::{Issues, Metadata, Recording};
use readperf_profile::statistics::Statistics;
use readperf_profile::{
    Builder, DetailField, DetailOptions, Keep, Locator, MarkBuilder, Marks, Names, Profile, RecordedChains,
    Rounding, Weighing,
};
use readperf_session::Session;
use readperf_symbols::{Files, Options};
use std::sync::Arc;

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
    /// Whether to look up which address the linker gave to each place.
    pub linked_addresses: bool,
    /// Whether to leave out what the places are called: who only counts needs no file but the recording.
    pub without_names: bool,
    /// For those who ask for functions and lines, not for addresses: so many places, give or take a quarter, after which those of one name
    /// become one. If it must be, addresses without a name are told less exactly; [`Analysis::rounding`] says how. All if not said.
    /// Where places were when they ran is not told then, either: see [`PassOptions::places_of_binaries`].
    pub most_places: Option<usize>,
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
    /// Where the linker put each place, by number. Empty if not asked for.
    pub linked_addresses: Vec<LinkedAddress>,
    /// What was wrong.
    pub issues: Issues,
    /// How recorded user stacks ended.
    pub stack_ends: StackEnds,
    /// How well generated code could be told by the time of a sample.
    pub code_times: CodeTimes,
    /// How exactly addresses without a name are told.
    pub rounding: Rounding,
    /// Where names come from that the recording does not vouch for, in a sentence.
    pub names_told: Option<String>,
    /// Whether there are counts, as `perf stat record` makes them, and no sample at all.
    pub only_counts: bool,
}

impl Analysis {
    /// How far what was read is to be trusted, in sentences.
    pub fn told(&self) -> Vec<String> {
        let told = self.stack_ends.told().into_iter().chain(self.code_times.told());
        let rounded = self.rounding.told().map(|exactly| {
            format!("there are more places than are held: addresses without a name are told {exactly}")
        });
        told.chain(rounded).chain(self.names_told.clone()).collect()
    }
}

/// Analyses a recording.
///
/// # Errors
/// A stream that has been read already.
pub fn analyse(recording: &Recording, request: &Request) -> perffile::Result<Analysis> {
    analyse_with(recording, request, |_, _| Ok(()))
}

/// Analyses a recording, and shows the records on the way, a chunk at a time, in order of time.
///
/// # Errors
/// A stream that has been read already; whatever `each` returns.
pub fn analyse_with<E: From<perffile::Error>>(
    recording: &Recording,
    request: &Request,
    each: impl FnMut(&State, &Chunk<'_>) -> Result<(), E>,
) -> Result<Analysis, E> {
    analyse_detailed(recording, request, &DetailOptions::default(), each)
}

/// Analyses a recording, shows the records on the way, and keeps these fields of each sample.
///
/// # Errors
/// A stream that has been read already; whatever `each` returns.
pub fn analyse_detailed<E: From<perffile::Error>>(
    recording: &Recording,
    request: &Request,
    details: &DetailOptions,
    each: impl FnMut(&State, &Chunk<'_>) -> Result<(), E>,
) -> Result<Analysis, E> {
    let files = Files::new();
    let analysed = run(&files, recording, request, details, each, |namer, names, state| {
        let told = match request.without_names {
            true => None,
            false => namer.learn_last(names, &state.addresses, &state.session),
        };
        (told, ())
    })?;
    Ok(analysed.0)
}

/// As [`analyse_detailed`], and keeps open what names were looked up in, for more questions.
///
/// # Errors
/// A stream that has been read already; whatever `each` returns.
pub fn analyse_keeping_names<'f, E: From<perffile::Error>>(
    files: &'f Files,
    recording: &Recording,
    request: &Request,
    details: &DetailOptions,
    each: impl FnMut(&State, &Chunk<'_>) -> Result<(), E>,
) -> Result<(Analysis, Namer<'f>), E> {
    run(files, recording, request, details, each, |mut namer, names, state| {
        if !request.without_names {
            namer.learn(names, &state.addresses, &state.session);
        }
        (namer.told(), namer)
    })
}

/// How many samples there may be, for the first size of tables. Room that is not needed is memory that the system does not give, and
/// what has to be moved since there was too little costs more than it.
pub(crate) fn expected_samples(recording: &Recording) -> usize {
    /// Bytes of a sample with a stack of ten places, and most samples that are expected.
    const ORDINARY: u64 = 128;
    const MOST: usize = 1 << 20;
    usize::try_from(recording.data_bytes() / ORDINARY).unwrap_or(MOST).min(MOST)
}

/// Learns the names of the places so far, and puts those together that need not be told apart.
fn put_together(
    namer: &mut Namer<'_>,
    names: &mut Names,
    state: &mut State,
    builder: &mut Builder,
    (most, rounding): (usize, &mut Rounding),
) {
    namer.learn(names, &state.addresses, &state.session);
    builder.put_together(state.put_together(names, most, rounding));
}

/// The way from a recording to a profile. `name` learns all names, and returns what is to be told of them, and what is kept.
fn run<'f, T, E: From<perffile::Error>>(
    files: &'f Files,
    recording: &Recording,
    request: &Request,
    details: &DetailOptions,
    mut each: impl FnMut(&State, &Chunk<'_>) -> Result<(), E>,
    name: impl FnOnce(Namer<'f>, &mut Names, &State) -> (Option<String>, T),
) -> Result<(Analysis, T), E> {
    let threads = request.symbols.thread_count();
    let builder = Builder::with_details(request.keep, details.clone())
        .concurrent(threads > 1)
        .expecting(expected_samples(recording));
    let branches = details.weighing == Weighing::Branches;
    let data_addresses = details.has(DetailField::DataPlace);
    let code_from = (!request.without_names).then(|| request.symbols.clone());
    // Numbers of other places than those of stacks lie where they do not change.
    let most_places = request.most_places.filter(|_| {
        !data_addresses
            && !branches
            && !request.pass.branches
            && !request.without_names
            && !request.linked_addresses
    });
    let options = PassOptions {
        most_places,
        // Who asks for functions and lines does not ask for that.
        places_of_binaries: most_places.is_some(),
        data_addresses,
        branches: branches || request.pass.branches,
        code_from,
        statistics: request.statistics,
        is_concurrent: threads > 1,
        ..request.pass.clone()
    };
    let marks = request.marks.then(MarkBuilder::default);
    let mut taking = Taking { builder, marks, filter: &options.filter, details };
    let mut only_counts = OnlyCounts::default();
    let new_namer = |metadata: &Metadata| Namer::new(files, request.symbols.clone(), metadata);
    let mut namer = new_namer(recording.metadata());
    let mut names = Names::default();
    let mut rounding = Rounding::default();
    let passed = pass_into(recording, &options, &mut taking, |state, chunk, taking| {
        if !request.without_names {
            namer.read_ahead(&state.session, chunk);
        }
        only_counts.see(chunk);
        let shown = each(state, chunk);
        if let Some(most) = most_places.filter(|_| state.is_full) {
            put_together(&mut namer, &mut names, state, &mut taking.builder, (most, &mut rounding));
        }
        shown
    })?;
    let Passed { metadata, mut state, mut issues, stack_ends, code_times } = passed;
    let Taking { mut builder, marks, .. } = taking;
    if !Arc::ptr_eq(&recording.metadata().features, &metadata.features) {
        // As in pipe mode, where the recording tells on the way where names come from.
        namer = new_namer(&metadata);
    }
    if let Some(most) = most_places.filter(|_| !names.is_empty()) {
        // Some have been put together, and all addresses are to be told alike.
        builder.come_back(&mut RecordedChains::default(), &mut Locator::default(), &mut state.addresses);
        put_together(&mut namer, &mut names, &mut state, &mut builder, (most, &mut rounding));
    }
    let added = builder.end();
    // What comes now needs the memory.
    state.addresses.freeze();
    let (names_told, kept) = name(namer, &mut names, &state);
    add_losses(&mut issues, &request.symbols);
    names.unify(&state.session);
    let marks = marks.unwrap_or_default().finish(&state.session, &metadata, &options.filter);
    let linked_addresses = match request.linked_addresses {
        true => linked_addresses(&state.addresses, &names, &state.session, &request.symbols),
        false => Vec::new(),
    };
    let profile = added.profile(state.addresses, names, &metadata.schema);
    let State { session, statistics, .. } = state;
    let statistics = statistics.unwrap_or_default();
    let only_counts = only_counts.is_so(&metadata);
    let analysis = Analysis {
        metadata,
        session,
        profile,
        statistics,
        marks,
        linked_addresses,
        issues,
        stack_ends,
        code_times,
        rounding,
        names_told,
        only_counts,
    };
    Ok((analysis, kept))
}
