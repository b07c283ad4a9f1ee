//! Recordings that are fetched.

use super::address::Address;
use super::stores::Stores;
use super::told::Told;
use crate::source::BoxError;
use futures::StreamExt as _;
use object_store::{ObjectStore, ObjectStoreExt as _};
use rustix::process::{Resource, getrlimit, setrlimit};
use std::collections::HashMap;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tokio::runtime::Handle;

/// Fetches recordings into files without names, which go with their last use, however the process ends.
#[derive(Debug)]
pub(crate) struct Fetcher {
    pub(crate) stores: Arc<Stores>,
    /// The folder on whose disk they are.
    pub(crate) folder: PathBuf,
}

impl Fetcher {
    /// For a process that fetches nothing.
    #[cfg(feature = "cluster")]
    pub(crate) fn nowhere() -> Fetcher {
        Fetcher { stores: Arc::default(), folder: PathBuf::new() }
    }

    /// The content of an object. Blocks; has to be called in a thread of a runtime that may block.
    fn fetch(&self, address: &Address) -> Result<File, BoxError> {
        let bucket = self.stores.bucket(address)?;
        let file = tempfile::tempfile_in(&self.folder)
            .map_err(|error| Told(format!("{}: a file for {address}: {error}", self.folder.display())))?;
        Handle::try_current()?.block_on(stream_into(&file, bucket.as_ref(), address))?;
        Ok(file)
    }
}

async fn stream_into(mut file: &File, bucket: &dyn ObjectStore, address: &Address) -> Result<(), BoxError> {
    let mut content = bucket.get(&address.key).await.map_err(|error| plain(error, address))?.into_stream();
    while let Some(bytes) = content.next().await {
        let bytes = bytes.map_err(|error| plain(error, address))?;
        file.write_all(&bytes).map_err(|error| Told(format!("{address}: it cannot be kept: {error}")))?;
    }
    Ok(())
}

/// The sentence that a bucket says; what breaks off on the way is told here.
fn plain(error: object_store::Error, address: &Address) -> BoxError {
    let told = std::error::Error::source(&error).and_then(|source| source.downcast_ref::<Told>());
    Box::new(told.cloned().unwrap_or_else(|| Told::of(&error, address)))
}

/// A recording that is being fetched, or has been.
type Slot = Arc<OnceLock<Result<Arc<File>, String>>>;

/// What one query fetched.
#[derive(Debug)]
pub(crate) struct Fetched {
    fetcher: Arc<Fetcher>,
    files: Mutex<HashMap<PathBuf, Slot>>,
    /// Whether several scans may ask for a recording.
    is_kept: bool,
}

impl Fetched {
    pub(crate) fn new(fetcher: Arc<Fetcher>, is_kept: bool) -> Fetched {
        Fetched { fetcher, files: Mutex::default(), is_kept }
    }

    /// The content of what is at an address, fetched once if it is kept; nothing for a path. Blocks.
    pub(crate) fn at(&self, place: &Path) -> Result<Option<Arc<File>>, BoxError> {
        let Some(address) = Address::of(place)? else { return Ok(None) };
        if !self.is_kept {
            return self.fetcher.fetch(&address).map(Arc::new).map(Some);
        }
        let slot = {
            let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
            if files.is_empty() {
                allow_many_files();
            }
            Arc::clone(files.entry(place.to_owned()).or_default())
        };
        let file = slot.get_or_init(|| {
            self.fetcher.fetch(&address).map(Arc::new).map_err(|error| error.to_string())
        });
        Ok(Some(file.clone()?))
    }
}

/// A file that is kept is an open one, and there may be thousands: as many as the system allows this process, if it asks.
fn allow_many_files() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // Where it may not, opening one too many says so.
    let _ = setrlimit(Resource::Nofile, limit);
}
