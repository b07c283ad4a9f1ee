//! The profile: what the samples of a recording add up to, in columns, and the views of it.
//!
//! A [`Builder`] takes samples one by one; their places are numbers in [`Addresses`], their stacks in [`Stacks`]. The addresses
//! go out as batches, one a binary ([`Names::unknown`]), and come back as functions and lines ([`Names::learn`]): where the
//! names come from is not this crate's business. [`Builder::end`] and [`Added::profile`] freeze all of it into a [`Profile`]. [`view`] makes
//! tables of numbers; text is for others.
#![forbid(unsafe_code)]

mod added_to;
mod adding_up;
pub mod addresses;
mod assembly;
pub mod block;
mod both;
mod build;
pub mod chain;
mod chance;
pub mod check;
mod contexts;
mod counted;
pub mod counters;
pub mod detail;
pub mod diff;
pub mod filter;
pub mod frames;
mod gathered;
pub mod grouped;
mod groups;
mod grown;
mod index;
mod interner;
mod known;
mod known_chains;
mod locating;
mod locator;
mod looking_up;
mod mark;
pub mod marks;
pub mod matching;
pub mod names;
mod outlines;
mod payload_names;
mod picked;
mod place_key;
mod placing;
pub mod profile;
mod recent;
mod recent_mappings;
mod recorded_chains;
mod repeats;
mod rows;
mod rows_of_stacks;
pub mod schedule;
pub mod select;
pub mod stacks;
pub mod statistics;
mod summed_rows;
mod together;
mod touch;
pub mod transform;
mod tuples;
pub mod value;
pub mod view;
pub mod weight;
mod whole;
mod whole_stacks;

pub use addresses::{AddressId, Addresses};
pub use assembly::Assembly;
pub use both::both;
pub use build::{Added, Builder, Keep, SamplePlaces};
pub use chain::CallerAddress;
pub use detail::{Branch, DetailField, DetailId, DetailOptions, Details, Weighing};
pub use filter::SampleFilter;
pub use frames::{Apart, CodeKind, FrameId, FrameTable, Level, UniqueFrame};
pub use groups::Groups;
pub use known::{Known, NewBinaries, NewPlaces};
pub use known_chains::ChainId;
pub use locating::{Located, LocatedId, Locating};
pub use locator::Locator;
pub use marks::{Mark, MarkBuilder, MarkKind, Marks};
pub use names::{BinaryPlaces, FileId, Frame, Function, FunctionId, Names};
pub use payload_names::PayloadNames;
pub use picked::Picked;
pub use profile::{Profile, SampleRow};
pub use recorded_chains::RecordedChains;
pub use rows::{RowIter, RowSlice, Rows};
pub use schedule::{Schedule, ScheduleSpan, SwitchSource, ThreadState, WhyOff};
pub use select::{NameFilter, Selection, pattern};
pub use stacks::{StackId, Stacks};
pub use together::{Rounding, Together};
pub use touch::touch;
pub use transform::{Functions, Transform};
pub use tuples::Tuples;
pub use value::{TextId, Texts, Value};
pub use weight::Weight;
pub use whole::Whole;
