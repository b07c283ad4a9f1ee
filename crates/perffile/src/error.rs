//! What keeps a recording from being read at all. Whatever is less than that is an [`Issue`](crate::Issue).

use crate::place::Place;
use crate::wire::WireError;
use std::fmt;
use std::io;

/// Why a recording cannot be read, and at which place.
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    place: Option<Place>,
    source: Option<io::Error>,
}

/// What keeps a recording from being read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system reported an error.
    Io(String),
    /// It is empty.
    Empty,
    /// It is something else than a recording.
    NotPerfData(String),
    /// It ends before anything could be read.
    Cut(String),
    /// Its header contradicts itself.
    BadHeader(String),
    /// It is of a kind that this version does not read.
    Unsupported(String),
    /// The fields of a record cannot be decoded.
    Record(WireError),
    /// Something cannot be written in this format.
    Unwritable(String),
    /// A stream has been read before and cannot be read again.
    Consumed,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, place: Option<Place>) -> Self {
        Error(Box::new(Inner { kind, place, source: None }))
    }

    pub(crate) fn io(what: impl Into<String>, source: io::Error) -> Self {
        Error(Box::new(Inner { kind: ErrorKind::Io(what.into()), place: None, source: Some(source) }))
    }

    /// What keeps it from being read.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Where in the recording it was found, if anywhere.
    pub fn place(&self) -> Option<&Place> {
        self.0.place.as_ref()
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ErrorKind::Io(what) => f.write_str(what),
            ErrorKind::Empty => f.write_str("the file is empty"),
            ErrorKind::NotPerfData(what) => write!(f, "not a perf.data recording: {what}"),
            ErrorKind::Cut(what) => write!(f, "the file is cut: {what}"),
            ErrorKind::BadHeader(what) => write!(f, "bad header: {what}"),
            ErrorKind::Unsupported(what) => write!(f, "not supported: {what}"),
            ErrorKind::Record(error) => write!(f, "bad record: {error}"),
            ErrorKind::Unwritable(what) => write!(f, "cannot be written: {what}"),
            ErrorKind::Consumed => f.write_str("the stream has been read already"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0.kind, f)?;
        if let Some(source) = &self.0.source {
            write!(f, ": {source}")?;
        }
        match &self.0.place {
            Some(place) => write!(f, " ({place})"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|e| e as _)
    }
}

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;
