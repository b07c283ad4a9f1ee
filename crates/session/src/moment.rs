//! What a record means to the session.

use crate::ids::{BinaryId, CommId, ProcessId, ThreadId};
use perffile::Unattributed;
use perffile::wire::head::CpuMode;
use perffile::wire::sample::SampleView;

/// What a record means to the session.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::large_enum_variant)] // Short-lived, and a sample is what most records are.
pub enum Moment<'e> {
    /// A sample whose fields and event are known.
    Sample(SampleMoment<'e>),
    /// A sample that cannot be used. It is counted in [`Session::summary`](crate::Session::summary).
    Unattributed(Unattributed),
    /// A thread came, went, or got a name.
    Task(TaskMoment),
    /// Something was mapped.
    Map(MapMoment),
    /// A thread was switched in or out.
    Switch(SwitchMoment),
    /// Something was lost while recording.
    Lost(LostMoment),
    /// A record that cannot be decoded. It is counted, and among the issues.
    Undecodable,
    /// Any other record.
    Other,
}

/// A sample.
#[derive(Clone, Copy, Debug)]
pub struct SampleMoment<'e> {
    /// Index of its event in the schema.
    pub event: usize,
    /// Its process.
    pub process: ProcessId,
    /// Its thread.
    pub thread: ThreadId,
    /// The thread's name at this time.
    pub comm: CommId,
    /// Time in ns of the recording's clock; 0 where not recorded.
    pub time_ns: u64,
    /// Whether it has a time, and not an impossible one; see [`perffile::Event::has_stray_time`].
    pub is_timed: bool,
    /// CPU number, where recorded.
    pub cpu: Option<u32>,
    /// How many events it stands for: as recorded, else the event's default.
    pub period: u64,
    /// In which mode the CPU was.
    pub mode: CpuMode,
    /// The instruction pointer; 0 if it is not recorded.
    pub ip: u64,
    /// All its fields.
    pub sample: SampleView<'e>,
}

/// A place in code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CodeAddress {
    /// The binary; `None` where no mapping covers the address.
    pub binary: Option<BinaryId>,
    /// The address in terms of the binary. User files and the vdso: an offset in the file. Kernel, modules, BPF, generated
    /// code, and without a binary: the address itself.
    pub address: u64,
    /// The address when it ran.
    pub ip: u64,
    /// In which mode the CPU was.
    pub mode: CpuMode,
}

/// A thread came, went, or got a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskMoment {
    /// Its process.
    pub process: ProcessId,
    /// The thread.
    pub thread: ThreadId,
    /// What happened.
    pub change: TaskChange,
    /// When, ns; 0 in records that perf made up of what was before.
    pub time_ns: u64,
}

/// What happened to a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskChange {
    /// It was forked.
    Fork,
    /// It exited.
    Exit,
    /// It got a name.
    Comm {
        /// The name.
        comm: CommId,
        /// Whether an exec gave it.
        exec: bool,
    },
}

/// Something was mapped, or a symbol of generated kernel code came or went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapMoment {
    /// The process; `None` for the kernel.
    pub process: Option<ProcessId>,
    /// The binary; `None` where a kernel symbol came without code of its own, or went.
    pub binary: Option<BinaryId>,
    /// First address.
    pub start: u64,
    /// First address behind it.
    pub end: u64,
    /// When, ns.
    pub time_ns: u64,
}

/// A thread was switched in or out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchMoment {
    /// The thread, where the record's trailer tells it.
    pub thread: Option<ThreadId>,
    /// The thread switched to (out) or from (in), by pid and tid, where the record tells it.
    pub other: Option<(u32, u32)>,
    /// Whether it was switched out.
    pub out: bool,
    /// Whether it was preempted: still runnable when it was switched out.
    pub preempted: bool,
    /// CPU number, where the trailer tells it.
    pub cpu: Option<u32>,
    /// When, ns.
    pub time_ns: u64,
}

/// Something was lost while recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostMoment {
    /// Records of any type, for which the buffer had no room.
    Records(u64),
    /// Samples.
    Samples(u64),
}

perffile::record_handlers! {
    /// Whether records of this type tell of something lost while recording.
    pub fn is_loss;
    /// What was lost.
    pub fn loss() -> LostMoment {
        Lost(record) => LostMoment::Records(record.lost),
        LostSamples(record) => LostMoment::Samples(record.lost),
    }
}
