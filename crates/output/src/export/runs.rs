//! When threads had a CPU: for formats that show time as slices.

use super::Export;
use perffile::wire::attr::AttrFlags;
use readperf_profile::{SwitchSource, ThreadState, WhyOff};
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

impl<'x> Export<'x> {
    /// The runs of a thread, in order of time.
    pub(crate) fn runs(&self, thread: ThreadId) -> impl Iterator<Item = Run> + use<'x> {
        let spans = self.marks.schedule.of(thread);
        spans.iter().enumerate().filter_map(|(nr, span)| {
            let ThreadState::Running { cpu } = span.state else { return None };
            let next = spans.get(nr + 1).filter(|next| next.from_ns == span.to_ns);
            let preempted = next.is_some_and(|next| next.state == ThreadState::Off(WhyOff::Preempted));
            Some(Run { from_ns: span.from_ns?, to_ns: span.to_ns, cpu, preempted })
        })
    }

    /// Why it is not shown when threads ran, or not always, although the recording tells of context switches.
    pub fn schedule_note(&self) -> Option<String> {
        let schedule = &self.marks.schedule;
        if let SwitchSource::SomeThreads { event } = schedule.source {
            let name = self.event_name(event as usize);
            return Some(format!(
                "when threads ran is not shown: {name} was recorded of some threads only, so that it does not tell when they get \
                 a CPU again; -a or --switch-events records that"
            ));
        }
        if let SwitchSource::Sampled { event } = schedule.source {
            let attr = self.metadata.schema.event(event as usize).map(|event| &event.attr)?;
            let how = match attr.flags.has(AttrFlags::freq) {
                true => format!("with a frequency of {} Hz", attr.sample_period),
                false => format!("with a period of {}", attr.sample_period),
            };
            let name = self.event_name(event as usize);
            return Some(format!(
                "when threads ran is not shown: {name} was recorded {how}, so that switches are missing; -c 1 or \
                 --switch-events records all"
            ));
        }
        let times = match schedule.left_out {
            0 => return None,
            1 => "1 time".to_owned(),
            more => format!("{more} times"),
        };
        Some(format!("{times} on or off a CPU not shown: a switch in between was lost or not recorded"))
    }
}
