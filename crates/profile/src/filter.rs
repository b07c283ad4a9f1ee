//! Which samples count: by thread name, process, thread, CPU, time and event.

use perffile::Schema;
use readperf_session::{SampleMoment, Session};
use std::ops::RangeInclusive;

/// Which samples count. Lists that are empty let everything through; a sample has to pass all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SampleFilter {
    /// Thread names.
    pub comms: Vec<Box<[u8]>>,
    /// Process ids.
    pub pids: Vec<u32>,
    /// Thread ids.
    pub tids: Vec<u32>,
    /// CPU numbers. Samples without one do not pass.
    pub cpus: Vec<RangeInclusive<u32>>,
    /// Times in ns of the recording's clock, both ends included.
    pub times_ns: Vec<RangeInclusive<u64>>,
    /// Names of events.
    pub events: Vec<String>,
}

impl SampleFilter {
    /// Whether every sample passes.
    pub fn is_open(&self) -> bool {
        *self == SampleFilter::default()
    }

    /// Whether a sample passes, whatever its event.
    pub fn passes(&self, session: &Session, sample: &SampleMoment<'_>) -> bool {
        let SampleFilter { comms, pids, tids, cpus, times_ns, events: _ } = self;
        let among = |list: &[u32], number: Option<u32>| {
            list.is_empty() || number.is_some_and(|number| list.contains(&number))
        };
        (comms.is_empty() || comms.iter().any(|comm| **comm == *session.comm(sample.comm)))
            && among(pids, session.process(sample.process).map(|process| process.pid))
            && among(tids, session.thread(sample.thread).map(|thread| thread.tid))
            && (cpus.is_empty()
                || sample.cpu.is_some_and(|cpu| cpus.iter().any(|range| range.contains(&cpu))))
            && (times_ns.is_empty() || times_ns.iter().any(|range| range.contains(&sample.time_ns)))
    }

    /// Whether samples of an event pass.
    pub fn passes_event(&self, schema: &Schema, event: usize) -> bool {
        let name = || schema.event(event).map(|event| event.name.as_str());
        self.events.is_empty() || name().is_some_and(|name| self.events.iter().any(|wanted| wanted == name))
    }
}
