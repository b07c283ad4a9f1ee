//! Where bytes become a recording: what kind it is, its events and features, and the streams its records lie in.
//!
//! Every kind is reduced to the same two things, [`crate::Metadata`] and a list of streams; behind that
//! there is one path for all. Kinds are told by their content, never by their name.

pub(crate) mod directory;
pub mod event_name;
pub mod features;
pub(crate) mod file;
pub(crate) mod file_size;
pub(crate) mod header;
pub(crate) mod pipe;
pub(crate) mod stream;
pub(crate) mod wrapped;

use crate::bytes::{Bytes, map_file};
use crate::error::{Error, ErrorKind, Result};
use crate::issue::IssueKind;
use crate::limits::Limits;
use crate::place::{Part, Place};
use crate::recording::Metadata;
use file_size::FileSize;
use header::Magic;
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use stream::{Source, Stream};
use wrapped::Unpacked;

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

/// A recording, ready to be walked.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) metadata: Metadata,
    pub(crate) streams: Vec<Stream>,
}

/// Opens what lies at a path.
pub(crate) fn open_path(path: &Path, limits: &Limits) -> Result<Opened> {
    let kind = std::fs::metadata(path).map_err(|error| Error::io(path.display().to_string(), error))?;
    if kind.is_dir() { directory::open(path, limits) } else { open_file(path, limits) }
}

/// Opens a file; mapped, if it can be.
fn open_file(path: &Path, limits: &Limits) -> Result<Opened> {
    let io = |error| Error::io(path.display().to_string(), error);
    let file = File::open(path).map_err(io)?;
    let kind = file.metadata().map_err(io)?;
    if !kind.is_file() {
        return open_reader(file, limits);
    }
    if kind.len() == 0 {
        return Err(Error::new(ErrorKind::Empty, None));
    }
    let bytes = map_file(&file).map_err(io)?;
    let size = Arc::new(FileSize::new(path, &kind, bytes.len()));
    let mut opened = open_bytes(&bytes, limits)?;
    opened.streams.iter_mut().for_each(|stream| stream.file = Some(Arc::clone(&size)));
    Ok(opened)
}

/// Opens bytes that are all there.
pub(crate) fn open_bytes(bytes: &Bytes, limits: &Limits) -> Result<Opened> {
    if let Some(wrapper) = wrapped::wrapper(bytes) {
        let Some(wrappers) = limits.wrappers.checked_sub(1) else {
            let what = "there is a wrapper in each of its wrappers".to_owned();
            return Err(Error::new(ErrorKind::NotPerfData(what), None));
        };
        return open_unpacked(wrapper.unpack(&**bytes, limits)?, &Limits { wrappers, ..limits.clone() });
    }
    if bytes.is_empty() {
        return Err(Error::new(ErrorKind::Empty, None));
    }
    match header::magic(bytes)? {
        Magic::File { version, order } => file::open(bytes, version, order, limits),
        Magic::Pipe { version, order } => {
            let records = bytes.slice(pipe::HEADER_SIZE..bytes.len());
            Ok(pipe::open(Source::Bytes(records), version, order))
        }
    }
}

fn open_unpacked(unpacked: Unpacked, limits: &Limits) -> Result<Opened> {
    let mut opened = open_bytes(&unpacked.bytes, limits).map_err(|error| match &unpacked.cut {
        Some(cut) => Error::new(ErrorKind::Cut(cut.clone()), error.place().copied()),
        None => error,
    })?;
    if let Some(cut) = unpacked.cut {
        let place = Place::new(Part::Data, unpacked.bytes.len() as u64);
        opened.metadata.issues.add(IssueKind::CutData, place, || cut);
    }
    Ok(opened)
}

/// Opens bytes that arrive. A pipe stream is read as it comes; all else has to be there as a whole first.
pub(crate) fn open_reader(mut reader: impl Read + Send + 'static, limits: &Limits) -> Result<Opened> {
    let mut start = Vec::with_capacity(pipe::HEADER_SIZE);
    let size = pipe::HEADER_SIZE as u64;
    reader.by_ref().take(size).read_to_end(&mut start).map_err(|error| Error::io("reading", error))?;
    if let Ok(Magic::Pipe { version, order }) = header::magic(&start) {
        return Ok(pipe::open(Source::reader(reader), version, order));
    }
    open_bytes(&wrapped::spool(start.chain(reader))?, limits)
}

/// An error at a place of the file.
pub(crate) fn error_at(part: Part, offset: u64, kind: ErrorKind) -> Error {
    Error::new(kind, Some(Place::new(part, offset)))
}
