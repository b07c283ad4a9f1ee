//! What samples add up to: their stacks and rows, each once.
//!
//! Samples come in blocks of about a thousand, because to look up the stacks and rows of many at once is faster, and because
//! a block can be handed to another thread.

use crate::addresses::AddressId;
use crate::profile::SampleRow;
use crate::stacks::{StackId, Stacks};
use crate::summed_rows::SummedRows;

/// Samples whose stacks and rows are not looked up yet.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// The places of their stacks, each the innermost first.
    pub(crate) places: Vec<AddressId>,
    /// Where each of these ends.
    pub(crate) ends: Vec<usize>,
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

    fn clear(&mut self) {
        self.places.clear();
        self.ends.clear();
        self.rows.clear();
    }
}

/// The tables that samples are taken into.
#[derive(Debug)]
pub(crate) struct Gathering {
    stacks: Stacks,
    rows: Rows,
    /// Of the block at hand: its stacks, and its rows with these.
    ids: Vec<StackId>,
    samples: Vec<SampleRow>,
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
    /// One for all samples that agree.
    Summed(SummedRows),
    /// One a sample.
    Single(Vec<SampleRow>),
}

impl Gathering {
    /// An empty table. With `single`, each sample keeps a row of its own.
    pub(crate) fn new(stacks: Stacks, single: bool) -> Gathering {
        let rows = match single {
            true => Rows::Single(Vec::new()),
            false => Rows::Summed(SummedRows::default()),
        };
        Gathering { stacks, rows, ids: Vec::new(), samples: Vec::new() }
    }

    /// Looks up the stacks and rows of a block, and adds its periods. Leaves the block empty.
    pub(crate) fn take_in(&mut self, block: &mut Block) {
        let Gathering { stacks, rows, ids, samples } = self;
        ids.clear();
        samples.clear();
        stacks.number_all(&block.places, &block.ends, ids);
        samples.extend(block.rows.iter().map(|(row, stack)| {
            let stack = ids.get(*stack).copied().unwrap_or(StackId::EMPTY);
            SampleRow { stack, ..*row }
        }));
        match rows {
            Rows::Single(single) => single.extend_from_slice(samples),
            Rows::Summed(summed) => summed.add_all(samples),
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
            Rows::Summed(summed) => summed.into_sorted(),
        };
        Gathered { stacks, rows }
    }
}
