//! From a recording to a profile with names: one pass in order of time over its records, stacks as they were recorded or unwound, then
//! names, a batch of addresses a binary.
//!
//! ```
//! # fn main() -> perffile::Result<()> {
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/main/perf.data");
//! let recording = perffile::Recording::open(path)?;
//! let analysis = readperf_analysis::analyse(&recording, &readperf_analysis::Request::default())?;
//! assert_eq!(analysis.profile.events()[0].name, "cpu-clock:u");
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod analyse;
mod availability;
mod bpf_code;
mod branch_code;
mod chunk;
mod code_times;
mod dumped_code;
mod embedded;
mod identify;
mod instructions;
mod linked_addresses;
mod listing;
mod named_places;
mod naming;
mod only_counts;
pub mod pass;
mod piece_code;
mod processor_time;
mod recorded_kernel;
mod see;
mod subjects;
mod taking;
mod unwinding;

pub use analyse::{Analysis, Request, analyse, analyse_detailed, analyse_keeping_names, analyse_with};
pub use availability::{missing_names, unused_dumps};
pub use branch_code::{BranchCode, CodeStep, Jump};
pub use code_times::CodeTimes;
pub use dumped_code::{DumpedCode, dumped_code};
pub use identify::{Identified, identify};
pub use instructions::Instructions;
pub use linked_addresses::LinkedAddress;
pub use listing::{CodeReader, ListingRequest};
pub use named_places::{NamedPlaces, name_kernel_addresses};
pub use naming::{Namer, Questions, add_losses, mapped_files};
pub use only_counts::OnlyCounts;
pub use pass::{Chunk, Entry, PassOptions, Passed, Sample, State, pass, pass_seeing};
pub use see::See;
pub use unwinding::StackEnds;
