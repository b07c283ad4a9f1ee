//! A recording: what is known of it as a whole, and the way to its records.

use crate::bytes::Bytes;
use crate::container::{self, opened::Opened, stream::Source};
use crate::error::{Error, ErrorKind, Result};
use crate::event::Event;
use crate::issue::{IssueKind, Issues};
use crate::limits::Limits;
use crate::metadata::{Container, Metadata};
use crate::order::Ordering;
use crate::walk::Batches;
use crate::wire::endian::ByteOrder;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// A recording that has been opened.
#[derive(Debug)]
pub struct Recording {
    opened: Opened,
    limits: Limits,
}

impl Recording {
    /// Opens the recording at a path: a file of any kind, a directory, a named pipe. The records of a file are read in pieces;
    /// the rest of it is mapped.
    ///
    /// # Errors
    /// What the operating system says; a file that is no recording, or one that is cut before its first record.
    pub fn open(path: impl AsRef<Path>) -> Result<Recording> {
        Recording::open_with(path, Limits::default())
    }

    /// Opens the recording at a path, within limits.
    ///
    /// # Errors
    /// As [`Recording::open`].
    pub fn open_with(path: impl AsRef<Path>, limits: Limits) -> Result<Recording> {
        Ok(Recording { opened: container::open_path(path.as_ref(), &limits)?, limits })
    }

    /// Opens a recording that is in memory.
    ///
    /// # Errors
    /// As [`Recording::open`].
    pub fn from_bytes(bytes: Bytes) -> Result<Recording> {
        Recording::from_bytes_with(&bytes, Limits::default())
    }

    /// Opens a recording that is in memory, within limits.
    ///
    /// # Errors
    /// As [`Recording::open`].
    pub fn from_bytes_with(bytes: &Bytes, limits: Limits) -> Result<Recording> {
        Ok(Recording { opened: container::open_bytes(bytes, &limits)?, limits })
    }

    /// Opens a recording that arrives as a stream. A recording in pipe mode is read as it comes, and once only; other kinds are first written to
    /// a temporary file without a name.
    ///
    /// # Errors
    /// As [`Recording::open`].
    pub fn from_reader(reader: impl Read + Send + 'static) -> Result<Recording> {
        Recording::from_reader_with(reader, Limits::default())
    }

    /// Opens a recording that arrives as a stream, within limits.
    ///
    /// # Errors
    /// As [`Recording::open`].
    pub fn from_reader_with(reader: impl Read + Send + 'static, limits: Limits) -> Result<Recording> {
        Ok(Recording { opened: container::open_reader(reader, &limits)?, limits })
    }

    /// Opens a recording in a file that has been opened, as standard input may be: mapped where it can be, else as it comes.
    /// `name` is what errors call it.
    ///
    /// # Errors
    /// As [`Recording::open`].
    pub fn from_file(file: File, name: &str, limits: Limits) -> Result<Recording> {
        Ok(Recording { opened: container::open_opened(file, name, &limits)?, limits })
    }

    /// An empty recording in place of bytes that are none: no event, no record, and an issue that says why. For programs whose answer
    /// has its usual form even then. `None` for errors that are not about the bytes.
    pub fn nothing(error: &Error) -> Option<Recording> {
        if matches!(error.kind(), ErrorKind::Io(_) | ErrorKind::Consumed) {
            return None;
        }
        let mut issues = Issues::default();
        let place = error.place().copied().unwrap_or_default();
        issues.add(IssueKind::NotARecording, place, || error.kind().to_string());
        let metadata = Metadata {
            container: Container::File,
            version: 0,
            order: ByteOrder::Little,
            schema: Arc::default(),
            features: Arc::default(),
            compressed: false,
            kcore_dir: None,
            guest_kcore_dirs: Vec::new(),
            issues,
        };
        let opened = Opened { metadata, streams: Vec::new(), wrapper_bytes: None };
        Some(Recording { opened, limits: Limits::default() })
    }

    /// What is known before the first record. Of a pipe that is little: there see [`Batches::metadata`] on the way, or
    /// [`Recording::read_metadata`].
    pub fn metadata(&self) -> &Metadata {
        &self.opened.metadata
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Whether it arrives as a stream, and can be read only once.
    pub fn is_stream(&self) -> bool {
        self.opened.streams.iter().any(|stream| matches!(stream.source, Source::Reader(_)))
    }

    /// The same recording, to be read as often as is wanted: one that arrives as a stream is written to a temporary file without a
    /// name.
    ///
    /// # Errors
    /// A stream that has been read already; one that is longer than [`Limits::spooled_bytes`]; what the operating system says.
    pub fn spooled(mut self) -> Result<Recording> {
        for stream in &mut self.opened.streams {
            stream.source = stream.source.spooled(&self.limits)?;
        }
        Ok(self)
    }

    /// How many bytes its records take where they lie, compressed or not; 0 where that is not known, as of a pipe.
    pub fn data_bytes(&self) -> u64 {
        self.opened.streams.iter().map(|stream| stream.source.len()).sum()
    }

    /// The folder with the recorder's copy of the kernel (`kcore`, `kallsyms`, `modules`) in a directory that was made by
    /// `perf record --kcore`.
    pub fn kcore_dir(&self) -> Option<&Path> {
        self.opened.metadata.kcore_dir.as_deref()
    }

    /// What is known when all records have been seen.
    ///
    /// # Errors
    /// A stream that has been read already.
    pub fn read_metadata(&self) -> Result<Metadata> {
        let mut batches = self.batches(Ordering::File)?;
        batches.by_ref().for_each(drop);
        Ok(batches.metadata().clone())
    }

    /// The records, in batches that can be kept, collected and sent to other threads.
    ///
    /// # Errors
    /// A stream that has been read already.
    pub fn batches(&self, ordering: Ordering) -> Result<Batches> {
        Batches::new(&self.opened, ordering, &self.limits, false)
    }

    /// The same, to be kept: what lies in a file takes no memory.
    pub(crate) fn kept_batches(&self, ordering: Ordering) -> Result<Batches> {
        Batches::new(&self.opened, ordering, &self.limits, true)
    }

    /// Calls `each` for every record in order of time, and says what was wrong on the way.
    ///
    /// # Errors
    /// A stream that has been read already.
    pub fn for_each(&self, mut each: impl FnMut(&Event<'_>)) -> Result<Issues> {
        let mut batches = self.batches(Ordering::Time)?;
        for batch in batches.by_ref() {
            batch.iter().for_each(|event| each(&event));
        }
        Ok(batches.issues().clone())
    }
}
