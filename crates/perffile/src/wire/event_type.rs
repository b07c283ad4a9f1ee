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
        /// Cycles.
        0 CYCLES "cycles",
        /// Instructions that were completed.
        1 INSTRUCTIONS "instructions",
        /// Accesses of the last cache, mostly.
        2 CACHE_REFERENCES "cache-references",
        /// Misses of the last cache, mostly.
        3 CACHE_MISSES "cache-misses",
        /// Branches that were completed.
        4 BRANCHES "branches",
        /// Branches that were mispredicted.
        5 BRANCH_MISSES "branch-misses",
        /// Cycles of the bus.
        6 BUS_CYCLES "bus-cycles",
        /// Cycles without a new instruction to be executed.
        7 STALLED_CYCLES_FRONTEND "stalled-cycles-frontend",
        /// Cycles without an instruction completed.
        8 STALLED_CYCLES_BACKEND "stalled-cycles-backend",
        /// Cycles at a constant frequency.
        9 REF_CYCLES "ref-cycles",
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
        /// Time, ns, on a CPU.
        0 CPU_CLOCK "cpu-clock",
        /// Time, ns, of a thread on a CPU.
        1 TASK_CLOCK "task-clock",
        /// Page faults.
        2 PAGE_FAULTS "page-faults",
        /// Context switches.
        3 CONTEXT_SWITCHES "context-switches",
        /// Moves of a thread to another CPU.
        4 CPU_MIGRATIONS "cpu-migrations",
        /// Page faults that needed nothing read.
        5 MINOR_FAULTS "minor-faults",
        /// Page faults that needed something read.
        6 MAJOR_FAULTS "major-faults",
        /// Unaligned accesses that the kernel had to do.
        7 ALIGNMENT_FAULTS "alignment-faults",
        /// Instructions that the kernel had to do.
        8 EMULATION_FAULTS "emulation-faults",
        /// Counts nothing: it is there for other records than samples.
        9 DUMMY "dummy",
        /// Written by a BPF program.
        10 BPF_OUTPUT "bpf-output",
        /// Switches to another cgroup.
        11 CGROUP_SWITCHES "cgroup-switches",
    }
}

bits! {
    /// `bp_type` of an attr: which accesses stop at a breakpoint.
    pub struct BreakpointAccess(u32 as u32) {
        /// Reads.
        0 READ,
        /// Writes.
        1 WRITE,
        /// Execution.
        2 EXECUTE,
    }
}
