//! The Linux perf.data format: raw records, typed events in time order, and a paved path.

pub mod tracepoint;
