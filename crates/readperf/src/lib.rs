//! Reads Linux perf.data: who spent the time, in text, CSV and JSON.
//!
//! This is the facade: the crates of the workspace under one roof, and the glue between them, on which the program
//! `readperf` is built.
//!
//! ```
//! # fn main() -> perffile::Result<()> {
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/main/perf.data");
//! let recording = perffile::Recording::open(path)?;
//! let analysis = readperf::analyse(&recording, &readperf::Request::default())?;
//! assert_eq!(analysis.profile.events()[0].name, "cpu-clock:u");
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod analysis;
mod availability;
mod branch_code;
mod code_times;
mod embedded;
mod instructions;
mod linked_addresses;
mod named_places;
mod naming;
mod only_counts;
pub mod pass;
mod processor_time;
mod recorded_kernel;
mod unwinding;

pub use analysis::{Analysis, Request, analyse, analyse_detailed, analyse_with};
pub use availability::{missing_names, unused_dumps};
pub use branch_code::BranchCode;
pub use code_times::CodeTimes;
pub use instructions::Instructions;
pub use named_places::{NamedPlaces, name_kernel_addresses};
pub use naming::{Namer, add_losses, mapped_files};
pub use only_counts::OnlyCounts;
pub use pass::{Chunk, Entry, PassOptions, Passed, Sample, State, pass};
pub use perffile;
pub use readperf_output as output;
pub use readperf_profile as profile;
pub use readperf_session as session;
pub use readperf_symbols as symbols;
pub use unwinding::StackEnds;
