//! A fold over the events of a recording: processes, threads, mappings and the kernel, by time.
//!
//! A [`Session`] is fed every record of a recording in order of time, and says of each what it means ([`Moment`]): whose
//! sample it is, under which name the thread ran at that time, and at which place of which binary the instruction
//! pointer stood. It knows nothing of symbols and nothing of output.
//!
//! ```no_run
//! use readperf_session::{Moment, Session};
//!
//! let recording = perffile::Recording::open("perf.data")?;
//! let mut session = Session::new(recording.metadata());
//! let issues = recording.for_each(|event| {
//!     if let Moment::Sample(sample) = session.apply(event) {
//!         let comm = session.comm(sample.comm);
//!         let code = sample.code(&session);
//!         let binary = code.binary.and_then(|id| session.binary(id));
//!         let _ = (comm, binary.map(|b| &b.short_name), code.address);
//!     }
//! })?;
//! assert!(!issues.damaged());
//! # Ok::<(), perffile::Error>(())
//! ```
#![forbid(unsafe_code)]

mod apply;
mod arena;
mod binary;
mod build_ids;
mod callchain;
mod comm;
mod generations;
mod ids;
mod kernel;
mod long_name;
mod mappings;
mod moment;
mod naming;
mod process;
mod recent_threads;
mod record_thread;
mod session;
mod space;
mod space_state;
mod summary;
mod tasks;
mod thread;
mod told;
mod tree;

pub use binary::{Binary, BinaryKind, ReferenceSymbol};
pub use callchain::{CallchainEntries, ChainEntry, Context, RawChain, RawEntry};
pub use generations::NewCode;
pub use ids::{BinaryId, CommId, ProcessId, ThreadId};
pub use kernel::KernelSymbol;
pub use moment::{
    CodeAddress, LostMoment, MapMoment, Moment, SampleMoment, SwitchMoment, TaskChange, TaskMoment, is_loss,
    loss,
};
pub use naming::is_memory;
pub use process::Process;
pub use record_thread::thread_of;
pub use session::Session;
pub use space::{AddressSpace, Mapping, SpaceVersion};
pub use space_state::SpaceState;
pub use summary::Summary;
pub use thread::{NameSince, Thread};

pub use perffile::Unattributed;
pub use perffile::wire::head::CpuMode;
