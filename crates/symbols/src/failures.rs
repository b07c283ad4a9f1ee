//! Files that the system did not let us read: names that are missing because of that are not missing in truth.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// How many files are told by name.
const MOST_NAMED: usize = 16;

/// What went wrong, by the path of the file.
#[derive(Debug, Default)]
pub(crate) struct Failures(Mutex<BTreeMap<PathBuf, Failure>>);

#[derive(Debug)]
struct Failure {
    error: String,
    /// Whether anything is missing because of it.
    is_loss: bool,
}

impl Failures {
    /// Takes in what the system said when a file was opened or read. That there is none is an answer. That it may not be read is
    /// one, too, unless nothing else was found: many places are tried that are not for everyone.
    pub(crate) fn add(&self, path: &Path, error: &io::Error) {
        let is_answer = matches!(
            error.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename
        );
        if is_answer || error.raw_os_error().is_none() {
            return;
        }
        let is_loss = error.kind() != io::ErrorKind::PermissionDenied;
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() < MOST_NAMED || all.contains_key(path) {
            all.entry(path.to_owned()).or_insert_with(|| Failure { error: error.to_string(), is_loss });
        }
    }

    /// Says that nothing was found instead of this file.
    pub(crate) fn nothing_instead_of(&self, path: &Path) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(failure) = all.get_mut(path) {
            failure.is_loss = true;
        }
    }

    /// The files because of which something is missing, each with the reason.
    pub(crate) fn losses(&self) -> Vec<String> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let losses = all.iter().filter(|(_, failure)| failure.is_loss);
        losses.map(|(path, failure)| format!("cannot read {}: {}", path.display(), failure.error)).collect()
    }
}
