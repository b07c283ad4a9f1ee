//! Recordings in which everything that has a name has a hostile one, and every way to ask about them.

// Each test binary uses a part of this module.
#![allow(dead_code)]

pub(crate) mod commands;
pub(crate) mod recording;
