//! Tables in an object store. Their files are read by ranges: of each what is at its end, then what a query asks for.

use super::check::check_metadata;
use crate::store::{AT_ONCE, Address, Stores};
use datafusion::catalog::Session;
use datafusion::common::exec_datafusion_err;
use datafusion::datasource::listing::ListingTableUrl;
use datafusion::datasource::physical_plan::parquet::metadata::DFParquetMetadata;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::object_store::ObjectStoreUrl;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use object_store::path::Path as Key;
use object_store::{ObjectMeta, ObjectStore};
use readperf_tables::Table;
use std::path::{Path, PathBuf};

/// Bytes that are read of the end of a file at first: the metadata of a table of a recording have fewer.
const END_BYTES: usize = 32 << 10;

/// The files of a folder.
#[derive(Clone, Debug)]
pub(super) struct Objects {
    folder: Address,
    /// Those that hold rows, in the order of their keys.
    files: Vec<ObjectMeta>,
}

impl Objects {
    /// Lists a folder.
    pub(super) async fn list(folder: Address, stores: &Stores) -> Result<Objects> {
        let bucket = stores.bucket(&folder)?;
        let files = bucket.list(Some(&folder.key));
        let files = files.try_filter(|file| std::future::ready(file.location.extension() == Some("parquet")));
        let mut files: Vec<ObjectMeta> = files.try_collect().await?;
        files.sort_by(|one, other| one.location.cmp(&other.location));
        Ok(Objects { folder, files })
    }

    /// The addresses of the files below a folder.
    pub(super) fn below(&self, folder: &Path) -> Vec<PathBuf> {
        let files = self.files.iter().map(|file| self.folder.beside(&file.location).path());
        files.filter(|file| file.starts_with(folder)).collect()
    }

    /// Whether all files of a table have its columns in this version of the schema. What was read for that is at hand for the scan.
    pub(super) async fn check(&self, table: Table, state: &dyn Session) -> Result<()> {
        let url = ObjectStoreUrl::parse(self.folder.bucket_url()?)?;
        let bucket = state.runtime_env().object_store(&url)?;
        let within = self.key(table);
        let files = self.files.iter().filter(|file| file.location.prefix_matches(&within));
        let checked = files.map(|file| self.check_file(file, table, bucket.as_ref(), state));
        stream::iter(checked.collect::<Vec<_>>()).buffered(AT_ONCE).try_collect().await
    }

    async fn check_file(
        &self,
        file: &ObjectMeta,
        table: Table,
        bucket: &dyn ObjectStore,
        state: &dyn Session,
    ) -> Result<()> {
        let address = self.folder.beside(&file.location);
        let cache = state.runtime_env().cache_manager.get_file_metadata_cache();
        let end = DFParquetMetadata::new(bucket, file).with_metadata_size_hint(Some(END_BYTES));
        let metadata = end.with_file_metadata_cache(Some(cache)).fetch_metadata().await;
        let metadata = metadata.map_err(|error| match error {
            DataFusionError::ParquetError(error) => exec_datafusion_err!("{address}: {error}"),
            other => other,
        })?;
        check_metadata(&address, table, metadata.file_metadata())
    }

    /// The folder of a table as DataFusion takes it.
    pub(super) fn url(&self, table: Table) -> Result<ListingTableUrl> {
        ListingTableUrl::try_new(self.folder.beside(&self.key(table)).folder_url()?, None)
    }

    fn key(&self, table: Table) -> Key {
        self.folder.key.clone().join(table.name())
    }
}
