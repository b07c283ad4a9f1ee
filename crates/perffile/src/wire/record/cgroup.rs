//! PERF_RECORD_CGROUP (19): a cgroup's id and path. Since Linux 5.7.

use crate::wire::declare::fields;
use crate::wire::text::CStr8;

fields! {
    /// A cgroup.
    #[derive(Copy)]
    pub struct Cgroup<'a> {
        /// Id, as samples carry it.
        cgroup_id: u64,
        /// Path from the root of the hierarchy.
        path: CStr8<'a>,
    }
}
