//! Views: tables of numbers made from a profile.

mod amount;
pub mod call_graph;
pub mod call_tree;
mod calls;
pub mod column;
pub mod facts;
mod flame_climb;
pub mod flame_layout;
pub mod flame_reverse;
pub mod flame_tree;
pub mod graph;
pub mod hierarchy;
pub mod histogram;
pub mod key;
mod keys;
pub mod listing;
pub mod missing;
mod packed_graphs;
mod place_numbers;
pub mod rows;
pub mod running_strip;
mod sample_numbers;
mod sums;
pub mod surroundings;
pub mod table;
pub mod time_strip;
pub mod timeline;
