//! Records of simpleperf, the profiler of Android: numbers from 32769 on.
//!
//! Known from its recordings and from the declarations of its records (`simpleperf/record.h`). All of them are little-endian
//! in practice; they are read in the byte order of the file like any other. In their heads the two bytes of `misc` are the
//! high half of a size of 32 bits; a record that needs them lies in SPLIT records, see [`crate::simpleperf`].

pub mod callchain;
pub mod debug;
pub mod dso;
pub mod event_id;
pub mod kernel_symbol;
pub mod split;
pub mod symbol;
pub mod tracing_data;
pub mod unwinding_result;
