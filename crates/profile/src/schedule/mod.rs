//! When threads had a CPU and when they had none, by their context switches.
//!
//! This is told only where both ends are. A switch that was not recorded would make one long time of two short ones, so
//! `sched_switch` with a period above 1 tells nothing here, and what lies around a loss is left out and counted.

mod gaps;
mod log;
mod spans;

pub(crate) use log::{Switch, SwitchLog};

use readperf_session::ThreadId;

/// What a recording tells of context switches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SwitchSource {
    /// Nothing.
    #[default]
    None,
    /// All of them, as records (`perf record --switch-events`).
    Records,
    /// All of them, as samples of `sched_switch`.
    Tracepoint {
        /// Index of that event.
        event: u32,
    },
    /// Those out of some threads, as samples of `sched_switch`: who gets a CPU is told by who gives it up, and the other threads
    /// were not recorded (`perf record` without `-a`).
    SomeThreads {
        /// Index of that event.
        event: u32,
    },
    /// Some of them: `sched_switch` was recorded with a frequency or with a period above 1.
    Sampled {
        /// Index of that event.
        event: u32,
    },
}

/// Why a thread had no CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyOff {
    /// It still wanted to run.
    Preempted,
    /// It waited for something.
    Waiting,
    /// It was new, and had not run yet.
    New,
    /// It had none when the recording began.
    Unknown,
}

/// Whether a thread had a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadState {
    /// It had one.
    Running {
        /// Which, where that is known.
        cpu: Option<u32>,
    },
    /// It had none.
    Off(WhyOff),
}

/// A time in which a thread had a CPU, or had none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduleSpan {
    /// The thread.
    pub thread: ThreadId,
    /// Since when, ns; `None` for since before the recording.
    pub from_ns: Option<u64>,
    /// Until when, ns; `None` for to the end of the recording.
    pub to_ns: Option<u64>,
    /// Whether it had a CPU.
    pub state: ThreadState,
}

/// When threads had a CPU.
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    /// What the recording tells.
    pub source: SwitchSource,
    /// How many times with or without a CPU are left out, since a switch in them was lost or not recorded.
    pub left_out: u64,
    /// By thread, then by time.
    spans: Vec<ScheduleSpan>,
}

impl SwitchSource {
    /// Whether it tells of all switches.
    pub fn is_complete(self) -> bool {
        matches!(self, SwitchSource::Records | SwitchSource::Tracepoint { .. })
    }
}

impl Schedule {
    /// All threads, one after the other, each in order of time.
    pub fn spans(&self) -> &[ScheduleSpan] {
        &self.spans
    }

    /// Those of a thread, in order of time.
    pub fn of(&self, thread: ThreadId) -> &[ScheduleSpan] {
        let from = self.spans.partition_point(|span| span.thread < thread);
        let rest = self.spans.get(from..).unwrap_or_default();
        rest.get(..rest.partition_point(|span| span.thread == thread)).unwrap_or_default()
    }
}
