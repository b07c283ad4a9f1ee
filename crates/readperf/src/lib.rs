//! Reads Linux perf.data: who spent the time, in text, CSV and JSON.
//!
//! This is the facade: the crates of the workspace under one roof, and the glue between them. The program `readperf` is
//! built on nothing else.
#![forbid(unsafe_code)]

pub use perffile;
pub use readperf_output as output;
pub use readperf_profile as profile;
pub use readperf_session as session;
pub use readperf_symbols as symbols;
