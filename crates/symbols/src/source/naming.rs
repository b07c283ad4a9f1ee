//! Names for the addresses of one ELF binary, out of its parts.

use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::batch::{BatchBuilder, Found, Provides, Symbol, SymbolBatch};
use crate::files::Files;
use crate::function_name::FunctionName;
use crate::ids::SymbolId;
use crate::image::Image;
use crate::options::Options;
use crate::reason::Reason;
use crate::source::Names;
use crate::source::dwarf::{self, DebugFiles, DebugInfo, Wanted};
use crate::source::elf::ElfSymbols;
use crate::source::plt::Plt;
use crate::source::shown::ShownNames;
use crate::subject::AddressBatch;
use crate::table::{Entry, Table};

/// How many bytes of mangled names one batch may have: they are demangled, which takes long. A program of a gigabyte has a third of
/// that.
const MAX_NAMES_BYTES: usize = 64 << 20;

/// What stands for the names beyond.
const NOT_READ: &str = "[not read: the names of this binary are longer than 64 MiB]";

/// What signal handlers return to: in C libraries, and in the code that the kernel maps into every process.
const TRAMPOLINES: [&str; 6] = [
    "__restore_rt",
    "__restore",
    "__kernel_rt_sigreturn",
    "__kernel_sigreturn",
    "__vdso_rt_sigreturn",
    "__kernel_sigtramp_rt64",
];

/// The files that make up a binary; they may all be the same.
#[derive(Debug)]
pub(crate) struct Parts<'p, 'f> {
    /// The file that was mapped: its program headers say where code lies.
    pub(crate) runtime: (&'p Path, Image<'f>),
    /// The file with the symbols, if it is another one.
    pub(crate) symbols: Option<(&'p Path, &'p Image<'f>)>,
    /// The file with symbols that is embedded in the one that was mapped.
    pub(crate) embedded: Option<&'p Image<'f>>,
    /// The file with debug information.
    pub(crate) debug: Option<DebugFiles<'f>>,
}

/// The names of one ELF binary. Addresses are offsets in the mapped file.
#[derive(Debug)]
pub(crate) struct ElfNames<'f> {
    runtime: Image<'f>,
    symbols: Option<ElfSymbols<'f>>,
    /// Read when an address in it is asked for.
    plt: OnceLock<Plt>,
    debug: Option<(PathBuf, DebugInfo<'f>)>,
    found: Vec<Found>,
    shown: ShownNames,
    /// Symbols that were chosen from several, by their start.
    settled: RwLock<FxHashMap<u64, Entry>>,
    /// Why an address without a symbol has none.
    reason: Reason,
}

impl<'f> ElfNames<'f> {
    /// Reads the parts. Debug information is read only if lines or inlined functions are wanted.
    pub(crate) fn read(
        parts: Parts<'_, 'f>,
        files: &'f Files,
        options: &Options,
    ) -> Result<ElfNames<'f>, Reason> {
        let (runtime_path, runtime) = parts.runtime;
        let (symbols_path, symbols_image) = parts.symbols.unwrap_or((runtime_path, &runtime));
        let read_symbols = || match parts.embedded {
            Some(embedded) => ElfSymbols::read_embedded(embedded, &runtime, files),
            None => ElfSymbols::read(symbols_image, &runtime),
        };
        let debug = parts.debug.filter(|_| options.reads_debug_info());
        let read_debug =
            || debug.and_then(|found| Some((found.path.clone(), DebugInfo::open(found, options, files)?)));
        let (symbols, debug) = rayon::join(read_symbols, read_debug);
        let mut found = Vec::new();
        if runtime_path != symbols_path {
            found.push(Found { path: runtime_path.to_owned(), provides: Provides::Layout });
        }
        let (path, build_id) = (runtime_path.to_owned(), runtime.build_id());
        let reason = match &symbols {
            Some(symbols) => {
                found.push(Found { path: symbols_path.to_owned(), provides: symbols.provides });
                match symbols.provides {
                    Provides::DynamicSymbols => Reason::NotExported { path, build_id },
                    _ => Reason::NoSymbolCovers,
                }
            }
            None => Reason::Stripped { path, build_id },
        };
        let (shown, settled) = (ShownNames::new(options.demangle), RwLock::default());
        let names = ElfNames { runtime, symbols, plt: OnceLock::new(), debug, found, shown, settled, reason };
        let has_names = names.symbols.is_some() || names.debug.is_some() || !names.plt().table.is_empty();
        if has_names { Ok(names) } else { Err(names.reason) }
    }

    fn plt(&self) -> &Plt {
        self.plt.get_or_init(|| Plt::read(&self.runtime, |addresses| self.function_names(addresses)))
    }

    /// The names of the functions at these virtual addresses, as the symbol table has them.
    fn function_names(&self, addresses: &[u64]) -> Vec<Option<String>> {
        let Some(symbols) = &self.symbols else { return vec![None; addresses.len()] };
        let offsets = addresses.iter().map(|address| self.runtime.address_to_offset(*address));
        let offsets: Vec<Option<u64>> = offsets.collect();
        let mut sorted: Vec<u64> = offsets.iter().copied().flatten().collect();
        sorted.sort_unstable();
        let table = symbols.covering(&sorted);
        let found = |offset: u64| Some(symbols.choice(&table, table.find(offset)?));
        let name = |offset: Option<u64>| Some(symbols.name(&found(offset?)?).into_owned());
        offsets.into_iter().map(name).collect()
    }

    /// Whether there is debug information, and it is wanted.
    pub(crate) fn has_debug_info(&self) -> bool {
        self.debug.is_some()
    }

    /// What answers for these addresses, which are sorted.
    fn answering(&self, addresses: &[u64]) -> Answering<'_> {
        let symbols = self.symbols.as_ref().map(|symbols| (symbols, symbols.covering(addresses)));
        let is_asked = |range: Range<u64>| {
            let first = addresses.partition_point(|address| *address < range.start);
            addresses.get(first).is_some_and(|address| range.contains(address))
        };
        let plt = Plt::ranges(&self.runtime).any(is_asked).then(|| self.plt());
        let linkage = Plt::ranges(&self.runtime).map(|range| (range.start, range.end));
        let linkage = linkage.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
        Answering { symbols, plt, linkage }
    }

    fn push_symbols(&self, batch: &AddressBatch, builder: &mut BatchBuilder) {
        let answering = self.answering(&batch.addresses);
        let some = batch.addresses.par_chunks(4096);
        let runs: Vec<Run> = some.flat_map_iter(|some| answering.runs(some)).collect();
        let mut numbers: FxHashMap<(u64, bool), SymbolId> = FxHashMap::default();
        let mut chosen: Vec<Hit> = Vec::new();
        for Run { hit, count } in runs {
            let Some(hit) = hit else {
                builder.push_reasons(&self.reason, count);
                continue;
            };
            let number = *numbers.entry(hit.key()).or_insert_with(|| {
                chosen.push(hit);
                SymbolId::new(chosen.len() - 1)
            });
            builder.push_symbols(number, count);
        }
        // One of several symbols at a start is chosen by its name, which takes long: only where it is asked for.
        let chosen: Vec<Hit> =
            chosen.into_par_iter().with_min_len(16).map(|hit| self.settle(&answering, hit)).collect();
        // Many symbols of a damaged table may share one long name.
        let mut room = MAX_NAMES_BYTES;
        let mut take_room = |hit: &Hit| {
            let bytes = self.symbols.as_ref().map_or(0, |symbols| symbols.name_bytes(&hit.entry));
            room = room.saturating_sub(bytes);
            room > 0
        };
        let raw_name = |hit: &Hit| match &self.symbols {
            _ if !take_room(hit) => NOT_READ.to_owned(),
            Some(symbols) if !hit.is_plt => symbols.name(&hit.entry).into_owned(),
            _ => self.plt().name(&hit.entry),
        };
        let raw: Vec<String> = chosen.iter().map(raw_name).collect();
        let named = chosen.into_iter().zip(raw);
        builder.symbols = named
            .map(|(Hit { entry: Entry { start, end, binding, .. }, .. }, raw)| Symbol {
                name: FunctionName::mangled(raw, self.shown.style()),
                start,
                end,
                binding,
                source_file: None,
            })
            .collect();
    }

    fn settle(&self, answering: &Answering<'_>, hit: Hit) -> Hit {
        let may_choose = |(_, table): &&(_, Cow<'_, Table>)| !hit.is_plt && table.has_choice(&hit.entry);
        let Some((symbols, table)) = answering.symbols.as_ref().filter(may_choose) else { return hit };
        let known =
            self.settled.read().unwrap_or_else(PoisonError::into_inner).get(&hit.entry.start).copied();
        let entry = known.unwrap_or_else(|| {
            let choice = symbols.choice(table, &hit.entry);
            self.settled.write().unwrap_or_else(PoisonError::into_inner).insert(choice.start, choice);
            choice
        });
        Hit { entry, ..hit }
    }

    fn push_frames(
        &self,
        options: &Options,
        wanted: Wanted,
        batch: &AddressBatch,
        builder: &mut BatchBuilder,
    ) {
        let Some((path, debug)) = &self.debug else { return };
        // A frame without inlined functions is a line: it has no place for a name.
        let symbol = |index: usize| builder.symbol(index).filter(|_| options.inlines);
        let offsets = batch.addresses.iter().enumerate();
        let queries: Vec<dwarf::Query> =
            offsets.map(|(index, offset)| self.query(*offset, symbol(index))).collect();
        if debug.push_frames(&queries, wanted, &self.shown, builder) {
            builder.found.push(Found { path: path.clone(), provides: Provides::DebugInfo });
        }
    }
}

impl ElfNames<'_> {
    fn query(&self, offset: u64, symbol: Option<SymbolId>) -> dwarf::Query {
        // What was not linked has no addresses but offsets.
        let is_relocatable = self.runtime.is_relocatable;
        let address = if is_relocatable { Some(offset) } else { self.runtime.offset_to_address(offset) };
        dwarf::Query { address, symbol }
    }

    /// Finds out in which file each symbol is written.
    fn learn_source_files(&self, builder: &mut BatchBuilder) {
        let Some((path, debug)) = &self.debug else { return };
        let queries: Vec<dwarf::Query> =
            builder.symbols.iter().map(|symbol| self.query(symbol.start, None)).collect();
        let mut known: FxHashMap<String, Arc<str>> = FxHashMap::default();
        let mut is_used = false;
        for (symbol, file) in builder.symbols.iter_mut().zip(debug.source_files(&queries)) {
            symbol.source_file = file
                .map(|file| Arc::clone(known.entry(file).or_insert_with_key(|file| file.as_str().into())));
            is_used |= symbol.source_file.is_some();
        }
        let found = Found { path: path.clone(), provides: Provides::DebugInfo };
        if is_used && !builder.found.contains(&found) {
            builder.found.push(found);
        }
    }
}

impl Names for ElfNames<'_> {
    fn name(&self, options: &Options, batch: &AddressBatch) -> SymbolBatch {
        let mut builder = BatchBuilder::new(batch);
        builder.found.clone_from(&self.found);
        self.push_symbols(batch, &mut builder);
        if let Some(wanted) = Wanted::by(options) {
            self.push_frames(options, wanted, batch, &mut builder);
        }
        if options.source_files {
            self.learn_source_files(&mut builder);
        }
        builder.finish(batch.clone())
    }
}

/// A symbol that covers an address, and whether it is one of the procedure linkage table.
#[derive(Clone, Copy)]
struct Hit {
    entry: Entry,
    is_plt: bool,
}

impl Hit {
    /// What tells symbols apart.
    fn key(&self) -> (u64, bool) {
        (self.entry.start, self.is_plt)
    }
}

/// Addresses that follow each other in one symbol, or in none.
struct Run {
    hit: Option<Hit>,
    count: usize,
}

/// What answers for some addresses.
struct Answering<'n> {
    symbols: Option<(&'n ElfSymbols<'n>, Cow<'n, Table>)>,
    /// If some of them are in it.
    plt: Option<&'n Plt>,
    /// Where the first linkage table begins, and the last one ends.
    linkage: Option<(u64, u64)>,
}

/// Where the symbols before an address end, in each table: the next address is behind it.
#[derive(Clone, Copy, Debug, Default)]
struct Before {
    symbols: usize,
    plt: usize,
    /// In the table of symbols, those before the address behind.
    behind: usize,
}

impl Answering<'_> {
    /// What is at these addresses, which are sorted.
    fn runs(&self, addresses: &[u64]) -> Vec<Run> {
        let mut before = Before::default();
        let mut runs: Vec<Run> = Vec::new();
        for address in addresses {
            let hit = self.find(*address, &mut before);
            let key = |hit: &Option<Hit>| hit.as_ref().map(Hit::key);
            match runs.last_mut().filter(|run| key(&run.hit) == key(&hit)) {
                Some(run) => run.count += 1,
                None => runs.push(Run { hit, count: 1 }),
            }
        }
        runs
    }

    /// What is at an address; addresses are asked for in their order.
    fn find(&self, address: u64, before: &mut Before) -> Option<Hit> {
        let plain =
            self.symbols.as_ref().and_then(|(_, table)| table.find_ahead(address, &mut before.symbols));
        let plain = plain.filter(|plain| !self.is_between(plain, address));
        let linkage = self.plt.and_then(|plt| plt.table.find_ahead(address, &mut before.plt));
        match (plain, linkage) {
            // `_init` often has no size and then seems to cover the table behind it: the inner one is meant.
            (Some(plain), Some(linkage)) if linkage.start > plain.start => {
                Some(Hit { entry: *linkage, is_plt: true })
            }
            (Some(plain), _) => Some(Hit { entry: *plain, is_plt: false }),
            (None, Some(linkage)) => Some(Hit { entry: *linkage, is_plt: true }),
            (None, None) => self.trampoline_behind(address, &mut before.behind),
        }
    }

    /// Whether all linkage tables are between a symbol and an address: then it is one without a size, and seems to reach over what fills up
    /// the section, to the next one that has symbols.
    fn is_between(&self, symbol: &Entry, address: u64) -> bool {
        self.linkage.is_some_and(|(start, end)| symbol.start < start && end <= address)
    }

    /// The trampoline that begins right behind an address in no function. The kernel makes signal handlers return to the first
    /// byte of it, so that the byte before, where the call of a caller is looked for, is not code.
    fn trampoline_behind(&self, address: u64, before: &mut usize) -> Option<Hit> {
        let (symbols, table) = self.symbols.as_ref()?;
        let start = address.checked_add(1)?;
        let entry = *table.find_ahead(start, before).filter(|entry| entry.start == start)?;
        let is_trampoline = |entry: &Entry| TRAMPOLINES.contains(&symbols.name(entry).as_ref());
        is_trampoline(&symbols.choice(table, &entry)).then_some(Hit { entry, is_plt: false })
    }
}
