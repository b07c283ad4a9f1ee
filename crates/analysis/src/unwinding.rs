//! User stacks that were recorded as bytes (`--call-graph dwarf`) become frames: in parallel, a chunk of samples at a time.

use crate::subjects::{Dumps, path, subject, subject_with_file};
use perffile::wire::attr::{EventAttr, SampleType};
use perffile::wire::endian::ByteOrder;
use perffile::wire::registers::RegsAbi;
use perffile::{Features, Schema};
use rayon::prelude::*;
use readperf_session::{AddressSpace, Binary, BinaryKind, SampleMoment, Session};
use readperf_symbols::unwind::{BinaryId, Cache, End, Machine, Mapping, Registers, Stack, Unwinder};
use readperf_symbols::{JitDump, Options, Subject, thread_pool};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

/// Samples that are one piece of work.
const PIECE: usize = 16;

/// Stack of each thread.
const STACK_BYTES: usize = 2 << 20;

/// For so many processes that generate code it is asked whether they have a dump. All processes are gone through for each, and
/// where there are more (each `grep` that compiles its pattern is one) few have any.
const MOST_ASKED: usize = 1 << 12;

/// A recorded stack, and the mappings at its time.
#[derive(Debug)]
pub(crate) struct Recorded<'e> {
    /// The mappings of its process when it was taken.
    pub(crate) space: AddressSpace,
    registers: Registers,
    stack: Stack<'e>,
}

/// How many recorded stacks ended how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StackEnds {
    /// Stacks that were unwound to the function that started the thread.
    pub complete: u64,
    /// The others, by the reason in plain words.
    pub incomplete: BTreeMap<String, u64>,
    /// Why what processes dumped of the frames of their generated code could not be used.
    pub unused_dumps: BTreeSet<String>,
}

impl StackEnds {
    fn count(&mut self, end: End) {
        match end {
            End::Bottom => self.complete += 1,
            _ => *self.incomplete.entry(end.to_string()).or_default() += 1,
        }
    }

    /// Says how many stacks are not complete, and why, in one sentence; `None` if all are.
    pub fn told(&self) -> Option<String> {
        let incomplete: u64 = self.incomplete.values().sum();
        let reasons: Vec<String> =
            self.incomplete.iter().map(|(reason, count)| format!("{count} because {reason}")).collect();
        let all = self.complete.saturating_add(incomplete);
        let dumps = self.told_of_dumps().map(|told| format!("; {told}")).unwrap_or_default();
        (incomplete > 0).then(|| {
            format!("{incomplete} of {all} recorded stacks are incomplete: {}{dumps}", reasons.join(", "))
        })
    }

    /// Says why frames of generated code were not found though there is a dump that tells of them, as a phrase; `None` if all
    /// dumps were used.
    pub fn told_of_dumps(&self) -> Option<String> {
        let why: Vec<&str> = self.unused_dumps.iter().map(String::as_str).collect();
        (!why.is_empty()).then(|| format!("frames of generated code are not known: {}", why.join(", ")))
    }
}

/// What unwinds the stacks of a recording.
pub(crate) struct Unwinding {
    unwinder: Unwinder,
    /// `uname -m` of the recorded machine; empty where it is not told.
    machine: String,
    max_frames: usize,
    /// By the number of a binary in the session, that in the unwinder.
    binaries: Vec<Option<BinaryId>>,
    /// The dumps of processes that generate code, and for how many it was asked.
    dumps: Dumps,
    asked: usize,
    /// Whether any process has told of a dump.
    has_dumps: bool,
    /// Generated code of processes of which no dump is known yet: numbers in the session.
    without_dump: Vec<usize>,
    /// One for each thread that works at a time.
    caches: Mutex<Vec<Cache>>,
    pool: Option<rayon::ThreadPool>,
    ends: StackEnds,
}

impl std::fmt::Debug for Unwinding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Unwinding")
            .field("machine", &self.machine)
            .field("ends", &self.ends)
            .finish_non_exhaustive()
    }
}

impl Unwinding {
    /// Binaries are looked for as `options` say.
    pub(crate) fn new(options: &Options, features: &Features, max_frames: usize) -> Unwinding {
        Unwinding {
            unwinder: Unwinder::new(options),
            machine: features.arch().map(|name| name.into_owned()).unwrap_or_default(),
            max_frames,
            binaries: Vec::new(),
            dumps: Dumps::default(),
            asked: 0,
            has_dumps: false,
            without_dump: Vec::new(),
            caches: Mutex::default(),
            pool: thread_pool(options.thread_count(), STACK_BYTES),
            ends: StackEnds::default(),
        }
    }

    /// How the stacks ended so far.
    pub(crate) fn ends(&self, session: &Session) -> StackEnds {
        let binaries = session.binaries().iter().zip(&self.binaries);
        let generated = binaries.filter(|(binary, _)| matches!(binary.kind, BinaryKind::Jit { .. }));
        let reasons = generated.filter_map(|(_, number)| self.unwinder.reason((*number)?));
        StackEnds { unused_dumps: reasons.map(|reason| reason.to_string()).collect(), ..self.ends.clone() }
    }

    /// The stack that a sample has recorded; `None` if it has none.
    pub(crate) fn recorded<'e>(
        &self,
        session: &Session,
        schema: &Schema,
        sample: &SampleMoment<'e>,
        attr: &EventAttr,
    ) -> Option<Recorded<'e>> {
        if !attr.sample_type.has(SampleType::REGS_USER) || !attr.sample_type.has(SampleType::STACK_USER) {
            return None;
        }
        let (decoded, _) = sample.sample.decode().ok()?;
        let (user, stack) = (decoded.regs_user?, decoded.stack_user?);
        // Threads of the kernel have no user registers.
        let is_recorded = user.abi != RegsAbi::NONE && !stack.data.is_empty();
        let machine = is_recorded.then(|| self.machine(user.abi == RegsAbi::ABI_32))??;
        let values: Vec<u64> = user.values.iter().collect();
        let registers = Registers::recorded(machine, user.mask, &values)?;
        let valid = usize::try_from(stack.dyn_size).unwrap_or(usize::MAX).min(stack.data.len());
        let bytes = stack.data.get(..valid).unwrap_or_default();
        let space = session.process(sample.process)?.space().clone();
        let stack = Stack { bytes, big_endian: schema.order() == ByteOrder::Big };
        Some(Recorded { space, registers, stack })
    }

    /// The machine of a task. A pipe without features does not tell; then it is this one.
    fn machine(&self, is_32_bit: bool) -> Option<Machine> {
        let name = if self.machine.is_empty() { std::env::consts::ARCH } else { &self.machine };
        Machine::of_task(name, is_32_bit)
    }

    /// The frames of each stack, in the same order, the innermost first.
    pub(crate) fn unwind(&mut self, session: &Session, stacks: &[Recorded<'_>]) -> Vec<Vec<u64>> {
        self.learn_binaries(session);
        let all = || stacks.par_chunks(PIECE).flat_map_iter(|piece| self.piece(piece)).collect();
        let done: Vec<(Vec<u64>, End)> = match &self.pool {
            Some(pool) => pool.install(all),
            None => all(),
        };
        for (_, end) in &done {
            self.ends.count(*end);
        }
        done.into_iter().map(|(frames, _)| frames).collect()
    }

    /// Numbers the binaries that are new.
    fn learn_binaries(&mut self, session: &Session) {
        let known = self.binaries.len();
        let new = session.binaries().get(known..).unwrap_or_default();
        for (at, binary) in new.iter().enumerate() {
            let number = subject_with_file(binary).map(|subject| self.unwinder.binary(&subject));
            self.binaries.push(number);
            if matches!(binary.kind, BinaryKind::Jit { .. }) {
                self.without_dump.push(known.saturating_add(at));
            }
        }
        // A process may tell of its dump after it has mapped memory for code.
        if new.iter().any(is_dump) {
            self.has_dumps = true;
            self.dumps.retain(|_, dump| dump.is_some());
        }
        if self.has_dumps && self.without_dump.iter().any(|at| self.is_to_ask(session, *at)) {
            let waiting = std::mem::take(&mut self.without_dump);
            self.without_dump =
                waiting.into_iter().filter(|at| !self.learn_generated(session, *at)).collect();
        }
    }

    /// Whether it is not known yet if there is a dump of this binary, or it is known where.
    fn is_to_ask(&self, session: &Session, at: usize) -> bool {
        let pid = session.binaries().get(at).map(|binary| &binary.kind);
        let Some(BinaryKind::Jit { pid, .. }) = pid else { return false };
        self.dumps.get(pid).map_or(self.asked < MOST_ASKED, Option::is_some)
    }

    /// Numbers generated code; false if there is no dump that tells of it.
    fn learn_generated(&mut self, session: &Session, at: usize) -> bool {
        let Some(binary) = session.binaries().get(at).filter(|_| self.is_to_ask(session, at)) else {
            return false;
        };
        let known = self.dumps.len();
        let subject = subject(binary, session, &mut self.dumps);
        self.asked += self.dumps.len() - known;
        let Subject::Generated { dump: Some(_), .. } = subject else { return false };
        if let Some(number) = self.binaries.get_mut(at) {
            *number = Some(self.unwinder.binary(&subject));
        }
        true
    }

    fn piece(&self, stacks: &[Recorded<'_>]) -> Vec<(Vec<u64>, End)> {
        let idle = || self.caches.lock().unwrap_or_else(PoisonError::into_inner);
        let mut cache = idle().pop().unwrap_or_default();
        let unwound = stacks.iter().map(|recorded| {
            let mut frames = Vec::new();
            let lookup = |address: u64| self.mapping(&recorded.space, address);
            let Recorded { registers, stack, .. } = recorded;
            let end =
                self.unwinder.unwind(&mut cache, &lookup, registers, *stack, self.max_frames, &mut frames);
            (frames, end)
        });
        let unwound = unwound.collect();
        idle().push(cache);
        unwound
    }

    fn mapping(&self, space: &AddressSpace, address: u64) -> Option<Mapping> {
        let found = space.find(address).filter(|mapping| !mapping.data)?;
        let binary = self.binaries.get(found.binary.index()).copied().flatten();
        let offset = found.address_in_binary(found.start);
        Some(Mapping { start: found.start, end: found.end, offset, binary })
    }
}

/// Whether it is the file by which a process tells of the code that it generates.
fn is_dump(binary: &Binary) -> bool {
    binary.kind == BinaryKind::User && JitDump::pid_in_name(&path(&binary.name)).is_some()
}
