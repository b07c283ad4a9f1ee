//! Blocks of code between recorded branches: how often they ran, and how long they took.

use super::Listing;
use crate::addresses::AddressId;
use crate::detail::Branch;
use crate::profile::Profile;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// What is known of runs of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockRuns {
    /// How often it ran.
    pub runs: u64,
    /// Of how many runs it is known how long they took, and how many cycles these took together.
    pub timed: u64,
    /// See there.
    pub cycles: u64,
}

/// What is known of a branch that was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BranchRuns {
    /// How often it was taken.
    pub taken: u64,
    /// Of how many of these it is known whether they were predicted, and how many were not.
    pub told: u64,
    /// See there.
    pub mispredicted: u64,
}

impl BlockRuns {
    fn add(&mut self, other: BlockRuns) {
        self.runs += other.runs;
        self.timed += other.timed;
        self.cycles = self.cycles.saturating_add(other.cycles);
    }
}

impl BranchRuns {
    fn add(&mut self, other: BranchRuns) {
        self.taken += other.taken;
        self.told += other.told;
        self.mispredicted += other.mispredicted;
    }

    /// The share of those that were not predicted, in percent.
    pub fn mispredicted_percent(&self) -> Option<f64> {
        (self.told > 0).then(|| super::percent(self.mispredicted, self.told))
    }
}

/// The branches of samples, added up.
#[derive(Clone, Debug, Default)]
pub struct BranchLog {
    /// By where a block begins and where it ends: the target of a branch, and the next branch.
    blocks: FxHashMap<(AddressId, AddressId), BlockRuns>,
    branches: FxHashMap<AddressId, BranchRuns>,
}

/// A block of a part: instructions that ran one after the other, from the target of a branch to the next branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Index of its first instruction.
    pub first: u32,
    /// Index of its last one, which branched.
    pub last: u32,
    /// How often it ran, and how long it took.
    pub runs: BlockRuns,
    /// How the branch at its end was predicted, wherever it came from.
    pub branch: BranchRuns,
}

impl Block {
    /// How many instructions it has.
    pub fn instructions(&self) -> u64 {
        u64::from(self.last - self.first) + 1
    }

    /// Cycles of a run, on average.
    pub fn cycles_of_run(&self) -> Option<f64> {
        // Counts are far below 2^53.
        #[allow(clippy::cast_precision_loss)]
        let average = self.runs.cycles as f64 / self.runs.timed as f64;
        (self.runs.timed > 0).then_some(average)
    }

    /// Instructions per cycle.
    pub fn instructions_per_cycle(&self) -> Option<f64> {
        #[allow(clippy::cast_precision_loss)]
        let instructions = self.instructions() as f64;
        self.cycles_of_run().filter(|cycles| *cycles > 0.0).map(|cycles| instructions / cycles)
    }
}

impl BranchLog {
    /// Adds the branches of a sample, the newest first.
    pub fn add(&mut self, branches: &[Branch]) {
        for branch in branches {
            let runs = self.branches.entry(branch.from).or_default();
            runs.taken += 1;
            runs.told += u64::from(branch.flags.predicted() || branch.flags.mispredicted());
            runs.mispredicted += u64::from(branch.flags.mispredicted());
        }
        for (newer, older) in branches.iter().zip(branches.iter().skip(1)) {
            let runs = self.blocks.entry((older.to, newer.from)).or_default();
            runs.runs += 1;
            let cycles = newer.flags.cycles();
            runs.timed += u64::from(cycles > 0);
            runs.cycles = runs.cycles.saturating_add(cycles);
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.branches.is_empty()
    }
}

impl Listing {
    /// Puts the blocks of its code in it, those that took most first: by cycles where these are known, else by how often they ran.
    pub fn add_blocks(&mut self, profile: &Profile, log: &BranchLog) {
        let addresses = profile.addresses();
        for part in &mut self.parts {
            let index = |place: AddressId| {
                let code = addresses.get(place).filter(|code| code.binary == part.binary)?;
                let row =
                    part.instructions.binary_search_by_key(&code.address, |row| row.code.address).ok()?;
                u32::try_from(row).ok()
            };
            // Places may differ in where their binary was mapped.
            let mut branches: FxHashMap<u32, BranchRuns> = FxHashMap::default();
            for (place, runs) in &log.branches {
                if let Some(index) = index(*place) {
                    branches.entry(index).or_default().add(*runs);
                }
            }
            let mut blocks: FxHashMap<(u32, u32), BlockRuns> = FxHashMap::default();
            for ((from, to), runs) in &log.blocks {
                // What leads backwards is not one run of instructions: something between was not recorded.
                if let (Some(first), Some(last)) = (index(*from), index(*to))
                    && first <= last
                {
                    blocks.entry((first, last)).or_default().add(*runs);
                }
            }
            let block = |((first, last), runs)| {
                let branch = branches.get(&last).copied().unwrap_or_default();
                Block { first, last, runs, branch }
            };
            part.blocks = blocks.into_iter().map(block).collect();
            part.blocks.sort_unstable_by_key(|block| {
                (Reverse(block.runs.cycles), Reverse(block.runs.runs), block.first, block.last)
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Arrows, Instruction, InstructionRow, Part};
    use super::*;
    use crate::addresses::Addresses;
    use perffile::wire::branch::BranchFlags;
    use perffile::wire::head::CpuMode;
    use readperf_code::{Flow, Text};
    use readperf_session::CodeAddress;

    #[test]
    fn a_block_goes_from_where_a_branch_led_to_the_next_one() {
        let mut addresses = Addresses::default();
        let mut at = |address| {
            addresses.number(CodeAddress { binary: None, address, ip: address, mode: CpuMode::User })
        };
        // A loop over the instructions 2 to 6, entered from elsewhere; cycles are in bits 4 to 19.
        let flags =
            |mispredicted: bool, cycles: u64| BranchFlags((if mispredicted { 1 } else { 2 }) | cycles << 4);
        let (start, end, outside) = (at(2), at(6), at(100));
        let branch = |from, to, flags| Branch { from, to, flags };
        let mut log = BranchLog::default();
        log.add(&[
            branch(end, outside, flags(true, 8)),
            branch(end, start, flags(false, 4)),
            branch(end, start, flags(false, 0)),
            branch(outside, start, flags(false, 9)),
        ]);
        let row = |address| InstructionRow {
            code: Instruction {
                address,
                bytes: [0].into(),
                text: Text::default(),
                flow: Flow::Next,
                target_name: None,
                data: None,
            },
            jumps_to: None,
            levels: [].into(),
            numbers: Vec::new(),
        };
        let function = crate::names::FunctionId::new(0);
        let part = Part {
            binary: None,
            symbol: function,
            bias: 0,
            instructions: (0..10).map(row).collect(),
            strays: Vec::new(),
            arrows: Arrows::default(),
            blocks: Vec::new(),
            no_code: None,
            numbers: Vec::new(),
        };
        let (numbers, lines, files) = (Vec::new(), Vec::new(), Vec::new());
        let mut listing = Listing { function, inlined: false, numbers, parts: vec![part], lines, files };
        listing.add_blocks(&Profile { addresses: addresses.into(), ..Profile::default() }, &log);
        let runs = BlockRuns { runs: 3, timed: 2, cycles: 12 };
        let branch = BranchRuns { taken: 3, told: 3, mispredicted: 1 };
        let expected = Block { first: 2, last: 6, runs, branch };
        assert_eq!(listing.parts.iter().flat_map(|part| &part.blocks).collect::<Vec<_>>(), [&expected]);
        assert_eq!((expected.instructions(), expected.cycles_of_run()), (5, Some(6.0)));
        assert!(expected.instructions_per_cycle().is_some_and(|ipc| (ipc - 5.0 / 6.0).abs() < 1e-9));
    }
}
