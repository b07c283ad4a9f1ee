//! Views: tables of numbers made from a profile.

pub mod flame_reverse;
pub mod flame_tree;
pub mod missing;
pub mod table;
pub mod timeline;
