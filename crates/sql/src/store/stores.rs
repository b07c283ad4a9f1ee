//! The stores of a process.

use super::address::Address;
use super::bucket::Bucket;
use super::told::Told;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::object_store::{DefaultObjectStoreRegistry, ObjectStoreRegistry};
use object_store::ObjectStore;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use url::Url;

/// The buckets that were named, each opened when it is first asked, with what the environment of this process says; besides files.
#[derive(Debug, Default)]
pub(crate) struct Stores {
    files: DefaultObjectStoreRegistry,
    buckets: Mutex<HashMap<String, Bucket>>,
}

impl Stores {
    /// The bucket of an address.
    pub(crate) fn bucket(&self, address: &Address) -> std::result::Result<Arc<dyn ObjectStore>, Told> {
        self.named(&address.bucket)
    }

    fn named(&self, name: &str) -> std::result::Result<Arc<dyn ObjectStore>, Told> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = match buckets.get(name) {
            Some(bucket) => bucket.clone(),
            None => {
                let bucket = Bucket::from_environment(name)?;
                buckets.insert(name.to_owned(), bucket.clone());
                bucket
            }
        };
        Ok(Arc::new(bucket))
    }
}

impl ObjectStoreRegistry for Stores {
    fn register_store(&self, url: &Url, store: Arc<dyn ObjectStore>) -> Option<Arc<dyn ObjectStore>> {
        self.files.register_store(url, store)
    }

    fn get_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        match (url.scheme(), url.host_str()) {
            ("s3", Some(name)) => self.named(name).map_err(DataFusionError::from),
            _ => self.files.get_store(url),
        }
    }
}
