//! Source lines and inlined functions from DWARF.

mod abbreviations;
mod inlined;
mod look_up;
mod nesting;
mod numbers;
mod relocated;
mod relocated_riscv;
mod sections;
mod split;
mod units;

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use gimli::{EndianSlice, RunTimeEndian};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use self::look_up::Piece;
use self::split::SplitFiles;
use self::units::{LaterLines, Units};
use crate::batch::BatchBuilder;
use crate::files::Files;
use crate::find::SplitPlaces;
use crate::ids::SymbolId;
use crate::options::Options;
use crate::source::shown::ShownNames;

pub(crate) use self::sections::{has_debug_info, section_bytes};

type Slice<'f> = EndianSlice<'f, RunTimeEndian>;
type Dwarf<'f> = gimli::Dwarf<Slice<'f>>;
type Context<'f> = addr2line::Context<Slice<'f>>;

/// An address to look up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Query {
    /// The virtual address; `None` when the file does not say which one it is.
    pub(crate) address: Option<u64>,
    /// The symbol that covers it. Its name is also that of the outermost level: DWARF often has only a part of it
    /// (`operator()`, or `f` for the clone `f.part.0`).
    pub(crate) symbol: Option<SymbolId>,
}

/// How many units all contexts of a file together may have. Each context has all units of the file, whether it is asked
/// about them or not, and each unit takes about 20 KiB there: a kernel has 3000.
const MAX_UNITS_IN_ALL: usize = 16 << 10;

/// What is wanted of the debug information.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The names of inlined functions.
    Names,
    /// The innermost line.
    Line,
    /// The names and lines of all levels.
    NamesAndLines,
}

impl Wanted {
    /// What the options want; `None` if it is nothing.
    pub(crate) fn by(options: &Options) -> Option<Wanted> {
        match (options.lines, options.inlines) {
            (false, false) => None,
            (false, true) => Some(Wanted::Names),
            (true, false) => Some(Wanted::Line),
            (true, true) => Some(Wanted::NamesAndLines),
        }
    }
}

/// The files with the debug information of a binary.
#[derive(Debug)]
pub(crate) struct DebugFiles<'f> {
    /// The file that has it, or names the others.
    pub(crate) path: PathBuf,
    /// Its bytes.
    pub(crate) data: &'f [u8],
    /// The file that it shares with others.
    pub(crate) supplement: Option<&'f [u8]>,
    /// Of a file that was not linked: where the sections are in the file that was loaded.
    pub(crate) sections_at: Option<Vec<u64>>,
    /// Where files of single units may be.
    pub(crate) split: SplitPlaces,
}

/// The debug information of a file. Units, their lines and their functions are read when they are first asked about,
/// and kept.
pub(crate) struct DebugInfo<'f> {
    dwarf: Arc<Dwarf<'f>>,
    units: Units<'f>,
    split: SplitFiles<'f>,
    /// What was read lies in contexts, each of which serves one thread at a time.
    shards: Vec<Mutex<Option<Context<'f>>>>,
}

/// What was read of the files with debug information.
struct OpenedInfo<'f> {
    dwarf: Dwarf<'f>,
    units: Units<'f>,
}

impl<'f> DebugInfo<'f> {
    /// Reads the sections and the ranges of the units; `None` when the file has no DWARF. What has to be decompressed
    /// is kept in `files`.
    pub(crate) fn open(found: DebugFiles<'f>, options: &Options, files: &'f Files) -> Option<DebugInfo<'f>> {
        let wanted = Wanted::by(options);
        let names_alone = wanted == Some(Wanted::Names) && !options.source_files;
        let opened = DebugInfo::open_with(&found, (wanted, !names_alone), files)?;
        // What is described in files of its own is read by addr2line, which reads lines, too.
        let opened = match names_alone && opened.units.are_split() {
            true => DebugInfo::open_with(&found, (wanted, true), files)?,
            false => opened,
        };
        let split = SplitFiles::new(found.split, files);
        let shards = shard_count(rayon::current_num_threads(), opened.units.len());
        let shards = (0..shards).map(|_| Mutex::new(None)).collect();
        Some(DebugInfo { dwarf: Arc::new(opened.dwarf), units: opened.units, split, shards })
    }

    fn open_with(
        found: &DebugFiles<'f>,
        (wanted, with_lines): (Option<Wanted>, bool),
        files: &'f Files,
    ) -> Option<OpenedInfo<'f>> {
        let mut dwarf = sections::read(found.data, files, found.sections_at.as_deref(), with_lines)?;
        let supplement = found.supplement.and_then(|data| sections::read(data, files, None, with_lines));
        if let Some(supplement) = supplement {
            dwarf.set_sup(supplement);
        }
        dwarf.populate_abbreviations_cache(match wanted {
            // One unit at a time is read, and let go.
            None | Some(Wanted::Names) => gimli::AbbreviationsCacheStrategy::Duplicates,
            // Each context keeps those of all units: those of a kernel take 150 MiB, so the contexts share them.
            Some(Wanted::Line | Wanted::NamesAndLines) => gimli::AbbreviationsCacheStrategy::All,
        });
        let lines = (!with_lines).then(|| LaterLines::new((found.data, found.sections_at.clone()), files));
        let units = Units::read(&dwarf, lines);
        Some(OpenedInfo { dwarf, units })
    }

    /// Looks up all addresses and pushes the frames of each in order. Returns whether any frame was found.
    pub(crate) fn push_frames(
        &self,
        queries: &[Query],
        wanted: Wanted,
        shown: &ShownNames,
        builder: &mut BatchBuilder,
    ) -> bool {
        let pieces: Vec<Piece<'f>> = self
            .share_out(queries)
            .into_par_iter()
            .zip(&self.shards)
            .map(|(numbers, shard)| self.look_up(queries, numbers, wanted, shard))
            .collect();
        numbers::merge(&pieces, queries, shown, builder)
    }

    /// The source file in which the function at the address of each query is written: as its entry declares, or else that of
    /// the line at the address.
    pub(crate) fn source_files(&self, queries: &[Query]) -> Vec<Option<String>> {
        let shares = self.share_out(queries).into_par_iter();
        let found: Vec<FxHashMap<usize, String>> = shares
            .zip(&self.shards)
            .map(|(numbers, shard)| {
                if self.units.are_split() {
                    return self.files_of_lines(queries, numbers, shard);
                }
                let mut found = inlined::source_files((&self.dwarf, &self.units), queries, &numbers);
                let open = numbers.into_iter().filter(|number| !found.contains_key(number)).collect();
                found.extend(self.files_of_lines(queries, open, shard));
                found
            })
            .collect();
        let mut files: Vec<Option<String>> = vec![None; queries.len()];
        for (number, file) in found.into_iter().flatten() {
            files.get_mut(number).map(|slot| slot.replace(file));
        }
        files
    }

    /// The source file of the line at each address. If the entries are in other files, it is that of the outermost level: of the
    /// call, where something is inlined.
    fn files_of_lines(
        &self,
        queries: &[Query],
        numbers: Vec<usize>,
        shard: &Mutex<Option<Context<'f>>>,
    ) -> FxHashMap<usize, String> {
        let wanted = if self.units.are_split() { Wanted::NamesAndLines } else { Wanted::Line };
        let piece = self.look_up(queries, numbers, wanted, shard);
        let file_of = |end: usize| {
            let file = piece.frames.get(end.checked_sub(1)?)?.file?;
            piece.files.names.get(file.index()).cloned()
        };
        piece.ends.iter().filter_map(|(number, end)| Some((*number, file_of(*end)?))).collect()
    }

    /// The numbers of the queries, by the shard that answers them. A unit always belongs to the same shard, so that it
    /// is read once.
    fn share_out(&self, queries: &[Query]) -> Vec<Vec<usize>> {
        let mut shares = vec![Vec::new(); self.shards.len()];
        for (number, query) in queries.iter().enumerate() {
            let Some(unit) = query.address.and_then(|address| self.units.first_at(address)) else { continue };
            let shard = unit.checked_rem(shares.len()).unwrap_or(0);
            if let Some(share) = shares.get_mut(shard) {
                share.push(number);
            }
        }
        shares
    }

    fn look_up(
        &self,
        queries: &[Query],
        numbers: Vec<usize>,
        wanted: Wanted,
        shard: &Mutex<Option<Context<'f>>>,
    ) -> Piece<'f> {
        let mut piece = Piece::new();
        if numbers.is_empty() {
            return piece;
        }
        if wanted == Wanted::Names && !self.units.are_split() {
            inlined::look_up((&self.dwarf, &self.units), queries, &numbers, &mut piece);
            return piece;
        }
        // A context that was left in the middle of a look-up is sound: what it reads it keeps only when complete.
        let mut context = shard.lock().unwrap_or_else(PoisonError::into_inner);
        if context.is_none() {
            *context = Context::from_arc_dwarf(Arc::clone(&self.dwarf)).ok();
        }
        let Some(context) = context.as_ref() else { return piece };
        for number in numbers {
            let Some(query) = queries.get(number) else { continue };
            let Some(address) = query.address else { continue };
            if !self.units.are_bounded_at(&self.dwarf, address) {
                continue;
            }
            piece.add_address((context, &self.split), number, address, query.symbol.is_some(), wanted);
        }
        piece
    }
}

/// How many contexts there are: one for each thread that may work on this binary, but not so many that they take more
/// memory and time than they save.
fn shard_count(threads: usize, units: usize) -> usize {
    threads.min(MAX_UNITS_IN_ALL.checked_div(units).unwrap_or(usize::MAX)).max(1)
}

impl fmt::Debug for DebugInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DebugInfo").field("units", &self.units.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_stay_within_bounds() {
        assert_eq!([0, 1, 16].map(|threads| shard_count(threads, 5)), [1, 1, 16]);
        assert_eq!(shard_count(8, 0), 8);
        assert_eq!(shard_count(64, 3100), 5);
        assert_eq!(shard_count(64, 100_000), 1);
    }
}
