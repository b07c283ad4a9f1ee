//! MEM_TOPOLOGY (22): which blocks of physical memory belong to which node.

use crate::wire::pass::{Fields, Pass, Step};
use crate::wire::words::U64s;

/// The memory of the machine, in blocks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemTopology<'a> {
    /// Form of the section; 1 so far.
    pub version: u64,
    /// Bytes of a block.
    pub block_size: u64,
    /// The nodes.
    pub nodes: Vec<MemNode<'a>>,
    /// What another form holds.
    pub other: &'a [u8],
}

/// The only form so far.
const VERSION: u64 = 1;

/// A node and its blocks of memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemNode<'a> {
    /// Its number.
    pub node: u64,
    /// How many blocks the bitmap covers.
    pub size: u64,
    /// The same again, at the start of the bitmap.
    pub bits: u64,
    /// A bit a block, block 0 lowest in the first word. The words are the recorder's longs, two to a u64 on 32-bit machines:
    /// a big-endian one of those has the halves of each word exchanged.
    pub bitmap: U64s<'a>,
}

impl MemNode<'_> {
    /// How many blocks of memory the node has.
    pub fn blocks(&self) -> u64 {
        self.bitmap.iter().map(|word| u64::from(word.count_ones())).sum()
    }
}

impl<'a> Fields<'a> for MemTopology<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        pass.u64("version", &mut self.version)?;
        if self.version != VERSION {
            return pass.rest("other", &mut self.other);
        }
        pass.u64("block_size", &mut self.block_size)?;
        let nr = pass.count_u64("nr", self.nodes.len())?;
        pass.vec("nodes", nr, &mut self.nodes)
    }
}

impl<'a> Fields<'a> for MemNode<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        pass.u64("node", &mut self.node)?;
        pass.u64("size", &mut self.size)?;
        pass.u64("bitmap_bits", &mut self.bits)?;
        pass.addrs("bitmap", self.bits.div_ceil(64), &mut self.bitmap)
    }
}
