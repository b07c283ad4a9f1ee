//! Exports for viewers, read back by readers that share nothing with the writers: field numbers and names here are those of
//! the formats' own schemas. Every format is held against `stats` (totals), against the folded stacks (weight by stack), and
//! where they are installed against the tools that the formats are for.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a test that cannot go on has failed, and its own exports are small"
)]

mod chrome;
mod firefox;
mod firefox_rules;
mod flags;
mod formats;
mod golden;
#[path = "../handmade/mod.rs"]
mod handmade;
mod hostile;
mod marks;
#[path = "../oracle/mod.rs"]
mod oracle;
mod perfetto;
mod pprof;
mod protobuf;
mod run;
mod schedule;
mod speedscope;
mod stacks;
mod switches;
