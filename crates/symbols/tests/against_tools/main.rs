//! Answers of this crate against those of other tools, on programs that are compiled by the test.
//!
//! What is expected is never computed by this crate. A test whose tool is missing says so and passes.

// The whole of this program is a test, which the lints only see in functions marked so.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr
)]
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)]

mod cache;
mod calls;
mod damaged_companions;
mod debug_files;
mod demangle;
mod foreign;
mod function_code;
mod jit;
mod kernel;
mod kernel_files;
mod lines;
mod mutants;
mod nm;
mod packed;
mod perf;
mod plt;
mod programs;
#[cfg(feature = "debuginfod")]
mod servers;
mod split_debug;
mod threads;
