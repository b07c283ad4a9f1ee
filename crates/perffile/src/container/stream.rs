//! A run of records, and where its bytes come from: all there, or as they arrive.

use super::opened_file::OpenedFile;
use super::pieces::{MAPPED_BYTES, PieceMemory, Pieces};
use crate::bytes::Bytes;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::Limits;
use crate::place::Part;
use std::fmt;
use std::io::{self, Read};
use std::sync::{Arc, Mutex};

/// Longest chunk of bytes that are all there: positions in it are 32 bits wide.
const CHUNK_BYTES: usize = 1 << 30;

/// How much is read at a time of bytes that arrive.
const READ_BYTES: usize = 1 << 20;

type Reader = Box<dyn Read + Send>;

/// A run of records.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    pub(crate) part: Part,
    /// File offset of the first record.
    pub(crate) offset: u64,
    pub(crate) source: Source,
    /// The file that it lies in, if it is one.
    pub(crate) file: Option<Arc<OpenedFile>>,
}

impl Stream {
    /// It was opened in this file; in a wrapper, if that is one.
    pub(super) fn lies_in(&mut self, file: &Arc<OpenedFile>, is_wrapped: bool) {
        self.file = Some(Arc::clone(file));
        if let (Source::Bytes(bytes), false) = (&self.source, is_wrapped) {
            self.source = Source::File(bytes.clone());
        }
    }

    /// The bytes, to be walked. Those of a file are read in pieces, if there is memory for some.
    pub(crate) fn feed(&self, memory: Option<&Arc<PieceMemory>>) -> Result<Feed> {
        let (bytes, pieces) = match &self.source {
            Source::Bytes(bytes) => (bytes, None),
            Source::File(bytes) => {
                let size = bytes.len() as u64;
                let read_from = self.file.as_ref().zip(memory);
                let pieces = read_from.map(|(file, memory)| {
                    Pieces::new(Arc::clone(file), self.offset, size, Arc::clone(memory))
                });
                (bytes, pieces)
            }
            Source::Reader(slot) => {
                return Ok(Feed::Reader { reader: taken(slot)?, ended: false, failed: None });
            }
        };
        Ok(Feed::Bytes { bytes: bytes.clone(), pieces })
    }
}

/// Where the bytes of a stream come from.
#[derive(Clone)]
pub(crate) enum Source {
    /// All there.
    Bytes(Bytes),
    /// All there, mapped from the file that the stream lies in.
    File(Bytes),
    /// They arrive, once.
    Reader(Arc<Mutex<Option<Reader>>>),
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Bytes(bytes) | Source::File(bytes) => fmt::Debug::fmt(bytes, f),
            Source::Reader(_) => f.write_str("Reader"),
        }
    }
}

impl Source {
    pub(crate) fn reader(reader: impl Read + Send + 'static) -> Source {
        Source::Reader(Arc::new(Mutex::new(Some(Box::new(reader)))))
    }

    /// Bytes in all, where that is known.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Source::Bytes(bytes) | Source::File(bytes) => bytes.len() as u64,
            Source::Reader(_) => 0,
        }
    }

    /// The same with all bytes there: those that would arrive are written to a temporary file.
    pub(crate) fn spooled(&self, limits: &Limits) -> Result<Source> {
        match self {
            Source::Bytes(_) | Source::File(_) => Ok(self.clone()),
            Source::Reader(slot) => super::wrapped::spool(taken(slot)?, limits).map(Source::Bytes),
        }
    }
}

/// The reader, which is there once.
fn taken(slot: &Mutex<Option<Reader>>) -> Result<Reader> {
    let reader = slot.lock().ok().and_then(|mut slot| slot.take());
    reader.ok_or_else(|| Error::new(ErrorKind::Consumed, None))
}

/// Some bytes of a stream.
pub(crate) struct Fed {
    pub(crate) bytes: Bytes,
    /// Whether they were read just now, and so are in the cache of the CPU.
    pub(crate) is_near: bool,
}

/// The bytes of a stream on their way.
pub(crate) enum Feed {
    /// All there. They are read in pieces, if there are any.
    Bytes {
        bytes: Bytes,
        pieces: Option<Pieces>,
    },
    Reader {
        reader: Reader,
        ended: bool,
        failed: Option<io::Error>,
    },
}

impl fmt::Debug for Feed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Feed::Bytes { .. } => "Bytes",
            Feed::Reader { .. } => "Reader",
        })
    }
}

impl Feed {
    /// The next chunk: it begins at offset `start` of the stream with what is left of the one before.
    pub(crate) fn chunk(&mut self, start: u64, left: &[u8]) -> Fed {
        match self {
            Feed::Bytes { bytes, pieces } => {
                if let Some(bytes) = pieces.as_mut().and_then(|pieces| pieces.read(start, left.len())) {
                    return Fed { bytes, is_near: true };
                }
                let start = usize::try_from(start).unwrap_or(usize::MAX);
                let usual = if pieces.is_some() { MAPPED_BYTES } else { CHUNK_BYTES };
                // A record with a long payload may need more than the chunk before had.
                let size = usual.max(left.len().saturating_mul(2));
                Fed { bytes: bytes.slice(start..start.saturating_add(size)), is_near: false }
            }
            Feed::Reader { reader, ended, failed } => {
                let want = left.len().saturating_add(READ_BYTES.max(left.len()));
                let mut chunk = Vec::with_capacity(want);
                chunk.extend_from_slice(left);
                let mut limited = reader.by_ref().take((want - left.len()) as u64);
                if let Err(error) = limited.read_to_end(&mut chunk) {
                    *failed = Some(error);
                    *ended = true;
                }
                *ended |= limited.limit() > 0;
                Fed { bytes: Bytes::new(chunk), is_near: true }
            }
        }
    }

    /// Whether the bytes arrive.
    pub(crate) fn is_reader(&self) -> bool {
        matches!(self, Feed::Reader { .. })
    }

    /// Passes over bytes that have not arrived yet; how many there were.
    pub(crate) fn pass_over(&mut self, count: u64) -> u64 {
        let Feed::Reader { reader, ended, failed } = self else { return 0 };
        let outcome = io::copy(&mut reader.by_ref().take(count), &mut io::sink());
        let passed = outcome.unwrap_or_else(|error| {
            *failed = Some(error);
            0
        });
        *ended |= passed < count;
        passed
    }

    /// Whether nothing comes behind a chunk that ends at this offset of the stream.
    pub(crate) fn ends_at(&self, offset: u64) -> bool {
        match self {
            Feed::Bytes { bytes, pieces } => {
                offset >= pieces.as_ref().map_or(bytes.len() as u64, |pieces| pieces.end)
            }
            Feed::Reader { ended, .. } => *ended,
        }
    }

    /// What kept the bytes from arriving.
    pub(crate) fn failure(&mut self) -> Option<io::Error> {
        match self {
            Feed::Bytes { .. } => None,
            Feed::Reader { failed, .. } => failed.take(),
        }
    }
}
