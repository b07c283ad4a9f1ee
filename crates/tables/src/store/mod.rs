//! A folder of tables: of each recording one part a table, `TABLE/[date=…/label=…/]part-ID.parquet`, where the id is that of its content.
//!
//! A part is written under another name and takes its place when all parts of its recording are complete; that of `profiles` comes last. A
//! recording is there if its part of `profiles` is: what an interrupted run leaves is written anew by the next one.

mod arrow_file;
mod parquet_file;
mod partition;

pub use partition::{Partition, PartitionError};

use crate::batches::BATCH_ROWS;
use crate::error::{Error, Result};
use crate::id::Id;
use crate::opened::Tables;
use crate::schema::Table;
use readperf_files::ScratchFile;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use walkdir::WalkDir;

/// What files of tables are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// Parquet.
    Parquet,
    /// Arrow's own format for files (IPC).
    Arrow,
}

impl FileFormat {
    /// All of them.
    pub const ALL: [FileFormat; 2] = [FileFormat::Parquet, FileFormat::Arrow];

    /// Its name, which is also the ending of its files.
    pub fn name(self) -> &'static str {
        match self {
            FileFormat::Parquet => "parquet",
            FileFormat::Arrow => "arrow",
        }
    }

    /// The format with this name, if there is one.
    pub fn by_name(name: &str) -> Option<FileFormat> {
        FileFormat::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Writes the rows of a table.
    fn write(self, tables: &Tables, table: Table, file: &File) -> Result<()> {
        let batches = tables.batches(table, None, BATCH_ROWS)?;
        match self {
            FileFormat::Parquet => parquet_file::write(table, batches, file),
            FileFormat::Arrow => arrow_file::write(batches, file),
        }
    }
}

/// Beginning of the names of files that are not complete yet; readers of a folder pass them over.
const SCRATCH: &str = ".readperf-";

/// Parts are for whoever may read the folder.
const PART_MODE: u32 = 0o666;

/// A folder of tables. Which recordings it has is found out once, when it is opened: a folder of thousands is not walked through for each
/// of them. A copy knows what is added through the other.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
    format: FileFormat,
    /// The parts of `profiles`, by name: paths within the folder of the table.
    parts: Arc<Mutex<BTreeMap<String, Vec<PathBuf>>>>,
}

impl Store {
    /// The tables in a folder. It is made if it is not there.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn open(folder: &Path, format: FileFormat) -> Result<Store> {
        fs::create_dir_all(folder).map_err(failed(folder))?;
        let mut parts: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
        for part in profile_parts(folder, format)? {
            if let Some(name) = part.file_name().map(|name| name.to_string_lossy().into_owned()) {
                parts.entry(name).or_default().push(part);
            }
        }
        Ok(Store { folder: folder.to_owned(), format, parts: Arc::new(Mutex::new(parts)) })
    }

    fn parts(&self) -> MutexGuard<'_, BTreeMap<String, Vec<PathBuf>>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a recording is there, by what was there when the folder was opened and what was added since.
    pub fn has(&self, profile_id: Id) -> bool {
        self.parts().contains_key(&self.part_name(profile_id))
    }

    /// Refuses a partition by other keys than those of the parts that are there: readers take the keys from the paths, and each part has to
    /// have all of them.
    ///
    /// # Errors
    /// Other keys.
    pub fn accept(&self, partition: &Partition) -> Result<()> {
        for part in self.parts().values().flatten() {
            let there = Partition::of_path(part);
            if !there.has_keys_of(partition) {
                let error = PartitionError { there, wanted: partition.clone() };
                return Err(Error::Partition { folder: self.folder.clone(), error: Box::new(error) });
            }
        }
        Ok(())
    }

    /// Adds the tables of a recording. Parts of the same one that are there, wherever, are replaced.
    ///
    /// # Errors
    /// What the operating system says; what Arrow or Parquet say of a table.
    pub fn add(&self, tables: &Tables, partition: &Partition) -> Result<Added> {
        let name = self.part_name(tables.profile_id());
        let mut added = Added::default();
        let mut parts = Vec::with_capacity(Table::ALL.len());
        for table in Table::ALL {
            let folder = self.folder.join(table.name()).join(partition.path());
            fs::create_dir_all(&folder).map_err(failed(&folder))?;
            let scratch = ScratchFile::with_mode(&folder, SCRATCH, PART_MODE).map_err(failed(&folder))?;
            self.format.write(tables, *table, scratch.as_file())?;
            let place = folder.join(&name);
            added.bytes += scratch.as_file().metadata().map_err(failed(&place))?.len();
            added.rows += tables.row_count(*table);
            parts.push((*table, scratch, place));
        }
        // What says that the recording is there comes last.
        parts.sort_by_key(|(table, ..)| *table == Table::Profiles);
        for (_, scratch, place) in parts {
            scratch.rename(&place).map_err(failed(&place))?;
        }
        let part = partition.path().join(&name);
        let old = self.parts().insert(name, vec![part.clone()]);
        for other in old.iter().flatten().filter(|other| **other != part) {
            self.remove(other)?;
        }
        Ok(added)
    }

    /// Removes the parts of a recording from a partition in which it is no longer.
    fn remove(&self, part: &Path) -> Result<()> {
        for table in Table::ALL {
            let path = self.folder.join(table.name()).join(part);
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(&path)(error)),
                _ => {}
            }
        }
        Ok(())
    }

    fn part_name(&self, profile_id: Id) -> String {
        format!("part-{}.{}", profile_id.hex(), self.format.name())
    }
}

/// What was added to a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// Rows of all tables.
    pub rows: usize,
    /// Bytes of all files.
    pub bytes: u64,
}

/// The parts of `profiles` in a folder: of each the partition it is in.
fn profile_parts(folder: &Path, format: FileFormat) -> Result<Vec<PathBuf>> {
    let root = folder.join(Table::Profiles.name());
    if !root.is_dir() {
        return Ok(Vec::new());
    }
    let mut parts = Vec::new();
    for entry in WalkDir::new(&root).sort_by_file_name() {
        let entry = entry.map_err(|error| {
            let path = error.path().unwrap_or(&root).to_owned();
            Error::Io { path, error: error.into() }
        })?;
        let name = entry.file_name().to_string_lossy();
        if entry.file_type().is_file() && name.starts_with("part-") && name.ends_with(format.name()) {
            let within = entry.path().strip_prefix(&root).unwrap_or(entry.path());
            parts.push(within.to_owned());
        }
    }
    Ok(parts)
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |error| Error::Io { path, error }
}
