//! FORK, EXIT and COMM: threads come, go and get names.

use crate::comm::IDLE;
use crate::ids::{CommId, ProcessId, ThreadId};
use crate::moment::{Moment, TaskChange, TaskMoment};
use crate::process::Process;
use crate::session::Session;
use crate::space::AddressSpace;
use crate::thread::Thread;
use perffile::wire::head::RecordHead;
use perffile::wire::misc;
use perffile::wire::record::comm::Comm;
use perffile::wire::record::task::Task;

/// What a child takes from its parent.
struct Inheritance {
    comm: Option<CommId>,
    space: AddressSpace,
}

impl Session {
    pub(crate) fn comm_record<'e>(&mut self, record: &Comm<'_>, exec: bool, time_ns: u64) -> Moment<'e> {
        self.recent_threads.forget();
        let comm = self.comms.intern(record.comm.bytes());
        let (process, thread) = self.find_or_add_thread(record.pid, record.tid);
        if let Some(thread) = self.threads.get_mut(thread) {
            thread.rename(comm, time_ns, exec);
        }
        Moment::Task(TaskMoment { process, thread, change: TaskChange::Comm { comm, exec }, time_ns })
    }

    pub(crate) fn task<'e>(&mut self, task: &Task, change: TaskChange, head: RecordHead) -> Moment<'e> {
        self.recent_threads.forget();
        let (process, thread) = match change {
            TaskChange::Exit => self.exit(task),
            _ => self.fork(task, head.misc & misc::FORK_EXEC == 0),
        };
        Moment::Task(TaskMoment { process, thread, change, time_ns: task.time })
    }

    /// A thread went. Nothing is forgotten: samples and records of it may still follow.
    fn exit(&mut self, task: &Task) -> (ProcessId, ThreadId) {
        let (process_id, thread_id) = self.find_or_add_thread(task.pid, task.tid);
        if let Some(thread) = self.threads.get_mut(thread_id) {
            thread.exit_time_ns = Some(task.time);
        }
        if let Some(process) = self.processes.get_mut(process_id)
            && (process.exit_time_ns.is_some() || process.main_thread == thread_id)
        {
            process.exit_time_ns = process.exit_time_ns.max(Some(task.time));
        }
        (process_id, thread_id)
    }

    /// A thread came, and with it a process unless it shares its parent's. `clones`: a new process has its parent's
    /// mappings; not so in a FORK that perf made up of a running task, whose mappings are told separately.
    fn fork(&mut self, task: &Task, clones: bool) -> (ProcessId, ThreadId) {
        let parent = self.inheritance(task.ppid, task.ptid);
        let is_process = task.pid == task.tid && task.pid != task.ppid;
        let (process_id, thread_id) =
            if is_process { self.fork_process(task, &parent, clones) } else { self.fork_thread(task) };
        if let Some(thread) = self.threads.get_mut(thread_id) {
            thread.fork_time_ns = (task.time != 0).then_some(task.time);
            if let Some(comm) = parent.comm {
                thread.rename(comm, task.time, false);
            }
        }
        (process_id, thread_id)
    }

    fn inheritance(&mut self, pid: u32, tid: u32) -> Inheritance {
        let thread = self.by_tid.get(&(pid, tid)).and_then(|id| self.threads.get(*id));
        let named = thread.filter(|thread| thread.named).map(Thread::comm);
        // The first tasks of a system come from the idle thread, which no record is about.
        let comm = named.or_else(|| (tid == 0).then(|| self.comms.intern(IDLE)));
        let process = self.by_pid.get(&pid).and_then(|id| self.processes.get(*id));
        Inheritance { comm, space: process.map(|process| process.space.clone()).unwrap_or_default() }
    }

    fn fork_process(&mut self, task: &Task, parent: &Inheritance, clones: bool) -> (ProcessId, ThreadId) {
        // A pid that had been seen is used again, or the records are out of order: then it is another process.
        let in_use = self.by_pid.get(&task.pid).and_then(|id| self.processes.get(*id));
        if in_use.is_some_and(|process| !process.is_blank() || !self.is_blank(process.main_thread)) {
            self.forget_pid(task.pid);
        }
        let (process_id, thread_id) = self.find_or_add_thread(task.pid, task.tid);
        if let Some(process) = self.processes.get_mut(process_id) {
            process.parent_pid = Some(task.ppid);
            process.fork_time_ns = (task.time != 0).then_some(task.time);
            if clones {
                process.space = parent.space.clone();
            }
        }
        (process_id, thread_id)
    }

    fn fork_thread(&mut self, task: &Task) -> (ProcessId, ThreadId) {
        let key = (task.pid, task.tid);
        if task.pid != task.tid && self.by_tid.get(&key).is_some_and(|id| !self.is_blank(*id)) {
            self.by_tid.remove(&key);
        }
        self.find_or_add_thread(task.pid, task.tid)
    }

    fn is_blank(&self, thread: ThreadId) -> bool {
        self.threads.get(thread).is_none_or(Thread::is_blank)
    }

    /// From now on the pid stands for another process; what is known of the old one stays in the lists.
    fn forget_pid(&mut self, pid: u32) {
        let Some(id) = self.by_pid.remove(&pid) else { return };
        let Some(process) = self.processes.get(id) else { return };
        for thread in process.threads.iter().filter_map(|id| self.threads.get(*id)) {
            self.by_tid.remove(&(pid, thread.tid));
        }
    }

    /// The process and thread that have these numbers now.
    pub(crate) fn find_or_add_thread(&mut self, pid: u32, tid: u32) -> (ProcessId, ThreadId) {
        if let Some(id) = self.by_tid.get(&(pid, tid))
            && let Some(thread) = self.threads.get(*id)
        {
            return (thread.process, *id);
        }
        let process = self.find_or_add_process(pid);
        if tid == pid
            && let Some(process_state) = self.processes.get(process)
        {
            return (process, process_state.main_thread);
        }
        let thread = self.add_thread(process, pid, tid);
        if let Some(process) = self.processes.get_mut(process) {
            process.threads.push(thread);
        }
        (process, thread)
    }

    /// The process that has this pid now.
    pub(crate) fn find_or_add_process(&mut self, pid: u32) -> ProcessId {
        if let Some(id) = self.by_pid.get(&pid) {
            return *id;
        }
        // Its main thread's place in the list of threads is known before it is there, and so is its own.
        let process = <ProcessId as crate::arena::Id>::of(
            u32::try_from(self.processes.as_slice().len()).unwrap_or(u32::MAX),
        );
        let main = self.add_thread(process, pid, pid);
        let process = self.processes.push(Process::new(pid, main));
        self.by_pid.insert(pid, process);
        process
    }

    fn add_thread(&mut self, process: ProcessId, pid: u32, tid: u32) -> ThreadId {
        let makeshift = self.comms.unnamed(tid);
        let mut thread = Thread::new(tid, process, makeshift);
        // ABI: the idle threads have tid 0; so has a task that is not there any more, which perf names alike.
        if tid == 0 {
            thread.rename(self.comms.intern(IDLE), 0, false);
        }
        let id = self.threads.push(thread);
        self.by_tid.insert((pid, tid), id);
        id
    }
}
