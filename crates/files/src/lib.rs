//! Files that others see whole or not at all.
//!
//! [`WholeFile`] is an output, and [`WholeFolder`] one of several files: it is written beside its place and renamed when it is complete, as is a
//! [`ScratchFile`]. They go with their value; and as a process may end without dropping its values, by a signal or
//! [`std::process::exit`], they are on a list, and [`remove_scratch`] removes what is on it. Who wants that on signals calls it there
//! (from a thread, not from a handler): this crate handles none. What needs no name is better off without one
//! ([`tempfile::tempfile`]).
#![forbid(unsafe_code)]

mod folder;
mod scratch;
mod whole;

pub use folder::{ScratchFolder, WholeFolder};
pub use scratch::{ScratchFile, remove_scratch};
pub use whole::{WholeFile, publish};
