//! Reads Linux perf.data: who spent the time, in text, CSV and JSON.
//!
//! This is the facade: the crates of the workspace under one roof, on which the program `readperf` is built.
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

pub use perffile;
pub use readperf_analysis as analysis;
pub use readperf_analysis::*;
pub use readperf_output as output;
pub use readperf_profile as profile;
pub use readperf_session as session;
pub use readperf_symbols as symbols;
