//! A recording and the files that its names, lines and stacks come from, in one archive: a tar file, compressed with zstd.
//!
//! | member | what |
//! |---|---|
//! | `readperf-pack.json` | the manifest: what is in the archive, and what was not there to be packed. It comes first |
//! | `perf.data` | the recording, as it was; a directory if it is one |
//! | `.debug/` | a build-id cache in the form of perf's `~/.debug`: `.build-id/xx/yyyy` leads to a folder with `elf`, `debug`, `kallsyms` or `vdso` |
//! | `root/` | what is found by its path, below the root of the recorded machine: files whose build-id was not recorded, perf maps, jitdumps, parts of debug files, and links to the binaries in the cache |
//! | `sources/` | source files, by the paths that compilers wrote |
//!
//! [`Contents`] is what will be in an archive, [`Unpacked`] an archive that is read. Neither knows anything of recordings: which files are
//! needed is what [`FileLoader::used`](readperf_symbols::FileLoader::used) tells after all names were looked up.
#![forbid(unsafe_code)]

mod contents;
mod layout;
mod manifest;
mod tables;
mod unpacked;
mod write;

pub use contents::{Contents, Kind, Member};
pub use tables::only_tables;
pub use unpacked::Unpacked;

/// The member that says that an archive is one of these; it is the first one.
const MANIFEST: &str = "readperf-pack.json";

/// The recording.
const RECORDING: &str = "perf.data";

/// The build-id cache.
const CACHE: &str = ".debug";

/// What is found by its path.
const ROOT: &str = "root";

/// The source files.
const SOURCES: &str = "sources";
