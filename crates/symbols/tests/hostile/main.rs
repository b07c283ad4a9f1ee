//! Files that were made to be expensive, or to be believed: what they cost, by counts, and what is said of them.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::print_stderr)]

mod allocation;
mod archives;
mod elf;
mod names;
mod refused;
mod trust;

use readperf_symbols::{Options, SymbolBatch};
use std::path::PathBuf;

#[global_allocator]
static ALLOCATOR: allocation::Counting = allocation::Counting;

const MIB: usize = 1 << 20;

/// An empty directory of this test's own.
fn directory(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

/// Nothing of this machine is looked at.
fn options() -> Options {
    Options { build_id_cache: None, debug_dirs: Vec::new(), ..Options::default() }
}

fn name_at(answer: &SymbolBatch, index: usize) -> &str {
    answer.name(index).unwrap_or_default()
}
