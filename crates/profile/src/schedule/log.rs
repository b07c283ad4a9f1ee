//! Context switches as they come.

use super::SwitchSource;
use crate::mark::{Mark, MarkKind};
use readperf_session::ThreadId;
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
    /// Samples that show a thread with a CPU: the first after each time that it was switched out, and the first of all.
    pub(super) running: FxHashMap<ThreadId, Vec<u64>>,
    /// What was told last of each thread.
    last: FxHashMap<ThreadId, LastTold>,
}

/// What was told last of a thread.
#[derive(Clone, Copy, Debug)]
enum LastTold {
    /// That it had a CPU.
    Running,
    /// That it gave its CPU up.
    OutSince(u64),
}

impl SwitchLog {
    /// Takes in a switch.
    pub(crate) fn add(&mut self, switch: Switch) {
        if let Some(thread) = switch.mark.thread {
            let told =
                if switch.is_out() { LastTold::OutSince(switch.mark.time_ns) } else { LastTold::Running };
            self.last.insert(thread, told);
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
        self.last.insert(thread, LastTold::OutSince(time_ns));
    }

    /// Takes in that a thread was running.
    pub(crate) fn sampled(&mut self, thread: ThreadId, time_ns: u64) {
        let is_news = match self.last.get(&thread) {
            // It may be switched in for the first time later on.
            None => true,
            Some(LastTold::Running) => false,
            Some(LastTold::OutSince(since)) => time_ns > since.saturating_add(SWITCHING_NS),
        };
        if is_news {
            self.last.insert(thread, LastTold::Running);
            self.running.entry(thread).or_default().push(time_ns);
        }
    }

    /// The switches so far, in order of time.
    pub(crate) fn sort(&mut self) -> &[Switch] {
        // What happens at the same time stays in the order of the recording.
        self.switches.sort_by_key(|switch| switch.mark.time_ns);
        &self.switches
    }
}
