//! One pass over a recording in order of time: records become moments, samples get their stacks.
//!
//! Records come in chunks, because work on a chunk can be shared between threads (unwinding, text), and because names are
//! looked up for many addresses at a time.

use crate::analyse::expected_samples;
use crate::chunk::Take;
pub use crate::chunk::{Chunk, Entry, Sample};
use crate::code_times::{CodeInTime, CodeTimes};
use crate::see::{Nobody, See, Seeing};
use crate::unwinding::{StackEnds, Unwinding};
use perffile::wire::attr::SampleType;
use perffile::wire::record::kind;
use perffile::{Issues, Metadata, Ordering, Recording, Schema};
use readperf_profile::statistics::Statistics;
use readperf_profile::{
    Addresses, CallerAddress, Located, LocatedId, Locating, Locator, Names, RecordedChains, Rounding,
    SampleFilter, Together,
};
use readperf_session::Session;
use readperf_symbols::Options;

/// Records in a chunk: what is held of them fits into a cache close to the processor. Fewer in tests, so that several go to another thread at
/// once.
const CHUNK: usize = if cfg!(debug_assertions) { 20 } else { 256 };

/// What a pass is to do.
#[derive(Clone, Debug, Default)]
pub struct PassOptions {
    /// Whether samples get their stacks; without, only the place where they were taken.
    pub stacks: bool,
    /// Whether not even that is looked up, of samples that are taken into a profile: their place is
    /// [`AddressId::NONE`](readperf_profile::AddressId::NONE). Stacks, or anything else that is looked up of samples, come before it.
    pub without_places: bool,
    /// Which address stands for a caller.
    pub callers: CallerAddress,
    /// Which samples count.
    pub filter: SampleFilter,
    /// Where the binaries are that are needed to unwind recorded user stacks; without, these stay what the recorded call
    /// chain tells.
    pub unwind: Option<Options>,
    /// Where the files are that tell when generated code came to its place; without, only the last code at an address is known.
    pub code_from: Option<Options>,
    /// Most frames of a recorded user stack; 127 if 0, as perf.
    pub max_frames: usize,
    /// Whether data addresses are located, too.
    pub data_addresses: bool,
    /// Whether both ends of recorded branches are located, too.
    pub branches: bool,
    /// Whether to count all records by type, whatever the filter.
    pub statistics: bool,
    /// Whether chunks show samples, too: for those who look at each.
    pub shows_samples: bool,
    /// Types of records that are no samples but whose threads' names are wanted.
    pub threads_of: Vec<u32>,
    /// Whether another thread may look up places, if nobody wants to see them on the way, or they may come later. They are the same.
    pub is_concurrent: bool,
    /// Whether places may come later than samples, from [`State::take_located`]: then records are [seen](See) as they come, unless stacks are unwound,
    /// or events become known on the way.
    pub places_may_come_later: bool,
    /// Whether nobody asks where places were when they ran ([`CodeAddress::ip`](readperf_session::CodeAddress::ip)): then that is their address in
    /// the binary, and processes with the same binary have the same places.
    pub places_of_binaries: bool,
    /// Whether places of user code where nothing is mapped are apart, as [`AddressId::UNMAPPED`](readperf_profile::AddressId::UNMAPPED): their addresses are
    /// in [`Sample::unmapped`]. It is not so where stacks are unwound, or events become known on the way.
    pub unmapped_apart: bool,
    /// So many places are held, give or take a quarter, for those who need them only for a while; all if not said. See [`State::is_full`].
    pub most_places: Option<usize>,
}

impl PassOptions {
    /// Whether nobody needs places on the way.
    pub(crate) fn places_can_wait(&self) -> bool {
        !self.shows_samples && self.has_only_stacks()
    }

    /// Whether no other places are looked up than those of stacks.
    fn has_only_stacks(&self) -> bool {
        !self.data_addresses && !self.branches
    }

    /// Whether no place is looked up.
    pub(crate) fn has_no_places(&self) -> bool {
        self.without_places && !self.stacks && self.places_can_wait()
    }
}

/// Samples from which on a thread is worth it. Tests are to have one.
const WORTH_A_THREAD: usize = if cfg!(debug_assertions) { 1 } else { 1 << 12 };

/// Frames that perf shows of a stack.
const MAX_FRAMES: usize = 127;

/// What is known, as of the last record of the chunk at hand.
#[derive(Debug)]
pub struct State {
    /// Processes, threads, binaries.
    pub session: Session,
    /// The places of samples and their callers.
    pub addresses: Addresses,
    /// The samples whose places are still to be looked up, and what does that.
    pub(crate) chains: RecordedChains,
    pub(crate) locator: Locator,
    /// Whether another thread does it. Then addresses are there at the end.
    pub(crate) looks_up_beside: bool,
    /// The thread that does it for those to whom places may come later, and what was looked up here, or by an earlier one.
    pub(crate) locating: Option<Locating>,
    pub(crate) located: Located,
    /// How many places had been told when they were [taken](State::take_located).
    told: usize,
    /// Whether there are [more places than wanted](PassOptions::most_places): after the chunk at hand they are forgotten, and those that
    /// follow are numbered anew.
    pub is_full: bool,
    /// So many look-ups there may be before that is asked again. It is no matter of time: whatever threads do, places end where they end.
    pub(crate) unasked: usize,
    /// What all records amount to, if asked for.
    pub statistics: Option<Statistics>,
}

impl State {
    /// Looks up where the samples that wait for it were taken, many at once.
    pub(crate) fn look_up(&mut self) {
        self.locator.locate(&mut self.addresses, &self.chains);
        self.chains.clear();
    }

    /// Looks them up for those to whom they come later.
    pub(crate) fn look_up_for_later(&mut self) {
        self.look_up();
        self.located.take_in(&self.locator);
    }

    /// The number of the next sample whose place comes later.
    pub(crate) fn id_of_next(&self) -> LocatedId {
        let before = self.chains.len();
        match &self.locating {
            Some(locating) => locating.id_of_next(before),
            None => self.located.id_of_next(before),
        }
    }

    /// Where the samples were taken whose places [come later](PassOptions::places_may_come_later), and the places that are new, both since the last
    /// time. Without such samples only the places.
    pub fn take_located(&mut self) -> Located {
        let located = match &mut self.locating {
            Some(locating) => locating.take(&mut self.chains),
            None => {
                self.located.set_new_places(self.addresses.since(self.told));
                std::mem::take(&mut self.located)
            }
        };
        self.told += located.new_places().len();
        located
    }

    /// The same of samples that were looked up here, without the new places, which are in [`State::addresses`].
    pub fn take_located_here(&mut self) -> Located {
        std::mem::take(&mut self.located)
    }

    /// How much it holds of samples that were looked up here, and that nobody has taken yet, roughly, in bytes.
    pub fn located_size(&self) -> usize {
        self.located.size()
    }

    /// Memory for the next ones, from those who need no more of it.
    pub fn use_again(&mut self, mut spent: Located) {
        match &mut self.locating {
            Some(locating) => locating.use_again(spent),
            None if self.located.is_empty() => {
                spent.clear();
                self.located = spent;
            }
            None => {}
        }
    }

    /// How many places were new when they were taken, all in all.
    pub fn places_told(&self) -> usize {
        self.told
    }

    /// Has places looked up by another thread, if there is one.
    fn locate_beside(&mut self) {
        self.located.set_new_places(self.addresses.since(self.told));
        self.locating = Locating::start(&mut self.locator, &mut self.addresses, &mut self.located);
    }

    /// Has them looked up here again.
    fn locate_here(&mut self) {
        if let Some(locating) = self.locating.take() {
            (self.locator, self.addresses, self.located) = locating.end(&mut self.chains);
        }
    }

    /// Says whether places where nothing is mapped are apart from now on.
    fn tell_unmapped_apart(&mut self, are_apart: bool) {
        // Another thread that looks up does so as it was told before it began, and ends when that changes.
        if self.locating.is_none() && self.addresses.unmapped_apart(are_apart) {
            self.locator.forget_all();
        }
    }

    /// Whether there may be more places than wanted, after so many look-ups more.
    pub(crate) fn may_be_full(&mut self, look_ups: usize) -> bool {
        let left = self.unasked.checked_sub(look_ups);
        self.unasked = left.unwrap_or(0);
        left.is_none()
    }

    /// Asks how many there are. If they are too many, they are all here.
    pub(crate) fn ask_whether_full(&mut self, most: usize) {
        let places = match &mut self.locating {
            Some(locating) => self.told + locating.count_new_places(&mut self.chains),
            None => self.addresses.len(),
        };
        self.is_full = places > most;
        if self.is_full {
            self.locate_here();
        }
        self.expect_places(places, most);
    }

    /// After what number of look-ups there may be too many places.
    fn expect_places(&mut self, places: usize, most: usize) {
        self.unasked = most.saturating_sub(places).max(most / 4);
    }

    /// Gives places new numbers, under which all that is looked up from now on is found.
    pub(crate) fn put_together(
        &mut self,
        names: &mut Names,
        most: usize,
        rounding: &mut Rounding,
    ) -> Together {
        self.locator.forget_all();
        self.is_full = false;
        let together = self.addresses.put_together(names, most / 2, rounding);
        self.expect_places(self.addresses.len(), most);
        together
    }

    /// Forgets all places.
    pub(crate) fn forget_places(&mut self, most: usize) {
        self.addresses.clear();
        self.locator.forget_all();
        self.told = 0;
        self.is_full = false;
        self.expect_places(0, most);
    }
}

/// What is left at the end of a pass.
#[derive(Debug)]
pub struct Passed {
    /// Events and features, as known at the end.
    pub metadata: Metadata,
    /// What was known at the end.
    pub state: State,
    /// What was wrong.
    pub issues: Issues,
    /// How recorded user stacks ended.
    pub stack_ends: StackEnds,
    /// How well generated code could be told by the time of a sample.
    pub code_times: CodeTimes,
}

/// Goes once over a recording, in order of time. `visit` sees the records, a chunk at a time.
///
/// # Errors
/// A stream that has been read already; whatever `visit` returns.
pub fn pass<E: From<perffile::Error>>(
    recording: &Recording,
    options: &PassOptions,
    mut visit: impl FnMut(&mut State, &Chunk<'_>) -> Result<(), E>,
) -> Result<Passed, E> {
    pass_seeing(recording, options, &mut Nobody, |state, chunk, _| visit(state, chunk))
}

/// The same; `see` sees the records as they come, if places may come later, and `visit` is told where a chunk ends.
///
/// # Errors
/// A stream that has been read already; whatever `visit` returns.
pub fn pass_seeing<S: See, E: From<perffile::Error>>(
    recording: &Recording,
    options: &PassOptions,
    see: &mut S,
    mut visit: impl FnMut(&mut State, &Chunk<'_>, &mut S) -> Result<(), E>,
) -> Result<Passed, E> {
    pass_into(recording, options, &mut Seeing(see), |state, chunk, seeing| visit(state, chunk, seeing.0))
}

/// The same; samples are taken in on the way.
pub(crate) fn pass_into<T: Take, E: From<perffile::Error>>(
    recording: &Recording,
    options: &PassOptions,
    take: &mut T,
    mut visit: impl FnMut(&mut State, &Chunk<'_>, &mut T) -> Result<(), E>,
) -> Result<Passed, E> {
    let mut batches = recording.batches(Ordering::Time)?;
    let session = Session::new(recording.metadata());
    let statistics = options.statistics.then(Statistics::default);
    let addresses = Addresses::default().of_binaries(options.places_of_binaries);
    let addresses = addresses.expecting(expected_samples(recording));
    let chains = RecordedChains::new(options.stacks);
    let locator = Locator::new(options.callers);
    let mut state = State {
        session,
        addresses,
        chains,
        locator,
        looks_up_beside: false,
        locating: None,
        located: Located::default(),
        told: 0,
        is_full: false,
        unasked: options.most_places.unwrap_or(0),
        statistics,
    };
    let events = recording.metadata().schema.events().len();
    let mut samples = 0;
    let max_frames = if options.max_frames == 0 { MAX_FRAMES } else { options.max_frames };
    let mut unwinding: Option<Unwinding> = None;
    let mut code = CodeInTime::new(options.code_from.as_ref());
    while let Some(batch) = batches.next() {
        if let (None, Some(symbols), true) = (&unwinding, &options.unwind, has_user_stacks(batch.schema())) {
            unwinding = Some(Unwinding::new(symbols, &batches.metadata().features, max_frames));
            come_back(&mut state, take);
        }
        if samples >= WORTH_A_THREAD && unwinding.is_none() && options.is_concurrent {
            look_up_beside(&mut state, options, take);
        }
        // Of an event that nobody knew of places may be wanted at once.
        let is_as_before = batch.schema().events().len() == events;
        let come_later =
            options.places_may_come_later && options.has_only_stacks() && is_as_before && unwinding.is_none();
        match samples >= WORTH_A_THREAD && options.is_concurrent && come_later {
            true if state.locating.is_none() => state.locate_beside(),
            true => {}
            false => state.locate_here(),
        }
        state.tell_unmapped_apart(options.unmapped_apart && is_as_before && unwinding.is_none());
        take.begin(batches.metadata());
        let later = come_later.then(|| state.id_of_next());
        let mut chunk = Chunk::new(batches.metadata(), batches.progress(), options, (CHUNK, later));
        for event in batch.iter() {
            if code.is_due(&event) {
                code.put(&mut state.session, &event);
            }
            let moment = state.session.apply(&event);
            if let Some(statistics) = &mut state.statistics {
                statistics.add_moment(&event, &moment, state.session.shares());
            }
            chunk.push(&mut state, unwinding.as_ref(), options, (&event, &moment), take);
            if event.head().kind != kind::SAMPLE {
                code.learn(&state.session, &event, &moment);
            }
            if chunk.records() == CHUNK {
                samples += chunk.samples_that_count();
                chunk.finish(&mut state, options, unwinding.as_mut(), take, &mut visit)?;
            }
        }
        if chunk.records() > 0 {
            samples += chunk.samples_that_count();
            chunk.finish(&mut state, options, unwinding.as_mut(), take, &mut visit)?;
        }
    }
    if let (true, Some(builder)) = (state.looks_up_beside, take.builder()) {
        builder.end_look_ups(&mut state.chains, &mut state.locator, &mut state.addresses);
    }
    state.locate_here();
    // What comes next needs the memory.
    (state.chains, state.locator) = Default::default();
    let metadata = batches.metadata().clone();
    // A pipe tells its build-ids on the way.
    state.session.learn(&metadata.features);
    let mut issues = batches.issues().clone();
    issues.extend(state.session.issues());
    let stack_ends = unwinding.map(|unwinding| unwinding.ends(&state.session)).unwrap_or_default();
    let code_times = code.times().clone();
    Ok(Passed { metadata, state, issues, stack_ends, code_times })
}

/// Has places looked up by another thread from now on, if nobody needs them on the way.
fn look_up_beside(state: &mut State, options: &PassOptions, take: &mut impl Take) {
    let is_work_for_it = options.places_can_wait() && !options.has_no_places();
    if let (false, true, Some(builder)) = (state.looks_up_beside, is_work_for_it, take.builder()) {
        state.looks_up_beside = builder.look_up_beside(&mut state.locator, &mut state.addresses);
    }
}

/// Has them looked up here again.
pub(crate) fn come_back(state: &mut State, take: &mut impl Take) {
    if let (true, Some(builder)) = (std::mem::take(&mut state.looks_up_beside), take.builder()) {
        builder.come_back(&mut state.chains, &mut state.locator, &mut state.addresses);
    }
}

/// Whether samples may carry copies of user stacks.
pub(crate) fn has_user_stacks(schema: &Schema) -> bool {
    schema.events().iter().any(|event| event.attr.sample_type.has(SampleType::STACK_USER))
}
