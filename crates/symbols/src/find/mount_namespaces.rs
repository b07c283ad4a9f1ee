//! The file systems of containers that are still running here: `/proc/PID/root` leads into the mount namespace of a process.
//!
//! Any process of a namespace will do: what is found there counts by its build-id alone.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::{Place, Proof, Search, recorded_path};

pub(super) const BINARY: Place = Place { candidates, proof: Proof::SameId };

/// How many processes are looked at, and how many namespaces are searched.
const MAX_PROCESSES: usize = 100_000;
const MAX_NAMESPACES: usize = 64;

/// The root directories of other mount namespaces, looked for when the first file is missing.
#[derive(Clone, Debug, Default)]
pub struct MountNamespaces(Arc<OnceLock<Vec<PathBuf>>>);

impl MountNamespaces {
    /// None, whatever runs here.
    pub fn none() -> MountNamespaces {
        MountNamespaces(Arc::new(OnceLock::from(Vec::new())))
    }

    fn roots(&self) -> &[PathBuf] {
        self.0.get_or_init(|| other_roots(Path::new("/proc")))
    }
}

fn candidates(search: &Search<'_>) -> Vec<PathBuf> {
    if search.options.symfs.is_some() || search.build_id.is_none() {
        return Vec::new();
    }
    let path = recorded_path::before_it_was_deleted(search.path).unwrap_or(search.path);
    let Ok(below) = path.strip_prefix("/") else { return Vec::new() };
    let roots = search.options.mount_namespaces.roots();
    if !roots.is_empty() {
        // Other containers may run the next time.
        search.options.file_loader.note_other_source();
    }
    roots.iter().map(|root| root.join(below)).collect()
}

/// One root for each namespace but our own, of its oldest process by number.
fn other_roots(proc: &Path) -> Vec<PathBuf> {
    let namespace = |process: &Path| fs::read_link(process.join("ns/mnt")).ok();
    let Some(ours) = namespace(&proc.join("self")) else { return Vec::new() };
    let entries = fs::read_dir(proc).into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut pids: Vec<u32> = numbers.take(MAX_PROCESSES).collect();
    pids.sort_unstable();
    let mut seen = BTreeSet::from([ours]);
    let processes = pids.into_iter().map(|pid| proc.join(pid.to_string()));
    // Who may not look into a process cannot read this link either.
    let others = processes.filter(|process| namespace(process).is_some_and(|its| seen.insert(its)));
    others.take(MAX_NAMESPACES).map(|process| process.join("root")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn each_namespace_but_our_own_once() {
        let dir = tempfile::tempdir().unwrap();
        for (process, namespace) in
            [("self", "mnt:[1]"), ("1", "mnt:[1]"), ("30", "mnt:[3]"), ("4", "mnt:[3]"), ("200", "mnt:[2]")]
        {
            fs::create_dir_all(dir.path().join(process).join("ns")).unwrap();
            symlink(namespace, dir.path().join(process).join("ns/mnt")).unwrap();
        }
        // Of another user.
        fs::create_dir_all(dir.path().join("5/ns")).unwrap();
        let expected = ["4", "200"].map(|process| dir.path().join(process).join("root"));
        assert_eq!(other_roots(dir.path()), expected);
        assert_eq!(other_roots(&dir.path().join("no")), [""; 0].map(PathBuf::from));
    }
}
