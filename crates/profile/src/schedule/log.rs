//! Context switches as they come.

use super::spans::Tracker;
use super::{Schedule, SwitchSource};
use crate::filter::SampleFilter;
use crate::marks::{Mark, MarkKind};
use readperf_session::{Session, ThreadId};
use rustc_hash::FxHashMap;

/// How near to a switch a sample of the thread belongs to the switch itself, ns: the kernel is still, or already, at work for
/// the thread.
pub(super) const SWITCHING_NS: u64 = 20_000;

/// A switch, and the number of its thread, which can be one that the session does not know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Switch {
    pub(crate) mark: Mark,
    pub(crate) tid: Option<u32>,
}

impl Switch {
    /// Whether a thread was switched out.
    pub(super) fn is_out(&self) -> bool {
        matches!(self.mark.kind, MarkKind::SwitchOut { .. })
    }
}

/// Context switches, and what contradicts them.
#[derive(Debug, Default)]
pub(crate) struct SwitchLog {
    pub(crate) source: SwitchSource,
    pub(super) switches: Vec<Switch>,
    /// When something was lost, and on which CPU.
    pub(super) lost: Vec<(u64, Option<u32>)>,
    /// Samples of threads after they were switched out, one for each time: they had a CPU again.
    pub(super) running: FxHashMap<ThreadId, Vec<u64>>,
    out_since: FxHashMap<ThreadId, u64>,
}

impl SwitchLog {
    /// Takes in a switch.
    pub(crate) fn add(&mut self, switch: Switch) {
        if let Some(thread) = switch.mark.thread {
            match switch.is_out() {
                true => _ = self.out_since.insert(thread, switch.mark.time_ns),
                false => _ = self.out_since.remove(&thread),
            }
        }
        self.switches.push(switch);
    }

    /// Forgets the switches: they are not all.
    pub(crate) fn clear(&mut self) {
        self.switches.clear();
    }

    /// Takes in that something was lost.
    pub(crate) fn lost(&mut self, time_ns: u64, cpu: Option<u32>) {
        self.lost.push((time_ns, cpu));
    }

    /// Takes in that a switch out of a thread will be told later.
    pub(crate) fn expect_out(&mut self, thread: ThreadId, time_ns: u64) {
        self.out_since.insert(thread, time_ns);
    }

    /// Takes in that a thread was running.
    pub(crate) fn sampled(&mut self, thread: ThreadId, time_ns: u64) {
        if self.out_since.is_empty() {
            return;
        }
        if self.out_since.get(&thread).is_some_and(|since| time_ns > since.saturating_add(SWITCHING_NS)) {
            self.out_since.remove(&thread);
            self.running.entry(thread).or_default().push(time_ns);
        }
    }

    /// The switches so far, in order of time.
    pub(crate) fn sort(&mut self) -> &[Switch] {
        // What happens at the same time stays in the order of the recording.
        self.switches.sort_by_key(|switch| switch.mark.time_ns);
        &self.switches
    }

    /// Pairs them. The filter chooses what is kept in the end: a switch that it leaves out still ends the time before it.
    pub(crate) fn finish(mut self, session: &Session, filter: &SampleFilter) -> Schedule {
        self.sort();
        Tracker::new(session, filter, &self).schedule()
    }
}
