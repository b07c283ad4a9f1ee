//! Tables on a disk.

use super::check::check_metadata;
use datafusion::common::exec_datafusion_err;
use datafusion::datasource::listing::ListingTableUrl;
use datafusion::error::Result;
use datafusion::parquet::file::reader::{FileReader as _, SerializedFileReader};
use readperf_tables::Table;
use std::fs::File;
use std::path::{Path, PathBuf};

/// The files below a folder that hold rows, in the order of their names.
pub(super) fn parquet_files(folder: &Path) -> Result<Vec<PathBuf>> {
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

/// Whether a file has the columns of a table in this version of the schema.
pub(super) fn check(file: &Path, table: Table) -> Result<()> {
    let cut = |error| exec_datafusion_err!("{}: {error}", file.display());
    let reader = SerializedFileReader::new(File::open(file)?).map_err(cut)?;
    check_metadata(&file.display(), table, reader.metadata().file_metadata())
}

/// A folder as DataFusion takes it.
pub(super) fn url(folder: &Path) -> Result<ListingTableUrl> {
    ListingTableUrl::parse(format!("{}/", std::path::absolute(folder)?.display()))
}
