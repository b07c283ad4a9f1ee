//! Recordings changed: which samples stay, which fields they have, what is damaged and goes.
//!
//! A [`Plan`] says what is to be done; an [`Editor`] does it while [`perffile::write::copy`] writes the recording anew, one
//! record after the other. What tells of processes, names and mappings stays as it is, so that what is left of the samples
//! means what it meant. Only a choice by names ([`Names`]) needs the recording twice: which sample has which name is known when
//! all has been put in order of time. Then it is also known which processes the samples that stay are of, and what is told of others goes.
//! [`split`] and [`merge`] make several recordings of one, and one of several.
#![forbid(unsafe_code)]

mod anonymise;
mod build_ids;
mod chosen;
mod counts;
mod editor;
mod generated;
mod lineage;
mod marks;
pub mod merge;
mod plan;
mod role;
pub mod split;
mod strip;

pub use anonymise::{Anonymiser, Key, STRIPPED};
pub use build_ids::AddedBuildId;
pub use chosen::{Chosen, Names};
pub use editor::{Editor, Tally};
pub use generated::{AddedMapping, Dump};
pub use plan::{Plan, Samples};
pub use strip::Strip;
