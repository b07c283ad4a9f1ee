//! PERF_RECORD_NAMESPACES (16): the namespaces of a thread. Since Linux 4.12.

use crate::wire::declare::fields;
use crate::wire::list::List;
use crate::wire::pass::Element;

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
