//! Views: tables of numbers made from a profile.

pub mod missing;
pub mod table;
