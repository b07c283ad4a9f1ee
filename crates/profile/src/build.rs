//! Samples, one by one, to a profile. Holds one row for all samples that agree in what is kept of them.

use crate::addresses::{AddressId, Addresses};
use crate::beside::{Beside, Sorting};
use crate::block::{Block, StackNumbers};
use crate::detail::{self, Branch, DetailId, DetailOptions, Details, Weighing};
use crate::gathered::{Gathered, Gathering, Sharing};
use crate::known_chains::ChainId;
use crate::names::Names;
use crate::profile::{EventTotal, Profile};
use crate::rows::{NumberedRow, Origin, Origins};
use crate::stacks::{StackId, Stacks};
use crate::weight::Weight;
use perffile::{Schema, Share};
use readperf_session::SampleMoment;
use std::sync::Arc;

/// What is kept of each sample besides its event, its thread's name and its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// Its stack.
    pub stacks: bool,
    /// Its thread.
    pub threads: bool,
    /// Its CPU.
    pub cpus: bool,
    /// Its time; then every sample has a row of its own.
    pub times: bool,
}

/// Where a sample was taken.
#[derive(Clone, Copy, Debug)]
pub struct SamplePlaces<'p> {
    /// The place.
    pub address: AddressId,
    /// Its stack, the innermost place first.
    pub stack: &'p [AddressId],
    /// What names the stack, if it has such a name.
    pub chain: Option<ChainId>,
}

/// What is known of a sample before its places are: its number among those that wait for them, and its row without them.
#[derive(Clone, Copy, Debug)]
struct Noted {
    sample: u32,
    row: NumberedRow,
    time_ns: u64,
}

/// Samples and periods by event.
#[derive(Debug, Default)]
struct Totals(Vec<(u64, u64)>);

impl Totals {
    #[inline]
    fn add(&mut self, event: usize, samples: u64, period: u64) {
        if self.0.len() <= event {
            self.0.resize(event + 1, (0, 0));
        }
        if let Some(total) = self.0.get_mut(event) {
            total.0 += samples;
            total.1 = total.1.wrapping_add(period);
        }
    }

    fn of(&self, event: usize) -> (u64, u64) {
        self.0.get(event).copied().unwrap_or_default()
    }
}

/// Whole stacks, and rows of these, that are taken in without looking whether they are there: those of a recording of 200 MB.
const UNSOUGHT: usize = 1 << 20;

/// Adds up samples.
#[derive(Debug)]
pub struct Builder {
    keep: Keep,
    is_concurrent: bool,
    expected: usize,
    totals: Totals,
    /// What the samples add up to that do not count.
    passed_over: Totals,
    details: Details,
    /// What samples come from, each once.
    origins: Origins,
    /// Which stacks are on the way.
    numbers: StackNumbers,
    /// How many samples wait for their places, and their rows.
    waiting: u32,
    noted: Vec<Noted>,
    /// Samples whose stacks and rows are still to be looked up.
    block: Block,
    tables: Option<Tables>,
    times_ns: Option<(u64, u64)>,
}

/// Where blocks of samples are taken in.
#[derive(Debug)]
enum Tables {
    /// On this thread.
    Here(Box<Gathering>),
    /// On another one.
    Beside(Beside),
}

impl Builder {
    /// A builder without samples.
    pub fn new(keep: Keep) -> Self {
        Builder::with_details(keep, DetailOptions::default())
    }

    /// A builder without samples, which keeps these fields of each.
    pub fn with_details(keep: Keep, details: DetailOptions) -> Self {
        Builder {
            keep,
            is_concurrent: false,
            expected: 0,
            totals: Totals::default(),
            passed_over: Totals::default(),
            details: Details::new(details),
            origins: Origins::default(),
            numbers: StackNumbers::default(),
            waiting: 0,
            noted: Vec::new(),
            block: Block::default(),
            tables: None,
            times_ns: None,
        }
    }

    /// Whether a second thread may look up stacks and rows, once there are enough for it. The result is the same.
    #[must_use]
    pub fn concurrent(self, is_concurrent: bool) -> Self {
        Builder { is_concurrent, ..self }
    }

    /// How many samples there will be, as far as that can be told: tables that need not grow need not be moved.
    #[must_use]
    pub fn expecting(self, samples: usize) -> Self {
        Builder { expected: samples, ..self }
    }

    /// Takes note of a sample: for each event it stands for, its share. Where it was taken [follows](Builder::place).
    #[inline]
    pub fn note(&mut self, sample: &SampleMoment<'_>, shares: &[Share], data: Option<AddressId>) {
        if sample.is_timed && !shares.is_empty() {
            let (first, last) = self.times_ns.unwrap_or((sample.time_ns, sample.time_ns));
            self.times_ns = Some((first.min(sample.time_ns), last.max(sample.time_ns)));
        }
        let detail = self.details.number(sample, data, None);
        let latency = self.latency(sample);
        for share in shares {
            let share = Share { period: latency.unwrap_or(share.period), ..*share };
            let row = self.row_of(sample, share, detail);
            self.noted.push(Noted { sample: self.waiting, row, time_ns: time_of(sample) });
        }
        self.waiting += 1;
    }

    /// Where the samples were taken that were noted since the last time, in their order.
    pub fn place<'p>(&mut self, places: impl Iterator<Item = SamplePlaces<'p>>) {
        let noted = std::mem::take(&mut self.noted);
        let mut left = noted.iter().peekable();
        for (number, SamplePlaces { address, stack, chain }) in (0..self.waiting).zip(places) {
            if self.block.is_enough() {
                self.take_in();
            }
            let stack = if self.keep.stacks { self.number_stack(stack, chain) } else { StackId::EMPTY };
            while let Some(noted) = left.next_if(|noted| noted.sample == number) {
                self.push(NumberedRow { stack, address, ..noted.row }, noted.time_ns);
            }
        }
        debug_assert!(left.next().is_none(), "each sample has its places");
        self.noted = noted;
        self.noted.clear();
        self.waiting = 0;
    }

    /// What a sample stands for if that is its latency.
    fn latency(&self, sample: &SampleMoment<'_>) -> Option<u64> {
        (self.details.options().weighing == Weighing::Latency).then(|| {
            let decoded = sample.sample.decode().ok();
            decoded.and_then(|(sample, _)| detail::weight(&sample)).unwrap_or(0).max(1)
        })
    }

    /// Takes note of a sample that does not count: what is recorded is more than what is chosen.
    pub fn pass_over(&mut self, sample: &SampleMoment<'_>, shares: &[Share]) {
        if self.details.options().weighing == Weighing::Branches {
            let decoded = sample.sample.decode().ok().and_then(|(sample, _)| sample.branch_stack);
            let branches = decoded.map_or(0, |stack| stack.entries.len() as u64);
            return self.passed_over.add(sample.event, branches, branches);
        }
        let latency = self.latency(sample);
        for share in shares {
            self.passed_over.add(share.event, 1, latency.unwrap_or(share.period));
        }
    }

    /// Adds the branches of a sample, each as a sample that stands for one.
    pub fn add_branches(&mut self, sample: &SampleMoment<'_>, event: usize, branches: &[Branch]) {
        for branch in branches {
            if self.block.is_enough() {
                self.take_in();
            }
            let detail = self.details.number(sample, None, Some(branch));
            let row = self.row_of(sample, Share { event, period: 1 }, detail);
            self.push(NumberedRow { address: branch.to, ..row }, time_of(sample));
        }
    }

    /// The number that a stack has on the way to the tables.
    #[inline]
    fn number_stack(&mut self, stack: &[AddressId], chain: Option<ChainId>) -> StackId {
        if self.numbers.are_over(chain) {
            self.take_in();
            self.numbers.begin(&mut self.block, chain);
        }
        self.numbers.number(&mut self.block, stack, chain)
    }

    /// Counts a share of a sample. Its row, without its places.
    #[inline]
    fn row_of(&mut self, sample: &SampleMoment<'_>, share: Share, detail: DetailId) -> NumberedRow {
        self.totals.add(share.event, 1, share.period);
        let origin = self.origins.number(Origin {
            event: u32::try_from(share.event).unwrap_or(u32::MAX),
            comm: sample.comm,
            thread: self.keep.threads.then_some(sample.thread),
            cpu: sample.cpu.filter(|_| self.keep.cpus),
        });
        let (stack, address) = (StackId::EMPTY, AddressId::NONE);
        NumberedRow { origin, stack, address, detail, samples: 1, period: share.period }
    }

    #[inline]
    fn push(&mut self, row: NumberedRow, time_ns: u64) {
        self.block.rows.push(row);
        if self.keep.times {
            self.block.times_ns.push(time_ns);
        }
    }

    /// Hands the samples that wait to the tables.
    fn take_in(&mut self) {
        if self.tables.is_none() {
            self.tables = Some(self.new_tables());
        }
        match &mut self.tables {
            Some(Tables::Here(gathering)) => gathering.take_in(&mut self.block),
            Some(Tables::Beside(beside)) => beside.take_in(&mut self.block),
            None => {}
        }
    }

    fn new_tables(&self) -> Tables {
        let whole = self.details.options().whole_stacks;
        let stacks = || if whole { Stacks::whole(UNSOUGHT) } else { Stacks::default() };
        let sharing = match self.keep {
            Keep { times: true, .. } => Sharing::None,
            Keep { stacks: true, .. } if whole => Sharing::Soon(UNSOUGHT),
            Keep { .. } => Sharing::All,
        };
        let gathering = || Gathering::new(stacks(), sharing, self.expected);
        // A few samples are not worth a thread, and rows alone not the waking of it.
        let is_worth_it = self.is_concurrent && self.keep.stacks && self.block.is_enough();
        let beside = is_worth_it.then(|| Beside::start(gathering()).ok());
        beside.flatten().map_or_else(|| Tables::Here(Box::new(gathering())), Tables::Beside)
    }

    /// No sample follows.
    pub fn end(mut self) -> Added {
        self.take_in();
        let gathered = match self.tables {
            Some(Tables::Beside(beside)) => Sorted::Later(beside.end(self.origins)),
            Some(Tables::Here(gathering)) => Sorted::Now(Box::new(gathering.finish(self.origins))),
            None => Sorted::Now(Box::default()),
        };
        let Builder { totals, passed_over, details, times_ns, .. } = self;
        Added { totals, passed_over, details, gathered, times_ns }
    }
}

/// The time of a sample; 0 stands for none.
fn time_of(sample: &SampleMoment<'_>) -> u64 {
    if sample.is_timed { sample.time_ns } else { 0 }
}

/// Samples added up; what is missing are the names of their places. With a second thread, that is still at work.
#[derive(Debug)]
pub struct Added {
    totals: Totals,
    passed_over: Totals,
    details: Details,
    gathered: Sorted,
    times_ns: Option<(u64, u64)>,
}

#[derive(Debug)]
enum Sorted {
    Now(Box<Gathered>),
    Later(Sorting),
}

impl Added {
    /// The profile. Rows are sorted by event, then by time if that is kept, else by what is; whole stacks are not sorted by.
    pub fn profile(self, addresses: Addresses, names: Names, schema: &Schema) -> Profile {
        let Gathered { stacks, rows } = match self.gathered {
            Sorted::Now(gathered) => *gathered,
            Sorted::Later(sorting) => sorting.join(),
        };
        let events: Vec<EventTotal> = schema
            .events()
            .iter()
            .enumerate()
            .map(|(nr, event)| {
                let (samples, period) = self.totals.of(nr);
                EventTotal { name: event.name.clone(), samples, period }
            })
            .collect();
        let recorded = events
            .iter()
            .enumerate()
            .map(|(nr, event)| {
                let (samples, period) = self.passed_over.of(nr);
                let (samples, period) = (event.samples + samples, event.period.wrapping_add(period));
                EventTotal { name: event.name.clone(), samples, period }
            })
            .collect();
        let Added { details, times_ns, .. } = self;
        Profile {
            events,
            recorded,
            weight: Weight::default(),
            addresses: Arc::new(addresses),
            stacks: Arc::new(stacks),
            details: Arc::new(details),
            rows: Arc::new(rows),
            names: Arc::new(names),
            times_ns,
            made_of: Vec::new(),
        }
    }
}
