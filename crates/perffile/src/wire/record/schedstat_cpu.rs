//! PERF_RECORD_SCHEDSTAT_CPU (85): scheduler counters of a CPU. Since perf 7.0.

use crate::wire::declare::fields;

fields! {
    /// A CPU's counters, versions 15 to 17.
    #[derive(Copy)]
    pub struct SchedstatCpu {
        /// Jiffies.
        timestamp: u64,
        /// CPU number.
        cpu_nr: u32,
        /// Version of /proc/schedstat.
        version: u16,
        /// Keeps what follows aligned.
        pad: u16,
        /// Calls of sched_yield.
        yld_count: u32,
        /// Array switches.
        array_exp: u32,
        /// Calls of schedule.
        sched_count: u32,
        /// Calls that left the CPU idle.
        sched_goidle: u32,
        /// Wake-ups.
        ttwu_count: u32,
        /// Wake-ups on the same CPU.
        ttwu_local: u32,
        /// Time running, ns.
        rq_cpu_time: u64,
        /// Time waiting, ns.
        run_delay: u64,
        /// Time slices.
        pcount: u64,
    }
}
