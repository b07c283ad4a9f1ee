//! Samples, one by one, to a profile. Holds one row for all samples that agree in what is kept of them.

use crate::addresses::{AddressId, Addresses};
use crate::detail::{self, Branch, DetailId, DetailOptions, Details, Weighing};
use crate::interner::Interner;
use crate::names::Names;
use crate::profile::{EventTotal, Profile, SampleRow};
use crate::stacks::{StackId, Stacks};
use perffile::{Schema, Share};
use readperf_session::SampleMoment;

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

/// Adds up samples.
#[derive(Debug, Default)]
pub struct Builder {
    keep: Keep,
    totals: Vec<(u64, u64)>,
    stacks: Stacks,
    details: Details,
    rows: Interner<SampleRow>,
    /// Samples and period of each row.
    sums: Vec<(u64, u64)>,
    /// With times: the rows, one a sample.
    single: Vec<SampleRow>,
    waiting: Waiting,
    times_ns: Option<(u64, u64)>,
}

/// Samples that wait: those whose stacks and rows are not looked up yet, since that is faster for many at once.
#[derive(Debug, Default)]
struct Waiting {
    /// The places of their stacks, each the innermost first.
    places: Vec<AddressId>,
    ends: Vec<usize>,
    /// Their rows, with the stack's index among these. As keys, rows have no sums yet.
    rows: Vec<(SampleRow, usize)>,
    periods: Vec<u64>,
    stacks: Vec<StackId>,
    keys: Vec<SampleRow>,
    numbers: Vec<u32>,
}

/// Samples that wait at most: what is needed of the tables for so many fits into a cache close to the processor.
const WAITING: usize = 1024;

impl Waiting {
    /// Whether it is time to look them up. Samples may stand for nothing, or for several events.
    fn is_enough(&self) -> bool {
        self.ends.len() >= WAITING || self.rows.len() >= WAITING
    }
}

impl Builder {
    /// Nothing yet.
    pub fn new(keep: Keep) -> Self {
        Builder { keep, ..Builder::default() }
    }

    /// Nothing yet; keeps more of each sample.
    pub fn with_details(keep: Keep, details: DetailOptions) -> Self {
        let stacks = if details.whole_stacks { Stacks::whole() } else { Stacks::default() };
        Builder { keep, stacks, details: Details::new(details), ..Builder::default() }
    }

    /// Adds a sample: for each event it stands for, its share. `stack` has its places, the innermost first.
    #[inline]
    pub fn add(
        &mut self,
        sample: &SampleMoment<'_>,
        shares: &[Share],
        address: AddressId,
        stack: &[AddressId],
    ) {
        self.add_with(sample, shares, address, stack, None);
    }

    /// Adds a sample with the place of its data.
    #[inline]
    pub fn add_with(
        &mut self,
        sample: &SampleMoment<'_>,
        shares: &[Share],
        address: AddressId,
        stack: &[AddressId],
        data: Option<AddressId>,
    ) {
        if self.waiting.is_enough() {
            self.take_in();
        }
        if self.keep.stacks {
            self.waiting.places.extend_from_slice(stack);
        }
        self.waiting.ends.push(self.waiting.places.len());
        if sample.is_timed && !shares.is_empty() {
            let (first, last) = self.times_ns.unwrap_or((sample.time_ns, sample.time_ns));
            self.times_ns = Some((first.min(sample.time_ns), last.max(sample.time_ns)));
        }
        let detail = self.details.number(sample, data, None);
        let latency = (self.details.options().weighing == Weighing::Latency).then(|| {
            let decoded = sample.sample.decode().ok();
            decoded.and_then(|(sample, _)| detail::weight(&sample)).unwrap_or(0).max(1)
        });
        for share in shares {
            let share = Share { period: latency.unwrap_or(share.period), ..*share };
            self.add_share(sample, share, address, detail);
        }
    }

    /// Adds the branches of a sample, each as a sample that stands for one.
    pub fn add_branches(&mut self, sample: &SampleMoment<'_>, event: usize, branches: &[Branch]) {
        for branch in branches {
            if self.waiting.is_enough() {
                self.take_in();
            }
            self.waiting.ends.push(self.waiting.places.len());
            let detail = self.details.number(sample, None, Some(branch));
            self.add_share(sample, Share { event, period: 1 }, branch.to, detail);
        }
    }

    #[inline]
    fn add_share(&mut self, sample: &SampleMoment<'_>, share: Share, address: AddressId, detail: DetailId) {
        if self.totals.len() <= share.event {
            self.totals.resize(share.event + 1, (0, 0));
        }
        if let Some((samples, period)) = self.totals.get_mut(share.event) {
            *samples += 1;
            *period = period.wrapping_add(share.period);
        }
        let key = SampleRow {
            event: u32::try_from(share.event).unwrap_or(u32::MAX),
            comm: sample.comm,
            thread: self.keep.threads.then_some(sample.thread),
            cpu: sample.cpu.filter(|_| self.keep.cpus),
            // 0 stands for no time.
            time_ns: if self.keep.times && sample.is_timed { sample.time_ns } else { 0 },
            address,
            stack: StackId::EMPTY,
            detail,
            samples: 0,
            period: 0,
        };
        self.waiting.rows.push((key, self.waiting.ends.len().saturating_sub(1)));
        self.waiting.periods.push(share.period);
    }

    /// Looks up the stacks and rows of the samples that wait, and adds their periods.
    fn take_in(&mut self) {
        let Waiting { places, ends, rows, periods, stacks, keys, numbers } = &mut self.waiting;
        stacks.clear();
        keys.clear();
        numbers.clear();
        self.stacks.number_all(places, ends, stacks);
        keys.extend(rows.iter().map(|(key, stack)| {
            let stack = stacks.get(*stack).copied().unwrap_or(StackId::EMPTY);
            SampleRow { stack, ..*key }
        }));
        if self.keep.times {
            let single = keys.iter().zip(&*periods);
            self.single.extend(single.map(|(key, period)| SampleRow { samples: 1, period: *period, ..*key }));
        } else {
            self.rows.number_all(keys, numbers);
            self.sums.resize(self.rows.as_slice().len(), (0, 0));
            for (number, period) in numbers.iter().zip(&*periods) {
                if let Some((samples, sum)) = self.sums.get_mut(*number as usize) {
                    *samples += 1;
                    *sum = sum.wrapping_add(*period);
                }
            }
        }
        places.clear();
        ends.clear();
        rows.clear();
        periods.clear();
    }

    /// Forgets what is only needed to add more.
    pub fn freeze(&mut self) {
        self.take_in();
        self.waiting = Waiting::default();
        self.stacks.freeze();
        self.rows.freeze();
    }

    /// What has been added. Rows are sorted by event, then by time if that is kept, else by what is.
    pub fn finish(mut self, addresses: Addresses, names: Names, schema: &Schema) -> Profile {
        self.freeze();
        let total = |nr: usize| self.totals.get(nr).copied().unwrap_or_default();
        let events = schema.events().iter().enumerate().map(|(nr, event)| {
            let (samples, period) = total(nr);
            EventTotal { name: event.name.clone(), samples, period }
        });
        let events = events.collect();
        for (row, (samples, period)) in
            self.rows.as_mut_slice().iter_mut().zip(std::mem::take(&mut self.sums))
        {
            (row.samples, row.period) = (samples, period);
        }
        // Samples of one time stay in the order of the recording.
        let rows = match self.keep.times {
            true => {
                self.single.sort_by_key(|row| (row.event, row.time_ns));
                self.single
            }
            false => {
                self.rows.as_mut_slice().sort_unstable();
                self.rows.into_vec()
            }
        };
        let (stacks, details) = (self.stacks, self.details);
        Profile { events, addresses, stacks, details, rows, names, times_ns: self.times_ns }
    }
}
