//! Names for the addresses of one ELF binary, out of its parts.

use std::path::Path;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::batch::{BatchBuilder, Found, Provides, Symbol, SymbolBatch, SymbolId, next_number};
use crate::options::Options;
use crate::reason::Reason;
use crate::source::dwarf::{self, DebugSections};
use crate::source::elf::ElfSymbols;
use crate::source::image::Image;
use crate::source::plt::Plt;
use crate::source::table::Entry;
use crate::subject::AddressBatch;

/// How many bytes of mangled names one batch may have. A program of a gigabyte has a tenth of that.
const MAX_NAMES_BYTES: usize = 256 << 20;

/// The files that make up a binary; they may all be the same.
#[derive(Debug)]
pub(crate) struct Parts<'p, 'data> {
    /// The file that was mapped: its program headers say where code lies.
    pub(crate) runtime: (&'p Path, &'p Image<'data>),
    /// The file with the symbols.
    pub(crate) symbols: (&'p Path, &'p Image<'data>),
    /// The file with debug information.
    pub(crate) debug: Option<(&'p Path, &'data [u8])>,
}

/// Names all addresses of the batch, which are offsets in the mapped file.
pub(crate) fn name(
    parts: &Parts<'_, '_>,
    options: &Options,
    batch: &AddressBatch,
) -> Result<SymbolBatch, Reason> {
    let (runtime_path, runtime) = parts.runtime;
    let symbols = ElfSymbols::read(parts.symbols.1, runtime);
    let plt = Plt::read(runtime, |address| {
        let symbols = symbols.as_ref()?;
        let entry = symbols.table.find(runtime.address_to_offset(address)?)?;
        Some(symbols.name(entry).into_owned())
    });
    let mut builder = BatchBuilder::new(batch);
    if runtime_path != parts.symbols.0 {
        builder.found.push(Found { path: runtime_path.to_owned(), provides: Provides::Layout });
    }
    let reason = match &symbols {
        Some(symbols) => {
            builder.found.push(Found { path: parts.symbols.0.to_owned(), provides: symbols.provides });
            Reason::NoSymbolCovers
        }
        None => Reason::Stripped { path: runtime_path.to_owned() },
    };
    push_symbols(symbols.as_ref(), &plt, options, batch, &reason, &mut builder);
    let has_frames = options.lines && push_frames(parts, options, batch, &mut builder);
    if symbols.is_none() && plt.table.is_empty() && !has_frames {
        return Err(reason);
    }
    Ok(builder.finish(batch.clone()))
}

/// A symbol that covers an address, and whether it is one of the procedure linkage table.
#[derive(Clone, Copy)]
struct Hit {
    entry: Entry,
    is_plt: bool,
}

fn push_symbols(
    symbols: Option<&ElfSymbols<'_>>,
    plt: &Plt,
    options: &Options,
    batch: &AddressBatch,
    reason: &Reason,
    builder: &mut BatchBuilder,
) {
    let find = |address: &u64| -> Option<Hit> {
        let plain = symbols.and_then(|symbols| symbols.table.find(*address));
        let linkage = plt.table.find(*address);
        match (plain, linkage) {
            // `_init` often has no size and then seems to cover the table behind it: the inner one is meant.
            (Some(plain), Some(linkage)) if linkage.start > plain.start => {
                Some(Hit { entry: *linkage, is_plt: true })
            }
            (Some(plain), _) => Some(Hit { entry: *plain, is_plt: false }),
            (None, Some(linkage)) => Some(Hit { entry: *linkage, is_plt: true }),
            (None, None) => None,
        }
    };
    let hits: Vec<Option<Hit>> = batch.addresses.par_iter().with_min_len(1024).map(find).collect();
    let mut numbers: FxHashMap<(u64, bool), SymbolId> = FxHashMap::default();
    let mut chosen: Vec<Hit> = Vec::new();
    for hit in hits {
        let Some(hit) = hit else {
            builder.push_reason(reason);
            continue;
        };
        let number = *numbers.entry((hit.entry.start, hit.is_plt)).or_insert_with(|| {
            chosen.push(hit);
            SymbolId(next_number(chosen.len() - 1))
        });
        builder.push_symbol(number);
    }
    // Many symbols of a damaged table may share one long name.
    let mut room = MAX_NAMES_BYTES;
    let mut take_room = |hit: &Hit| {
        let bytes = symbols.map_or(0, |symbols| symbols.name(&hit.entry).len());
        room = room.saturating_sub(bytes);
        room > 0
    };
    let chosen: Vec<(Hit, bool)> = chosen.into_iter().map(|hit| (hit, take_room(&hit))).collect();
    builder.symbols = chosen
        .into_par_iter()
        .map(|(Hit { entry, is_plt }, has_room)| {
            let (name, raw_name) = match symbols {
                _ if !has_room => (String::new(), String::new()),
                Some(symbols) if !is_plt => {
                    let raw = symbols.name(&entry);
                    (crate::demangle::demangle(&raw, options.demangle).into_owned(), raw.into_owned())
                }
                _ => plt.name(&entry, options.demangle),
            };
            Symbol { name, raw_name, start: entry.start, end: entry.end, binding: entry.binding }
        })
        .collect();
}

/// Returns whether any address has a frame.
fn push_frames(
    parts: &Parts<'_, '_>,
    options: &Options,
    batch: &AddressBatch,
    builder: &mut BatchBuilder,
) -> bool {
    let Some((path, data)) = parts.debug else { return false };
    let Some(sections) = DebugSections::read(data) else { return false };
    let runtime = parts.runtime.1;
    // A frame without inlined functions is a line: it has no place for a name.
    let symbol = |index: usize| builder.symbol(index).filter(|_| options.inlines);
    let offsets = batch.addresses.iter().enumerate();
    let queries: Vec<dwarf::Query> = offsets
        .map(|(index, offset)| dwarf::Query {
            address: runtime.offset_to_address(*offset),
            symbol: symbol(index),
        })
        .collect();
    let wanted = dwarf::Wanted { inlines: options.inlines, demangle: options.demangle };
    let any = dwarf::push_frames(&sections, &queries, wanted, builder);
    if any {
        builder.found.push(Found { path: path.to_owned(), provides: Provides::DebugInfo });
    }
    any
}
