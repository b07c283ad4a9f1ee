//! PERF_RECORD_NAMESPACES (16): the namespaces of a thread. Since Linux 4.12.

use crate::wire::declare::fields;
use crate::wire::list::List;
use crate::wire::pass::Element;

/// What they are namespaces of, in their order (NET_NS_INDEX and following).
pub const NAMES: [&str; 7] = ["net", "uts", "ipc", "pid", "user", "mnt", "cgroup"];
/// The place of that of cgroups (CGROUP_NS_INDEX).
pub const CGROUP: usize = 6;

fields! {
    /// A thread's namespaces.
    #[derive(Copy)]
    pub struct Namespaces<'a> {
        /// Process.
        pid: u32,
        /// Thread.
        tid: u32,
        /// In the order net, uts, ipc, pid, user, mnt, cgroup.
        namespaces: List<'a, NamespaceLink> as list counted u64 "nr_namespaces",
    }
}

fields! {
    /// A namespace as /proc/PID/ns links to it.
    #[derive(Copy)]
    pub struct NamespaceLink {
        /// Device.
        dev: u64,
        /// Inode.
        inode: u64,
    }
}
impl Element for NamespaceLink {}
