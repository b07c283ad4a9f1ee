//! What a record is to the samples of a recording: what stays beside them in a part of it.

use perffile::Event;
use perffile::wire::head::CpuMode;
use perffile::wire::record::kind;

/// Pids that stand for the kernel: its mappings have this one, and its idle threads that one.
const KERNEL: [u32; 2] = [u32::MAX, 0];

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A sample.
    Sample,
    /// Something that happened at a time and place, as samples do; whether it is the thread in its trailer that it happened to.
    Mark {
        /// Whether it says something of that thread.
        of_thread: bool,
    },
    /// It says what is true of a process from then on.
    State {
        /// The process.
        pid: u32,
        /// A FORK says from which other process it takes what was true of that.
        parent: Option<u32>,
    },
    /// It says something that any sample may need.
    Common,
    /// The mark of a finished round.
    Round,
    /// It is part of an AUX trace, which belongs together.
    Trace,
}

impl Role {
    /// The role of a record.
    pub(crate) fn of(event: &Event<'_>) -> Role {
        let word = |at| event.schema().order().u32_at(event.body(), at);
        match event.head().kind {
            kind::SAMPLE => Role::Sample,
            kind::SWITCH
            | kind::SWITCH_CPU_WIDE
            | kind::READ
            | kind::ITRACE_START
            | kind::CALLCHAIN_DEFERRED => Role::Mark { of_thread: true },
            // The trailer of these names the thread that happened to run; perf's own have none.
            kind::LOST
            | kind::LOST_SAMPLES
            | kind::THROTTLE
            | kind::UNTHROTTLE
            | kind::AUX
            | kind::STAT
            | kind::STAT_ROUND => Role::Mark { of_thread: false },
            kind::MMAP | kind::MMAP2 if event.head().cpu_mode() != CpuMode::User => Role::Common,
            kind::MMAP | kind::MMAP2 | kind::COMM | kind::EXIT | kind::NAMESPACES => {
                Self::state(word(0), None)
            }
            kind::FORK => Self::state(word(0), word(4)),
            kind::FINISHED_ROUND => Role::Round,
            kind::AUXTRACE_INFO | kind::AUXTRACE | kind::AUXTRACE_ERROR => Role::Trace,
            _ => Role::Common,
        }
    }

    fn state(pid: Option<u32>, parent: Option<u32>) -> Role {
        match pid.filter(|pid| !KERNEL.contains(pid)) {
            Some(pid) => Role::State { pid, parent: parent.filter(|parent| *parent != pid) },
            None => Role::Common,
        }
    }
}
