//! Views: tables of numbers made from a profile.

mod amount;
mod calls;
pub mod column;
pub mod facts;
mod flame_climb;
pub mod flame_reverse;
pub mod flame_tree;
pub mod graph;
mod graph_sums;
pub mod graphs;
pub mod histogram;
pub mod key;
mod keys;
pub mod missing;
mod place_numbers;
pub mod rows;
mod sums;
pub mod surroundings;
pub mod table;
pub mod timeline;
