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
