//! When threads had a CPU, by their context switches: for formats that show time as slices.

use super::Export;
use readperf_profile::{Mark, MarkKind};
use readperf_session::ThreadId;

/// A time that a thread had a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// When it got it, ns.
    pub(crate) from_ns: u64,
    /// When it gave it up, ns; nothing if it still had it at the end of the recording.
    pub(crate) to_ns: Option<u64>,
    /// Which, where that is known.
    pub(crate) cpu: Option<u32>,
    /// Whether it still wanted to run when it gave it up.
    pub(crate) preempted: bool,
}

impl Run {
    /// What to call it.
    pub(crate) fn name(&self) -> String {
        self.cpu.map_or("running".into(), |cpu| format!("CPU {cpu}"))
    }
}

impl Export<'_> {
    /// The runs of a thread with these marks, in order of time.
    pub(crate) fn runs<'m>(&self, thread: ThreadId, marks: impl Iterator<Item = &'m Mark>) -> Vec<Run> {
        runs(marks, self.session.thread(thread).and_then(|thread| thread.exit_time_ns))
    }
}

/// The runs of a thread with these marks, in order of time; `exit_ns` is when it ended, if it did.
fn runs<'m>(marks: impl Iterator<Item = &'m Mark>, exit_ns: Option<u64>) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let end = |runs: &mut Vec<Run>, time_ns: u64, preempted: bool| {
        // What was running before the recording began has no beginning.
        if let Some(run) = runs.last_mut().filter(|run| run.to_ns.is_none()) {
            (run.to_ns, run.preempted) = (Some(time_ns), preempted);
        }
    };
    for mark in marks {
        match mark.kind {
            MarkKind::SwitchIn => {
                // Two in a row: the end of the first is lost.
                end(&mut runs, mark.time_ns, false);
                runs.push(Run { from_ns: mark.time_ns, to_ns: None, cpu: mark.cpu, preempted: false });
            }
            MarkKind::SwitchOut { preempted } => end(&mut runs, mark.time_ns, preempted),
            MarkKind::Tracepoint { .. } | MarkKind::Lost(_) => {}
        }
    }
    if let Some(exit_ns) = exit_ns {
        end(&mut runs, exit_ns, false);
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_has_its_own_end() {
        let mark = |time_ns, kind| Mark { time_ns, thread: None, cpu: Some(1), kind };
        let (into, out) = (MarkKind::SwitchIn, MarkKind::SwitchOut { preempted: false });
        let marks = [(5, out), (10, into), (20, out), (25, out), (30, into), (40, into)];
        let marks = marks.map(|(time_ns, kind)| mark(time_ns, kind));
        let spans = |exit_ns: Option<u64>| -> Vec<(u64, Option<u64>)> {
            runs(marks.iter(), exit_ns).iter().map(|run| (run.from_ns, run.to_ns)).collect()
        };
        assert_eq!(spans(None), [(10, Some(20)), (30, Some(40)), (40, None)]);
        assert_eq!(spans(Some(45)), [(10, Some(20)), (30, Some(40)), (40, Some(45))]);
    }
}
