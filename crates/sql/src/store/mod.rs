//! Recordings and tables in object stores, by their addresses.
//!
//! Each process opens the stores for itself, with what its environment says ([`stores`]): plans name addresses, never credentials. Tables are read
//! by ranges, as DataFusion asks for them; a recording is fetched as a whole, by what opens it ([`fetch`]). What is wrong is said
//! in one sentence, with the address ([`told`]).

mod address;
mod bucket;
mod fetch;
mod sorted;
mod stores;
mod told;

pub(crate) use address::Address;
pub(crate) use fetch::{Fetched, Fetcher};
pub(crate) use sorted::{Sorted, sorted};
pub(crate) use stores::Stores;
pub(crate) use told::Told;

/// How many requests wait for answers at once.
pub(crate) const AT_ONCE: usize = 32;
