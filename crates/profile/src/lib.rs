//! The profile: what the samples of a recording add up to, in columns, and the views of it.
//!
//! A [`Builder`] takes samples one by one; [`Builder::finish`] freezes them into a [`Profile`]. The addresses of a profile go
//! out as batches, one a binary ([`Profile::address_batches`]), and come back as functions ([`Profile::name_functions`]):
//! where the names come from is not this crate's business. [`view`] makes tables of numbers; text is for others.
#![forbid(unsafe_code)]

pub mod build;
pub mod check;
pub mod counters;
pub mod grouped;
pub mod profile;
pub mod statistics;
pub mod symbolize;
pub mod view;

pub use build::Builder;
pub use profile::{AddressId, Function, FunctionId, Profile};
pub use symbolize::{AddressBatch, Named, NamedBatch};
