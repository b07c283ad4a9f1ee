//! What a runtime wrote of the code it generated: `/tmp/perf-PID.map`, and the jitdump file that it mapped.
//!
//! Everyone may write to `/tmp`, so a file there counts only when it belongs to the user or to root, as for `perf`. It must
//! also be one that nobody else may write, which `perf` does not ask: the owner of a file says nothing of who wrote what is
//! in it if everyone could have. Directories that the user names need no such proof.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::process::{getegid, geteuid};

use crate::files::FileBytes;
use crate::options::Options;
use crate::reason::Reason;
use crate::uses::{Role, UsedFile};

/// A process, as the recording and as it itself numbers it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Process {
    /// Number in the recording.
    pub(crate) pid: u32,
    /// Number that the process sees, when it is known to be another (pid namespaces).
    pub(crate) inner_pid: Option<u32>,
}

/// A place to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Candidate {
    path: PathBuf,
    /// Whether the user named the directory.
    is_given: bool,
}

/// The list of a process.
pub(crate) fn perf_map(options: &Options, process: Process) -> Result<(PathBuf, FileBytes), Reason> {
    let recorded = |pid: u32| PathBuf::from(format!("/tmp/perf-{pid}.map"));
    // The number that the process itself sees comes first: that is what it writes into the name.
    let pids = [process.inner_pid, own_pid(options, process.pid), Some(process.pid)];
    let pids = || pids.into_iter().flatten();
    let mut candidates = Vec::new();
    if let Some(root) = other_root(options, process.pid) {
        candidates.extend(pids().map(|pid| below(&root, &recorded(pid))));
    }
    for pid in pids() {
        candidates.extend(everywhere(options, &recorded(pid)));
    }
    let found = first(options, candidates, &recorded(process.inner_pid.unwrap_or(process.pid)))?;
    // Elsewhere nobody knows which number the process saw itself.
    note(options, Role::PerfMap, recorded(process.inner_pid.unwrap_or(process.pid)), &found);
    Ok(found)
}

/// The jitdump file that was mapped from this path.
pub(crate) fn jitdump(options: &Options, pid: u32, path: &Path) -> Result<(PathBuf, FileBytes), Reason> {
    let other = other_root(options, pid).map(|root| below(&root, path));
    let found = first(options, other.into_iter().chain(everywhere(options, path)).collect(), path)?;
    note(options, Role::JitDump, path.to_owned(), &found);
    Ok(found)
}

fn note(options: &Options, role: Role, recorded: PathBuf, (path, bytes): &(PathBuf, FileBytes)) {
    let used = || UsedFile { role, recorded, build_id: None, path: path.clone(), bytes: Arc::clone(bytes) };
    options.file_loader.note_use(used);
}

fn below(root: &Path, path: &Path) -> Candidate {
    Candidate { path: root.join(path.strip_prefix("/").unwrap_or(path)), is_given: false }
}

/// A path of the recorded machine, and its last part in the directories that the user named.
fn everywhere(options: &Options, path: &Path) -> Vec<Candidate> {
    let here = match &options.symfs {
        Some(root) => Candidate { is_given: true, ..below(root, path) },
        None => Candidate { path: path.to_owned(), is_given: false },
    };
    let name = path.file_name().map(Path::new).unwrap_or(path);
    let named = options.search_dirs.iter().map(|dir| Candidate { path: dir.join(name), is_given: true });
    std::iter::once(here).chain(named).collect()
}

/// The root directory of a process that is still running and has one of its own.
fn other_root(options: &Options, pid: u32) -> Option<PathBuf> {
    if options.symfs.is_some() {
        return None;
    }
    let process = PathBuf::from(format!("/proc/{pid}"));
    let theirs = fs::read_link(process.join("ns/mnt")).ok()?;
    let ours = fs::read_link("/proc/self/ns/mnt").ok()?;
    (theirs != ours).then(|| process.join("root"))
}

/// The number that a process sees of itself, if it is still running.
fn own_pid(options: &Options, pid: u32) -> Option<u32> {
    if options.symfs.is_some() {
        return None;
    }
    innermost_pid(&fs::read_to_string(format!("/proc/{pid}/status")).ok()?)
}

/// `NSpid:` has the number of a process in each of its pid namespaces, the innermost last.
fn innermost_pid(status: &str) -> Option<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    line.split_whitespace().last()?.parse().ok()
}

fn first(
    options: &Options,
    candidates: Vec<Candidate>,
    wanted: &Path,
) -> Result<(PathBuf, FileBytes), Reason> {
    let mut reason = Reason::NoFile { path: wanted.to_owned() };
    for Candidate { path, is_given } in candidates {
        match open(options, &path, is_given) {
            Ok(bytes) => return Ok((options.file_loader.called(&path), bytes)),
            Err(found) if matches!(reason, Reason::NoFile { .. }) => reason = found.unwrap_or(reason),
            Err(_) => {}
        }
    }
    Err(reason)
}

/// The error is `None` when there is nothing at the path.
fn open(options: &Options, path: &Path, is_given: bool) -> Result<FileBytes, Option<Reason>> {
    let unreadable = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => None,
        _ => Some(Reason::NotReadable { path: path.to_owned(), error: error.to_string() }),
    };
    if !is_given {
        // Of a link the link itself counts: it may lead to a file of someone else.
        let metadata = fs::symlink_metadata(path).map_err(unreadable)?;
        let owner = metadata.uid();
        if !metadata.is_file() {
            return Err(unreadable(io::Error::other("not a regular file")));
        }
        if owner != 0 && owner != geteuid().as_raw() {
            return Err(Some(Reason::ForeignOwner { path: path.to_owned(), owner }));
        }
        if others_may_write(&metadata) {
            return Err(Some(Reason::OthersMayWrite {
                path: path.to_owned(),
                mode: metadata.mode() & 0o7777,
            }));
        }
    }
    options.file_loader.load(path).map_err(unreadable)
}

/// Whether users may write a file who are neither its owner nor root. Where each user has a group of their own, files that
/// the group may write are usual: that of the user counts as the user, and that of root as root.
fn others_may_write(metadata: &fs::Metadata) -> bool {
    let mode = metadata.mode();
    let is_foreign_group = || metadata.gid() != 0 && metadata.gid() != getegid().as_raw();
    mode & 0o002 != 0 || (mode & 0o020 != 0 && is_foreign_group())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_to_look() {
        let options = Options { search_dirs: vec!["/a".into(), "/b".into()], ..Options::default() };
        let paths = |options: &Options| -> Vec<(String, bool)> {
            let all = everywhere(options, Path::new("/tmp/perf-7.map"));
            all.into_iter().map(|place| (place.path.display().to_string(), place.is_given)).collect()
        };
        let at = |path: &str, is_given| (path.to_owned(), is_given);
        let expected = [at("/tmp/perf-7.map", false), at("/a/perf-7.map", true), at("/b/perf-7.map", true)];
        assert_eq!(paths(&options), expected);
        let below = Options { symfs: Some("/image".into()), ..Options::default() };
        assert_eq!(paths(&below), [at("/image/tmp/perf-7.map", true)]);
    }

    #[test]
    fn numbers_in_namespaces() {
        assert_eq!(innermost_pid("Name:\tx\nNSpid:\t4711\t12\t3\nNSpgid:\t1\n"), Some(3));
        assert_eq!(innermost_pid("NSpid:\t4711\n"), Some(4711));
        assert_eq!(innermost_pid("Name:\tx\n"), None);
    }
}
