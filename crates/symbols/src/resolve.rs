//! All batches, in parallel: over binaries, and over the addresses of each.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rayon::prelude::*;

use crate::batch::SymbolBatch;
use crate::options::Options;
use crate::reason::Reason;
use crate::source::{self, Shared, kallsyms};
use crate::subject::AddressBatch;

/// Stack of each thread. Reading nested names and nested inlined functions recurses; only what is used is paid for.
const STACK_BYTES: usize = 64 << 20;

/// Names the addresses of all batches. The answers are in the order of the batches and do not depend on the number of
/// threads. What cannot be named has a [`Reason`]; there is no error.
pub fn resolve(options: &Options, batches: Vec<AddressBatch>) -> Vec<SymbolBatch> {
    let shared = Shared { options, kernel_lists: kallsyms::Lists::default() };
    let all = || batches.par_iter().map(|batch| resolve_one(&shared, batch)).collect();
    // More threads than processors gain nothing, and each costs its stack.
    let most = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get) * 4;
    let threads = options.threads.map_or(0, |threads| threads.get().min(most));
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK_BYTES).build();
    // If the system gives fewer threads than wanted, one does the same work.
    match pool(threads).or_else(|_| pool(1)) {
        Ok(pool) => pool.install(all),
        Err(_) => all(),
    }
}

fn resolve_one(shared: &Shared<'_>, batch: &AddressBatch) -> SymbolBatch {
    // The readers of ELF and DWARF are not ours alone. A defect there costs the names of one binary, not the run.
    let answer = catch_unwind(AssertUnwindSafe(|| source::answer(shared, batch)));
    match answer {
        Ok(Ok(answer)) => answer,
        Ok(Err(reason)) => SymbolBatch::unnamed(batch.clone(), reason),
        Err(_) => SymbolBatch::unnamed(batch.clone(), Reason::Defect),
    }
}
