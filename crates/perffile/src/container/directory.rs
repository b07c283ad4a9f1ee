//! Directories: `perf record --threads` writes a file `data` with everything but the samples, and a stream of records
//! without any header per thread, `data.0`, `data.1`, …; `--kcore` puts `kcore_dir` beside `data`, and
//! what is merged from guests `kcore_dir__PID`.

use super::opened::Opened;
use super::opened_file::OpenedFile;
use super::stream::{Source, Stream};
use crate::bytes::{Bytes, map_file};
use crate::error::{Error, ErrorKind, Result};
use crate::issue::{IssueKind, Issues};
use crate::limits::Limits;
use crate::metadata::Container;
use crate::place::{Part, Place};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How the file `data` is opened.
type OpenFile = fn(&Path, &Limits) -> Result<Opened>;

/// Opens the directory at this path.
pub(crate) fn open(path: &Path, limits: &Limits, open_file: OpenFile) -> Result<Opened> {
    let main = path.join("data");
    if !main.is_file() {
        let what = "a directory without a file `data`".to_owned();
        return Err(Error::new(ErrorKind::NotPerfData(what), None));
    }
    let mut opened = open_file(&main, limits)?;
    opened.metadata.container = Container::Directory;
    // A wrapper around `data` is none around the others.
    opened.wrapper_bytes = None;
    let kcore_dir = path.join("kcore_dir");
    opened.metadata.kcore_dir = kcore_dir.is_dir().then_some(kcore_dir);
    opened.metadata.guest_kcore_dirs =
        numbered(path, "kcore_dir__")?.into_iter().filter(|(_, path)| path.is_dir()).collect();
    for (number, path) in numbered(path, "data.")? {
        match stream(number, &path)? {
            Some(stream) => opened.streams.push(stream),
            None => tell_missing(&mut opened.metadata.issues, number, "is no file"),
        }
    }
    Ok(opened)
}

/// The records of a file. A thread that recorded nothing leaves an empty one, which cannot be mapped; and what is no file at
/// all, as a named pipe, might never open.
fn stream(number: u32, path: &Path) -> Result<Option<Stream>> {
    let io = |error| Error::io(path.display().to_string(), error);
    let kind = match std::fs::metadata(path) {
        // A link to nothing.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        kind => kind.map_err(io)?,
    };
    if !kind.is_file() {
        return Ok(None);
    }
    let file = File::open(path).map_err(io)?;
    let bytes = match kind.len() {
        0 => Bytes::default(),
        _ => map_file(&file).map_err(io)?,
    };
    let file = Some(Arc::new(OpenedFile::new(file, path, &kind, bytes.len())));
    Ok(Some(Stream { part: Part::Stream(number), offset: 0, source: Source::File(bytes), file }))
}

/// Tells that the records of a file are lost.
pub(crate) fn tell_missing(issues: &mut Issues, number: u32, how: &str) {
    let place = Place::new(Part::Stream(number), 0);
    issues.add(IssueKind::MissingStream, place, || {
        format!("the file data.{number} {how}: its records are lost")
    });
}

/// What lies in a directory under this name with a number behind it, by number.
fn numbered(directory: &Path, name: &str) -> Result<Vec<(u32, PathBuf)>> {
    let io = |error| Error::io(directory.display().to_string(), error);
    let mut found = Vec::new();
    for entry in directory.read_dir().map_err(io)? {
        let path = entry.map_err(io)?.path();
        let number = path.file_name().and_then(|told| told.to_str()?.strip_prefix(name)?.parse().ok());
        found.extend(number.map(|number| (number, path)));
    }
    found.sort();
    Ok(found)
}
