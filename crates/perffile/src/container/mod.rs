//! Where bytes become a recording: what kind it is, its events and features, and the streams its records lie in.
//!
//! Every kind is reduced to the same two things, [`crate::Metadata`] and a list of streams; behind that
//! there is one path for all. The kind follows from the content, never from a file name.

pub(crate) mod directory;
pub(crate) mod file;
pub(crate) mod header;
pub(crate) mod opened;
pub(crate) mod opened_file;
pub(crate) mod pieces;
pub(crate) mod pipe;
pub(crate) mod stream;
pub(crate) mod wrapped;

use crate::bytes::{Bytes, map_file};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::Limits;
use crate::place::{Part, Place};
use header::Magic;
use opened::Opened;
use opened_file::OpenedFile;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Seek};
use std::path::Path;
use std::sync::Arc;
use stream::Source;
use wrapped::{Unpacked, Wrapper};

/// Opens what lies at a path.
pub(crate) fn open_path(path: &Path, limits: &Limits) -> Result<Opened> {
    let kind = std::fs::metadata(path).map_err(|error| Error::io(path.display().to_string(), error))?;
    if kind.is_dir() { directory::open(path, limits, open_file) } else { open_file(path, limits) }
}

/// How much of what arrives is looked at before anything is done with it.
const FIRST_BYTES: usize = 512;

/// Opens the file at a path.
fn open_file(path: &Path, limits: &Limits) -> Result<Opened> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error| Error::io(&name, error))?;
    open_opened(file, &name, limits)
}

/// Opens a file that is open already. A regular file at its beginning is mapped; a pipe, a socket or a device is read as a stream.
pub(crate) fn open_opened(mut file: File, name: &str, limits: &Limits) -> Result<Opened> {
    let io = |error| Error::io(name, error);
    let kind = file.metadata().map_err(io)?;
    if file.is_terminal() {
        return Err(Error::new(ErrorKind::NotPerfData("this is a terminal".to_owned()), None));
    }
    if !kind.is_file() || file.stream_position().map_err(io)? != 0 {
        return open_reader(file, limits);
    }
    if kind.len() == 0 {
        return Err(Error::new(ErrorKind::Empty, None));
    }
    let bytes = map_file(&file).map_err(io)?;
    let file = Arc::new(OpenedFile::new(file, Path::new(name), &kind, bytes.len()));
    let mut opened = open_bytes(&bytes, limits)?;
    let is_wrapped = opened.wrapper_bytes.is_some();
    opened.streams.iter_mut().for_each(|stream| stream.lies_in(&file, is_wrapped));
    Ok(opened)
}

/// Opens bytes that are all there.
pub(crate) fn open_bytes(bytes: &Bytes, limits: &Limits) -> Result<Opened> {
    if let Some(wrapper) = wrapped::wrapper(bytes) {
        return open_wrapped(wrapper, &**bytes, limits);
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

/// Opens what is in a wrapper.
fn open_wrapped(wrapper: &Wrapper, input: impl Read, limits: &Limits) -> Result<Opened> {
    let Some(wrappers) = limits.wrappers.checked_sub(1) else {
        let what = "there is a wrapper in each of its wrappers".to_owned();
        return Err(Error::new(ErrorKind::NotPerfData(what), None));
    };
    let Unpacked { bytes, taken, cut } = wrapper.unpack(input, limits)?;
    let inner = open_bytes(&bytes, &Limits { wrappers, ..limits.clone() });
    let inner = inner.map(|opened| Opened { wrapper_bytes: Some(taken), ..opened });
    let Some((kind, why)) = cut else { return inner };
    let mut opened =
        inner.map_err(|error| Error::new(ErrorKind::Cut(why.clone()), error.place().copied()))?;
    let place = Place::new(Part::Data, bytes.len() as u64);
    opened.metadata.issues.add(kind, place, || why);
    Ok(opened)
}

/// Opens bytes that arrive. A pipe stream is read as it comes; all else that can be a recording has to be there as a whole
/// first. What cannot is refused by its first bytes: it may have no end.
pub(crate) fn open_reader(mut reader: impl Read + Send + 'static, limits: &Limits) -> Result<Opened> {
    let mut start = Vec::with_capacity(FIRST_BYTES);
    let mut read_up_to = |size: usize, start: &mut Vec<u8>| {
        let outcome = reader.by_ref().take((size - start.len()) as u64).read_to_end(start);
        outcome.map_err(|error| Error::io("reading", error))
    };
    // Of a live stream more may be long in coming.
    read_up_to(pipe::HEADER_SIZE, &mut start)?;
    if let Ok(Magic::Pipe { version, order }) = header::magic(&start) {
        return Ok(pipe::open(Source::reader(reader), version, order));
    }
    read_up_to(FIRST_BYTES, &mut start)?;
    if start.is_empty() {
        return Err(Error::new(ErrorKind::Empty, None));
    }
    let wrapper = wrapped::wrapper(&start);
    if wrapper.is_none() {
        header::magic(&start)?;
    }
    let whole = io::Cursor::new(start).chain(reader);
    match wrapper {
        Some(wrapper) => open_wrapped(wrapper, whole, limits),
        None => open_bytes(&wrapped::spool(whole, limits)?, limits),
    }
}
