//! The recorder's cache of binaries by build-id.
//!
//! `CACHE/.build-id/xx/yyyy` leads to a directory with the files `elf`, `debug`, `kallsyms` or `vdso`, and in old
//! caches to the binary itself.

use std::path::PathBuf;

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

/// Where the symbol list of a kernel may be.
pub(crate) fn kernel_symbol_lists(options: &Options, build_id: &BuildId) -> Vec<PathBuf> {
    let by_id = entries(options, build_id).into_iter().map(|entry| entry.join("kallsyms"));
    let by_name = options.build_id_cache.iter().flat_map(|cache| {
        let dir = cache.join("[kernel.kallsyms]");
        build_id.spellings().into_iter().map(move |id| dir.join(id.to_string()).join("kallsyms"))
    });
    by_id.chain(by_name).collect()
}

fn entries(options: &Options, build_id: &BuildId) -> Vec<PathBuf> {
    let Some(cache) = &options.build_id_cache else { return Vec::new() };
    let ids = build_id.spellings().into_iter();
    ids.map(|id| {
        let (dir, file) = id.directory_and_file();
        cache.join(".build-id").join(dir).join(file)
    })
    .collect()
}
