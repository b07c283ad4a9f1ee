//! What sort keys compute, by what they look at.

pub(super) mod branch;
pub(super) mod code;
pub(super) mod data;
pub(super) mod task;
pub(super) mod trace;
