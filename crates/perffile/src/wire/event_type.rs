//! Kinds of events: PERF_TYPE_* and PERF_COUNT_SW_* of the kernel's `perf_event.h`, HW_BREAKPOINT_* of `hw_breakpoint.h`.

use super::value::{bits, numbers};

numbers! {
    /// `type` of an attr. Those without a name are PMUs, which the feature PMU_MAPPINGS names.
    pub struct EventType(u32) {
        /// Counters that most CPUs have.
        0 HARDWARE "hardware",
        /// What the kernel itself counts, see [`SoftwareEvent`].
        1 SOFTWARE "software",
        /// A tracepoint; `config` is its id.
        2 TRACEPOINT "tracepoint",
        /// Caches, what is done to them, and with which result.
        3 HW_CACHE "cache",
        /// A number that only the CPU knows.
        4 RAW "raw",
        /// A breakpoint; see [`BreakpointAccess`].
        5 BREAKPOINT "breakpoint",
    }
}

numbers! {
    /// `config` of an attr of type HARDWARE, as perf spells it. Above 32 bits it may have the number of a PMU.
    pub struct HardwareEvent(u64) {
        0 CYCLES "cycles", 1 INSTRUCTIONS "instructions", 2 CACHE_REFERENCES "cache-references",
        3 CACHE_MISSES "cache-misses", 4 BRANCHES "branches", 5 BRANCH_MISSES "branch-misses",
        6 BUS_CYCLES "bus-cycles", 7 STALLED_CYCLES_FRONTEND "stalled-cycles-frontend",
        8 STALLED_CYCLES_BACKEND "stalled-cycles-backend", 9 REF_CYCLES "ref-cycles",
    }
}

impl HardwareEvent {
    /// The event that a `config` has in its low half (`PERF_HW_EVENT_MASK`).
    pub const fn of_config(config: u64) -> HardwareEvent {
        HardwareEvent(config & 0xffff_ffff)
    }
}

numbers! {
    /// `config` of an attr of type SOFTWARE, as perf spells it. perf 6.1 has no name for the last two, which the kernel has.
    pub struct SoftwareEvent(u64) {
        0 CPU_CLOCK "cpu-clock", 1 TASK_CLOCK "task-clock", 2 PAGE_FAULTS "page-faults",
        3 CONTEXT_SWITCHES "context-switches", 4 CPU_MIGRATIONS "cpu-migrations",
        5 MINOR_FAULTS "minor-faults", 6 MAJOR_FAULTS "major-faults",
        7 ALIGNMENT_FAULTS "alignment-faults", 8 EMULATION_FAULTS "emulation-faults", 9 DUMMY "dummy",
        10 BPF_OUTPUT "bpf-output", 11 CGROUP_SWITCHES "cgroup-switches",
    }
}

bits! {
    /// `bp_type` of an attr: which accesses stop at a breakpoint.
    pub struct BreakpointAccess(u32 as u32) {
        0 READ, 1 WRITE, 2 EXECUTE,
    }
}
