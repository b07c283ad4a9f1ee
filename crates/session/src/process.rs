//! A process: its mappings, its threads, and what it did.

use crate::ids::ThreadId;
use crate::space::AddressSpace;

/// A process.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its number. Not unique: it can be used again.
    pub pid: u32,
    /// Number of its parent, where a FORK told it.
    pub parent_pid: Option<u32>,
    /// The thread whose tid is the pid.
    pub main_thread: ThreadId,
    /// All its threads, in the order of first sight, the main one included.
    pub threads: Vec<ThreadId>,
    /// How many MMAP and MMAP2 records it had.
    pub mmaps: u64,
    /// When it was forked, ns; `None` if that was before the recording or is not told.
    pub fork_time_ns: Option<u64>,
    /// When its last thread exited, ns; `None` while its main thread has not.
    pub exit_time_ns: Option<u64>,
    /// Samples, all events together.
    pub samples: u64,
    /// Sum of their periods, all events together.
    pub period: u64,
    /// What is mapped where, as of now.
    pub(crate) space: AddressSpace,
}

impl Process {
    pub(crate) fn new(pid: u32, main_thread: ThreadId) -> Process {
        Process {
            pid,
            parent_pid: None,
            main_thread,
            threads: vec![main_thread],
            mmaps: 0,
            fork_time_ns: None,
            exit_time_ns: None,
            samples: 0,
            period: 0,
            space: AddressSpace::default(),
        }
    }

    /// What is mapped where, as of now. A clone is cheap and stays as it is: what is mapped later does not show in it.
    pub fn space(&self) -> &AddressSpace {
        &self.space
    }

    /// Whether nothing but its number is known.
    pub(crate) fn is_blank(&self) -> bool {
        // Every field is named, so that a new one is thought of here: what a process is known by keeps it apart from the next
        // one with its number.
        let Process {
            pid: _,
            parent_pid: _,
            main_thread: _,
            threads: _,
            mmaps,
            fork_time_ns,
            exit_time_ns,
            samples,
            period: _,
            space: _,
        } = self;
        *mmaps == 0 && *samples == 0 && fork_time_ns.is_none() && exit_time_ns.is_none()
    }
}
