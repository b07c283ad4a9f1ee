//! Samples whose places are known, on their way into the tables of a profile.

use crate::adding_up::{self, AddingUp};
use crate::addresses::{AddressId, Addresses};
use crate::block::{Block, StackNumbers};
use crate::build::{Keep, SamplePlaces, Times};
use crate::gathered::{Gathered, Gathering, Sharing};
use crate::known_chains::ChainId;
use crate::looking_up;
use crate::recorded_chains::RecordedChains;
use crate::repeats::Repeats;
use crate::rows::{NumberedRow, Origins};
use crate::stacks::{StackId, Stacks};
use crate::together::Together;
use std::sync::Arc;

/// Whole stacks, and rows of these, that are taken in without looking whether they are there: those of a recording of 200 MB.
const UNSOUGHT: usize = 1 << 20;

/// What is known of samples before their places are.
#[derive(Debug, Default)]
pub(crate) struct Noted {
    /// How many samples.
    pub(crate) samples: u32,
    /// A row for each sample and event that it stands for. In place of its place it has the number of its sample, ascending.
    pub(crate) rows: Vec<NumberedRow>,
    /// The times of the rows, if they are kept.
    times_ns: Vec<u64>,
}

impl Noted {
    /// Adds a row of the next sample, whatever its place. `time_ns` is told if times are kept.
    #[inline]
    pub(crate) fn push(&mut self, row: NumberedRow, time_ns: Option<u64>) {
        self.rows.push(NumberedRow { address: AddressId(self.samples), ..row });
        if let Some(time_ns) = time_ns {
            self.times_ns.push(time_ns);
        }
    }

    /// A sample is complete, and the next one begins.
    #[inline]
    pub(crate) fn end_sample(&mut self) {
        self.samples += 1;
    }

    fn clear(&mut self) {
        self.samples = 0;
        self.rows.clear();
        self.times_ns.clear();
    }
}

/// How samples are taken in.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct How {
    pub(crate) keep: Keep,
    /// Whether stacks are only added up, so that equal ones need not be one.
    pub(crate) whole_stacks: bool,
    /// Most places of a stack that are kept; all if not said.
    pub(crate) max_stack: Option<usize>,
    /// Whether tables may be on a thread of their own.
    pub(crate) is_concurrent: bool,
    /// How many samples there will be, as far as that can be told.
    pub(crate) expected: usize,
}

/// Takes samples in.
#[derive(Debug, Default)]
pub(crate) struct Placing {
    how: How,
    /// Which stacks are on the way.
    numbers: StackNumbers,
    /// Samples whose stacks and rows are still to be looked up.
    block: Block,
    /// Samples that may come again.
    repeats: Repeats,
    tables: Option<Tables>,
}

/// Where blocks of samples are taken in.
#[derive(Debug)]
enum Tables {
    /// On this thread.
    Here(Box<Gathering>),
    /// On another one.
    Beside(AddingUp),
}

/// What samples add up to; with another thread, that is still at work.
#[derive(Debug)]
pub(crate) enum Sorted {
    /// Here, and done.
    Now(Box<Gathered>),
    /// On a thread that added up.
    Later(adding_up::Sorting),
    /// On one that looked up, too.
    Beside(looking_up::Sorting),
}

impl Placing {
    pub(crate) fn new(how: How) -> Placing {
        Placing { how, ..Placing::default() }
    }

    /// How samples are taken in; to be changed before the first one.
    pub(crate) fn how_mut(&mut self) -> &mut How {
        &mut self.how
    }

    /// Takes in the samples that were noted, if nothing but sums is wanted; `chains` tell where they were taken. Leaves none. False, and nothing happens,
    /// if more is wanted: then they are to be [placed](Placing::place).
    pub(crate) fn add_up(
        &mut self,
        noted: &mut Noted,
        chains: &mut RecordedChains,
        addresses: &mut Addresses,
    ) -> bool {
        let Keep { stacks, times, .. } = self.how.keep;
        if stacks || times != Times::None || chains.has_stacks {
            return false;
        }
        self.repeats.add_up(&mut noted.rows, chains, addresses, &mut self.block.rows);
        if self.block.is_enough() {
            self.take_in();
        }
        noted.clear();
        chains.clear();
        true
    }

    /// Takes in the samples that were noted, which were taken at these places. Leaves none.
    pub(crate) fn place<'p>(&mut self, noted: &mut Noted, places: impl Iterator<Item = SamplePlaces<'p>>) {
        let keeps_stacks = self.how.keep.stacks;
        let most = self.how.max_stack.unwrap_or(usize::MAX);
        let mut at = 0;
        for (number, SamplePlaces { address, stack, chain, .. }) in (0..noted.samples).zip(places) {
            if keeps_stacks && self.block.is_enough() {
                self.take_in();
            }
            let stack = match keeps_stacks {
                true => self.number_stack(stack.get(..most).unwrap_or(stack), chain),
                false => StackId::EMPTY,
            };
            while let Some(row) = noted.rows.get_mut(at).filter(|row| row.address == AddressId(number)) {
                if keeps_stacks {
                    // Not by way of the noted row: what was just written in parts cannot be read again as a whole at once.
                    let row = NumberedRow { stack, address, ..*row };
                    self.push(row, noted.times_ns.get(at).copied());
                } else {
                    row.address = address;
                }
                at += 1;
            }
        }
        debug_assert_eq!(at, noted.rows.len(), "each sample has its places");
        if !keeps_stacks {
            // Nothing is between them: they are handed over as they are.
            self.block.rows.append(&mut noted.rows);
            self.block.times_ns.append(&mut noted.times_ns);
            if self.block.is_enough() {
                self.take_in();
            }
        }
        noted.clear();
    }

    /// Takes in a row that is complete.
    #[inline]
    pub(crate) fn add(&mut self, row: NumberedRow, time_ns: Option<u64>) {
        if self.block.is_enough() {
            self.take_in();
        }
        self.push(row, time_ns);
    }

    /// The number that a stack has on the way to the tables.
    #[inline(always)]
    fn number_stack(&mut self, stack: &[AddressId], chain: Option<ChainId>) -> StackId {
        if self.numbers.are_over(chain) {
            self.take_in();
            self.numbers.begin(&mut self.block, chain);
        }
        self.numbers.number(&mut self.block, stack, chain)
    }

    #[inline]
    fn push(&mut self, row: NumberedRow, time_ns: Option<u64>) {
        self.block.rows.push(row);
        if let Some(time_ns) = time_ns {
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

    /// Hands all samples to the tables.
    fn take_in_all(&mut self) {
        self.repeats.take(&mut self.block.rows);
        self.take_in();
    }

    /// Gives the places of samples that were taken in their new numbers. Chains, which are forgotten with the old ones, do not come again, so
    /// that no stack that was numbered on the way does.
    pub(crate) fn put_together(&mut self, together: Arc<Together>) {
        self.take_in_all();
        match &mut self.tables {
            Some(Tables::Here(gathering)) => gathering.put_together(&together),
            Some(Tables::Beside(beside)) => beside.put_together(together),
            None => {}
        }
    }

    fn new_tables(&self) -> Tables {
        let How { keep, whole_stacks, is_concurrent, expected, .. } = self.how;
        let stacks = || if whole_stacks { Stacks::whole(UNSOUGHT) } else { Stacks::default() };
        let sharing = match keep {
            Keep { times: Times::Each, .. } => Sharing::None,
            Keep { times: Times::OfMap(grain), .. } => Sharing::OfMap(grain),
            Keep { stacks: true, .. } if whole_stacks => Sharing::Soon(UNSOUGHT),
            Keep { .. } => Sharing::All,
        };
        let gathering = || Gathering::new(stacks(), sharing, expected);
        // A few samples are not worth a thread, and rows alone not the waking of it.
        let is_worth_it = is_concurrent && keep.stacks && self.block.is_enough();
        let beside = is_worth_it.then(|| AddingUp::start(gathering()).ok());
        beside.flatten().map_or_else(|| Tables::Here(Box::new(gathering())), Tables::Beside)
    }

    /// No sample follows. `origins` are what the rows come from.
    pub(crate) fn end(mut self, origins: Origins) -> Sorted {
        self.take_in_all();
        match self.tables {
            Some(Tables::Beside(beside)) => Sorted::Later(beside.end(origins)),
            Some(Tables::Here(gathering)) => Sorted::Now(Box::new(gathering.finish(origins))),
            None => Sorted::Now(Box::default()),
        }
    }
}

impl Sorted {
    /// Waits for it.
    pub(crate) fn join(self) -> Gathered {
        match self {
            Sorted::Now(gathered) => *gathered,
            Sorted::Later(sorting) => sorting.join(),
            Sorted::Beside(sorting) => sorting.join(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detail::DetailId;
    use crate::rows::Origin;
    use readperf_session::Session;

    #[test]
    fn without_stacks_each_row_has_the_place_and_the_time_of_its_sample() {
        // Sample n was taken in place n % 70, at n * 10 ns, and stands for n % 3 events; some blocks are full in the middle.
        const SAMPLES: u32 = 3000;
        let keep = Keep { times: Times::Each, ..Keep::default() };
        let mut placing = Placing::new(How { keep, ..How::default() });
        let (mut noted, mut origins) = (Noted::default(), Origins::default());
        let comm = Session::default().add_comm(b"a");
        let places: Vec<AddressId> = (0..SAMPLES).map(|nr| AddressId(nr % 70)).collect();
        for nr in 0..SAMPLES {
            for event in 0..nr % 3 {
                let origin = origins.number(Origin { event, comm, thread: None, cpu: None });
                let (stack, address) = (StackId::EMPTY, AddressId::NONE);
                let row = NumberedRow {
                    origin,
                    stack,
                    address,
                    detail: DetailId::default(),
                    samples: 1,
                    period: nr.into(),
                };
                noted.push(row, Some(u64::from(nr) * 10));
            }
            noted.end_sample();
            if noted.samples == 250 || nr + 1 == SAMPLES {
                let first = nr as usize + 1 - noted.samples as usize;
                placing.place(&mut noted, places[first..].iter().map(SamplePlaces::without_stack));
                assert!(noted.rows.is_empty() && noted.samples == 0, "none is left");
            }
        }
        let rows = placing.end(origins).join().rows;
        let expected = (0..SAMPLES).map(|nr| nr as usize % 3).sum();
        assert_eq!(rows.len(), expected);
        for row in rows.iter() {
            let nr = u32::try_from(row.period).unwrap();
            assert_eq!((row.address, row.time_ns), (AddressId(nr % 70), u64::from(nr) * 10));
        }
    }
}
