//! Records that are no state but something that happened at a time, as samples are: they go with the samples of their time,
//! CPU and thread.

use crate::plan::Samples;
use perffile::Event;
use perffile::wire::record::kind;

/// Whether a record that is no sample stays.
pub(crate) fn stays(samples: &Samples, event: &Event<'_>) -> bool {
    let (of_thread, of_place) = match event.head().kind {
        kind::SWITCH | kind::SWITCH_CPU_WIDE | kind::READ | kind::ITRACE_START => (true, true),
        // The trailer of these names the thread that happened to run.
        kind::LOST | kind::LOST_SAMPLES | kind::THROTTLE | kind::UNTHROTTLE | kind::AUX => (false, true),
        _ => (false, false),
    };
    // What perf has made up at the end, as sums of what was lost, is of no time.
    let Some(id) = event.sample_id().filter(|_| of_place && event.time() != Some(0)) else { return true };
    samples.passes_place(id.cpu, id.time) && (!of_thread || samples.passes_thread(id.pid, id.tid))
}
