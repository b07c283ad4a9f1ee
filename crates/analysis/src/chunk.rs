//! Records of a pass, a chunk at a time, and the samples among them with their places.

use crate::pass::{PassOptions, State};
use crate::unwinding::{Recorded, Unwinding};
use perffile::wire::attr::{EventAttr, SampleType};
use perffile::{Event, Metadata, Share};
use readperf_profile::{AddressId, Branch, ChainId, ChainKey, Lookup, chain};
use readperf_session::{CodeAddress, CommId, CpuMode, Moment, SampleMoment, Session, Thread};
use std::ops::Range;

/// A record and what it means.
#[derive(Debug)]
pub struct Entry<'e> {
    /// The record.
    pub event: Event<'e>,
    /// What it means.
    pub moment: Moment<'e>,
    /// Whether it is a sample that counts.
    counts: bool,
    /// Where that was taken, and its stack: indices of the chunk's places.
    at: usize,
    stack: Range<usize>,
    chain: Option<ChainId>,
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
    /// Samples whose places are still to be looked up: indices of entries, and if stacks are wanted, what was recorded of each.
    waiting: Vec<usize>,
    keys: Vec<ChainKey<'e>>,
    shares: Vec<Share>,
    branches: Vec<Branch>,
    metadata: &'e Metadata,
    /// Stacks that are still bytes, with the index of their entry, ascending.
    recorded: Vec<(usize, Recorded<'e>)>,
    progress: (u64, u64),
}

/// What is needed to look places up, kept from chunk to chunk so that it is made once.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    ids: Vec<ChainId>,
    /// Chains that were not met before: their indices, and where their look-ups end and how many of these are the stack.
    new: Vec<usize>,
    ends: Vec<(usize, usize)>,
    lookups: Vec<Lookup>,
    found: Vec<AddressId>,
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
    /// What names its stack, if that is the chain that was recorded: samples with the same id have the same stack.
    pub chain: Option<ChainId>,
    /// Where its data lies, if asked for and recorded.
    pub data: Option<AddressId>,
    /// Its last branches, if asked for and recorded, the newest first.
    pub branches: &'c [Branch],
}

impl Asked {
    fn clear(&mut self) {
        self.ids.clear();
        self.new.clear();
        self.ends.clear();
        self.lookups.clear();
        self.found.clear();
    }
}

impl<'e> Entry<'e> {
    /// The sample, and what was recorded of its event, if its stack is wanted.
    fn as_sample(&self, options: &PassOptions) -> Option<(&SampleMoment<'e>, Option<&'e EventAttr>)> {
        let Moment::Sample(sample) = &self.moment else { return None };
        let event = self.event.schema().event(sample.event).filter(|_| options.stacks);
        Some((sample, event.map(|event| &event.attr)))
    }

    /// Takes its places: so many of its stack, and behind them, if that does not begin there, where it was taken. Without a stack
    /// that is the stack, unless one is recorded that is still to be unwound.
    fn take_places(&mut self, places: Range<usize>, depth: usize, is_recorded: bool) {
        let stack = places.start..places.start + depth;
        self.at = if stack.end < places.end { stack.end } else { stack.start };
        self.stack = if stack.is_empty() && !is_recorded { places } else { stack };
    }
}

impl<'e> Chunk<'e> {
    pub(crate) fn new(capacity: usize, metadata: &'e Metadata, progress: (u64, u64)) -> Self {
        Chunk {
            entries: Vec::with_capacity(capacity),
            places: Vec::new(),
            waiting: Vec::new(),
            keys: Vec::new(),
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
        self.entries.iter().filter(|entry| !entry.counts && !entry.shares.is_empty()).filter_map(|entry| {
            let Moment::Sample(moment) = &entry.moment else { return None };
            Some((moment, self.shares.get(entry.shares.clone()).unwrap_or_default()))
        })
    }

    /// A record of this chunk as a sample, if it is one that counts.
    pub fn sample<'c>(&'c self, entry: &'c Entry<'e>) -> Option<Sample<'c, 'e>> {
        let Moment::Sample(moment) = &entry.moment else { return None };
        self.places.get(entry.at).filter(|_| entry.counts).map(|address| Sample {
            event: &entry.event,
            moment,
            shares: self.shares.get(entry.shares.clone()).unwrap_or_default(),
            address: *address,
            stack: self.places.get(entry.stack.clone()).unwrap_or_default(),
            chain: entry.chain,
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

    /// How many records.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Takes the next record in.
    pub(crate) fn push(
        &mut self,
        state: &mut State,
        unwinding: Option<&Unwinding>,
        options: &PassOptions,
        event: Event<'e>,
    ) {
        if Session::may_remap(event.head().kind) {
            self.look_up(state, options);
        }
        let moment = state.session.apply(&event);
        if let Some(statistics) = &mut state.statistics {
            statistics.add_moment(&event, &moment, state.session.shares());
        }
        let (shares, branches) = (self.shares.len(), self.branches.len());
        let mut counts = false;
        if let Moment::Sample(sample) = &moment {
            let schema = event.schema();
            let passing = state.session.shares().iter();
            let passing = passing.filter(|share| options.filter.passes_event(schema, share.event));
            self.shares.extend(passing.copied());
            // A group read in which no counter has moved stands for nothing, but it is a sample.
            counts = self.shares.len() > shares || options.filter.passes_event(schema, sample.event);
            counts = counts && (options.filter.is_open() || options.filter.passes(&state.session, sample));
        }
        let wanted = options.threads_of.contains(&event.head().kind);
        let comm = wanted.then(|| comm_of(&state.session, &event)).flatten();
        let shares = shares..self.shares.len();
        let branches = branches..branches;
        let (at, stack, chain, data) = (0, 0..0, None, None);
        let entry = Entry { event, moment, counts, at, stack, chain, shares, data, branches, comm };
        if counts {
            self.wait(state, unwinding, options, &entry);
        }
        self.entries.push(entry);
        if counts && (options.data_addresses || options.branches) {
            self.push_addresses(state, options);
        }
    }

    /// Takes note of a sample whose places are to be looked up.
    fn wait(
        &mut self,
        state: &State,
        unwinding: Option<&Unwinding>,
        options: &PassOptions,
        entry: &Entry<'e>,
    ) {
        let Some((sample, attr)) = entry.as_sample(options) else { return };
        let nr = self.entries.len();
        self.waiting.push(nr);
        if options.stacks {
            self.keys.push(ChainKey::of(&state.session, sample, attr));
        }
        if let (Some(unwinding), Some(attr)) = (unwinding, attr) {
            let recorded = unwinding.recorded(&state.session, entry.event.schema(), sample, attr);
            self.recorded.extend(recorded.map(|recorded| (nr, recorded)));
        }
    }

    /// Looks up what else of the last record is wanted, if it is recorded: to look up the places of one sample at a time takes
    /// several times as long.
    fn push_addresses(&mut self, state: &mut State, options: &PassOptions) {
        let Some(Moment::Sample(sample)) = self.entries.last().map(|entry| entry.moment) else { return };
        let recorded = sample.sample.layout().shape().sample_type;
        let data_address = options.data_addresses && recorded.has(SampleType::ADDR);
        let has_branches = options.branches && recorded.has(SampleType::BRANCH_STACK);
        if !data_address && !has_branches {
            return;
        }
        self.look_up(state, options);
        let data = if data_address { data_place(state, &sample) } else { None };
        if has_branches {
            self.push_branches(state, &sample);
        }
        let end = self.branches.len();
        if let Some(entry) = self.entries.last_mut() {
            (entry.data, entry.branches.end) = (data, end);
        }
    }

    /// Looks up what waits for it: the places of many samples at once, in the mappings as of now.
    pub(crate) fn look_up(&mut self, state: &mut State, options: &PassOptions) {
        if self.waiting.is_empty() {
            return;
        }
        match options.stacks {
            true => self.look_up_chains(state, options),
            false => self.look_up_places(state, options),
        }
        self.waiting.clear();
        self.keys.clear();
        state.asked.clear();
    }

    /// Chains that came before are known as they are.
    fn look_up_chains(&mut self, state: &mut State, options: &PassOptions) {
        let Chunk { entries, places, waiting, keys, recorded, .. } = self;
        let State { session, addresses, chains, asked, .. } = state;
        let Asked { ids, new, ends, lookups, found } = asked;
        chains.find_all(keys, ids, new);
        let new_samples = new.iter().filter_map(|nr| entries.get(*waiting.get(*nr)?)?.as_sample(options));
        for (sample, attr) in new_samples {
            let depth = chain::append_all(lookups, session, sample, attr, options.callers);
            ends.push((lookups.len(), depth));
        }
        addresses.locate_all(session, lookups, found);
        let mut start = 0;
        for (nr, (end, depth)) in new.iter().zip(ends.iter()) {
            if let (Some(id), Some(places)) = (ids.get(*nr), found.get(start..*end)) {
                chains.learn(*id, places, *depth);
            }
            start = *end;
        }
        for (nr, id) in waiting.iter().zip(ids.iter()) {
            let Some(entry) = entries.get_mut(*nr) else { continue };
            let (of_chain, depth) = chains.places(*id);
            let start = places.len();
            places.extend_from_slice(of_chain);
            let is_recorded = recorded.binary_search_by_key(nr, |(nr, _)| *nr).is_ok();
            entry.take_places(start..places.len(), depth, is_recorded);
            entry.chain = Some(*id).filter(|_| !is_recorded);
        }
    }

    /// Without stacks each sample has one place.
    fn look_up_places(&mut self, state: &mut State, options: &PassOptions) {
        let Chunk { entries, places, waiting, .. } = self;
        let State { session, addresses, asked: Asked { lookups, .. }, .. } = state;
        let samples = waiting.iter().filter_map(|nr| entries.get(*nr)?.as_sample(options));
        for (sample, attr) in samples {
            chain::append_all(lookups, session, sample, attr, options.callers);
        }
        let start = places.len();
        addresses.locate_all(session, lookups, places);
        for (place, nr) in (start..).zip(waiting.iter()) {
            if let Some(entry) = entries.get_mut(*nr) {
                entry.take_places(place..place + 1, 0, false);
            }
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
                self.places.extend(self.places.get(entry.at).copied());
            }
            entry.stack = start..self.places.len();
        }
    }

    /// Shows what is in it, and begins anew.
    pub(crate) fn finish<E>(
        &mut self,
        state: &mut State,
        options: &PassOptions,
        unwinding: Option<&mut Unwinding>,
        visit: &mut impl FnMut(&State, &Chunk<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.look_up(state, options);
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

/// The name of the thread that a record is about, as of now.
fn comm_of(session: &Session, event: &Event<'_>) -> Option<CommId> {
    const IDLE: u32 = 0;
    let (pid, tid) = readperf_session::thread_of(event)?;
    // The kernel's own mappings belong to a process that is none; perf has them under the name of the idle one.
    let pid = if tid == IDLE { IDLE } else { pid };
    session.thread(session.thread_now(pid, tid)?).map(Thread::comm)
}
