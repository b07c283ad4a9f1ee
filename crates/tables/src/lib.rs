//! A recording as tables: Arrow record batches, made when they are asked for.
//!
//! [`Table`] says which tables there are, and of which [`Column`]s: names, types, units, meaning. [`Tables::open`] reads a recording once, and
//! makes of it only what [`Wanted`] asks for; [`Tables::batches`] hands out the rows.
//!
//! Ids are hashes of what they stand for, and the same in every recording: tables of many recordings can be put side by side. An id is one
//! half of a hash of 128 bits; the tables of what has ids have the other half, too, so that a collision can be seen.
//!
//! ```
//! # fn main() -> Result<(), readperf_tables::Error> {
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/main/perf.data");
//! use readperf_tables::{Options, Table, Tables, Wanted};
//!
//! let (time, period) = (Table::Samples.column_index("time_ns"), Table::Samples.column_index("period"));
//! let columns: Vec<usize> = time.into_iter().chain(period).collect();
//! let wanted = Wanted::nothing().and(Table::Samples, Some(&columns));
//! let tables = Tables::open(path.as_ref(), &Options { wanted, ..Options::default() })?;
//! for batch in tables.batches(Table::Samples, Some(&columns), readperf_tables::BATCH_ROWS)? {
//!     assert_eq!(batch?.num_columns(), 2);
//! }
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod batches;
mod clock;
mod error;
mod field;
mod id;
mod made;
mod needs;
mod opened;
mod options;
mod schema;
mod source;
pub mod store;
mod tables;
mod wanted;
mod words;

pub use batches::{BATCH_ROWS, Batches};
pub use error::{Error, Result};
pub use id::Id;
pub use opened::Tables;
pub use options::Options;
pub use schema::{Column, ColumnType, SCHEMA_VERSION, Table};
pub use source::Source;
pub use wanted::Wanted;
