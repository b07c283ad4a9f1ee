//! The call frame information that a runtime dumped with the code it generated.

use std::ops::RangeInclusive;
use std::sync::{Arc, PoisonError, RwLock};

use gimli::{BaseAddresses, RunTimeEndian};
use rustc_hash::FxHashMap;

use super::cfi::{self, Context, Entry, Frames};
use super::machine::Machine;
use super::rule::Rule;
use super::sections::entry_before;
use crate::options::Options;
use crate::reason::Reason;
use crate::source::generated;
use crate::source::jitdump::{CallFrames, JitDump};
use crate::subject::Subject;

/// What a process dumped of all its code.
#[derive(Debug)]
pub(super) struct Dumped {
    dump: JitDump,
    /// The entries of each section that was needed, by its key. They are smaller than what they are made of, about.
    indexes: RwLock<FxHashMap<usize, Arc<[Entry]>>>,
}

impl Dumped {
    /// Reads the dump of a process.
    pub(super) fn load(options: &Options, subject: &Subject) -> Result<Dumped, Reason> {
        let Subject::Generated { pid, dump: Some(path), .. } = subject else {
            return Err(Reason::NotAFile { name: subject.to_string().into() });
        };
        let (_, dump) = generated::read_dump(options, *pid, path)?;
        Ok(Dumped { dump, indexes: RwLock::default() })
    }

    fn index(&self, key: usize, make: impl FnOnce() -> Vec<Entry>) -> Arc<[Entry]> {
        let known = self.indexes.read().unwrap_or_else(PoisonError::into_inner).get(&key).map(Arc::clone);
        known.unwrap_or_else(|| {
            let made: Arc<[Entry]> = make().into();
            let mut indexes = self.indexes.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(indexes.entry(key).or_insert(made))
        })
    }
}

/// The call frame information of one generation of the code of a process.
#[derive(Debug)]
pub(super) struct GeneratedTables {
    dumped: Arc<Dumped>,
    generation: u32,
    machine: Machine,
}

impl GeneratedTables {
    /// That of a generation, for tasks of this machine.
    pub(super) fn new(dumped: &Arc<Dumped>, generation: u32, machine: Machine) -> Result<Self, Reason> {
        if !machine.is_number(dumped.dump.machine()) {
            return Err(Reason::OtherMachine { path: format!("jit-{}.dump", dumped.dump.pid()).into() });
        }
        Ok(GeneratedTables { dumped: Arc::clone(dumped), generation, machine })
    }

    /// The machine that the tables are for.
    pub(super) fn machine(&self) -> Machine {
        self.machine
    }

    /// The rule for the code at an address of the process and for which addresses it holds; `None` when none was dumped.
    ///
    /// Without a generation it is not known which of several pieces of code at the address was there, and no rule is better
    /// than a wrong one.
    pub(super) fn rule(&self, address: u64, context: &mut Context) -> Option<(Rule, RangeInclusive<u64>)> {
        let dump = &self.dumped.dump;
        let number = dump.at_generation(self.generation, address)?;
        if self.generation == 0 && dump.shares_its_place(number) {
            return None;
        }
        let CallFrames { eh_frame, address: section_at, key, start, end, loaded_at } =
            dump.call_frames(number)?;
        let endian = if dump.is_big_endian() { RunTimeEndian::Big } else { RunTimeEndian::Little };
        let section = cfi::eh_frame(eh_frame, endian, self.machine);
        let bases = BaseAddresses::default().set_eh_frame(section_at).set_text(loaded_at);
        let frames = Frames { section: &section, bases: &bases, machine: self.machine };
        let told_at = loaded_at.checked_add(address.checked_sub(start)?)?;
        let index = self.dumped.index(key, || frames.index());
        let (rule, told) = frames.rule(entry_before(&index, told_at)?, told_at, context)?;
        // An entry may tell of more than this code.
        let first = address.saturating_sub(told_at.checked_sub(*told.start())?).max(start);
        let last = address.saturating_add(told.end().checked_sub(told_at)?).min(end.checked_sub(1)?);
        Some((rule, first..=last))
    }
}
