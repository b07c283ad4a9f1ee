//! A recording in parts: each a recording of its own, with the samples that are its, and what these need.
//!
//! The recording is read twice, in order of time. A [`Survey`] finds which parts there are, and which processes the samples of each
//! are of; then each record is written to the parts that need it. So nothing is kept but a few numbers a process and part, and what
//! was before the first sample of a part stands before it. Parts are written some at a time, as files are open.

mod divider;
mod survey;
mod write;

pub use divider::{Division, Key};
pub use survey::{Outside, Survey};
pub use write::Written;
