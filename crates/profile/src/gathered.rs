//! What samples add up to: their stacks and rows, each once.
//!
//! Samples come in blocks of about a thousand, because to look up the stacks and rows of many at once is faster, and because
//! a block can be handed to another thread.

use crate::addresses::AddressId;
use crate::interner::Interner;
use crate::profile::SampleRow;
use crate::stacks::{StackId, Stacks};

/// Samples whose stacks and rows are not looked up yet.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// The places of their stacks, each the innermost first.
    pub(crate) places: Vec<AddressId>,
    /// Where each of these ends.
    pub(crate) ends: Vec<usize>,
    /// Their rows, with the stack's index among these. As keys, rows have no sums yet.
    pub(crate) rows: Vec<(SampleRow, usize)>,
    /// The period of each row.
    pub(crate) periods: Vec<u64>,
}

/// Samples in a block: what is needed of the tables for so many fits into a cache close to the processor.
const ENOUGH: usize = 1024;

impl Block {
    /// Whether it is full. Samples may stand for nothing, or for several events.
    pub(crate) fn is_enough(&self) -> bool {
        self.ends.len() >= ENOUGH || self.rows.len() >= ENOUGH
    }

    fn clear(&mut self) {
        self.places.clear();
        self.ends.clear();
        self.rows.clear();
        self.periods.clear();
    }
}

/// The tables that samples are taken into.
#[derive(Debug)]
pub(crate) struct Gathering {
    stacks: Stacks,
    rows: Rows,
    /// Of the block at hand: its stacks, and its rows with these.
    ids: Vec<StackId>,
    keys: Vec<SampleRow>,
    numbers: Vec<u32>,
}

/// All stacks, and all rows with their sums.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    pub(crate) stacks: Stacks,
    pub(crate) rows: Vec<SampleRow>,
}

/// Rows of samples.
#[derive(Debug)]
enum Rows {
    /// One for all samples that agree, with samples and period of each.
    Summed { keys: Interner<SampleRow>, sums: Vec<(u64, u64)> },
    /// One a sample.
    Single(Vec<SampleRow>),
}

impl Gathering {
    /// An empty table. With `single`, each sample keeps a row of its own.
    pub(crate) fn new(stacks: Stacks, single: bool) -> Gathering {
        let rows = match single {
            true => Rows::Single(Vec::new()),
            false => Rows::Summed { keys: Interner::default(), sums: Vec::new() },
        };
        Gathering { stacks, rows, ids: Vec::new(), keys: Vec::new(), numbers: Vec::new() }
    }

    /// Looks up the stacks and rows of a block, and adds its periods. Leaves the block empty.
    pub(crate) fn take_in(&mut self, block: &mut Block) {
        let Gathering { stacks, rows, ids, keys: with_stacks, numbers } = self;
        ids.clear();
        with_stacks.clear();
        stacks.number_all(&block.places, &block.ends, ids);
        with_stacks.extend(block.rows.iter().map(|(key, stack)| {
            let stack = ids.get(*stack).copied().unwrap_or(StackId::EMPTY);
            SampleRow { stack, ..*key }
        }));
        match rows {
            Rows::Single(single) => {
                let rows = with_stacks.iter().zip(&block.periods);
                single.extend(rows.map(|(key, period)| SampleRow { samples: 1, period: *period, ..*key }));
            }
            Rows::Summed { keys, sums } => {
                numbers.clear();
                keys.number_all(with_stacks, numbers);
                sums.resize(keys.as_slice().len(), (0, 0));
                for (number, period) in numbers.iter().zip(&block.periods) {
                    if let Some((samples, sum)) = sums.get_mut(*number as usize) {
                        *samples += 1;
                        *sum = sum.wrapping_add(*period);
                    }
                }
            }
        }
        block.clear();
    }

    /// Sorts the rows: by event, then by time if each sample has one, else by all columns.
    pub(crate) fn finish(self) -> Gathered {
        let mut stacks = self.stacks;
        stacks.freeze();
        let rows = match self.rows {
            Rows::Single(mut rows) => {
                // Samples of one time stay in the order of the recording. Of one event they mostly come in order, and to
                // sort takes half as much memory again.
                let order = |row: &SampleRow| (row.event, row.time_ns);
                if !rows.is_sorted_by_key(order) {
                    rows.sort_by_key(order);
                }
                rows
            }
            Rows::Summed { mut keys, sums } => {
                keys.freeze();
                for (row, (samples, period)) in keys.as_mut_slice().iter_mut().zip(sums) {
                    (row.samples, row.period) = (samples, period);
                }
                let mut rows = keys.into_vec();
                rows.sort_unstable();
                rows
            }
        };
        Gathered { stacks, rows }
    }
}
