//! Records of a pass, a chunk at a time, and the places of the samples among them.

use crate::pass::{PassOptions, State, come_back};
use crate::unwinding::{Recorded, Unwinding};
use perffile::wire::attr::SampleType;
use perffile::wire::record::kind;
use perffile::{Event, Metadata, Share};
use readperf_profile::{AddressId, Branch, Builder, LocatedId, SamplePlaces};
use readperf_session::{CodeAddress, CommId, CpuMode, Moment, SampleMoment, Session, Thread};
use std::ops::Range;

/// A record and what it means.
#[derive(Debug)]
pub struct Entry<'e> {
    /// The record.
    pub event: Event<'e>,
    /// What it means.
    pub moment: Moment<'e>,
    /// Name of the thread that a record is about, if such names are wanted.
    pub comm: Option<CommId>,
    /// Its number among the samples that count, if it is one.
    sample: Option<usize>,
    shares: Range<usize>,
}

/// Some records in order.
#[derive(Debug)]
pub struct Chunk<'e> {
    entries: Vec<Entry<'e>>,
    /// Whether every sample counts.
    is_open: bool,
    /// How many records there were, and how many samples among them that count.
    records: usize,
    samples: usize,
    /// The number of the first of these, if their places come later: then records are [seen](crate::See) as they come.
    later: Option<LocatedId>,
    /// Look-ups for them, at most: each may be of a new place.
    look_ups: usize,
    has_samples: bool,
    has_kernel_samples: bool,
    shares: Vec<Share>,
    /// Stacks that are still bytes, with the numbers of their samples, ascending; and then where their places are.
    recorded: Vec<(usize, Recorded<'e>)>,
    unwound: Vec<(usize, Range<usize>)>,
    places: Vec<AddressId>,
    /// What else of each sample is looked up, if that is wanted.
    beside: Vec<Beside>,
    branches: Vec<Branch>,
    metadata: &'e Metadata,
    progress: (u64, u64),
}

/// Places of a sample that are not its stack.
#[derive(Clone, Debug, Default)]
struct Beside {
    data: Option<AddressId>,
    branches: Range<usize>,
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
    /// The addresses of those of the stack that are [`AddressId::UNMAPPED`], in their order. That of `address` is [`SampleMoment::ip`].
    pub unmapped: &'c [u64],
    /// If both come later, as where records are [seen](crate::See) as they come: its number in what [`State::take_located`] returns next. Until
    /// then they are [`AddressId::NONE`] and empty.
    pub later: Option<LocatedId>,
    /// Where its data lies, if asked for and recorded.
    pub data: Option<AddressId>,
    /// Its last branches, if asked for and recorded, the newest first.
    pub branches: &'c [Branch],
}

/// Takes samples in while a recording is gone over: first what is known of each as it comes, and then, for all of a chunk, where they
/// were taken, because to look up many places at once is several times as fast.
pub(crate) trait Take {
    /// Events and features, as known before the records that follow.
    fn begin(&mut self, _: &Metadata) {}

    /// A sample whose place comes later: it is among no chunk's records.
    fn see(&mut self, _: &State, _: &Sample<'_, '_>) {}

    /// Another record on the way there, and the name of the thread that it is about, if such names are wanted.
    fn see_other(&mut self, _: &State, _: &Event<'_>, _: Option<CommId>) {}

    /// A record, as of now; `counts` says whether it is a sample that counts.
    fn record(&mut self, session: &Session, event: &Event<'_>, moment: &Moment<'_>, counts: bool);

    /// A sample that counts, for how much of which events it stands, where its data lies and its branches.
    fn sample(
        &mut self,
        moment: &SampleMoment<'_>,
        shares: &[Share],
        data: Option<AddressId>,
        branches: &[Branch],
    );

    /// A sample of an event that counts, which the filter does not let through.
    fn pass_over(&mut self, moment: &SampleMoment<'_>, shares: &[Share]);

    /// The places of the samples that count, since the last time, in their order.
    fn places<'c>(&mut self, places: impl Iterator<Item = SamplePlaces<'c>>);

    /// What can add samples up without being given their places, or have these looked up by another thread, if it can.
    fn builder(&mut self) -> Option<&mut Builder>;
}

impl<'e> Chunk<'e> {
    /// An empty one for that work, in which so many records that are shown find room without being moved.
    pub(crate) fn new(
        metadata: &'e Metadata,
        progress: (u64, u64),
        options: &PassOptions,
        (most, later): (usize, Option<LocatedId>),
    ) -> Self {
        Chunk {
            entries: Vec::with_capacity(if options.shows_samples && later.is_none() { most } else { 0 }),
            is_open: options.filter.is_open(),
            records: 0,
            samples: 0,
            later,
            look_ups: 0,
            has_samples: false,
            has_kernel_samples: false,
            shares: Vec::new(),
            recorded: Vec::new(),
            unwound: Vec::new(),
            places: Vec::new(),
            beside: Vec::new(),
            branches: Vec::new(),
            metadata,
            progress,
        }
    }

    /// The records, in order. Samples are among them if [that is wanted](PassOptions::shows_samples), unless they were [seen](crate::See) as they
    /// came.
    pub fn entries(&self) -> &[Entry<'e>] {
        &self.entries
    }

    /// The samples that count, in order, if they are among the records.
    pub fn samples<'c>(&'c self, state: &'c State) -> impl Iterator<Item = Sample<'c, 'e>> {
        self.entries.iter().filter_map(|entry| self.sample(state, entry))
    }

    /// A record of this chunk as a sample, if it is one that counts.
    #[inline]
    pub fn sample<'c>(&'c self, state: &'c State, entry: &'c Entry<'e>) -> Option<Sample<'c, 'e>> {
        let (Moment::Sample(moment), Some(nr)) = (&entry.moment, entry.sample) else { return None };
        let SamplePlaces { address, stack, unmapped, .. } = self.places_of(state, nr)?;
        let Beside { data, branches } = self.beside.get(nr).cloned().unwrap_or_default();
        Some(Sample {
            event: &entry.event,
            moment,
            shares: self.shares.get(entry.shares.clone()).unwrap_or_default(),
            address,
            stack,
            unmapped,
            later: None,
            data,
            branches: self.branches.get(branches).unwrap_or_default(),
        })
    }

    /// Whether its records were [seen](crate::See) as they came.
    pub fn was_seen(&self) -> bool {
        self.later.is_some()
    }

    /// Whether there are samples, whether they count or not.
    pub(crate) fn has_samples(&self) -> bool {
        self.has_samples
    }

    /// Whether one that counts was taken in the kernel.
    pub(crate) fn has_kernel_samples(&self) -> bool {
        self.has_kernel_samples
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
    pub fn records(&self) -> usize {
        self.records
    }

    /// How many samples that count.
    pub(crate) fn samples_that_count(&self) -> usize {
        self.samples
    }

    /// Where a sample was taken, by its number among those that count. It is known until the chunk is finished.
    #[inline(always)]
    fn places_of<'c>(&'c self, state: &'c State, nr: usize) -> Option<SamplePlaces<'c>> {
        let places = state.locator.get(nr)?;
        Some(match self.unwound_stack(nr) {
            Some(stack) => SamplePlaces { stack, chain: None, ..places },
            None => places,
        })
    }

    #[inline]
    fn unwound_stack(&self, nr: usize) -> Option<&[AddressId]> {
        if self.unwound.is_empty() {
            return None;
        }
        let at = self.unwound.binary_search_by_key(&nr, |(nr, _)| *nr).ok()?;
        self.places.get(self.unwound.get(at)?.1.clone())
    }

    /// Takes the next record in, which means this.
    #[inline(always)]
    pub(crate) fn push(
        &mut self,
        state: &mut State,
        unwinding: Option<&Unwinding>,
        options: &PassOptions,
        (event, moment): (&Event<'e>, &Moment<'e>),
        take: &mut impl Take,
    ) {
        self.records += 1;
        let shares = self.shares.len();
        let number = match moment {
            Moment::Sample(sample) => self.sample_in(state, unwinding, options, (event, sample), take),
            _ => None,
        };
        take.record(&state.session, event, moment, number.is_some());
        let is_sample = event.head().kind == kind::SAMPLE;
        self.has_samples |= is_sample;
        if let (Some(first), Moment::Sample(moment), Some(nr)) = (self.later, moment, number) {
            return take.see(state, &self.without_places(state, (event, moment), shares, first.behind(nr)));
        }
        if options.shows_samples || !is_sample {
            let wanted = options.threads_of.contains(&event.head().kind);
            let comm = wanted.then(|| comm_of(&state.session, event)).flatten();
            if self.later.is_some() {
                take.see_other(state, event, comm);
            }
            let shares = shares..self.shares.len();
            self.entries.push(Entry { event: *event, moment: *moment, comm, sample: number, shares });
        }
    }

    /// A sample that was taken in just now, and whose place comes later under this number.
    #[inline(always)]
    fn without_places<'c>(
        &'c self,
        state: &'c State,
        (event, moment): (&'c Event<'e>, &'c SampleMoment<'e>),
        shares: usize,
        later: LocatedId,
    ) -> Sample<'c, 'e> {
        Sample {
            event,
            moment,
            shares: self.shares_from(state, shares),
            address: AddressId::NONE,
            stack: &[],
            unmapped: &[],
            later: Some(later),
            data: None,
            branches: &[],
        }
    }

    /// For how much of which events the last sample stands; what it has of its own of that begins there.
    #[inline(always)]
    fn shares_from<'c>(&'c self, state: &'c State, start: usize) -> &'c [Share] {
        match self.is_open {
            true => state.session.shares(),
            false => self.shares.get(start..).unwrap_or_default(),
        }
    }

    /// Takes a sample in. Returns its number among those that count, if it is one.
    #[inline(always)]
    fn sample_in(
        &mut self,
        state: &mut State,
        unwinding: Option<&Unwinding>,
        options: &PassOptions,
        (event, sample): (&Event<'e>, &SampleMoment<'e>),
        take: &mut impl Take,
    ) -> Option<usize> {
        let shares = self.shares.len();
        let is_open = self.is_open;
        if options.shows_samples && self.later.is_none() || !is_open {
            let schema = event.schema();
            let passes = |event| is_open || options.filter.passes_event(schema, event);
            self.shares.extend(state.session.shares().iter().filter(|share| passes(share.event)));
            // A group read in which no counter has moved stands for nothing, but it is a sample.
            let of_event = self.shares.len() > shares || passes(sample.event);
            if !(is_open || of_event && options.filter.passes(&state.session, sample)) {
                if self.shares.len() > shares {
                    take.pass_over(sample, self.shares.get(shares..).unwrap_or_default());
                }
                return None;
            }
        }
        let (data, branches) = self.count(state, unwinding, options, event, sample);
        let branches = self.branches.get(branches..).unwrap_or_default();
        take.sample(sample, self.shares_from(state, shares), data, branches);
        Some(self.samples - 1)
    }

    /// Notes where a sample was taken that counts. Returns where its data lies, and where its branches begin in `branches`.
    #[inline(always)]
    fn count(
        &mut self,
        state: &mut State,
        unwinding: Option<&Unwinding>,
        options: &PassOptions,
        event: &Event<'e>,
        sample: &SampleMoment<'e>,
    ) -> (Option<AddressId>, usize) {
        self.has_kernel_samples |= sample.mode == CpuMode::Kernel;
        let attr = event.schema().event(sample.event).filter(|_| options.stacks).map(|event| &event.attr);
        let mut look_ups = usize::from(options.data_addresses);
        if !options.has_no_places() {
            let words = state.chains.words();
            state.chains.push(&state.session, sample, attr);
            look_ups += 1 + state.chains.words() - words;
        }
        if let (Some(unwinding), Some(attr)) = (unwinding, attr) {
            let recorded = unwinding.recorded(&state.session, event.schema(), sample, attr);
            self.recorded.extend(recorded.map(|recorded| (self.samples, recorded)));
        }
        // Both at once: they are neighbours, which the compiler reads as one, and waits for if only one of them was just written.
        self.samples += 1;
        self.look_ups += look_ups;
        let (mut data, branches) = (None, self.branches.len());
        if options.data_addresses || options.branches {
            data = self.look_beside(state, options, sample);
            self.beside.push(Beside { data, branches: branches..self.branches.len() });
        }
        (data, branches)
    }

    /// Looks up what else of a sample is wanted, if it is recorded: where its data lies, and its branches.
    fn look_beside(
        &mut self,
        state: &mut State,
        options: &PassOptions,
        sample: &SampleMoment<'e>,
    ) -> Option<AddressId> {
        let recorded = sample.sample.layout().shape().sample_type;
        let data_address = options.data_addresses && recorded.has(SampleType::ADDR);
        let has_branches = options.branches && recorded.has(SampleType::BRANCH_STACK);
        if data_address || has_branches {
            // Places have their numbers in the order of the samples.
            state.look_up();
        }
        let data = if data_address { data_place(state, sample) } else { None };
        if has_branches {
            self.push_branches(state, sample);
        }
        data
    }

    /// Takes in the branches of a sample.
    fn push_branches(&mut self, state: &mut State, sample: &SampleMoment<'e>) {
        let decoded = sample.sample.decode().ok().and_then(|(sample, _)| sample.branch_stack);
        let mut place = |ip| state.addresses.number(anywhere(&state.session, sample, ip));
        self.look_ups += 2 * decoded.as_ref().map_or(0, |stack| stack.entries.len());
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
        let (numbers, recorded): (Vec<usize>, Vec<Recorded<'e>>) =
            std::mem::take(&mut self.recorded).into_iter().unzip();
        let frames = unwinding.unwind(&state.session, &recorded);
        for (nr, (recorded, frames)) in numbers.into_iter().zip(recorded.iter().zip(frames)) {
            let start = self.places.len();
            self.places.extend(state.locator.recorded_stack(nr));
            let located = frames.iter().map(|ip| state.addresses.locate_in(&recorded.space, *ip));
            self.places.extend(located);
            self.look_ups += frames.len();
            if self.places.len() == start {
                // Where it was taken.
                self.places.extend(state.locator.get(nr).map(|places| places.address));
            }
            self.unwound.push((nr, start..self.places.len()));
        }
    }

    /// Shows what is in it, and begins anew.
    pub(crate) fn finish<T: Take, E>(
        &mut self,
        state: &mut State,
        options: &PassOptions,
        unwinding: Option<&mut Unwinding>,
        take: &mut T,
        visit: &mut impl FnMut(&mut State, &Chunk<'_>, &mut T) -> Result<(), E>,
    ) -> Result<(), E> {
        match (take.builder().filter(|_| state.looks_up_beside), &mut state.locating) {
            (Some(builder), _) => builder.hand_over(&mut state.chains),
            (None, Some(locating)) => locating.hand_over(&mut state.chains, false),
            (None, None) if self.was_seen() => state.look_up_for_later(),
            (None, None) if options.has_no_places() => {
                take.places(std::iter::repeat_n(SamplePlaces::UNASKED, self.samples));
            }
            (None, None) => {
                let builder = take.builder().filter(|_| options.places_can_wait());
                if !builder.is_some_and(|builder| builder.add_up(&mut state.chains, &mut state.addresses)) {
                    state.look_up();
                    if let Some(unwinding) = unwinding {
                        self.unwind(state, unwinding);
                    }
                    take.places((0..self.samples).map_while(|nr| self.places_of(state, nr)));
                }
            }
        }
        if let Some(most) = options.most_places.filter(|_| state.may_be_full(self.look_ups)) {
            come_back(state, take);
            state.ask_whether_full(most);
        }
        visit(state, self, take)?;
        state.locator.forget();
        if let Some(most) = options.most_places.filter(|_| state.is_full) {
            state.forget_places(most);
        }
        self.clear();
        self.later = self.later.map(|_| state.id_of_next());
        Ok(())
    }

    fn clear(&mut self) {
        (self.records, self.samples, self.look_ups) = (0, 0, 0);
        (self.has_samples, self.has_kernel_samples) = (false, false);
        self.entries.clear();
        self.shares.clear();
        self.unwound.clear();
        self.places.clear();
        self.beside.clear();
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
