//! What samples add up to: their stacks and rows, each once.
//!
//! Samples come in blocks of about a thousand, because to look up the stacks and rows of many at once is faster, and because
//! a block can be handed to another thread.

use crate::addresses::AddressId;
use crate::known_chains::ChainId;
use crate::profile::SampleRow;
use crate::rows::Rows;
use crate::rows_of_chains::RowsOfChains;
use crate::stacks::{StackId, Stacks};
use crate::summed_rows::SummedRows;

/// Samples whose stacks and rows are not looked up yet.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// The places of their stacks, each the innermost first.
    pub(crate) places: Vec<AddressId>,
    /// Where each of these ends.
    pub(crate) ends: Vec<usize>,
    /// What names each of these, if anything does.
    chains: Vec<Option<ChainId>>,
    /// Their rows, with the stack's index among these.
    pub(crate) rows: Vec<(SampleRow, usize)>,
}

/// Samples in a block: what is needed of the tables for so many fits into a cache close to the processor.
const ENOUGH: usize = 1024;

impl Block {
    /// Whether it is full. Samples may stand for nothing, or for several events.
    pub(crate) fn is_enough(&self) -> bool {
        self.ends.len() >= ENOUGH || self.rows.len() >= ENOUGH
    }

    /// Takes in the stack of a sample.
    #[inline]
    pub(crate) fn push_stack(&mut self, stack: &[AddressId], chain: Option<ChainId>) {
        self.places.extend_from_slice(stack);
        self.ends.push(self.places.len());
        self.chains.push(chain);
    }

    fn clear(&mut self) {
        self.places.clear();
        self.ends.clear();
        self.chains.clear();
        self.rows.clear();
    }
}

/// The tables that samples are taken into.
#[derive(Debug)]
pub(crate) struct Gathering {
    stacks: Stacks,
    of_chains: StacksOfChains,
    rows: Kept,
    /// Of the block at hand: its stacks, and its rows with these.
    ids: Vec<StackId>,
    samples: Vec<SampleRow>,
}

/// The stacks of recorded chains, so that only those of new chains are looked up place by place.
#[derive(Debug, Default)]
struct StacksOfChains {
    epoch: u32,
    /// By the number of the chain; [`StackId::EMPTY`] where none is known.
    ids: Vec<StackId>,
    new: NewStacks,
}

/// Stacks of a block that are not known by their chains.
#[derive(Debug, Default)]
struct NewStacks {
    /// Their indices in the block.
    at: Vec<usize>,
    places: Vec<AddressId>,
    ends: Vec<usize>,
    ids: Vec<StackId>,
}

impl StacksOfChains {
    /// Appends the numbers of the stacks of a block.
    fn number_all(&mut self, stacks: &mut Stacks, block: &Block, ids: &mut Vec<StackId>) {
        let mut new = std::mem::take(&mut self.new);
        let (first, mut start) = (ids.len(), 0);
        for (nr, (end, chain)) in block.ends.iter().zip(&block.chains).enumerate() {
            let known = self.get(*chain);
            ids.push(known);
            if known == StackId::EMPTY {
                new.at.push(nr);
                new.places.extend_from_slice(block.places.get(start..*end).unwrap_or_default());
                new.ends.push(new.places.len());
            }
            start = *end;
        }
        stacks.number_all(&new.places, &new.ends, &mut new.ids);
        for (nr, stack) in new.at.iter().zip(&new.ids) {
            if let (Some(id), Some(chain)) = (ids.get_mut(first + nr), block.chains.get(*nr)) {
                *id = *stack;
                self.learn(*chain, *stack);
            }
        }
        new.clear();
        self.new = new;
    }

    #[inline]
    fn get(&self, chain: Option<ChainId>) -> StackId {
        let chain = chain.filter(|chain| chain.epoch == self.epoch);
        chain.and_then(|chain| self.ids.get(chain.number as usize)).copied().unwrap_or(StackId::EMPTY)
    }

    fn learn(&mut self, chain: Option<ChainId>, stack: StackId) {
        let Some(ChainId { epoch, number }) = chain else { return };
        if epoch != self.epoch {
            self.epoch = epoch;
            self.ids.clear();
        }
        let index = number as usize;
        if self.ids.len() <= index {
            self.ids.resize(index + 1, StackId::EMPTY);
        }
        if let Some(known) = self.ids.get_mut(index) {
            *known = stack;
        }
    }
}

impl NewStacks {
    fn clear(&mut self) {
        self.at.clear();
        self.places.clear();
        self.ends.clear();
        self.ids.clear();
    }
}

/// All stacks, and all rows with their sums.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    pub(crate) stacks: Stacks,
    pub(crate) rows: Rows,
}

/// Rows of samples.
#[derive(Debug)]
enum Kept {
    /// One for all samples that agree.
    Summed(SummedRows),
    /// One a sample.
    Single(Rows),
    /// One for those that agree and have a chain that came shortly before. Of so many rows; if there are more, memory is to grow
    /// with what differs.
    OfChains(RowsOfChains, usize),
}

/// Which samples share a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// None: each has a row of its own.
    None,
    /// Those that agree, up to so many rows only if their chains come soon after each other: to look for the others takes longer than to
    /// add them up later.
    Soon(usize),
    /// All that agree.
    All,
}

impl Gathering {
    /// An empty table for so many samples.
    pub(crate) fn new(mut stacks: Stacks, sharing: Sharing, expected: usize) -> Gathering {
        stacks.reserve(expected);
        let rows = match sharing {
            Sharing::None => Kept::Single(Rows::with_capacity(expected)),
            Sharing::Soon(most) => Kept::OfChains(RowsOfChains::expecting(expected), most),
            Sharing::All => Kept::Summed(SummedRows::expecting(expected)),
        };
        Gathering { stacks, of_chains: StacksOfChains::default(), rows, ids: Vec::new(), samples: Vec::new() }
    }

    /// Looks up the stacks and rows of a block, and adds its periods. Leaves the block empty.
    pub(crate) fn take_in(&mut self, block: &mut Block) {
        let Gathering { stacks, of_chains, rows, ids, samples } = self;
        ids.clear();
        samples.clear();
        of_chains.number_all(stacks, block, ids);
        samples.extend(block.rows.iter().map(|(row, stack)| {
            let stack = ids.get(*stack).copied().unwrap_or(StackId::EMPTY);
            SampleRow { stack, ..*row }
        }));
        match rows {
            Kept::Single(single) => samples.iter().for_each(|row| single.push(*row)),
            Kept::Summed(summed) => summed.add_all(samples),
            Kept::OfChains(of_chains, most) => {
                let chain = |stack: usize| block.chains.get(stack).copied().flatten();
                let chains = block.rows.iter().map(|(_, stack)| chain(*stack));
                samples.iter().zip(chains).for_each(|(row, chain)| of_chains.add(row, chain));
                if of_chains.len() > *most {
                    *rows = Kept::Summed(SummedRows::of(std::mem::take(of_chains).into_rows()));
                }
            }
        }
        block.clear();
    }

    /// Sorts the rows: by event, then by time if each sample has one, else by all columns; where stacks may be there twice, not by these.
    pub(crate) fn finish(self) -> Gathered {
        let mut stacks = self.stacks;
        stacks.freeze();
        let rows = match self.rows {
            Kept::Single(mut rows) => {
                rows.sort_by_time();
                rows.shrink();
                rows
            }
            Kept::OfChains(rows, _) => {
                let mut rows = rows.into_rows();
                rows.sort_by_origin();
                rows.shrink();
                rows
            }
            Kept::Summed(summed) => summed.into_rows(),
        };
        Gathered { stacks, rows }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detail::DetailId;
    use readperf_session::Session;
    use std::collections::BTreeMap;

    /// Samples and periods by CPU and places.
    type Sums = BTreeMap<(u32, Vec<u32>), (u64, u64)>;

    /// What samples add up to, and in how many rows.
    fn sums(whole: bool, sharing: Sharing, unsought: usize) -> (Sums, usize) {
        let stacks = if whole { Stacks::whole(unsought) } else { Stacks::default() };
        let mut gathering = Gathering::new(stacks, sharing, 0);
        let comm = Session::default().add_comm(b"a");
        for first in (0..3000_u32).step_by(100) {
            let mut block = Block::default();
            for nr in first..first + 100 {
                let of_stack = nr * 7 % 97;
                let places: Vec<AddressId> =
                    (0..of_stack % 4).map(|level| AddressId(of_stack % 11 + level)).collect();
                // Chains are forgotten now and then, and some samples have none.
                let chain = ChainId { epoch: nr / 700, number: of_stack };
                block.push_stack(&places, Some(chain).filter(|_| nr % 13 > 0));
                let row = SampleRow {
                    event: 0,
                    comm,
                    thread: None,
                    cpu: Some(nr % 2),
                    time_ns: 0,
                    stack: StackId::EMPTY,
                    address: AddressId(of_stack % 11),
                    detail: DetailId::default(),
                    samples: 1,
                    period: u64::from(nr),
                };
                block.rows.push((row, block.ends.len() - 1));
            }
            gathering.take_in(&mut block);
        }
        let Gathered { stacks, rows } = gathering.finish();
        assert!(rows.iter().is_sorted_by_key(|row| row.cpu), "one after the other");
        let mut sums = Sums::new();
        for row in rows.iter() {
            let places = stacks.places(row.stack).map(|place| place.0);
            let key = (row.cpu.unwrap(), std::iter::once(row.address.0).chain(places).collect());
            let sum = sums.entry(key).or_default();
            *sum = (sum.0 + row.samples, sum.1 + row.period);
        }
        (sums, rows.len())
    }

    #[test]
    fn rows_add_up_to_the_same_however_many_share_one() {
        let (expected, least) = sums(false, Sharing::All, 0);
        for unsought in [0, 50, 700, 10_000] {
            let (got, rows) = sums(true, Sharing::Soon(unsought), unsought);
            assert_eq!(got, expected, "{unsought}");
            assert!(
                (least..=least.max(unsought * 2) + 200).contains(&rows),
                "{unsought}: {rows}, at least {least}"
            );
        }
    }

    #[test]
    fn stacks_are_the_same_with_and_without_the_ids_of_their_chains() {
        let stack =
            |nr: u32| -> Vec<AddressId> { (0..nr % 5).map(|level| AddressId(nr % 11 + level)).collect() };
        // Chains are forgotten now and then: the same numbers stand for others.
        let chain = |nr: u32| ChainId { epoch: nr / 700, number: (nr % 55 + nr / 700 * 20) % 55 };
        let (mut with, mut without) = (Stacks::default(), Stacks::default());
        let (mut of_chains, mut none) = (StacksOfChains::default(), StacksOfChains::default());
        let (mut ids, mut expected) = (Vec::new(), Vec::new());
        for first in (0..3000).step_by(100) {
            let (mut named, mut plain) = (Block::default(), Block::default());
            for nr in first..first + 100 {
                // Some have no name.
                named.push_stack(&stack(nr % 55), Some(chain(nr)).filter(|_| nr % 13 > 0));
                plain.push_stack(&stack(nr % 55), None);
            }
            of_chains.number_all(&mut with, &named, &mut ids);
            none.number_all(&mut without, &plain, &mut expected);
        }
        assert_eq!(ids, expected);
        assert_eq!(with.nodes(), without.nodes());
    }
}
