//! The tables of all binaries, shared by threads.

use std::ops::RangeInclusive;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use rustc_hash::FxHashMap;

use super::cache::Cache;
use super::cfi::Context;
use super::generated::{Dumped, GeneratedTables};
use super::rule::Rule;
use super::sections::Tables as FileTables;
use super::space::BinaryId;
use crate::machine::Machine;
use crate::options::Options;
use crate::reason::Reason;
use crate::subject::Subject;

/// Unwinds stacks. Holds the call frame information of binaries, which is read when it is first needed, once for all
/// threads.
#[derive(Debug)]
pub struct Unwinder {
    options: Options,
    binaries: RwLock<Binaries>,
    /// What processes dumped of the code they generated: one for all generations of it.
    dumps: RwLock<FxHashMap<Subject, Arc<Once<Arc<Dumped>>>>>,
}

#[derive(Debug, Default)]
struct Binaries {
    all: Vec<Arc<Slot>>,
    numbers: FxHashMap<Subject, BinaryId>,
}

#[derive(Debug)]
struct Slot {
    subject: Subject,
    tables: Once<Tables>,
}

/// What is read when it is first needed, or why it cannot be.
type Once<T> = OnceLock<Result<T, Reason>>;

/// The call frame information of a binary.
#[derive(Clone, Debug)]
pub(super) enum Tables {
    /// Of a file, or an image as that of one.
    OfFile(Arc<FileTables>),
    /// Of code that a process generated.
    OfGenerated(Arc<GeneratedTables>),
}

impl Tables {
    fn machine(&self) -> Machine {
        match self {
            Tables::OfFile(tables) => tables.machine(),
            Tables::OfGenerated(tables) => tables.machine(),
        }
    }

    /// The address by which the tables tell of an offset.
    fn address(&self, offset: u64) -> Option<u64> {
        match self {
            Tables::OfFile(tables) => tables.address(offset),
            // Generated code is where its process has it.
            Tables::OfGenerated(_) => Some(offset),
        }
    }

    fn rule(
        &self,
        options: &Options,
        address: u64,
        context: &mut Context,
    ) -> Option<(Rule, RangeInclusive<u64>)> {
        match self {
            Tables::OfFile(tables) => tables.rule(options, address, context),
            Tables::OfGenerated(tables) => tables.rule(address, context),
        }
    }
}

impl Unwinder {
    /// An unwinder that looks for binaries as `options` say.
    pub fn new(options: &Options) -> Unwinder {
        Unwinder { options: options.clone(), binaries: RwLock::default(), dumps: RwLock::default() }
    }

    /// The number of a binary; the same for an equal subject. Its file is not opened yet.
    pub fn binary(&self, subject: &Subject) -> BinaryId {
        let mut binaries = self.binaries.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = binaries.numbers.get(subject) {
            return *number;
        }
        self.options.file_loader.want(subject.build_id());
        let number = BinaryId(u32::try_from(binaries.all.len()).unwrap_or(u32::MAX));
        binaries.all.push(Arc::new(Slot { subject: subject.clone(), tables: OnceLock::new() }));
        binaries.numbers.insert(subject.clone(), number);
        number
    }

    /// Why the call frame information of a binary could not be used; `None` if it could, or was not asked for yet.
    pub fn reason(&self, binary: BinaryId) -> Option<Reason> {
        self.slot(binary)?.tables.get()?.as_ref().err().cloned()
    }

    /// Whether it is code that a process generated.
    pub(super) fn is_generated(&self, binary: BinaryId) -> bool {
        self.slot(binary).is_some_and(|slot| matches!(slot.subject, Subject::Generated { .. }))
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

    fn load(&self, subject: &Subject, machine: Machine) -> Result<Tables, Reason> {
        let Subject::Generated { generation, .. } = subject else {
            return FileTables::load(&self.options, subject, machine).map(Arc::new).map(Tables::OfFile);
        };
        let dump = {
            let mut dumps = self.dumps.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(dumps.entry(subject.opened_as().into_owned()).or_default())
        };
        let dumped = dump.get_or_init(|| Dumped::load(&self.options, subject).map(Arc::new));
        GeneratedTables::new(dumped.as_ref().map_err(Reason::clone)?, *generation, machine)
            .map(Arc::new)
            .map(Tables::OfGenerated)
    }

    fn tables(&self, cache: &mut Cache, machine: Machine, binary: BinaryId) -> Option<Tables> {
        let index = usize::try_from(binary.0).ok()?;
        if let Some(Some(known)) = cache.tables.get(index) {
            return known.clone();
        }
        let slot = self.slot(binary)?;
        let load = || {
            let load = || self.load(&slot.subject, machine);
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
