//! Looking into a profile: what is looked at ([`State`]), and the tables made of it. Numbers, and names by reference; no text, no
//! terminal, no HTTP. The browser in the terminal and the page draw what is here, and a program of your own may, too.
//!
//! An [`Explorer`] reads a recording once and keeps the whole of it. [`Explorer::go`] says what is looked at from now on; what of the
//! tables does not depend on what has changed stays as it is. A [`State`] is a plain value: two of them can be compared, one that was
//! kept leads back to exactly the same tables.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/main/perf.data");
//! use readperf_explore::{Explorer, Opening, Step};
//! use readperf_symbols::Files;
//!
//! let (files, recording) = (Files::new(), perffile::Recording::open(path)?);
//! let mut explorer = Explorer::open(&files, &recording, &Opening::default(), |_| ())?;
//! let hottest = explorer.rows().histogram.rows.first().ok_or("no samples")?.numbers.clone();
//!
//! let mut state = explorer.state().clone();
//! state.steps.push(Step::comm(b"work"));
//! explorer.go(state.clone());
//! assert!(explorer.rows().histogram.total.samples <= explorer.profile().recorded()[0].samples);
//!
//! state.steps.pop();
//! explorer.go(state);
//! assert_eq!(explorer.rows().histogram.rows[0].numbers, hottest);
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod around;
mod beforehand;
mod calls;
mod change;
mod compare;
mod early;
mod explorer;
mod flame;
mod flame_names;
mod flame_time;
mod ground;
mod listing;
mod made;
mod opening;
mod rows;
mod state;
mod strips;
mod subtree;
mod time_sweep;

pub use around::{Around, NowAndBefore};
pub use calls::{CallLine, OpenCalls};
pub use change::{Change, Changes, Unnamed};
pub use early::{EarlyRow, EarlyRows};
pub use explorer::Explorer;
pub use flame::{Flame, FlameCell, FlameWindow, Label, Matching};
pub use flame_names::ComparedFrame;
pub use flame_time::{TimeAsked, TimeCell, TimeFlame, TimeWindow};
pub use opening::{Opening, Progress};
pub use readperf_profile::view::call_tree::Direction;
pub use rows::{RowOptions, Rows, default_keys};
pub use state::{State, Step};
pub use strips::WholeStrips;
