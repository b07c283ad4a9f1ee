//! Paths of cgroups, which samples name by number.

use super::places;
use perffile::Event;
use perffile::wire::record::{Record, kind};
use rustc_hash::FxHashMap;

/// The paths that the recording has told so far, by the cgroup's id, fit to be shown.
#[derive(Clone, Debug, Default)]
pub(super) struct Cgroups(FxHashMap<u64, Box<[u8]>>);

impl Cgroups {
    /// Takes a record; the first that names a cgroup counts, as for perf.
    pub(super) fn follow(&mut self, event: &Event<'_>) {
        if event.head().kind == kind::CGROUP
            && let Ok((Record::Cgroup(told), _)) = event.record()
        {
            let shown = || places::shown(told.path.bytes()).as_bytes().into();
            self.0.entry(told.cgroup_id).or_insert_with(shown);
        }
    }

    /// The path of a cgroup.
    pub(super) fn path(&self, id: u64) -> &[u8] {
        self.0.get(&id).map_or(b"unknown", |path| path)
    }
}
