//! Samples on their way into tables.
//!
//! They come in blocks of about a thousand, because to look up the stacks and rows of many at once is faster, and because a block can
//! be handed to another thread.

use crate::addresses::AddressId;
use crate::known_chains::ChainId;
use crate::rows::NumberedRow;
use crate::stacks::StackId;

/// Samples whose stacks and rows are not looked up yet.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// Whether stacks are numbered anew from here on: the numbers of the blocks before stand for others.
    pub(crate) begins_anew: bool,
    /// The places of the stacks that get a number here, each the innermost first.
    pub(crate) places: Vec<AddressId>,
    /// Where each of these ends.
    pub(crate) ends: Vec<usize>,
    /// A row for each sample and event. In place of its stack it has the number that this has on the way.
    pub(crate) rows: Vec<NumberedRow>,
    /// The times of the rows, if they are kept.
    pub(crate) times_ns: Vec<u64>,
}

/// Samples in a block: what is needed of the tables for so many fits into a cache close to the processor.
const ENOUGH: usize = 1024;

impl Block {
    /// Whether it is full. Samples may stand for nothing, or for several events.
    pub(crate) fn is_enough(&self) -> bool {
        self.ends.len() >= ENOUGH || self.rows.len() >= ENOUGH
    }

    /// Makes it empty.
    pub(crate) fn clear(&mut self) {
        self.begins_anew = false;
        self.places.clear();
        self.ends.clear();
        self.rows.clear();
        self.times_ns.clear();
    }
}

/// Stacks that are numbered on the way before they are numbered anew. There are fewer chains with names at any time.
const MOST: u32 = 1 << 16;

/// Numbers of stacks on the way: each goes into the tables once for all samples with the same chain, as long as that has its name.
#[derive(Debug, Default)]
pub(crate) struct StackNumbers {
    epoch: u32,
    /// By the number of the chain; [`StackId::EMPTY`] where none is known.
    of_chains: Vec<StackId>,
    next: u32,
}

impl StackNumbers {
    /// Whether stacks have to be numbered anew before this chain gets a number: that is to begin with a new block.
    #[inline]
    pub(crate) fn are_over(&self, chain: Option<ChainId>) -> bool {
        self.next >= MOST || chain.is_some_and(|chain| chain.epoch != self.epoch)
    }

    /// Begins anew, in an empty block.
    pub(crate) fn begin(&mut self, block: &mut Block, chain: Option<ChainId>) {
        self.epoch = chain.map_or(self.epoch, |chain| chain.epoch);
        self.of_chains.clear();
        self.next = 0;
        block.begins_anew = true;
    }

    /// The number of a stack, which goes into the block if it has none yet.
    #[inline]
    pub(crate) fn number(
        &mut self,
        block: &mut Block,
        stack: &[AddressId],
        chain: Option<ChainId>,
    ) -> StackId {
        let of_chain = chain.map(|chain| chain.number as usize);
        let known = of_chain.and_then(|chain| self.of_chains.get(chain));
        if let Some(known) = known.filter(|known| **known != StackId::EMPTY) {
            return *known;
        }
        block.places.extend_from_slice(stack);
        block.ends.push(block.places.len());
        let number = StackId(self.next);
        self.next += 1;
        if let Some(chain) = of_chain {
            match self.of_chains.get_mut(chain) {
                Some(known) => *known = number,
                None => {
                    // Mostly it is the next one.
                    self.of_chains.resize(chain, StackId::EMPTY);
                    self.of_chains.push(number);
                }
            }
        }
        number
    }
}
