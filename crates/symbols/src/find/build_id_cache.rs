//! The recorder's cache of binaries by build-id.
//!
//! `CACHE/.build-id/xx/yyyy` leads to a directory with the files `elf`, `debug`, `kallsyms` or `vdso`, and in old
//! caches to the binary itself.

use std::path::{Path, PathBuf};

use super::{Place, Proof, Search};
use crate::build_id::BuildId;
use crate::options::Options;

pub(super) const BINARY: Place = Place { candidates: binaries, proof: Proof::SameId };
pub(super) const DEBUG_FILE: Place = Place { candidates: debug_files, proof: Proof::SameId };

fn binaries(search: &Search<'_>) -> Vec<PathBuf> {
    let entries = search.build_id.iter().flat_map(|id| entries(search.options, id));
    entries.flat_map(|entry| [entry.join("elf"), entry.join("vdso"), entry]).collect()
}

fn debug_files(search: &Search<'_>) -> Vec<PathBuf> {
    let entries = search.build_id.iter().flat_map(|id| entries(search.options, id));
    entries.map(|entry| entry.join("debug")).collect()
}

/// Where the symbol list of a kernel may be: beside a copy of its memory, or alone.
pub(crate) fn kernel_symbol_lists(options: &Options, build_id: &BuildId) -> Vec<PathBuf> {
    let by_id = entries(options, build_id).into_iter().map(|entry| entry.join("kallsyms"));
    let of = |name: &str| -> Vec<PathBuf> {
        let dirs = caches(options).map(|cache| cache.join(name));
        let ids = build_id.spellings();
        dirs.flat_map(|dir| ids.iter().map(|id| dir.join(id.to_string())).collect::<Vec<_>>()).collect()
    };
    let with_memory = of("[kernel.kcore]").into_iter().flat_map(|dir| by_time(options, &dir));
    let alone = of("[kernel.kallsyms]").into_iter().map(|dir| dir.join("kallsyms"));
    with_memory.chain(by_id).chain(alone).collect()
}

/// The lists in a directory of copies of one kernel, each in a directory named by its time, the latest first.
fn by_time(options: &Options, dir: &Path) -> Vec<PathBuf> {
    let names = options.file_loader.names_in(dir);
    let mut all: Vec<PathBuf> = names.iter().map(|name| dir.join(name).join("kallsyms")).collect();
    all.sort_unstable_by(|left, right| right.cmp(left));
    all
}

/// The places of a build-id in the cache, and in directories that the user named and that are such a cache: that is what
/// `perf archive` packs.
fn entries(options: &Options, build_id: &BuildId) -> Vec<PathBuf> {
    let ids = build_id.spellings();
    let places = |cache: &PathBuf| -> Vec<PathBuf> {
        let place = |id: &BuildId| {
            let (dir, file) = id.directory_and_file();
            cache.join(".build-id").join(dir).join(file)
        };
        ids.iter().map(place).collect()
    };
    caches(options).flat_map(places).collect()
}

fn caches(options: &Options) -> impl Iterator<Item = &PathBuf> {
    options.build_id_cache.iter().chain(&options.search_dirs)
}
