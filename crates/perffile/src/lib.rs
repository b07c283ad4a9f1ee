//! The Linux `perf.data` format: raw records, typed events in order of time, and a loop over all of it.
//!
//! Three levels, each usable alone:
//!
//! 1. **Raw records with their place.** [`Recording::batches`] in [`Ordering::File`]: [`Event::raw`], [`Event::offset`].
//! 2. **Typed events in order of time.** The same in [`Ordering::Time`]: [`Event::record`] gives every field of every known
//!    record, [`Event::sample`] single fields of a sample at memory speed. [`wire`] is the same without files.
//! 3. **A loop over all records.** [`Recording::for_each`]:
//!
//! ```
//! # fn main() -> perffile::Result<()> {
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/main/perf.data");
//! let recording = perffile::Recording::open(path)?;
//! let mut period = 0;
//! let issues = recording.for_each(|event| {
//!     if let Some(sample) = event.sample() {
//!         period += sample.period().unwrap_or(1);
//!     }
//! })?;
//! assert!(period > 0 && !issues.damaged());
//! # Ok(())
//! # }
//! ```
//!
//! A [`Batch`] owns what its events borrow: batches can be collected, sent to other threads, and held beside the
//! [`Metadata`], which is shared and immutable.
//!
//! ```
//! # fn main() -> perffile::Result<()> {
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/multi/perf.data");
//! use perffile::{Batch, Ordering, Recording};
//!
//! let recording = Recording::open(path)?;
//! let metadata = recording.metadata();
//! let batches: Vec<Batch> = recording.batches(Ordering::Time)?.collect();
//! let samples = std::thread::spawn(move || {
//!     batches.iter().flat_map(|batch| batch.iter()).filter(|event| event.sample().is_some()).count()
//! });
//! assert_eq!(metadata.schema.events().len(), 3);
//! assert!(samples.join().is_ok_and(|count| count > 0));
//! # Ok(())
//! # }
//! ```
//!
//! Bad input is a value: whatever can be read is read, and the rest is counted and placed in [`Issues`]. Only what cannot
//! be read at all is an [`Error`].

pub mod bytes;
mod container;
pub mod deferred;
mod delivery;
mod dialect;
mod error;
mod event;
pub mod event_name;
mod features;
mod id_table;
mod issue;
mod limits;
mod metadata;
mod order;
mod payload;
mod place;
mod record_index;
mod recording;
mod runs;
mod schema;
pub mod simpleperf;
mod tally;
pub mod tracepoint;
mod usable;
mod walk;
pub mod wire;
pub mod write;

pub use delivery::{Delivery, Share};
pub use dialect::Dialect;
pub use error::{Error, ErrorKind, Result};
pub use event::{Batch, Event};
pub use features::Features;
pub use issue::{Issue, IssueKind, Issues, Severity};
pub use limits::Limits;
pub use metadata::{Container, Metadata};
pub use order::Ordering;
pub use place::{Part, Place, RecordPlace};
pub use record_index::{RecordIndex, Run};
pub use recording::Recording;
pub use schema::{EventDescription, Schema};
pub use tally::{SampleRun, Tally};
pub use usable::{Unattributed, UsableSample};
pub use walk::Batches;
pub use wire::endian::ByteOrder;
