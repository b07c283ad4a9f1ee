//! Directories: a file `data` with all that is said of the recording as a whole and what perf itself tells, and a file without
//! any header for each stream of records.
//!
//! It has no marks of finished rounds (FINISHED_ROUND): the streams are read one beside the other, and all records wait for the end.

use super::compressor::Compression;
use super::file::FileTarget;
use super::head::Head;
use super::run::Run;
use super::target::Target;
use crate::error::{Error, Result};
use crate::issue::Issues;
use crate::metadata::Container;
use crate::place::Part;
use crate::wire::attr::SampleShape;
use crate::wire::endian::{ByteOrder, Order, with_order};
use crate::wire::feature::dir_format::DirFormat;
use crate::wire::feature::{Feature, bit};
use crate::wire::head::{HEAD_SIZE, RecordHead};
use crate::wire::record::{Record, kind};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// How a directory says that it has a file for each stream.
const STREAMS: u64 = 1;

/// Most streams that a directory gets: a CPU number beyond is none.
pub(super) const MOST_STREAMS: u32 = 8192;

/// A directory.
#[derive(Debug)]
pub struct DirectoryTarget {
    path: PathBuf,
    order: ByteOrder,
    data: FileTarget<File>,
    streams: BTreeMap<u32, Run<File>>,
    compression: Option<Compression>,
    /// How many streams there have to be: some may have no record.
    count: u32,
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
            count: 0,
        })
    }

    /// Learns from the table of counters which streams there have to be.
    fn expect<O: Order>(&mut self, record: &[u8]) {
        let body = record.get(HEAD_SIZE..).unwrap_or_default();
        let decoded = Record::decode::<O>(kind::ID_INDEX, body, &SampleShape::default(), 0);
        let Ok((Record::IdIndex(index), _)) = decoded else { return };
        let numbers = index.entries.iter().filter_map(|entry| u32::try_from(entry.idx).ok());
        let count = numbers.filter(|number| *number < MOST_STREAMS).map(|number| number + 1).max();
        self.count = self.count.max(count.unwrap_or(0));
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
            return Ok(());
        }
        if head.kind == kind::ID_INDEX {
            with_order!(self.order, O => self.expect::<O>(record));
        }
        match part {
            Part::Stream(number) => self.stream(number)?.record(record, payload),
            _ => self.data.record(part, record, payload),
        }
    }

    fn finish(&mut self, head: &mut Head, issues: &mut Issues) -> Result<()> {
        // Of a recording of which nothing is left but what is said of it as a whole there are none.
        if !self.streams.is_empty() {
            (0..self.count).try_for_each(|number| self.stream(number).map(drop))?;
        }
        if !self.streams.is_empty() && !head.features.has(bit::DIR_FORMAT) {
            head.set(bit::DIR_FORMAT, Feature::DirFormat(DirFormat { version: STREAMS }))?;
        }
        self.streams.values_mut().try_for_each(Run::flush)?;
        self.data.finish(head, issues)
    }
}
