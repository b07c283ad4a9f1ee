//! Recordings out: files, pipe streams and directories, in both byte orders, with or without compression.
//!
//! A [`Writer`] takes typed records, or the bytes of records, one after the other, and keeps none of them: what it holds is
//! the [`Head`], which says what is true of the whole recording (events, features). Where both go is decided by a [`Target`].
//! [`copy`](copy()) writes a recording that was read again, and lets an [`Edit`] choose and change its records.
//!
//! A program that is not perf makes a recording:
//!
//! ```
//! # fn main() -> perffile::Result<()> {
//! # let mut bytes = Vec::new();
//! # let out = std::io::Cursor::new(&mut bytes);
//! use perffile::write::{Options, OwnSample, Writer};
//!
//! let mut writer = Writer::file(out, Options::default()); // Where it goes: say, File::create("engine.data")?
//! let ticks = writer.own_event("ticks");
//! writer.own_thread(7, 7, "engine")?;
//! writer.own_mapping(7, 0x1000..0x2000, 0, "/usr/bin/engine")?;
//! for time_ns in [1_000, 2_000] {
//!     let stack = &[0x1010, 0x1080];
//!     writer.own_sample(ticks, OwnSample { pid: 7, tid: 7, time_ns, period: 1_000, stack })?;
//! }
//! writer.finish()?;
//!
//! # let recording = perffile::Recording::from_bytes(perffile::bytes::Bytes::new(bytes))?;
//! # let mut periods = 0;
//! # let issues = recording.for_each(|event| periods += event.sample().and_then(|sample| sample.period()).unwrap_or(0))?;
//! # assert!(issues.is_empty(), "{issues:?}");
//! # assert_eq!((periods, recording.metadata().schema.events()[0].name.as_str()), (2_000, "ticks"));
//! # Ok(())
//! # }
//! ```
//!
//! Any other event is told by [`Writer::event`], any record by [`Writer::record`], any feature by [`Writer::feature`].

mod compressor;
mod copy;
mod directory;
mod edit;
mod file;
mod gathered;
mod head;
mod own;
mod parts;
mod pipe;
mod run;
mod stretch;
mod target;
mod told;
mod writer;

pub use compressor::{CompressedRecords, Compression};
pub use copy::copy;
pub use directory::DirectoryTarget;
pub use edit::{Compressed, Copied, Edit, Fate, Unchanged};
pub use file::FileTarget;
pub use gathered::Gathered;
pub use head::{Head, WrittenEvent};
pub use own::OwnSample;
pub use parts::RecordParts;
pub use pipe::PipeTarget;
pub use target::Target;
pub use writer::{Options, Writer};
