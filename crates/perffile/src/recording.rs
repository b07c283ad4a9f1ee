//! A recording: what is known of it as a whole, and the way to its records.

use crate::bytes::{Bytes, map_file};
use crate::container::features::Features;
use crate::container::{self, Container, Opened};
use crate::error::{Error, ErrorKind, Result};
use crate::event::Event;
use crate::issue::Issues;
use crate::limits::Limits;
use crate::order::Ordering;
use crate::schema::Schema;
use crate::walk::Batches;
use crate::wire::endian::ByteOrder;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// What is known of a recording as a whole. Shared and immutable: holding it does not keep anything from being read.
#[derive(Clone, Debug)]
pub struct Metadata {
    /// What kind it is.
    pub container: Container,
    /// 1 or 2.
    pub version: u8,
    /// Byte order of the machine that recorded.
    pub order: ByteOrder,
    /// Its events.
    pub schema: Arc<Schema>,
    /// Its header features.
    pub features: Arc<Features>,
    /// Whether it has compressed records.
    pub compressed: bool,
    /// What was wrong with it so far.
    pub issues: Issues,
}

/// A recording that has been opened.
#[derive(Debug)]
pub struct Recording {
    opened: Opened,
}

impl Recording {
    /// Opens the recording at a path. Files are mapped, not read.
    ///
    /// # Errors
    /// What the operating system says; a file that is no recording, or one that is cut before its first record.
    pub fn open(path: impl AsRef<Path>) -> Result<Recording> {
        let path = path.as_ref();
        let io = |error| Error::io(path.display().to_string(), error);
        let mut file = File::open(path).map_err(io)?;
        let kind = file.metadata().map_err(io)?;
        if kind.is_dir() {
            let inner = path.join("data");
            if !inner.is_file() {
                let what = format!("{} is a directory without a file `data`", path.display());
                return Err(Error::new(ErrorKind::NotPerfData(what), None));
            }
            return Recording::open(inner);
        }
        if !kind.is_file() {
            return Recording::from_reader(&mut file);
        }
        if kind.len() == 0 {
            return Err(Error::new(ErrorKind::Empty, None));
        }
        Recording::from_bytes(map_file(&file).map_err(io)?)
    }

    /// Opens a recording that is in memory.
    ///
    /// # Errors
    /// As [`Recording::open`].
    pub fn from_bytes(bytes: Bytes) -> Result<Recording> {
        Ok(Recording { opened: container::open(&bytes, &Limits::default())? })
    }

    /// Reads a recording to its end, and opens it.
    ///
    /// # Errors
    /// As [`Recording::open`].
    pub fn from_reader(mut reader: impl Read) -> Result<Recording> {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).map_err(|error| Error::io("reading", error))?;
        Recording::from_bytes(Bytes::new(bytes))
    }

    /// What is known before the first record. Of a pipe that is little: there see [`Batches::metadata`] on the way, or
    /// [`Recording::read_metadata`].
    pub fn metadata(&self) -> &Metadata {
        &self.opened.metadata
    }

    /// What is known when all records have been seen.
    pub fn read_metadata(&self) -> Metadata {
        let mut batches = self.batches(Ordering::File);
        batches.by_ref().for_each(drop);
        batches.metadata().clone()
    }

    /// The records, in batches that can be kept, collected and sent to other threads.
    pub fn batches(&self, ordering: Ordering) -> Batches {
        Batches::new(self.opened.metadata.clone(), self.opened.streams.clone(), ordering)
    }

    /// Calls `each` for every record in order of time, and says what was wrong on the way.
    pub fn for_each(&self, mut each: impl FnMut(&Event<'_>)) -> Issues {
        let mut batches = self.batches(Ordering::Time);
        for batch in batches.by_ref() {
            batch.iter().for_each(|event| each(&event));
        }
        batches.issues().clone()
    }
}
