//! What every kind of recording is reduced to.

use super::stream::Stream;
use crate::error::{Error, ErrorKind};
use crate::metadata::Metadata;
use crate::place::{Part, Place};

/// A recording, ready to be walked.
#[derive(Clone, Debug)]
pub(crate) struct Opened {
    pub(crate) metadata: Metadata,
    pub(crate) streams: Vec<Stream>,
    /// Of what was in a wrapper, the size of that.
    pub(crate) wrapper_bytes: Option<u64>,
}

/// An error at a place of the file.
pub(crate) fn error_at(part: Part, offset: u64, kind: ErrorKind) -> Error {
    Error::new(kind, Some(Place::new(part, offset)))
}
