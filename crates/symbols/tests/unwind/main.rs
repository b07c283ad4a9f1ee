//! Unwinding, checked by what others say of the same stacks.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::print_stderr,
    reason = "a test stops where something is not as expected"
)]

mod debugger;
mod generated;
mod hostile;
mod pointers;
mod program;
