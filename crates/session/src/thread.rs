//! A thread and the names it had.

use crate::ids::{CommId, ProcessId};

/// A name of a thread, and since when it had it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameSince {
    /// Time in ns; 0 for what was so before the recording began.
    pub time_ns: u64,
    /// The name.
    pub comm: CommId,
    /// Whether it came by an exec.
    pub exec: bool,
}

/// A thread.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Its number.
    pub tid: u32,
    /// Its process.
    pub process: ProcessId,
    /// When it was forked, ns; `None` if that was before the recording or is not told.
    pub fork_time_ns: Option<u64>,
    /// When it exited, ns.
    pub exit_time_ns: Option<u64>,
    /// Its names by time, never empty.
    names: Vec<NameSince>,
    /// Whether its name was told, by a record or by its parent's.
    pub(crate) named: bool,
}

impl Thread {
    /// A thread that has only a makeshift name, made of its tid.
    pub(crate) fn new(tid: u32, process: ProcessId, makeshift: CommId) -> Thread {
        let first = NameSince { time_ns: 0, comm: makeshift, exec: false };
        Thread { tid, process, fork_time_ns: None, exit_time_ns: None, names: vec![first], named: false }
    }

    /// Its names, the oldest first.
    pub fn names(&self) -> &[NameSince] {
        &self.names
    }

    /// Its last name.
    #[inline]
    pub fn comm(&self) -> CommId {
        // Never empty; the id of the first name there is stands in for the impossible.
        self.names.last().map_or(<CommId as crate::arena::Id>::of(0), |name| name.comm)
    }

    /// Its name at a time.
    pub fn comm_at(&self, time_ns: u64) -> CommId {
        let after = self.names.partition_point(|name| name.time_ns <= time_ns);
        after.checked_sub(1).and_then(|at| self.names.get(at)).map_or_else(|| self.comm(), |name| name.comm)
    }

    /// Gives it a name. The first real name replaces the makeshift one, also for the time before.
    pub(crate) fn rename(&mut self, comm: CommId, time_ns: u64, exec: bool) {
        if !self.named {
            self.names.clear();
            self.named = true;
        }
        // The first name also stands for all time before it: a sample can be older than what told it.
        let time_ns = if self.names.is_empty() { 0 } else { time_ns };
        self.names.push(NameSince { time_ns, comm, exec });
    }

    /// Whether nothing but its number is known.
    pub(crate) fn is_blank(&self) -> bool {
        // Every field is named, as in a process.
        let Thread { tid: _, process: _, fork_time_ns, exit_time_ns, names: _, named } = self;
        !named && exit_time_ns.is_none() && fork_time_ns.is_none()
    }
}
