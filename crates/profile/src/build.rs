//! Samples, one by one, to a profile. Holds one row for all samples that agree in what is kept of them.

use crate::addresses::{AddressId, Addresses};
use crate::detail::{self, Branch, DetailId, DetailOptions, Details, Weighing};
use crate::gathered::Gathered;
use crate::grain::Grain;
use crate::known_chains::ChainId;
use crate::locator::Locator;
use crate::looking_up::{LookedUp, LookingUp, Worker};
use crate::names::Names;
use crate::placing::{How, Noted, Placing, Sorted};
use crate::profile::{EventTotal, Profile};
use crate::recorded_chains::RecordedChains;
use crate::rows::{NumberedRow, Origin, Origins};
use crate::stacks::StackId;
use crate::together::Together;
use crate::weight::Weight;
use perffile::{Schema, Share};
use readperf_session::{CommId, SampleMoment};
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
    /// Its time.
    pub times: Times,
}

/// What is kept of the times of samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Times {
    /// Nothing: samples that agree share a row.
    #[default]
    None,
    /// All: every sample has a row of its own.
    Each,
    /// What [maps](crate::view::timeline) show of them. Samples of an event that are in one cell of all maps may share a row, where they agree
    /// in their stacks; it has the time of the first of them. The times of the first and of the last sample of an event are kept; names of threads are
    /// not: all rows have one of them.
    OfMap(Grain),
}

impl Times {
    /// Times of each sample, or none.
    pub fn each(are_kept: bool) -> Times {
        if are_kept { Times::Each } else { Times::None }
    }
}

/// Where a sample was taken.
#[derive(Clone, Copy, Debug)]
pub struct SamplePlaces<'p> {
    /// The place.
    pub address: AddressId,
    /// Its stack, the innermost place first.
    pub stack: &'p [AddressId],
    /// The addresses of those of the stack that are [`AddressId::UNMAPPED`], in their order. That of the place itself is where the sample was taken.
    pub unmapped: &'p [u64],
    /// What names the stack, if it has such a name.
    pub chain: Option<ChainId>,
}

impl SamplePlaces<'_> {
    /// Of a sample whose place nobody asks for.
    pub const UNASKED: SamplePlaces<'static> =
        SamplePlaces { address: AddressId::NONE, stack: &[], unmapped: &[], chain: None };

    /// Of a sample whose stack is not known: that is its place alone.
    #[inline]
    pub fn without_stack(address: &AddressId) -> SamplePlaces<'_> {
        SamplePlaces { address: *address, stack: std::slice::from_ref(address), unmapped: &[], chain: None }
    }
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

/// Adds up samples.
#[derive(Debug)]
pub struct Builder {
    keep: Keep,
    totals: Totals,
    /// What the samples add up to that do not count.
    passed_over: Totals,
    details: Details,
    /// What samples come from, each once.
    origins: Origins,
    /// The name that stands for all if those of threads are not kept.
    any_comm: Option<CommId>,
    /// Samples that wait for their places.
    noted: Noted,
    /// What takes samples in, unless another thread does.
    placing: Placing,
    beside: Beside,
    times_ns: Option<(u64, u64)>,
}

/// Another thread that looks up where samples were taken, and takes them in.
#[derive(Debug, Default)]
enum Beside {
    /// There is none.
    #[default]
    None,
    /// It is at work.
    LookingUp(LookingUp),
    /// All has been looked up.
    LookedUp(LookedUp),
}

impl Builder {
    /// A builder without samples.
    pub fn new(keep: Keep) -> Self {
        Builder::with_details(keep, DetailOptions::default())
    }

    /// A builder without samples, which keeps these fields of each.
    pub fn with_details(keep: Keep, details: DetailOptions) -> Self {
        let DetailOptions { whole_stacks, max_stack, .. } = details;
        let how = How { keep, whole_stacks, max_stack, is_concurrent: false, expected: 0 };
        Builder {
            keep,
            totals: Totals::default(),
            passed_over: Totals::default(),
            details: Details::new(details),
            origins: Origins::default(),
            any_comm: None,
            noted: Noted::default(),
            placing: Placing::new(how),
            beside: Beside::None,
            times_ns: None,
        }
    }

    /// Whether a second thread may look up stacks and rows, once there are enough for it. The result is the same.
    #[must_use]
    pub fn concurrent(mut self, is_concurrent: bool) -> Self {
        self.placing.how_mut().is_concurrent = is_concurrent;
        self
    }

    /// How many samples there will be, as far as that can be told: tables that need not grow need not be moved.
    #[must_use]
    pub fn expecting(mut self, samples: usize) -> Self {
        self.placing.how_mut().expected = samples;
        self
    }

    /// From now on, another thread looks up where samples were taken, and takes them in; the result is the same. False, and all as it
    /// was, if the system has no thread for it.
    pub fn look_up_beside(&mut self, locator: &mut Locator, addresses: &mut Addresses) -> bool {
        let worker = Box::new(Worker {
            locator: std::mem::take(locator),
            addresses: std::mem::take(addresses),
            placing: std::mem::take(&mut self.placing),
        });
        match LookingUp::start(worker) {
            Ok(looking_up) => self.beside = Beside::LookingUp(looking_up),
            Err(worker) => {
                (*locator, *addresses, self.placing) = (worker.locator, worker.addresses, worker.placing);
            }
        }
        matches!(self.beside, Beside::LookingUp(_))
    }

    /// Hands the noted samples and their chains to the other thread, and leaves none. A few wait for more.
    pub fn hand_over(&mut self, chains: &mut RecordedChains) {
        if let Beside::LookingUp(looking_up) = &self.beside {
            looking_up.hand_over(&mut self.noted, chains, false);
        }
    }

    /// Hands the last ones over, and waits until the other thread has looked up all; what it did that with comes back.
    pub fn end_look_ups(
        &mut self,
        chains: &mut RecordedChains,
        locator: &mut Locator,
        addresses: &mut Addresses,
    ) {
        self.beside = match std::mem::take(&mut self.beside) {
            Beside::LookingUp(looking_up) => {
                looking_up.hand_over(&mut self.noted, chains, true);
                let looked_up;
                (*locator, *addresses, looked_up) = looking_up.end();
                Beside::LookedUp(looked_up)
            }
            other => other,
        };
    }

    /// The same; samples that follow are looked up by whoever calls this, and [placed](Builder::place).
    pub fn come_back(
        &mut self,
        chains: &mut RecordedChains,
        locator: &mut Locator,
        addresses: &mut Addresses,
    ) {
        self.end_look_ups(chains, locator, addresses);
        if let Beside::LookedUp(looked_up) = std::mem::take(&mut self.beside) {
            self.placing = looked_up.stop();
        }
    }

    /// Gives the places of the samples that were taken in their new numbers. They are looked up on this thread, and none is noted that waits for
    /// its places.
    pub fn put_together(&mut self, together: Together) {
        self.placing.put_together(Arc::new(together));
    }

    /// Takes note of a sample: for each event it stands for, its share. Where it was taken [follows](Builder::place).
    #[inline(always)]
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
            self.noted.push(row, self.kept_time_of(sample));
        }
        self.noted.end_sample();
    }

    /// Takes in the samples that were noted since the last time, if nothing but sums is kept, and leaves no chains: where they were taken is looked up for
    /// those alone that do not come again. False, and nothing happens, if more is kept: then they are to be looked up and [placed](Builder::place).
    pub fn add_up(&mut self, chains: &mut RecordedChains, addresses: &mut Addresses) -> bool {
        self.placing.add_up(&mut self.noted, chains, addresses)
    }

    /// Where the samples were taken that were noted since the last time, in their order.
    pub fn place<'p>(&mut self, places: impl Iterator<Item = SamplePlaces<'p>>) {
        self.placing.place(&mut self.noted, places);
    }

    /// The time of a sample, if times are kept; 0 stands for none.
    #[inline]
    fn kept_time_of(&self, sample: &SampleMoment<'_>) -> Option<u64> {
        (self.keep.times != Times::None).then_some(if sample.is_timed { sample.time_ns } else { 0 })
    }

    /// The name of a sample's thread, or one for all that stands for such names.
    #[inline]
    fn kept_comm_of(&mut self, sample: &SampleMoment<'_>) -> CommId {
        match self.keep.times {
            Times::OfMap(_) => *self.any_comm.get_or_insert(sample.comm),
            Times::None | Times::Each => sample.comm,
        }
    }

    /// What a sample stands for if that is its latency.
    #[inline]
    fn latency(&self, sample: &SampleMoment<'_>) -> Option<u64> {
        (self.details.options().weighing == Weighing::Latency).then(|| latency_of(sample))
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
    #[inline(never)]
    pub fn add_branches(&mut self, sample: &SampleMoment<'_>, event: usize, branches: &[Branch]) {
        for branch in branches {
            let detail = self.details.number(sample, None, Some(branch));
            let row = self.row_of(sample, Share { event, period: 1 }, detail);
            self.placing.add(NumberedRow { address: branch.to, ..row }, self.kept_time_of(sample));
        }
    }

    /// Counts a share of a sample. Its row, without its places.
    #[inline(always)]
    fn row_of(&mut self, sample: &SampleMoment<'_>, share: Share, detail: DetailId) -> NumberedRow {
        self.totals.add(share.event, 1, share.period);
        let comm = self.kept_comm_of(sample);
        let origin = self.origins.number(Origin {
            event: u32::try_from(share.event).unwrap_or(u32::MAX),
            comm,
            thread: self.keep.threads.then_some(sample.thread),
            cpu: sample.cpu.filter(|_| self.keep.cpus),
        });
        let (stack, address) = (StackId::EMPTY, AddressId::NONE);
        NumberedRow { origin, stack, address, detail, samples: 1, period: share.period }
    }

    /// No sample follows.
    pub fn end(mut self) -> Added {
        self.end_look_ups(&mut RecordedChains::default(), &mut Locator::default(), &mut Addresses::default());
        let Builder { totals, passed_over, details, origins, placing, beside, times_ns, .. } = self;
        let gathered = match beside {
            Beside::LookedUp(looked_up) => Sorted::Beside(looked_up.sort(origins)),
            _ => placing.end(origins),
        };
        Added { totals, passed_over, details, gathered, times_ns }
    }
}

/// What a sample stands for if that is its latency, which few ask for.
#[cold]
fn latency_of(sample: &SampleMoment<'_>) -> u64 {
    let decoded = sample.sample.decode().ok();
    decoded.and_then(|(sample, _)| detail::weight(&sample)).unwrap_or(0).max(1)
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

impl Added {
    /// The profile. Rows are sorted by event, then by time if that is kept, else by what is. Those of whole stacks are sorted by event; behind that
    /// by what they come from, but for long runs, which stay as they are.
    pub fn profile(self, addresses: Addresses, names: Names, schema: &Schema) -> Profile {
        let Gathered { stacks, rows } = self.gathered.join();
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

#[cfg(test)]
mod tests {
    use super::*;
    use readperf_session::{CpuMode, Session};
    use std::ops::Range;

    /// Notes samples, whose chains are returned. Some chains come again.
    fn note(builder: &mut Builder, samples: Range<u64>) -> RecordedChains {
        let words: Vec<[u64; 3]> = samples.clone().map(|nr| [nr % 70, nr % 7 + 1, nr % 3 + 1]).collect();
        let chains: Vec<(u64, CpuMode, &[u64], u32)> =
            words.iter().map(|words| (words[0], CpuMode::User, &words[..], 3)).collect();
        let comm = Session::default().add_comm(b"a");
        for period in samples {
            let origin = builder.origins.number(Origin { event: 0, comm, thread: None, cpu: None });
            let (stack, address, detail) = (StackId::EMPTY, AddressId::NONE, DetailId::default());
            let row = NumberedRow { origin, stack, address, detail, samples: 1, period };
            builder.noted.push(row, None);
            builder.noted.end_sample();
        }
        RecordedChains::for_test(&chains)
    }

    /// What 500 samples add up to if another thread looks these up.
    fn profile(beside: Range<u64>) -> Profile {
        let mut builder = Builder::new(Keep { stacks: true, ..Keep::default() });
        let (mut locator, mut addresses) = (Locator::default(), Addresses::default());
        let here = |builder: &mut Builder, locator: &mut Locator, addresses: &mut Addresses, samples| {
            let chains = note(builder, samples);
            locator.locate(addresses, &chains);
            builder.place(locator.all());
            locator.forget();
        };
        here(&mut builder, &mut locator, &mut addresses, 0..beside.start);
        if !beside.is_empty() {
            assert!(builder.look_up_beside(&mut locator, &mut addresses));
            let last = beside.end - 10..beside.end;
            let mut chains = note(&mut builder, beside.start..last.start);
            builder.hand_over(&mut chains);
            assert!(chains.is_empty());
            // A few, which wait until look-ups end.
            let mut chains = note(&mut builder, last);
            builder.hand_over(&mut chains);
            assert_eq!(chains.len(), 10);
            builder.come_back(&mut chains, &mut locator, &mut addresses);
        }
        here(&mut builder, &mut locator, &mut addresses, beside.end..500);
        builder.end().profile(addresses, Names::default(), &Schema::default())
    }

    #[test]
    fn what_another_thread_began_goes_on_here() {
        let expected = profile(0..0);
        assert_eq!(expected.rows().iter().map(|row| row.period).sum::<u64>(), 500 * 499 / 2);
        for beside in [0..500, 0..100, 77..300, 100..500] {
            let other = profile(beside.clone());
            assert_eq!(other.addresses().as_slice(), expected.addresses().as_slice(), "{beside:?}");
            assert_eq!(other.stacks().nodes(), expected.stacks().nodes(), "{beside:?}");
            assert!(other.rows().iter().eq(expected.rows().iter()), "{beside:?}");
        }
    }
}
