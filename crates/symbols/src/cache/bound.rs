//! The size of the cache.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::file;

/// A file that is being written for this long was left by a process that was stopped.
const LEFT_BEHIND: Duration = Duration::from_secs(3600);

/// Removes the files that were not used for longest until no more than `max_bytes` are left. Another process may do the
/// same at the same time: a file that is gone already is no error.
pub(super) fn keep(dir: &Path, max_bytes: u64) -> io::Result<()> {
    let mut files: Vec<(SystemTime, PathBuf, u64)> = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let Ok(metadata) = entry.metadata() else { continue };
        if metadata.is_file() && file::is_ours(&entry.file_name()) {
            let used = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            if file::is_temporary(&entry.file_name()) {
                let age = SystemTime::now().duration_since(used).unwrap_or_default();
                if age > LEFT_BEHIND {
                    let _ = std::fs::remove_file(entry.path());
                }
                continue;
            }
            files.push((used, entry.path(), metadata.len()));
        }
    }
    files.sort_unstable();
    let mut total = files.iter().fold(0_u64, |sum, (_, _, bytes)| sum.saturating_add(*bytes));
    for (_, path, bytes) in files {
        if total <= max_bytes {
            break;
        }
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => total = total.saturating_sub(bytes),
        }
    }
    Ok(())
}
