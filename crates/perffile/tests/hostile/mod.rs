//! What the tests with hostile input share: files, damage, and an eye on memory and time.
#![allow(dead_code, unreachable_pub, unused_imports)] // Each user takes some of these.
// Tests, though not in a `#[test]`: to stop is what they are for.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr
)]

pub mod allocation;
pub mod clock;
pub mod files;
pub mod mutation;
pub mod noise;
pub mod recipe;
