//! Exported folders: `DIR/TABLE/[date=…/service=…/]part-*.parquet`.

use crate::recording_exec::bare;
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::common::{exec_datafusion_err, exec_err, plan_err};
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::error::Result;
use datafusion::parquet::arrow::parquet_to_arrow_schema;
use datafusion::parquet::file::reader::{FileReader as _, SerializedFileReader};
use readperf_tables::{SCHEMA_VERSION, Table};
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What partition columns hold.
pub(crate) fn partition_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// The tables of a folder.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    /// The ids of its recordings, in hex: the part of `profiles` is written when all others are there.
    pub(crate) recordings: BTreeSet<String>,
}

impl Folder {
    /// A folder in which there are tables.
    pub(crate) fn open(path: &Path) -> Result<Folder> {
        let profiles = parquet_files(&path.join(Table::Profiles.name()))?;
        if profiles.is_empty() {
            return plan_err!("{}: no recordings (profiles/part-*.parquet) are here", path.display());
        }
        let recordings = profiles.iter().filter_map(|file| recording(file)).map(str::to_owned).collect();
        Ok(Folder { path: path.to_owned(), recordings })
    }

    /// The names in the folders of a table, from the outermost on.
    pub(crate) fn partitions(&self, table: Table) -> Result<Vec<String>> {
        let folder = self.path.join(table.name());
        let mut known: Option<Vec<String>> = None;
        for file in parquet_files(&folder)? {
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
    pub(crate) fn table(&self, table: Table) -> Result<Option<ListingTable>> {
        let folder = self.path.join(table.name());
        let files = parquet_files(&folder)?;
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
            check(file, table)?;
        }
        let partitions = self.partitions(table)?.into_iter().map(|name| (name, partition_type())).collect();
        let options = ListingOptions::new(Arc::new(ParquetFormat::default()))
            .with_file_extension(".parquet")
            .with_table_partition_cols(partitions);
        let folder = std::path::absolute(&folder)?;
        let url = ListingTableUrl::parse(format!("{}/", folder.display()))?;
        let config =
            ListingTableConfig::new(url).with_listing_options(options).with_schema(bare(&table.schema()));
        ListingTable::try_new(config).map(Some)
    }
}

/// The files below a folder that hold rows, in the order of their names.
fn parquet_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    if !folder.is_dir() {
        return Ok(found);
    }
    for entry in walkdir::WalkDir::new(folder).sort_by_file_name() {
        let entry = entry.map_err(std::io::Error::from)?;
        if entry.file_type().is_file() && entry.path().extension().is_some_and(|end| end == "parquet") {
            found.push(entry.into_path());
        }
    }
    Ok(found)
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

/// Whether a file has the columns of a table in this version of the schema.
fn check(file: &Path, table: Table) -> Result<()> {
    let cut = |error| exec_datafusion_err!("{}: {error}", file.display());
    let reader = SerializedFileReader::new(File::open(file)?).map_err(cut)?;
    let metadata = reader.metadata().file_metadata();
    let pairs = metadata.key_value_metadata();
    let version = pairs.into_iter().flatten().find(|pair| pair.key == "readperf.schema");
    let version = version.and_then(|pair| pair.value.as_deref());
    if version != Some(&SCHEMA_VERSION.to_string()) {
        let said = version.map_or_else(
            || "no version of the schema".to_owned(),
            |said| format!("version {said} of the schema"),
        );
        return exec_err!(
            "{}: it has {said}, and this program reads version {SCHEMA_VERSION}: export it anew",
            file.display()
        );
    }
    let there: Schema = parquet_to_arrow_schema(metadata.schema_descr(), pairs)?;
    for column in table.schema().fields() {
        match there.field_with_name(column.name()) {
            Err(_) => {
                return exec_err!(
                    "{}: the column {}.{} is missing: export it anew",
                    file.display(),
                    table,
                    column.name()
                );
            }
            Ok(found) if found.data_type() != column.data_type() => {
                return exec_err!(
                    "{}: {}.{} is {}, not {}: export it anew",
                    file.display(),
                    table,
                    column.name(),
                    found.data_type(),
                    column.data_type()
                );
            }
            Ok(_) => (),
        }
    }
    Ok(())
}
