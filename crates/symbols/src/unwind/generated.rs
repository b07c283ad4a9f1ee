//! The call frame information that a runtime dumped with the code it generated.

use std::ops::RangeInclusive;
use std::sync::{Arc, PoisonError, RwLock};

use gimli::{BaseAddresses, RunTimeEndian};
use rustc_hash::FxHashMap;

use super::cfi::{self, Context, Entry, Frames};
use super::rule::Rule;
use super::sections::entry_before;
use crate::machine::Machine;
use crate::options::Options;
use crate::reason::Reason;
use crate::source::generated;
use crate::source::jitdump::{CallFrames, JitDump};
use crate::subject::Subject;

/// What a process dumped of all its code.
#[derive(Debug)]
pub(super) struct Dumped {
    dump: JitDump,
    /// Each section that was needed, by its key. Together they are about as large as the file.
    sections: RwLock<FxHashMap<usize, Arc<Section>>>,
}

/// A section, as it can be read, and its entries by address.
#[derive(Debug)]
struct Section {
    bytes: Vec<u8>,
    index: Vec<Entry>,
}

impl Dumped {
    /// Reads the dump of a process.
    pub(super) fn load(options: &Options, subject: &Subject) -> Result<Dumped, Reason> {
        let Subject::Generated { pid, dump: Some(path), .. } = subject else {
            return Err(Reason::NotAFile { name: subject.to_string().into() });
        };
        let (_, dump) = generated::read_dump(options, *pid, path)?;
        Ok(Dumped { dump, sections: RwLock::default() })
    }

    fn section(&self, key: usize, make: impl FnOnce() -> Section) -> Arc<Section> {
        let known = self.sections.read().unwrap_or_else(PoisonError::into_inner).get(&key).map(Arc::clone);
        known.unwrap_or_else(|| {
            let made = Arc::new(make());
            let mut sections = self.sections.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(sections.entry(key).or_insert(made))
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
        if !dumped.dump.is_for(machine) {
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
        let bases = BaseAddresses::default().set_eh_frame(section_at).set_text(loaded_at);
        let known = self.dumped.section(key, || {
            let mut bytes = eh_frame.to_vec();
            forget_absent_pointers(&mut bytes, dump.is_big_endian());
            let section = cfi::eh_frame(&bytes, endian, self.machine);
            let index = Frames { section: &section, bases: &bases, machine: self.machine }.index();
            Section { bytes, index }
        });
        let section = cfi::eh_frame(&known.bytes, endian, self.machine);
        let frames = Frames { section: &section, bases: &bases, machine: self.machine };
        let told_at = loaded_at.checked_add(address.checked_sub(start)?)?;
        let (rule, told) = frames.rule(entry_before(&known.index, told_at)?, told_at, context)?;
        // An entry may tell of more than this code.
        let first = address.saturating_sub(told_at.checked_sub(*told.start())?).max(start);
        let last = address.saturating_add(told.end().checked_sub(told_at)?).min(end.checked_sub(1)?);
        Some((rule, first..=last))
    }
}

/// V8 says of its entries that they have a pointer to data about exceptions, and then that this pointer is left out
/// (`DW_EH_PE_omit`). The reader of the tables takes that for damage. The same bytes can say it in another way: that the encoding of
/// addresses is told twice, of which the second counts.
fn forget_absent_pointers(eh_frame: &mut [u8], big_endian: bool) {
    const AUGMENTATION: &[u8] = b"zLR\0";
    const OMITTED: u8 = 0xff;
    let mut rest = eh_frame;
    while let Some((head, behind)) = rest.split_first_chunk_mut::<4>() {
        let length = if big_endian { u32::from_be_bytes(*head) } else { u32::from_le_bytes(*head) };
        let Some((entry, next)) =
            usize::try_from(length).ok().and_then(|length| behind.split_at_mut_checked(length))
        else {
            break;
        };
        rest = next;
        // Linux Standard Base, 10.6.1: four bytes of zero, the version (V8 writes 3), the augmentation; two factors, the return address and
        // the size of what belongs to the augmentation, each of which ends with a byte below 128.
        if matches!(entry.get(..5), Some([0, 0, 0, 0, 1 | 3])) && entry.get(5..9) == Some(AUGMENTATION) {
            let mut numbers =
                entry.iter().enumerate().skip(9).filter(|(_, byte)| **byte & 0x80 == 0).map(|(at, _)| at);
            let data = numbers.nth(3).and_then(|at| at.checked_add(1));
            if data.and_then(|at| entry.get(at)) == Some(&OMITTED)
                && let Some(pointer) = entry.get_mut(6)
            {
                *pointer = b'R';
            }
        }
    }
}
