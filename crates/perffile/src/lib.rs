//! perf.data
pub mod wire;
