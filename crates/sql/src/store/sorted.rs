//! What lies at addresses: recordings, and folders of tables.

use super::AT_ONCE;
use super::address::Address;
use super::stores::Stores;
use super::told::Told;
use crate::source::SIGNS;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use object_store::{Error, ObjectStore, ObjectStoreExt as _};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// How the names of recordings in a folder end.
const ENDING: &str = "data";

/// What lies at addresses.
#[derive(Debug, Default)]
pub(crate) struct Sorted {
    /// Recordings, each once.
    pub(crate) recordings: Vec<PathBuf>,
    /// How long they are together, bytes.
    pub(crate) bytes: u64,
    /// Folders of tables, each once.
    pub(crate) folders: Vec<PathBuf>,
}

/// What lies at one of them.
enum There {
    /// Recordings, with their lengths.
    Recordings(Vec<(Address, u64)>),
    Tables(Address),
}

/// Finds out what lies at addresses, many at once. Nothing is fetched.
pub(crate) async fn sorted(addresses: &[PathBuf], stores: &Stores) -> Result<Sorted, Told> {
    let found = stream::iter(addresses.iter().map(|address| there(address, stores)));
    let found: Vec<There> = found.buffered(AT_ONCE).try_collect().await?;
    let mut sorted = Sorted::default();
    let mut known = BTreeSet::new();
    for there in found {
        match there {
            There::Recordings(recordings) => {
                for (address, bytes) in recordings {
                    if known.insert(address.path()) {
                        sorted.recordings.push(address.path());
                        sorted.bytes += bytes;
                    }
                }
            }
            There::Tables(address) => {
                if known.insert(address.path()) {
                    sorted.folders.push(address.path());
                }
            }
        }
    }
    Ok(sorted)
}

async fn there(place: &Path, stores: &Stores) -> Result<There, Told> {
    let Some(address) = Address::of(place)? else {
        return Err(Told(format!("{}: no address", place.display())));
    };
    let bucket = stores.bucket(&address)?;
    let is_said_folder =
        place.as_os_str().as_encoded_bytes().ends_with(b"/") || address.key.as_ref().is_empty();
    if !is_said_folder {
        match bucket.head(&address.key).await {
            Ok(object) => return Ok(There::Recordings(vec![(address, object.size)])),
            Err(Error::NotFound { .. }) => (),
            Err(error) => return Err(Told::by(&error, &address)),
        }
    }
    in_folder(bucket.as_ref(), address, is_said_folder).await
}

/// What lies in a folder: tables, else all recordings below it.
async fn in_folder(bucket: &dyn ObjectStore, address: Address, is_said_folder: bool) -> Result<There, Told> {
    let told = |error: &Error| Told::by(error, &address);
    let key = Some(&address.key).filter(|key| !key.as_ref().is_empty());
    let inner = bucket.list_with_delimiter(key).await.map_err(|error| told(&error))?;
    if inner.common_prefixes.iter().filter_map(|folder| folder.filename()).any(|name| SIGNS.contains(&name)) {
        return Ok(There::Tables(address));
    }
    if inner.common_prefixes.is_empty() && inner.objects.is_empty() && !is_said_folder {
        return Err(Told(format!("{address}: nothing is there")));
    }
    let objects: Vec<_> = bucket.list(key).try_collect().await.map_err(|error| told(&error))?;
    let recordings = objects.into_iter().filter(|object| object.location.extension() == Some(ENDING));
    let recordings = recordings.map(|object| (address.beside(&object.location), object.size));
    let mut recordings: Vec<_> = recordings.collect();
    recordings.sort_by(|(one, _), (other, _)| one.key.cmp(&other.key));
    if recordings.is_empty() {
        return Err(Told(format!("{address}: neither tables nor recordings (*.{ENDING}) are there")));
    }
    Ok(There::Recordings(recordings))
}

#[cfg(test)]
mod tests {
    use super::*;
    use object_store::memory::InMemory;

    async fn folder(keys: &[&str]) -> Result<There, Told> {
        let bucket = InMemory::new();
        for key in keys {
            bucket.put(&(*key).into(), "1234".into()).await.unwrap();
        }
        in_folder(&bucket, Address::of(Path::new("s3://b/in")).unwrap().unwrap(), false).await
    }

    #[tokio::test]
    async fn folders_hold_tables_or_recordings() {
        assert!(matches!(folder(&["in/samples/x.parquet", "in/y.data"]).await, Ok(There::Tables(_))));
        let keys = ["in/b.data", "in/a/x.data", "in/readme.txt", "inner/c.data"];
        let Ok(There::Recordings(found)) = folder(&keys).await else { panic!("no recordings") };
        let found: Vec<_> = found.iter().map(|(address, bytes)| (address.to_string(), *bytes)).collect();
        assert_eq!(found, [("s3://b/in/a/x.data".to_owned(), 4), ("s3://b/in/b.data".to_owned(), 4)]);
        for (keys, why) in
            [(&["inner/c.data"][..], "nothing is there"), (&["in/readme.txt"], "neither tables")]
        {
            let Err(told) = folder(keys).await else { panic!("{keys:?}") };
            assert!(told.0.starts_with("s3://b/in: ") && told.0.contains(why), "{told}");
        }
    }
}
