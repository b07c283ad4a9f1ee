//! What the reference page is made of: a pass that outlines a declaration, a search for the conditions under which its
//! fields are there, what is to be outlined, what the sources say of it, and the page.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

pub(crate) mod conditions;
pub(crate) mod declarations;
pub(crate) mod outline;
pub(crate) mod page;
pub(crate) mod sources;
