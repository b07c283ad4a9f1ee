//! Directories: a file `data` with all that is said of the recording as a whole and what perf itself tells, and a file without
//! any header for each stream of records.

use super::compressor::Compression;
use super::file::FileTarget;
use super::head::Head;
use super::run::Run;
use super::target::{Target, tell_left_out};
use crate::error::{Error, Result};
use crate::issue::Issues;
use crate::metadata::Container;
use crate::place::{Part, Place};
use crate::wire::endian::{ByteOrder, with_order};
use crate::wire::feature::dir_format::DirFormat;
use crate::wire::feature::{Feature, bit};
use crate::wire::head::RecordHead;
use crate::wire::record::kind;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// How a directory says that it has a file for each stream.
const STREAMS: u64 = 1;

/// A directory.
#[derive(Debug)]
pub struct DirectoryTarget {
    path: PathBuf,
    order: ByteOrder,
    data: FileTarget<File>,
    streams: BTreeMap<u32, Run<File>>,
    compression: Option<Compression>,
    /// Marks of finished rounds: here all records wait for the end.
    rounds: u64,
}

impl DirectoryTarget {
    /// A directory that is there, and empty.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn new(path: &Path, order: ByteOrder) -> Result<DirectoryTarget> {
        Ok(DirectoryTarget {
            path: path.to_owned(),
            order,
            data: FileTarget::new(create(&path.join("data"))?, order),
            streams: BTreeMap::new(),
            compression: None,
            rounds: 0,
        })
    }

    fn stream(&mut self, number: u32) -> Result<&mut Run<File>> {
        use std::collections::btree_map::Entry;
        Ok(match self.streams.entry(number) {
            Entry::Occupied(stream) => stream.into_mut(),
            Entry::Vacant(place) => {
                let file = create(&self.path.join(format!("data.{number}")))?;
                let mut run = Run::new(file, self.order);
                run.compress(self.compression)?;
                place.insert(run)
            }
        })
    }
}

fn create(path: &Path) -> Result<File> {
    File::create_new(path).map_err(|error| Error::io(path.display().to_string(), error))
}

impl Target for DirectoryTarget {
    fn container(&self) -> Container {
        Container::Directory
    }

    fn begin(&mut self, head: &mut Head, issues: &mut Issues) -> Result<()> {
        self.data.begin(head, issues)
    }

    fn compress(&mut self, how: Option<Compression>) -> Result<()> {
        self.compression = how;
        self.data.compress(how)?;
        self.streams.values_mut().try_for_each(|stream| stream.compress(how))
    }

    fn record(&mut self, part: Part, record: &[u8], payload: &[u8]) -> Result<()> {
        let head = with_order!(self.order, O => RecordHead::read::<O>(record)).unwrap_or_default();
        if head.kind == kind::FINISHED_ROUND {
            self.rounds += 1;
            return Ok(());
        }
        match part {
            Part::Stream(number) => self.stream(number)?.record(record, payload),
            _ => self.data.record(part, record, payload),
        }
    }

    fn finish(&mut self, head: &mut Head, issues: &mut Issues) -> Result<()> {
        if self.rounds > 0 {
            let message = || "a directory has no marks of finished rounds".to_owned();
            tell_left_out(issues, Place::default(), self.rounds, message);
        }
        if !self.streams.is_empty() && !head.features.has(bit::DIR_FORMAT) {
            head.set(bit::DIR_FORMAT, Feature::DirFormat(DirFormat { version: STREAMS }))?;
        }
        self.streams.values_mut().try_for_each(Run::flush)?;
        self.data.finish(head, issues)
    }
}
