//! Addresses: `s3://BUCKET/KEY`.

use super::Told;
use object_store::path::Path as Key;
use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};
use url::Url;

const SCHEME: &str = "s3://";

/// Where something lies in an object store. Among paths it stands as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) bucket: String,
    pub(crate) key: Key,
}

impl Address {
    /// Whether a place is an address.
    pub(crate) fn is(place: &Path) -> bool {
        place.as_os_str().as_encoded_bytes().starts_with(SCHEME.as_bytes())
    }

    /// The address that a place is; nothing for a path.
    ///
    /// # Errors
    /// What begins like an address and is none. It is not repeated: it may have credentials in it, which belong into the environment.
    pub(crate) fn of(place: &Path) -> Result<Option<Address>, Told> {
        if !Address::is(place) {
            return Ok(None);
        }
        let text = place.to_str().and_then(|text| text.strip_prefix(SCHEME)).unwrap_or_default();
        let (bucket, key) = text.split_once('/').unwrap_or((text, ""));
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
        match Key::parse(key) {
            Ok(key) if !bucket.is_empty() && bucket.bytes().all(is_name) => {
                Ok(Some(Address { bucket: bucket.to_owned(), key }))
            }
            _ => Err(Told("an address in an object store is wanted as s3://BUCKET/KEY".to_owned())),
        }
    }

    /// What else lies in the bucket.
    pub(crate) fn beside(&self, key: &Key) -> Address {
        Address { bucket: self.bucket.clone(), key: key.clone() }
    }

    /// The address as it stands among paths.
    pub(crate) fn path(&self) -> PathBuf {
        self.to_string().into()
    }

    /// The address as the folder that libraries take, whatever characters are in its key.
    pub(crate) fn folder_url(&self) -> Result<Url, Told> {
        let mut url = self.bucket_url()?;
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.extend(self.key.parts().map(|part| part.as_ref().to_owned()));
            segments.push("");
        }
        Ok(url)
    }

    /// The bucket as libraries take it.
    pub(crate) fn bucket_url(&self) -> Result<Url, Told> {
        Url::parse(&format!("{SCHEME}{}", self.bucket))
            .map_err(|error| Told(format!("{SCHEME}{}: {error}", self.bucket)))
    }
}

impl Display for Address {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}/{}", self.bucket, self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_from_paths() {
        let of = |place: &str| Address::of(Path::new(place));
        assert_eq!(of("perf.data"), Ok(None));
        assert_eq!(of("s3:/b/x"), Ok(None));
        let found = of("s3://b-1/a/x y%20.data").unwrap().unwrap();
        assert_eq!((found.bucket.as_str(), found.key.as_ref()), ("b-1", "a/x y%20.data"));
        assert_eq!(found.path(), Path::new("s3://b-1/a/x y%20.data"));
        assert_eq!(of("s3://b/dir/").unwrap().unwrap().to_string(), "s3://b/dir");
        assert_eq!(of("s3://b").unwrap().unwrap().key.as_ref(), "");
    }

    #[test]
    fn what_is_no_address_is_not_repeated() {
        for wrong in ["s3://", "s3:///x", "s3://KEY:SECRET@bucket/x", "s3://b/a//x", "s3://b/../x"] {
            let told = Address::of(Path::new(wrong)).unwrap_err();
            assert!(!told.0.contains("SECRET") && told.0.contains("s3://BUCKET/KEY"), "{wrong}: {told}");
        }
    }

    // A `%` of a key must not be read as the beginning of an escape.
    #[test]
    fn keys_survive_urls() {
        let address = Address::of(Path::new("s3://b/service=a b/50%25")).unwrap().unwrap();
        let url = address.folder_url().unwrap();
        assert_eq!(url.as_str(), "s3://b/service=a%20b/50%2525/");
        assert_eq!(Key::from_url_path(url.path()).unwrap(), address.key);
    }
}
