//! Recordings that are fetched: from object stores, and from standard input.

use super::address::Address;
use super::stores::Stores;
use super::told::Told;
use crate::source::{BoxError, STANDARD_INPUT};
use futures::StreamExt as _;
use object_store::{ObjectStore, ObjectStoreExt as _};
use rustix::process::{Resource, getrlimit, setrlimit};
use std::collections::HashMap;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tokio::runtime::Handle;

/// A recording that is being fetched, or has been.
type Slot = Arc<OnceLock<Result<Arc<File>, String>>>;

/// Fetches recordings into files without names, which go with their last use, however the process ends.
#[derive(Debug)]
pub(crate) struct Fetcher {
    stores: Arc<Stores>,
    /// The folder on whose disk they are.
    folder: PathBuf,
    /// What stands on standard input, once it has been asked for: it can be read only once.
    standard_input: Slot,
}

impl Fetcher {
    pub(crate) fn new(stores: Arc<Stores>, folder: PathBuf) -> Fetcher {
        Fetcher { stores, folder, standard_input: Slot::default() }
    }

    /// For a process that fetches nothing.
    #[cfg(feature = "cluster")]
    pub(crate) fn nowhere() -> Fetcher {
        Fetcher::new(Arc::default(), PathBuf::new())
    }

    /// The content of an object. Blocks; has to be called in a thread of a runtime that may block.
    fn fetch(&self, address: &Address) -> Result<File, BoxError> {
        let bucket = self.stores.bucket(address)?;
        let file = self.file(address)?;
        Handle::try_current()?.block_on(stream_into(&file, bucket.as_ref(), address))?;
        Ok(file)
    }

    /// What stands on standard input. Blocks until all of it is there.
    fn standard_input(&self) -> Result<Arc<File>, BoxError> {
        let fetch = || {
            let mut input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
            if input.metadata()?.is_file() {
                return Ok(input);
            }
            let mut file = self.file(&"standard input")?;
            io::copy(&mut input, &mut file)?;
            Ok::<_, BoxError>(file)
        };
        let file =
            self.standard_input.get_or_init(|| fetch().map(Arc::new).map_err(|error| error.to_string()));
        Ok(file.clone()?)
    }

    /// A file without a name.
    fn file(&self, content: &dyn Display) -> Result<File, Told> {
        let folder = &self.folder;
        tempfile::tempfile_in(folder)
            .map_err(|error| Told(format!("{}: a file for {content}: {error}", folder.display())))
    }
}

async fn stream_into(mut file: &File, bucket: &dyn ObjectStore, address: &Address) -> Result<(), BoxError> {
    let mut content =
        bucket.get(&address.key).await.map_err(|error| Told::by(&error, address))?.into_stream();
    while let Some(bytes) = content.next().await {
        let bytes = bytes.map_err(|error| Told::by(&error, address))?;
        file.write_all(&bytes).map_err(|error| Told(format!("{address}: it cannot be kept: {error}")))?;
    }
    Ok(())
}

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

    /// The content of what is at an address, fetched once if it is kept, or on standard input; nothing for a path. Blocks.
    pub(crate) fn at(&self, place: &Path) -> Result<Option<Arc<File>>, BoxError> {
        if place.as_os_str() == STANDARD_INPUT {
            return self.fetcher.standard_input().map(Some);
        }
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
        let file = slot
            .get_or_init(|| self.fetcher.fetch(&address).map(Arc::new).map_err(|error| error.to_string()));
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
