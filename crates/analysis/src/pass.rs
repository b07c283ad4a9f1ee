//! One pass over a recording in order of time: records become moments, samples get their stacks.
//!
//! Records come in chunks, because work on a chunk can be shared between threads (unwinding, text), and because names are
//! looked up for many addresses at a time.

use crate::code_times::{CodeInTime, CodeTimes};
use crate::unwinding::{Recorded, StackEnds, Unwinding};
use perffile::wire::attr::SampleType;
use perffile::{Event, Issues, Metadata, Ordering, Recording, Schema, Share};
use readperf_profile::statistics::Statistics;
use readperf_profile::{AddressId, Addresses, Branch, CallerAddress, Lookup, SampleFilter, chain};
use readperf_session::{CodeAddress, CommId, CpuMode, Moment, SampleMoment, Session, Thread};
use readperf_symbols::Options;
use std::ops::Range;

/// Records in a chunk: what is held of them fits into a cache close to the processor.
const CHUNK: usize = 1024;

/// What a pass is to do.
#[derive(Clone, Debug, Default)]
pub struct PassOptions {
    /// Whether samples get their stacks; without, only the place where they were taken.
    pub stacks: bool,
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
    /// Types of records that are no samples but whose threads' names are wanted.
    pub threads_of: Vec<u32>,
}

/// Frames that perf shows of a stack.
const MAX_FRAMES: usize = 127;

/// What is known, as of the last record of the chunk at hand.
#[derive(Debug)]
pub struct State {
    /// Processes, threads, binaries.
    pub session: Session,
    /// The places of samples and their callers.
    pub addresses: Addresses,
    /// What all records amount to, if asked for.
    pub statistics: Option<Statistics>,
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

/// A record and what it means.
#[derive(Debug)]
pub struct Entry<'e> {
    /// The record.
    pub event: Event<'e>,
    /// What it means.
    pub moment: Moment<'e>,
    /// Where a sample was taken, if it is one that counts: an index of the chunk's places.
    at: Option<usize>,
    stack: Range<usize>,
    shares: Range<usize>,
    data: Option<AddressId>,
    branches: Range<usize>,
    /// Name of the thread that a record is about, if such names are wanted.
    pub comm: Option<CommId>,
}

/// Some records in order.
#[derive(Debug)]
pub struct Chunk<'e> {
    entries: Vec<Entry<'e>>,
    /// The places of all stacks.
    places: Vec<AddressId>,
    /// Places that are still to be looked up; they go behind the others.
    lookups: Vec<Lookup>,
    shares: Vec<Share>,
    branches: Vec<Branch>,
    metadata: &'e Metadata,
    /// Stacks that are still bytes, with the index of their entry.
    recorded: Vec<(usize, Recorded<'e>)>,
    progress: (u64, u64),
}

/// A sample that counts.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'c, 'e> {
    /// The record.
    pub event: &'c Event<'e>,
    /// What it means.
    pub moment: &'c SampleMoment<'e>,
    /// For how much of which events it stands.
    pub shares: &'c [Share],
    /// Where it was taken.
    pub address: AddressId,
    /// Its places, the innermost first; at least where it was taken.
    pub stack: &'c [AddressId],
    /// Where its data lies, if asked for and recorded.
    pub data: Option<AddressId>,
    /// Its last branches, if asked for and recorded, the newest first.
    pub branches: &'c [Branch],
}

impl<'e> Chunk<'e> {
    fn new(capacity: usize, metadata: &'e Metadata, progress: (u64, u64)) -> Self {
        Chunk {
            entries: Vec::with_capacity(capacity),
            places: Vec::new(),
            lookups: Vec::new(),
            shares: Vec::with_capacity(capacity),
            branches: Vec::new(),
            metadata,
            recorded: Vec::new(),
            progress,
        }
    }

    /// All records, in order.
    pub fn entries(&self) -> &[Entry<'e>] {
        &self.entries
    }

    /// The samples that count, in order.
    pub fn samples(&self) -> impl Iterator<Item = Sample<'_, 'e>> {
        self.entries.iter().filter_map(|entry| self.sample(entry))
    }

    /// Samples of events that count, which the filter does not let through, and their shares.
    pub fn passed_over(&self) -> impl Iterator<Item = (&SampleMoment<'e>, &[Share])> {
        self.entries.iter().filter(|entry| entry.at.is_none() && !entry.shares.is_empty()).filter_map(
            |entry| {
                let Moment::Sample(moment) = &entry.moment else { return None };
                Some((moment, self.shares.get(entry.shares.clone()).unwrap_or_default()))
            },
        )
    }

    /// A record of this chunk as a sample, if it is one that counts.
    pub fn sample<'c>(&'c self, entry: &'c Entry<'e>) -> Option<Sample<'c, 'e>> {
        let Moment::Sample(moment) = &entry.moment else { return None };
        entry.at.and_then(|at| self.places.get(at)).map(|address| Sample {
            event: &entry.event,
            moment,
            shares: self.shares.get(entry.shares.clone()).unwrap_or_default(),
            address: *address,
            stack: self.places.get(entry.stack.clone()).unwrap_or_default(),
            data: entry.data,
            branches: self.branches.get(entry.branches.clone()).unwrap_or_default(),
        })
    }

    /// Events and features, as known by now.
    pub fn metadata(&self) -> &'e Metadata {
        self.metadata
    }

    /// How far the pass is: bytes done, bytes in all.
    pub fn progress(&self) -> (u64, u64) {
        self.progress
    }

    /// Takes the next record in.
    fn push(
        &mut self,
        state: &mut State,
        unwinding: Option<&Unwinding>,
        options: &PassOptions,
        event: Event<'e>,
    ) {
        if Session::may_remap(event.head().kind) {
            self.look_up(state);
        }
        let moment = state.session.apply(&event);
        if let Some(statistics) = &mut state.statistics {
            statistics.add_moment(&event, &moment, state.session.shares());
        }
        let (shares, branches) = (self.shares.len(), self.branches.len());
        let (mut at, mut stack, mut data) = (None, 0..0, None);
        if let Moment::Sample(sample) = &moment {
            let schema = event.schema();
            let passing = state.session.shares().iter();
            let passing = passing.filter(|share| options.filter.passes_event(schema, share.event));
            self.shares.extend(passing.copied());
            // A group read in which no counter has moved stands for nothing, but it is a sample.
            let counts = self.shares.len() > shares || options.filter.passes_event(schema, sample.event);
            if counts && (options.filter.is_open() || options.filter.passes(&state.session, sample)) {
                let taken_at;
                (taken_at, stack) = self.push_stack(&state.session, unwinding, options, &event, sample);
                at = Some(taken_at);
                // Only what is recorded: to look up the places of one sample at a time takes several times as long.
                let recorded = sample.sample.layout().shape().sample_type;
                let data_address = options.data_addresses && recorded.has(SampleType::ADDR);
                let has_branches = options.branches && recorded.has(SampleType::BRANCH_STACK);
                if data_address || has_branches {
                    self.look_up(state);
                }
                if data_address {
                    data = data_place(state, sample);
                }
                if has_branches {
                    self.push_branches(state, sample);
                }
            }
        }
        let (shares, branches) = (shares..self.shares.len(), branches..self.branches.len());
        let wanted = options.threads_of.contains(&event.head().kind);
        let comm = wanted.then(|| comm_of(&state.session, &event)).flatten();
        self.entries.push(Entry { event, moment, at, stack, shares, data, branches, comm });
    }

    /// Looks up what waits for it: many places at once, in the mappings as of now.
    fn look_up(&mut self, state: &mut State) {
        if !self.lookups.is_empty() {
            state.addresses.locate_all(&state.session, &self.lookups, &mut self.places);
            self.lookups.clear();
        }
    }

    /// Takes in the branches of a sample.
    fn push_branches(&mut self, state: &mut State, sample: &SampleMoment<'e>) {
        let decoded = sample.sample.decode().ok().and_then(|(sample, _)| sample.branch_stack);
        let mut place = |ip| state.addresses.number(anywhere(&state.session, sample, ip));
        for entry in decoded.iter().flat_map(|stack| stack.entries.iter()) {
            let (from, to) = (place(entry.from), place(entry.to));
            self.branches.push(Branch { from, to, flags: entry.flags });
        }
    }

    /// Takes in the stack of a sample; says where it was taken and where its stack is, as indices of places.
    fn push_stack(
        &mut self,
        session: &Session,
        unwinding: Option<&Unwinding>,
        options: &PassOptions,
        event: &Event<'e>,
        sample: &SampleMoment<'e>,
    ) -> (usize, Range<usize>) {
        let known = self.places.len();
        let first = self.lookups.len();
        let mut is_recorded = false;
        if options.stacks
            && let Some(description) = event.schema().event(sample.event)
        {
            let attr = &description.attr;
            chain::append(&mut self.lookups, session, sample, attr, options.callers);
            let recorded =
                unwinding.and_then(|unwinding| unwinding.recorded(session, event.schema(), sample, attr));
            is_recorded = recorded.is_some();
            self.recorded.extend(recorded.map(|recorded| (self.entries.len(), recorded)));
        }
        let end = self.lookups.len();
        let stack = known + first..known + end;
        // Chains mostly begin where the sample was taken.
        let innermost = self.lookups.get(first);
        if innermost.is_some_and(|place| place.ip() == sample.code.ip && place.mode() == sample.code.mode) {
            return (stack.start, stack);
        }
        self.lookups.push(Lookup::new(session, sample.process, sample.code.mode, sample.code.ip));
        let is_all = stack.is_empty() && !is_recorded;
        (known + end, if is_all { known + end..known + end + 1 } else { stack })
    }

    /// Unwinds the stacks that are still bytes. Their frames are the outer part of the recorded chains.
    fn unwind(&mut self, state: &mut State, unwinding: &mut Unwinding) {
        if self.recorded.is_empty() {
            return;
        }
        let (at, recorded): (Vec<usize>, Vec<Recorded<'e>>) =
            std::mem::take(&mut self.recorded).into_iter().unzip();
        let frames = unwinding.unwind(&state.session, &recorded);
        for (nr, (recorded, frames)) in at.into_iter().zip(recorded.iter().zip(frames)) {
            let Some(entry) = self.entries.get_mut(nr) else { continue };
            let start = self.places.len();
            self.places.extend_from_within(entry.stack.clone());
            let located = frames.iter().map(|ip| state.addresses.locate_in(&recorded.space, *ip));
            self.places.extend(located);
            if self.places.len() == start {
                self.places.extend(entry.at.and_then(|at| self.places.get(at)).copied());
            }
            entry.stack = start..self.places.len();
        }
    }

    /// Shows what is in it, and begins anew.
    fn finish<E>(
        &mut self,
        state: &mut State,
        unwinding: Option<&mut Unwinding>,
        visit: &mut impl FnMut(&State, &Chunk<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.look_up(state);
        if let Some(unwinding) = unwinding {
            self.unwind(state, unwinding);
        }
        visit(state, self)?;
        self.clear();
        Ok(())
    }

    fn clear(&mut self) {
        self.entries.clear();
        self.places.clear();
        self.shares.clear();
        self.branches.clear();
    }
}

/// Where the data of a sample lies.
fn data_place(state: &mut State, sample: &SampleMoment<'_>) -> Option<AddressId> {
    let ip = sample.sample.addr()?;
    Some(state.addresses.number(anywhere(&state.session, sample, ip)))
}

/// Where an address is whose mode is not recorded. It mostly tells itself: kernels have the upper half of the addresses, where
/// there are 64 bits.
fn anywhere(session: &Session, sample: &SampleMoment<'_>, ip: u64) -> CodeAddress {
    const UPPER: u64 = 1 << 63;
    let locate = |mode| session.locate(sample.process, mode, ip);
    let has_low_kernel = || session.kernel_image().is_some_and(|image| (1..UPPER).contains(&image.start));
    let likely = locate(if ip & UPPER == 0 { CpuMode::User } else { CpuMode::Kernel });
    if likely.binary.is_some() || ip & UPPER != 0 || !has_low_kernel() {
        return likely;
    }
    Some(locate(CpuMode::Kernel)).filter(|code| code.binary.is_some()).unwrap_or(likely)
}

/// Goes once over a recording, in order of time. `visit` sees every record, a chunk at a time.
///
/// # Errors
/// A stream that has been read already; whatever `visit` returns.
pub fn pass<E: From<perffile::Error>>(
    recording: &Recording,
    options: &PassOptions,
    mut visit: impl FnMut(&State, &Chunk<'_>) -> Result<(), E>,
) -> Result<Passed, E> {
    let mut batches = recording.batches(Ordering::Time)?;
    let session = Session::new(recording.metadata());
    let statistics = options.statistics.then(Statistics::default);
    let mut state = State { session, addresses: Addresses::default(), statistics };
    let max_frames = if options.max_frames == 0 { MAX_FRAMES } else { options.max_frames };
    let mut unwinding: Option<Unwinding> = None;
    let mut code = CodeInTime::new(options.code_from.as_ref());
    while let Some(batch) = batches.next() {
        if let (None, Some(symbols), true) = (&unwinding, &options.unwind, has_user_stacks(batch.schema())) {
            unwinding = Some(Unwinding::new(symbols, &batches.metadata().features, max_frames));
        }
        let mut chunk = Chunk::new(batch.len().min(CHUNK), batches.metadata(), batches.progress());
        for event in batch.iter() {
            code.learn_clock(&event);
            if code.is_due(&event) {
                chunk.look_up(&mut state);
                code.put(&mut state.session, &event);
            }
            chunk.push(&mut state, unwinding.as_ref(), options, event);
            if let Some(last) = chunk.entries.last() {
                code.learn(&state.session, batch.schema(), &last.moment);
            }
            if chunk.entries.len() == CHUNK {
                chunk.finish(&mut state, unwinding.as_mut(), &mut visit)?;
            }
        }
        if !chunk.entries.is_empty() {
            chunk.finish(&mut state, unwinding.as_mut(), &mut visit)?;
        }
    }
    let metadata = batches.metadata().clone();
    // A pipe tells its build-ids on the way.
    state.session.learn(&metadata.features);
    let mut issues = batches.issues().clone();
    issues.extend(state.session.issues());
    let stack_ends = unwinding.map(|unwinding| unwinding.ends(&state.session)).unwrap_or_default();
    let code_times = code.times().clone();
    Ok(Passed { metadata, state, issues, stack_ends, code_times })
}

/// The name of the thread that a record is about, as of now.
fn comm_of(session: &Session, event: &Event<'_>) -> Option<CommId> {
    const IDLE: u32 = 0;
    let (pid, tid) = readperf_session::thread_of(event)?;
    // The kernel's own mappings belong to a process that is none; perf has them under the name of the idle one.
    let pid = if tid == IDLE { IDLE } else { pid };
    session.thread(session.thread_now(pid, tid)?).map(Thread::comm)
}

/// Whether samples may carry copies of user stacks.
pub(crate) fn has_user_stacks(schema: &Schema) -> bool {
    schema.events().iter().any(|event| event.attr.sample_type.has(SampleType::STACK_USER))
}
