//! Exported folders: `DIR/TABLE/[date=…/service=…/]part-*.parquet`, on a disk or in an object store.

mod check;
mod local;
mod remote;

use crate::recording_exec::bare;
use crate::store::{Address, Stores};
use datafusion::arrow::datatypes::DataType;
use datafusion::catalog::Session;
use datafusion::common::{exec_err, plan_err};
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig};
use datafusion::error::Result;
use readperf_tables::Table;
use remote::Objects;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What partition columns hold.
pub(crate) fn partition_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// The tables of a folder.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    /// Its path, or its address.
    pub(crate) path: PathBuf,
    /// The ids of its recordings, in hex: the part of `profiles` is written when all others are there.
    pub(crate) recordings: BTreeSet<String>,
    /// What is in it, if it is in an object store.
    objects: Option<Objects>,
}

impl Folder {
    /// A folder in which there are tables.
    pub(crate) async fn open(path: &Path, stores: &Stores) -> Result<Folder> {
        let objects = match Address::of(path)? {
            Some(address) => Some(Objects::list(address, stores).await?),
            None => None,
        };
        let mut folder = Folder { path: path.to_owned(), recordings: BTreeSet::new(), objects };
        let profiles = folder.files(Table::Profiles)?;
        if profiles.is_empty() {
            return plan_err!("{}: no recordings (profiles/part-*.parquet) are here", path.display());
        }
        folder.recordings = profiles.iter().filter_map(|file| recording(file)).map(str::to_owned).collect();
        Ok(folder)
    }

    /// The files of a table, in the order of their names.
    fn files(&self, table: Table) -> Result<Vec<PathBuf>> {
        let folder = self.path.join(table.name());
        match &self.objects {
            Some(objects) => Ok(objects.below(&folder)),
            None => local::parquet_files(&folder),
        }
    }

    /// The names in the folders of a table, from the outermost on.
    pub(crate) fn partitions(&self, table: Table) -> Result<Vec<String>> {
        let folder = self.path.join(table.name());
        let mut known: Option<Vec<String>> = None;
        for file in self.files(table)? {
            let named = partitions_of(&file, &folder);
            match &known {
                Some(others) if *others != named => {
                    return plan_err!(
                        "{}: it lies in folders for {named:?}, other files of the table in folders for {others:?}",
                        file.display()
                    );
                }
                _ => known = Some(named),
            }
        }
        Ok(known.unwrap_or_default())
    }

    /// The files of a table as a table of DataFusion, if there are any. Its columns: those of the table, then the partitions.
    pub(crate) async fn table(&self, table: Table, state: &dyn Session) -> Result<Option<ListingTable>> {
        let files = self.files(table)?;
        if files.is_empty() {
            return Ok(None);
        }
        for file in &files {
            if recording(file).is_some_and(|id| !self.recordings.contains(id)) {
                return exec_err!(
                    "{}: its export is under way, or was interrupted: the same command completes it",
                    file.display()
                );
            }
        }
        let url = match &self.objects {
            Some(objects) => {
                objects.check(table, state).await?;
                objects.url(table)?
            }
            None => {
                files.iter().try_for_each(|file| local::check(file, table))?;
                local::url(&self.path.join(table.name()))?
            }
        };
        let partitions = self.partitions(table)?.into_iter().map(|name| (name, partition_type())).collect();
        let options = ListingOptions::new(Arc::new(ParquetFormat::default()))
            .with_file_extension(".parquet")
            .with_table_partition_cols(partitions);
        let config =
            ListingTableConfig::new(url).with_listing_options(options).with_schema(bare(&table.schema()));
        ListingTable::try_new(config).map(Some)
    }
}

/// The id of the recording that a part is of; other tools that put parts together call them otherwise.
fn recording(file: &Path) -> Option<&str> {
    let id = file.file_stem()?.to_str()?.strip_prefix("part-")?;
    (id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(id)
}

/// The names of the folders between a table and a file.
fn partitions_of(file: &Path, folder: &Path) -> Vec<String> {
    let inner = file.strip_prefix(folder).unwrap_or(file).parent();
    let names = inner.into_iter().flat_map(Path::components);
    names.filter_map(|name| Some(name.as_os_str().to_str()?.split_once('=')?.0.to_owned())).collect()
}
