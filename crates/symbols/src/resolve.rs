//! All batches, in parallel: over binaries, and over the addresses of each.

use std::borrow::Cow;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::batch::SymbolBatch;
use crate::cache::{Cache, assemble};
use crate::code::{CodeSource, FunctionCode, NoCode, OpenedCode};
use crate::files::Files;
use crate::ids::FxIndexMap;
use crate::options::Options;
use crate::reason::Reason;
use crate::source::{self, Names, Shared};
use crate::subject::{AddressBatch, Subject};
use crate::threads::thread_pool;

/// Stack of each thread. Reading nested names and nested inlined functions recurses; only what is used is paid for.
const STACK_BYTES: usize = 64 << 20;

/// Names addresses, again and again: a binary is found, opened and read once, later questions about it cost the
/// look-ups alone. The answer to an address does not depend on what was asked before it or together with it.
///
/// A binary that was not found the first time is not looked for again.
#[derive(Debug)]
pub struct Resolver<'f> {
    shared: Shared<'f>,
    /// `None` when the system gives no threads, and the caller's is in a pool, which then does the work.
    pool: Option<rayon::ThreadPool>,
    known: FxHashMap<Subject, Opened<'f>>,
    /// The code of those that were asked for it.
    code: FxHashMap<Subject, OpenedCode<'f>>,
    cache: Option<Cache>,
}

/// What was found out about a subject when it was first asked about.
type Opened<'f> = Result<Box<dyn Names + 'f>, Reason>;

impl<'f> Resolver<'f> {
    /// A resolver that knows no binary yet. It keeps what it opens in `files`.
    pub fn new(files: &'f Files, options: Options) -> Resolver<'f> {
        let threads = options.thread_count();
        Resolver {
            cache: Cache::new(&options),
            shared: Shared { options, files, kernel_lists: Arc::default() },
            pool: thread_pool(threads, STACK_BYTES),
            known: FxHashMap::default(),
            code: FxHashMap::default(),
        }
    }

    /// How names are looked for.
    pub fn options(&self) -> &Options {
        &self.shared.options
    }

    /// Work that another thread may do before the first question about this subject: it reads what takes long and depends on
    /// nothing else, which is the list of kernel symbols. A question that comes too early waits for it.
    pub fn ahead(&self, subject: Subject) -> impl FnOnce() + Send + 'static {
        let (options, kernel_lists) = (self.shared.options.clone(), Arc::clone(&self.shared.kernel_lists));
        move || {
            let files = Files::new();
            source::read_list(&Shared { options, files: &files, kernel_lists }, &subject);
        }
    }

    /// Names the addresses of all batches. The answers are in the order of the batches and do not depend on the
    /// number of threads. What cannot be named has a [`Reason`]; there is no error.
    pub fn resolve(&mut self, batches: Vec<AddressBatch>) -> Vec<SymbolBatch> {
        let Resolver { shared, pool, known, cache, .. } = self;
        let work = || resolve_all(shared, known, cache, batches);
        match pool {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    /// The code of the function that an address of a subject is in, or as much of it as is known. The address is one that an
    /// [`AddressBatch`] of this subject could have. Who wants the code of several functions asks for all at once:
    /// [`Self::function_codes`].
    ///
    /// What an instruction in it leads to or names has a linked address. To name that, ask [`Self::resolve`] with a batch of the same
    /// subject and the address that [`FunctionCode::address_of`] makes of it.
    ///
    /// # Errors
    /// Why there is no code.
    pub fn function_code(&mut self, subject: &Subject, address: u64) -> Result<FunctionCode, NoCode> {
        self.function_codes(&[(subject, address)]).pop().unwrap_or(Err(Reason::Defect.into()))
    }

    /// The code of the functions that some addresses are in, one answer for each: see [`Self::function_code`].
    pub fn function_codes(&mut self, wanted: &[(&Subject, u64)]) -> Vec<Result<FunctionCode, NoCode>> {
        let mut addresses: FxIndexMap<&Subject, Vec<u64>> = FxIndexMap::default();
        for (subject, address) in wanted {
            addresses.entry(subject).or_default().push(*address);
        }
        let batches = addresses.iter();
        let batches = batches.map(|(subject, all)| AddressBatch::new((*subject).clone(), all.clone()));
        let answers = self.resolve(batches.collect());
        let code = |(subject, address): &(&Subject, u64)| {
            let answer = addresses.get_index_of(subject).and_then(|index| answers.get(index));
            let symbol = answer.and_then(|answer| {
                let index = answer.addresses.binary_search(address).ok()?;
                let symbol = answer.symbol_by_id(answer.symbol(index).ok()?)?;
                Some(symbol.start..symbol.end)
            });
            // A defect of the readers of ELF costs the code of this function, not the run.
            let work = AssertUnwindSafe(|| self.code_of(subject, *address, symbol));
            catch_unwind(work).unwrap_or(Err(Reason::Defect.into()))
        };
        wanted.iter().map(code).collect()
    }

    /// The code at an address; `symbol` are the addresses of its symbol.
    fn code_of(
        &mut self,
        subject: &Subject,
        address: u64,
        symbol: Option<Range<u64>>,
    ) -> Result<FunctionCode, NoCode> {
        let Resolver { shared, known, cache, code, .. } = self;
        if let Subject::Generated { .. } = subject {
            let opened = known.entry(subject.opened_as().into_owned());
            let opened = opened.or_insert_with_key(|subject| open(shared, cache.as_ref(), subject));
            let names = opened.as_ref().map_err(Reason::clone)?;
            return names.code(subject, address).unwrap_or(Err(NoCode::NotDumped));
        }
        let opened = code.entry(subject.clone()).or_insert_with(|| CodeSource::open(shared, subject));
        opened.as_ref().map_err(NoCode::clone)?.function(address, symbol)
    }

    /// Writes what was found out to [`Options::cache`]. It also happens when the resolver goes, but then nobody learns
    /// of an error, which is most often that there is no room or no permission.
    pub fn save_cache(&mut self) -> std::io::Result<()> {
        self.cache.as_mut().map_or(Ok(()), Cache::save)
    }
}

impl Drop for Resolver<'_> {
    fn drop(&mut self) {
        // Answers do not depend on the cache.
        let _ = self.save_cache();
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
    cache: &mut Option<Cache>,
    batches: Vec<AddressBatch>,
) -> Vec<SymbolBatch> {
    if let Some(cache) = cache {
        cache.read(&batches);
    }
    let mut new: Vec<Cow<'_, Subject>> = Vec::new();
    let mut seen = FxHashSet::default();
    for batch in &batches {
        let subject = batch.subject.opened_as();
        let is_new = !known.contains_key(&*subject) && !is_answered(cache.as_ref(), batch);
        if is_new && seen.insert(subject.clone()) {
            new.push(subject);
        }
    }
    let loader = &shared.options.file_loader;
    let kernel = shared.options.kernel_build_id.as_ref();
    new.iter().map(|subject| subject.build_id()).chain([kernel]).for_each(|id| loader.want(id));
    let opened: Vec<(Subject, Opened<'f>)> = new
        .into_par_iter()
        .map(|subject| {
            let opened = open(shared, cache.as_ref(), &subject);
            (subject.into_owned(), opened)
        })
        .collect();
    drop(seen);
    for (_, names) in &opened {
        if let Err(Reason::NotReadable { path, .. }) = names {
            loader.note_loss(path);
        }
    }
    if let Some(cache) = cache {
        opened.iter().for_each(|(subject, _)| cache.check(subject));
    }
    known.extend(opened);
    let answers: Vec<Answered> = batches
        .into_par_iter()
        .map(|batch| match cache.as_ref().and_then(|cache| cache.stored(&batch.subject)) {
            Some(stored) => with_stored(shared, known, stored, batch),
            None => {
                let all = resolve_one(shared, known, batch);
                Answered { new: cache.is_some().then(|| all.clone()), all }
            }
        })
        .collect();
    let add = |answered: Answered| {
        if let (Some(cache), Some(new)) = (cache.as_mut(), answered.new) {
            cache.add(new);
        }
        answered.all
    };
    answers.into_iter().map(add).collect()
}

/// An answer, and what of it is not in the cache yet.
struct Answered {
    all: SymbolBatch,
    new: Option<SymbolBatch>,
}

fn is_answered(cache: Option<&Cache>, batch: &AddressBatch) -> bool {
    let stored = cache.and_then(|cache| cache.stored(&batch.subject));
    stored.is_some_and(|stored| batch.addresses.iter().all(|address| has(stored, *address)))
}

fn has(answer: &SymbolBatch, address: u64) -> bool {
    answer.addresses.binary_search(&address).is_ok()
}

/// Asks only about the addresses that the cache does not have.
fn with_stored(
    shared: &Shared<'_>,
    known: &FxHashMap<Subject, Opened<'_>>,
    stored: &SymbolBatch,
    batch: AddressBatch,
) -> Answered {
    let missing = batch.addresses.iter().copied().filter(|address| !has(stored, *address)).collect();
    let missing = AddressBatch { subject: batch.subject.clone(), addresses: missing };
    let new = (!missing.addresses.is_empty()).then(|| resolve_one(shared, known, missing));
    if let Some(SymbolBatch { batch_reason: Some(reason), .. }) = &new {
        return Answered { all: SymbolBatch::unnamed(batch, reason.clone()), new: None };
    }
    let from: Vec<&SymbolBatch> = [stored].into_iter().chain(&new).collect();
    match assemble(batch.clone(), &from) {
        Some(all) => Answered { all, new },
        None => Answered { all: SymbolBatch::unnamed(batch, Reason::Defect), new: None },
    }
}

/// The readers of ELF and DWARF are not ours alone. A defect there costs the names of one binary, not the run.
fn open<'f>(shared: &Shared<'f>, cache: Option<&Cache>, subject: &Subject) -> Opened<'f> {
    let traced = cache.and_then(|cache| cache.trace(subject)).map(|trace| Shared {
        options: Options { file_loader: shared.options.file_loader.traced(trace), ..shared.options.clone() },
        kernel_lists: Arc::clone(&shared.kernel_lists),
        files: shared.files,
    });
    let shared = traced.as_ref().unwrap_or(shared);
    catch_unwind(AssertUnwindSafe(|| source::open(shared, subject))).unwrap_or(Err(Reason::Defect))
}

fn resolve_one(
    shared: &Shared<'_>,
    known: &FxHashMap<Subject, Opened<'_>>,
    batch: AddressBatch,
) -> SymbolBatch {
    let names = match known.get(&*batch.subject.opened_as()) {
        Some(Ok(names)) => names,
        Some(Err(reason)) => return SymbolBatch::unnamed(batch, reason.clone()),
        None => return SymbolBatch::unnamed(batch, Reason::Defect),
    };
    match catch_unwind(AssertUnwindSafe(|| names.name(&shared.options, &batch))) {
        Ok(answer) => answer,
        Err(_) => SymbolBatch::unnamed(batch, Reason::Defect),
    }
}
