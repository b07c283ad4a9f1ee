//! A bucket: what its client does, with errors in a sentence and nothing that writes.

use super::address::Address;
use super::told::Told;
use async_trait::async_trait;
use futures::stream::{self, BoxStream};
use futures::{StreamExt as _, TryStreamExt as _};
use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path as Key;
use object_store::{
    BackoffConfig, ClientConfigKey, CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload,
    ObjectMeta, ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result, RetryConfig,
};
use std::fmt::{self, Debug, Display, Formatter};
use std::sync::Arc;
use std::time::Duration;

/// How often a request is tried again: a store that is busy says so, one that is away is to be told of soon.
const RETRIES: usize = 6;

/// Longest pause before a request is tried again.
const LONGEST_PAUSE: Duration = Duration::from_secs(3);

/// A bucket that is read.
#[derive(Clone)]
pub(super) struct Bucket {
    client: Arc<AmazonS3>,
    root: Address,
    /// Whether requests are not signed.
    is_anonymous: bool,
}

// The client has credentials in it.
impl Debug for Bucket {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bucket").field("name", &self.root.bucket).finish_non_exhaustive()
    }
}

impl Display for Bucket {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "s3://{}", self.root.bucket)
    }
}

impl Bucket {
    /// A bucket, with what the environment says of stores. Nothing is asked of it yet.
    pub(super) fn from_environment(name: &str) -> std::result::Result<Bucket, Told> {
        let retry = RetryConfig {
            backoff: BackoffConfig { max_backoff: LONGEST_PAUSE, ..BackoffConfig::default() },
            max_retries: RETRIES,
            ..RetryConfig::default()
        };
        let builder = AmazonS3Builder::from_env().with_bucket_name(name).with_retry(retry);
        let said = |key| builder.get_config_value(&key).unwrap_or_default();
        let endpoints = [said(AmazonS3ConfigKey::S3Endpoint), said(AmazonS3ConfigKey::Endpoint)];
        let endpoint = endpoints.iter().find(|endpoint| !endpoint.is_empty());
        let is_true = |text: String| text.eq_ignore_ascii_case("true") || text == "1";
        let allows_http = is_true(said(AmazonS3ConfigKey::Client(ClientConfigKey::AllowHttp)));
        if endpoint.is_some_and(|endpoint| endpoint.starts_with("http://")) && !allows_http {
            return Err(Told(format!(
                "s3://{name}: the endpoint is one of http, without encryption: AWS_ALLOW_HTTP=true allows it"
            )));
        }
        let is_anonymous = is_true(said(AmazonS3ConfigKey::SkipSignature));
        let root = Address { bucket: name.to_owned(), key: Key::default() };
        let client = builder.build().map_err(|error| Told::of(&error, &root))?;
        Ok(Bucket { client: Arc::new(client), root, is_anonymous })
    }

    /// Whether there is something to sign requests with.
    async fn check(&self, address: &Address) -> Result<()> {
        if self.is_anonymous {
            return Ok(());
        }
        match self.client.credentials().get_credential().await {
            Ok(_) => Ok(()),
            Err(_) => Err(Error::from(Told(format!(
                "{address}: no credentials: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or what else names them in the environment"
            )))),
        }
    }

    fn told(&self, error: &Error, key: Option<&Key>) -> Error {
        Told::of(error, &self.at(key)).into_error(error)
    }

    fn at(&self, key: Option<&Key>) -> Address {
        key.map_or_else(|| self.root.clone(), |key| self.root.beside(key))
    }
}

fn only_read<T>() -> Result<T> {
    Err(Error::NotSupported { source: Box::new(Told("object stores are only read".to_owned())) })
}

#[async_trait]
impl ObjectStore for Bucket {
    async fn get_opts(&self, key: &Key, options: GetOptions) -> Result<GetResult> {
        self.check(&self.at(Some(key))).await?;
        self.client.get_opts(key, options).await.map_err(|error| self.told(&error, Some(key)))
    }

    fn list(&self, prefix: Option<&Key>) -> BoxStream<'static, Result<ObjectMeta>> {
        let (bucket, prefix) = (self.clone(), prefix.cloned());
        let objects = async move {
            bucket.check(&bucket.at(prefix.as_ref())).await?;
            let objects = bucket.client.list(prefix.as_ref());
            Ok::<_, Error>(objects.map_err(move |error| bucket.told(&error, prefix.as_ref())))
        };
        stream::once(objects).try_flatten().boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Key>) -> Result<ListResult> {
        self.check(&self.at(prefix)).await?;
        self.client.list_with_delimiter(prefix).await.map_err(|error| self.told(&error, prefix))
    }

    async fn put_opts(&self, _: &Key, _: PutPayload, _: PutOptions) -> Result<PutResult> {
        only_read()
    }

    async fn put_multipart_opts(&self, _: &Key, _: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        only_read()
    }

    fn delete_stream(&self, _: BoxStream<'static, Result<Key>>) -> BoxStream<'static, Result<Key>> {
        stream::once(async { only_read() }).boxed()
    }

    async fn copy_opts(&self, _: &Key, _: &Key, _: CopyOptions) -> Result<()> {
        only_read()
    }
}
