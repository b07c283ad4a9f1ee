//! The messages of a Perfetto trace (`perfetto_trace.proto`, package `perfetto.protos`), as far as they are written here. A
//! trace is packets; what repeats is told once in a sequence of packets and then goes by its number (iid, from 1).

/// Number of the only field of a trace.
pub(super) const PACKET: u32 = 1;

/// The sequence begins anew: nothing told before counts.
pub(super) const STATE_CLEARED: u32 = 1;
/// The packet refers to what was told before.
pub(super) const NEEDS_STATE: u32 = 2;

/// A packet.
#[derive(Clone, PartialEq, ::prost::Message)]
pub(super) struct TracePacket {
    #[prost(message, optional, tag = "6")]
    pub(super) clock_snapshot: Option<ClockSnapshot>,
    /// In ns of the sequence's clock.
    #[prost(uint64, optional, tag = "8")]
    pub(super) timestamp: Option<u64>,
    #[prost(uint32, tag = "10")]
    pub(super) sequence: u32,
    #[prost(message, optional, tag = "11")]
    pub(super) track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "12")]
    pub(super) interned: Option<InternedData>,
    #[prost(uint32, tag = "13")]
    pub(super) flags: u32,
    #[prost(message, optional, tag = "59")]
    pub(super) defaults: Option<Defaults>,
    #[prost(message, optional, tag = "60")]
    pub(super) track: Option<TrackDescriptor>,
    #[prost(message, optional, tag = "66")]
    pub(super) sample: Option<PerfSample>,
    #[prost(message, optional, tag = "117")]
    pub(super) task_state: Option<TaskState>,
}

/// One moment by several clocks.
#[derive(Clone, PartialEq, ::prost::Message)]
pub(super) struct ClockSnapshot {
    #[prost(message, repeated, tag = "1")]
    pub(super) clocks: Vec<Clock>,
    /// The clock that the trace goes by.
    #[prost(uint32, tag = "2")]
    pub(super) primary: u32,
}

/// A clock.
#[derive(Clone, Copy, PartialEq, ::prost::Message)]
pub(super) struct Clock {
    #[prost(uint32, tag = "1")]
    pub(super) id: u32,
    #[prost(uint64, tag = "2")]
    pub(super) time_ns: u64,
}

/// What holds for all packets of a sequence.
#[derive(Clone, PartialEq, ::prost::Message)]
pub(super) struct Defaults {
    #[prost(message, optional, tag = "12")]
    pub(super) samples: Option<SampleDefaults>,
    #[prost(uint32, tag = "58")]
    pub(super) clock: u32,
}

/// What holds for all samples of a sequence.
#[derive(Clone, PartialEq, ::prost::Message)]
pub(super) struct SampleDefaults {
    #[prost(message, optional, tag = "1")]
    pub(super) timebase: Option<Timebase>,
}

/// The event that samples were taken of: a counter that Perfetto knows, a tracepoint, or as the kernel knows it.
#[derive(Clone, PartialEq, ::prost::Message)]
pub(super) struct Timebase {
    #[prost(uint64, optional, tag = "1")]
    pub(super) period: Option<u64>,
    #[prost(uint64, optional, tag = "2")]
    pub(super) frequency: Option<u64>,
    #[prost(message, optional, tag = "3")]
    pub(super) tracepoint: Option<Tracepoint>,
    /// A number of `PerfEvents.Counter`: from it follows the unit.
    #[prost(uint32, optional, tag = "4")]
    pub(super) counter: Option<u32>,
    #[prost(message, optional, tag = "5")]
    pub(super) event: Option<RawEvent>,
    #[prost(string, tag = "10")]
    pub(super) name: String,
}

/// A tracepoint.
#[derive(Clone, PartialEq, ::prost::Message)]
pub(super) struct Tracepoint {
    /// `group:name`.
    #[prost(string, tag = "1")]
    pub(super) name: String,
}

/// An event as the kernel knows it.
#[derive(Clone, Copy, PartialEq, ::prost::Message)]
pub(super) struct RawEvent {
    #[prost(uint32, tag = "1")]
    pub(super) kind: u32,
    #[prost(uint64, tag = "2")]
    pub(super) config: u64,
}

/// A sample.
#[derive(Clone, Copy, PartialEq, ::prost::Message)]
pub(super) struct PerfSample {
    #[prost(uint32, optional, tag = "1")]
    pub(super) cpu: Option<u32>,
    #[prost(uint32, tag = "2")]
    pub(super) pid: u32,
    #[prost(uint32, tag = "3")]
    pub(super) tid: u32,
    #[prost(uint64, tag = "4")]
    pub(super) callstack: u64,
    #[prost(uint32, tag = "5")]
    pub(super) mode: u32,
    /// How far the event has counted on this CPU.
    #[prost(uint64, tag = "6")]
    pub(super) count: u64,
}

/// What is told once.
#[derive(Clone, PartialEq, ::prost::Message)]
pub(super) struct InternedData {
    #[prost(message, repeated, tag = "2")]
    pub(super) event_names: Vec<EventName>,
    #[prost(message, repeated, tag = "5")]
    pub(super) function_names: Vec<Text>,
    #[prost(message, repeated, tag = "6")]
    pub(super) frames: Vec<Frame>,
    #[prost(message, repeated, tag = "7")]
    pub(super) callstacks: Vec<Callstack>,
    #[prost(message, repeated, tag = "16")]
    pub(super) build_ids: Vec<Text>,
    #[prost(message, repeated, tag = "17")]
    pub(super) mapping_paths: Vec<Text>,
    #[prost(message, repeated, tag = "18")]
    pub(super) source_paths: Vec<Text>,
    #[prost(message, repeated, tag = "19")]
    pub(super) mappings: Vec<Mapping>,
}

/// A text, or bytes.
#[derive(Clone, PartialEq, ::prost::Message)]
pub(super) struct Text {
    #[prost(uint64, tag = "1")]
    pub(super) iid: u64,
    #[prost(bytes = "vec", tag = "2")]
    pub(super) bytes: Vec<u8>,
}

/// The name of a slice or a moment.
#[derive(Clone, PartialEq, ::prost::Message)]
pub(super) struct EventName {
    #[prost(uint64, tag = "1")]
    pub(super) iid: u64,
    #[prost(string, tag = "2")]
    pub(super) name: String,
}

/// A stack, the outermost frame first.
#[derive(Clone, PartialEq, ::prost::Message)]
pub(super) struct Callstack {
    #[prost(uint64, tag = "1")]
    pub(super) iid: u64,
    #[prost(uint64, repeated, packed = "false", tag = "2")]
    pub(super) frames: Vec<u64>,
}

/// A place in a function.
#[derive(Clone, Copy, PartialEq, ::prost::Message)]
pub(super) struct Frame {
    #[prost(uint64, tag = "1")]
    pub(super) iid: u64,
    #[prost(uint64, tag = "2")]
    pub(super) function_name: u64,
    #[prost(uint64, optional, tag = "3")]
    pub(super) mapping: Option<u64>,
    /// Address in the binary.
    #[prost(uint64, tag = "4")]
    pub(super) address: u64,
    #[prost(uint64, optional, tag = "5")]
    pub(super) source_path: Option<u64>,
    #[prost(uint32, optional, tag = "6")]
    pub(super) line: Option<u32>,
    /// What code it is: a number of `Frame.Kind`.
    #[prost(uint32, tag = "7")]
    pub(super) kind: u32,
}

/// Kinds of code.
pub(super) mod code {
    pub(in super::super) const UNKNOWN: u32 = 0;
    pub(in super::super) const NATIVE: u32 = 1;
    pub(in super::super) const KERNEL: u32 = 2;
    pub(in super::super) const JIT: u32 = 4;
}

/// A binary.
#[derive(Clone, PartialEq, ::prost::Message)]
pub(super) struct Mapping {
    #[prost(uint64, tag = "1")]
    pub(super) iid: u64,
    #[prost(uint64, optional, tag = "2")]
    pub(super) build_id: Option<u64>,
    #[prost(uint64, tag = "4")]
    pub(super) start: u64,
    #[prost(uint64, tag = "5")]
    pub(super) end: u64,
    /// The parts of its path.
    #[prost(uint64, repeated, packed = "false", tag = "7")]
    pub(super) path: Vec<u64>,
    /// Offset in the file of the first address.
    #[prost(uint64, tag = "8")]
    pub(super) offset: u64,
}

/// A track: a process, a thread, or something else.
#[derive(Clone, PartialEq, ::prost::Message)]
pub(super) struct TrackDescriptor {
    #[prost(uint64, tag = "1")]
    pub(super) uuid: u64,
    #[prost(string, optional, tag = "2")]
    pub(super) name: Option<String>,
    #[prost(message, optional, tag = "3")]
    pub(super) process: Option<ProcessDescriptor>,
    #[prost(message, optional, tag = "4")]
    pub(super) thread: Option<ThreadDescriptor>,
    #[prost(uint64, optional, tag = "5")]
    pub(super) parent: Option<u64>,
}

/// A process.
#[derive(Clone, PartialEq, ::prost::Message)]
pub(super) struct ProcessDescriptor {
    #[prost(int32, tag = "1")]
    pub(super) pid: i32,
    #[prost(string, tag = "6")]
    pub(super) name: String,
}

/// A thread.
#[derive(Clone, PartialEq, ::prost::Message)]
pub(super) struct ThreadDescriptor {
    #[prost(int32, tag = "1")]
    pub(super) pid: i32,
    #[prost(int64, tag = "2")]
    pub(super) tid: i64,
    #[prost(string, tag = "5")]
    pub(super) name: String,
}

/// From now on a thread is in this state (`GenericKernelTaskStateEvent`).
#[derive(Clone, PartialEq, ::prost::Message)]
pub(super) struct TaskState {
    #[prost(uint32, tag = "1")]
    pub(super) cpu: u32,
    #[prost(string, tag = "2")]
    pub(super) comm: String,
    #[prost(int64, tag = "3")]
    pub(super) tid: i64,
    #[prost(uint32, tag = "4")]
    pub(super) state: u32,
}

/// States of threads.
pub(super) mod state {
    /// It could run, and waits for a CPU.
    pub(in super::super) const RUNNABLE: u32 = 2;
    pub(in super::super) const RUNNING: u32 = 3;
    /// It waits for something else.
    pub(in super::super) const SLEEPING: u32 = 4;
    pub(in super::super) const DEAD: u32 = 7;
}

/// Something on a track.
#[derive(Clone, PartialEq, ::prost::Message)]
pub(super) struct TrackEvent {
    #[prost(message, repeated, tag = "4")]
    pub(super) annotations: Vec<Annotation>,
    #[prost(uint32, tag = "9")]
    pub(super) kind: u32,
    #[prost(uint64, optional, tag = "10")]
    pub(super) name: Option<u64>,
    #[prost(uint64, tag = "11")]
    pub(super) track: u64,
}

/// Kinds of things on a track.
pub(super) mod kind {
    pub(in super::super) const SLICE_BEGIN: u32 = 1;
    pub(in super::super) const SLICE_END: u32 = 2;
    pub(in super::super) const INSTANT: u32 = 3;
}

/// Something more about it.
#[derive(Clone, PartialEq, ::prost::Message)]
pub(super) struct Annotation {
    #[prost(uint64, optional, tag = "3")]
    pub(super) number: Option<u64>,
    #[prost(string, optional, tag = "6")]
    pub(super) text: Option<String>,
    #[prost(string, tag = "10")]
    pub(super) name: String,
}
