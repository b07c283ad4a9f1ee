//! All batches, in parallel: over binaries, and over the addresses of each.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::batch::SymbolBatch;
use crate::files::Files;
use crate::options::Options;
use crate::reason::Reason;
use crate::source::{self, Names, Shared, kallsyms};
use crate::subject::{AddressBatch, Subject};

/// Stack of each thread. Reading nested names and nested inlined functions recurses; only what is used is paid for.
const STACK_BYTES: usize = 64 << 20;

/// Names addresses, again and again: a binary is found, opened and read once, later questions about it cost the
/// look-ups alone. The answer to an address does not depend on what was asked before it or together with it.
///
/// A binary that was not found the first time is not looked for again.
#[derive(Debug)]
pub struct Resolver<'f> {
    shared: Shared<'f>,
    /// `None` when the system gives no threads: then the caller's own does the work.
    pool: Option<rayon::ThreadPool>,
    known: FxHashMap<Subject, Opened<'f>>,
}

/// What was found out about a subject when it was first asked about.
type Opened<'f> = Result<Box<dyn Names + 'f>, Reason>;

impl<'f> Resolver<'f> {
    /// A resolver that knows no binary yet. It keeps what it opens in `files`.
    pub fn new(files: &'f Files, options: Options) -> Resolver<'f> {
        // More threads than processors gain nothing, and each costs its stack.
        let most = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get) * 4;
        let threads = options.threads.map_or(0, |threads| threads.get().min(most));
        let pool =
            |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK_BYTES).build();
        Resolver {
            shared: Shared { options, files, kernel_lists: kallsyms::Lists::default() },
            // If the system gives fewer threads than wanted, one does the same work.
            pool: pool(threads).or_else(|_| pool(1)).ok(),
            known: FxHashMap::default(),
        }
    }

    /// How names are looked for.
    pub fn options(&self) -> &Options {
        &self.shared.options
    }

    /// Names the addresses of all batches. The answers are in the order of the batches and do not depend on the
    /// number of threads. What cannot be named has a [`Reason`]; there is no error.
    pub fn resolve(&mut self, batches: Vec<AddressBatch>) -> Vec<SymbolBatch> {
        let Resolver { shared, pool, known } = self;
        let work = || resolve_all(shared, known, batches);
        match pool {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }
}

/// Names the addresses of all batches, and forgets what it read: see [`Resolver`] for more than one question.
pub fn resolve(options: &Options, batches: Vec<AddressBatch>) -> Vec<SymbolBatch> {
    let files = Files::new();
    Resolver::new(&files, options.clone()).resolve(batches)
}

fn resolve_all<'f>(
    shared: &Shared<'f>,
    known: &mut FxHashMap<Subject, Opened<'f>>,
    batches: Vec<AddressBatch>,
) -> Vec<SymbolBatch> {
    let mut new: Vec<&Subject> = Vec::new();
    let mut seen = rustc_hash::FxHashSet::default();
    for batch in &batches {
        if !known.contains_key(&batch.subject) && seen.insert(&batch.subject) {
            new.push(&batch.subject);
        }
    }
    let opened: Vec<(Subject, Opened<'f>)> =
        new.into_par_iter().map(|subject| (subject.clone(), open(shared, subject))).collect();
    known.extend(opened);
    let known = &*known;
    batches.into_par_iter().map(|batch| resolve_one(shared, known, batch)).collect()
}

/// The readers of ELF and DWARF are not ours alone. A defect there costs the names of one binary, not the run.
fn open<'f>(shared: &Shared<'f>, subject: &Subject) -> Opened<'f> {
    catch_unwind(AssertUnwindSafe(|| source::open(shared, subject))).unwrap_or(Err(Reason::Defect))
}

fn resolve_one(
    shared: &Shared<'_>,
    known: &FxHashMap<Subject, Opened<'_>>,
    batch: AddressBatch,
) -> SymbolBatch {
    let names = match known.get(&batch.subject) {
        Some(Ok(names)) => names,
        Some(Err(reason)) => return SymbolBatch::unnamed(batch, reason.clone()),
        None => return SymbolBatch::unnamed(batch, Reason::Defect),
    };
    match catch_unwind(AssertUnwindSafe(|| names.name(&shared.options, &batch))) {
        Ok(answer) => answer,
        Err(_) => SymbolBatch::unnamed(batch, Reason::Defect),
    }
}
