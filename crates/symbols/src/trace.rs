//! Which files were tried, and what they were then.

use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

/// A file that was changed less than this before it was read may be changed again without a new time.
const SETTLED: Duration = Duration::from_secs(1);

/// What tells one state of a file from another without reading it. The time of the last change to the file's node is
/// among it, which programs cannot set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    device: u64,
    node: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Identity {
    pub(crate) fn of(metadata: &Metadata) -> Identity {
        Identity {
            device: metadata.dev(),
            node: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

/// A path that was tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tried {
    path: Vec<u8>,
    /// `None` when there was nothing.
    found: Option<Identity>,
}

impl Tried {
    /// Whether the path is today what it was.
    pub(crate) fn still_holds(&self) -> bool {
        let path = Path::new(std::ffi::OsStr::from_bytes(&self.path));
        self.found == std::fs::metadata(path).ok().as_ref().map(Identity::of)
    }
}

/// The files that were tried to answer about one binary.
#[derive(Debug, Default)]
pub(crate) struct Trace(Mutex<Notes>);

#[derive(Debug, Default)]
struct Notes {
    tried: Vec<Tried>,
    /// Whether some file was changed so recently that its state cannot be told from a later one.
    is_unsettled: bool,
}

impl Trace {
    /// Notes that a path is tried, before it is read.
    pub(crate) fn add(&self, path: &Path, metadata: Option<&Metadata>) {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A relative path means another file elsewhere.
        let absolute: PathBuf = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let tried = Tried {
            path: absolute.into_os_string().as_bytes().to_owned(),
            found: metadata.map(Identity::of),
        };
        notes.is_unsettled |= metadata.is_some_and(is_recent);
        if !notes.tried.contains(&tried) {
            notes.tried.push(tried);
        }
    }

    /// Notes that answers must not be kept: they depend on what was said elsewhere.
    pub(crate) fn unsettle(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_unsettled = true;
    }

    /// What was tried so far.
    pub(crate) fn tried(&self) -> Vec<Tried> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).tried.clone()
    }

    /// Whether answers that depend on these files may be kept.
    pub(crate) fn is_settled(&self) -> bool {
        let notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        !notes.is_unsettled && notes.tried.iter().all(Tried::still_holds)
    }
}

fn is_recent(metadata: &Metadata) -> bool {
    let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let settled = since_epoch.saturating_sub(SETTLED);
    let settled = (i64::try_from(settled.as_secs()).unwrap_or(i64::MAX), i64::from(settled.subsec_nanos()));
    let last = (metadata.ctime(), metadata.ctime_nsec()).max((metadata.mtime(), metadata.mtime_nsec()));
    last >= settled
}
