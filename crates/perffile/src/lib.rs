//! The Linux perf.data format.
pub mod bytes;
pub mod container;
mod dialect;
mod error;
mod event;
mod issue;
mod limits;
mod order;
mod place;
mod recording;
mod schema;
mod walk;
pub mod wire;

pub use container::Container;
pub use container::features::Features;
pub use dialect::Dialect;
pub use error::{Error, ErrorKind, Result};
pub use event::{Batch, Event};
pub use issue::{Issue, IssueKind, Issues, Severity};
pub use limits::Limits;
pub use order::Ordering;
pub use place::{Part, Place, RecordPlace};
pub use recording::{Metadata, Recording};
pub use schema::{EventDescription, Schema};
pub use walk::Batches;
