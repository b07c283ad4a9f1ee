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
//! use perffile::wire::attr::{EventAttr, SampleType};
//! use perffile::wire::record::{Record, comm::Comm, mmap::Mmap};
//! use perffile::wire::sample::{Sample, SampleId};
//! use perffile::wire::{CStr8, event_type::EventType, head::CpuMode};
//! use perffile::write::{Options, Writer};
//!
//! # let mut bytes = Vec::new();
//! # let out = std::io::Cursor::new(&mut bytes);
//! let mut writer = Writer::file(out, Options::default());
//! let sample_type = SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::PERIOD;
//! let attr = EventAttr { kind: EventType::SOFTWARE, sample_type, ..EventAttr::default() };
//! let event = writer.event(attr, &[1], "ticks");
//! let ((pid, tid), user, nowhere) = ((7, 7), CpuMode::User.misc(), SampleId::default());
//! writer.record(event, 0, Record::Comm(Comm { pid, tid, comm: CStr8::new(b"engine") }), &nowhere)?;
//! let filename = CStr8::new(b"/usr/bin/engine");
//! let mapping = Mmap { pid, tid, addr: 0x1000, len: 0x1000, pgoff: 0, filename };
//! writer.record(event, user, Record::Mmap(mapping), &nowhere)?;
//! for (time, ip) in [(1_000, 0x1010), (2_000, 0x1020)] {
//!     let (ip, time, period) = (Some(ip), Some(time), Some(1_000));
//!     let sample = Sample { ip, pid: Some(pid), tid: Some(tid), time, period, ..Sample::default() };
//!     writer.record(event, user, Record::Sample(sample), &nowhere)?;
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

mod compressor;
mod copy;
mod directory;
mod edit;
mod file;
mod gathered;
mod head;
mod parts;
mod pipe;
mod run;
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
pub use parts::RecordParts;
pub use pipe::PipeTarget;
pub use target::Target;
pub use writer::{Options, Writer};
