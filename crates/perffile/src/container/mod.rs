//! Where bytes become a recording: what kind it is, its events and features, and the streams its records lie in.
//!
//! Every kind is reduced to the same two things, [`Metadata`](crate::Metadata) and a list of [`Stream`]s; behind that
//! there is one path for all. Kinds are told by their content, never by their name.

pub mod event_name;
pub mod features;
pub(crate) mod file;
pub(crate) mod header;
pub(crate) mod pipe;

use crate::bytes::Bytes;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::Limits;
use crate::place::{Part, Place};
use crate::recording::Metadata;
use header::Magic;
use std::fmt;

/// The kinds of recordings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Container {
    /// A file with a header, tables and sections.
    #[default]
    File,
    /// A stream that can be written to a pipe; everything is a record.
    Pipe,
    /// A directory with a file and a stream per CPU.
    Directory,
}

impl fmt::Display for Container {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Container::File => "file",
            Container::Pipe => "pipe",
            Container::Directory => "directory",
        })
    }
}

/// A run of records.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    pub(crate) part: Part,
    /// File offset of the first record.
    pub(crate) offset: u64,
    pub(crate) bytes: Bytes,
}

/// A recording, ready to be walked.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) metadata: Metadata,
    pub(crate) streams: Vec<Stream>,
}

/// Finds out what the bytes are, and opens them as that.
pub(crate) fn open(bytes: &Bytes, limits: &Limits) -> Result<Opened> {
    if bytes.is_empty() {
        return Err(Error::new(ErrorKind::Empty, None));
    }
    match header::magic(bytes)? {
        Magic::File { version, order } => file::open(bytes, version, order, limits),
        Magic::Pipe { version, order } => Ok(pipe::open(bytes, version, order)),
    }
}

/// An error at a place of the file.
pub(crate) fn error_at(part: Part, offset: u64, kind: ErrorKind) -> Error {
    Error::new(kind, Some(Place::new(part, offset)))
}
