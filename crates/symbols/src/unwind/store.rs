//! The tables of all binaries, shared by threads.

use std::ops::RangeInclusive;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use rustc_hash::FxHashMap;

use super::cache::Cache;
use super::machine::Machine;
use super::rule::Rule;
use super::sections::Tables;
use super::space::BinaryId;
use crate::options::Options;
use crate::reason::Reason;
use crate::subject::Subject;

/// Unwinds stacks. Holds the call frame information of binaries, which is read when it is first needed, once for all
/// threads.
#[derive(Debug)]
pub struct Unwinder {
    options: Options,
    binaries: RwLock<Binaries>,
}

#[derive(Debug, Default)]
struct Binaries {
    all: Vec<Arc<Slot>>,
    numbers: FxHashMap<Subject, BinaryId>,
}

#[derive(Debug)]
struct Slot {
    subject: Subject,
    tables: OnceLock<Result<Arc<Tables>, Reason>>,
}

impl Unwinder {
    /// An unwinder that looks for binaries as `options` say.
    pub fn new(options: &Options) -> Unwinder {
        Unwinder { options: options.clone(), binaries: RwLock::default() }
    }

    /// The number of a binary; the same for an equal subject. Its file is not opened yet.
    pub fn binary(&self, subject: &Subject) -> BinaryId {
        let mut binaries = self.binaries.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = binaries.numbers.get(subject) {
            return *number;
        }
        let number = BinaryId(u32::try_from(binaries.all.len()).unwrap_or(u32::MAX));
        binaries.all.push(Arc::new(Slot { subject: subject.clone(), tables: OnceLock::new() }));
        binaries.numbers.insert(subject.clone(), number);
        number
    }

    /// Why the call frame information of a binary could not be used; `None` if it could, or was not asked for yet.
    pub fn reason(&self, binary: BinaryId) -> Option<Reason> {
        self.slot(binary)?.tables.get()?.as_ref().err().cloned()
    }

    fn slot(&self, binary: BinaryId) -> Option<Arc<Slot>> {
        let binaries = self.binaries.read().unwrap_or_else(PoisonError::into_inner);
        binaries.all.get(usize::try_from(binary.0).ok()?).cloned()
    }

    /// The number in `cache` of the rule at an offset of a binary's file; `None` when its tables say nothing about it.
    #[inline]
    pub(super) fn rule(
        &self,
        cache: &mut Cache,
        machine: Machine,
        binary: BinaryId,
        offset: u64,
    ) -> Option<u32> {
        cache.rule(binary, offset, |cache| self.make_rule(cache, machine, binary, offset))
    }

    fn make_rule(
        &self,
        cache: &mut Cache,
        machine: Machine,
        binary: BinaryId,
        offset: u64,
    ) -> Option<(Rule, RangeInclusive<u64>)> {
        // Without a build-id the images that 32-bit and 64-bit tasks get from the kernel may look like one binary.
        let tables = self.tables(cache, machine, binary).filter(|tables| tables.machine() == machine)?;
        let address = tables.address(offset)?;
        let context = &mut *cache.context;
        // The reader of the tables is not ours alone. A defect there costs one rule, not the run.
        let made = catch_unwind(AssertUnwindSafe(|| tables.rule(&self.options, address, context)));
        let (rule, addresses) = made.ok()??;
        let first = offset.saturating_sub(address.checked_sub(*addresses.start())?);
        let last = offset.saturating_add(addresses.end().checked_sub(address)?);
        Some((rule, first..=last))
    }

    fn tables(&self, cache: &mut Cache, machine: Machine, binary: BinaryId) -> Option<Arc<Tables>> {
        let index = usize::try_from(binary.0).ok()?;
        if let Some(Some(known)) = cache.tables.get(index) {
            return known.clone();
        }
        let slot = self.slot(binary)?;
        let load = || {
            let load = || Tables::load(&self.options, &slot.subject, machine).map(Arc::new);
            catch_unwind(AssertUnwindSafe(load)).unwrap_or(Err(Reason::Defect))
        };
        let tables = slot.tables.get_or_init(load).as_ref().ok().cloned();
        if cache.tables.len() <= index {
            cache.tables.resize(index.saturating_add(1), None);
        }
        if let Some(place) = cache.tables.get_mut(index) {
            *place = Some(tables.clone());
        }
        tables
    }
}
