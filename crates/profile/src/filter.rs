//! Which samples count: by thread name, process, thread, CPU, time and event.

use crate::rows::Origin;
use perffile::Schema;
use readperf_session::{CommId, SampleMoment, Session, ThreadId};
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
        let SampleFilter { comms, pids, tids, cpus, times_ns, events } = self;
        comms.is_empty()
            && pids.is_empty()
            && tids.is_empty()
            && cpus.is_empty()
            && times_ns.is_empty()
            && events.is_empty()
    }

    /// Whether a sample passes, whatever its event.
    pub fn passes(&self, session: &Session, sample: &SampleMoment<'_>) -> bool {
        self.passes_comm(session, Some(sample.comm))
            && self.passes_ids(session, Some(sample.thread))
            && self.passes_place(sample.cpu, sample.time_ns)
    }

    /// Whether samples of this thread, name and CPU pass, whatever their event and time.
    pub(crate) fn passes_origin(&self, session: &Session, origin: &Origin) -> bool {
        self.passes_comm(session, Some(origin.comm))
            && self.passes_ids(session, origin.thread)
            && self.passes_cpu(origin.cpu)
    }

    /// Whether what happened to a thread passes. What names no thread only passes if all threads do.
    pub fn passes_thread(
        &self,
        session: &Session,
        thread: Option<ThreadId>,
        cpu: Option<u32>,
        time_ns: u64,
    ) -> bool {
        let comm = thread.and_then(|thread| session.thread(thread)).map(|thread| thread.comm_at(time_ns));
        self.passes_comm(session, comm) && self.passes_ids(session, thread) && self.passes_place(cpu, time_ns)
    }

    /// The part that passes of a time of a thread: from when to when, ns, where `None` is as far as the recording goes. Between
    /// times that are chosen it goes on.
    pub(crate) fn part_of_span(
        &self,
        session: &Session,
        thread: ThreadId,
        cpu: Option<u32>,
        (from_ns, to_ns): (Option<u64>, Option<u64>),
    ) -> Option<(Option<u64>, Option<u64>)> {
        let now = from_ns.or(to_ns).unwrap_or(0);
        let comm = session.thread(thread).map(|thread| thread.comm_at(now));
        if !self.passes_cpu(cpu)
            || !self.passes_comm(session, comm)
            || !self.passes_ids(session, Some(thread))
        {
            return None;
        }
        if self.times_ns.is_empty() {
            return Some((from_ns, to_ns));
        }
        let meets = |range: &&RangeInclusive<u64>| {
            from_ns.is_none_or(|from| from <= *range.end()) && to_ns.is_none_or(|to| to >= *range.start())
        };
        let chosen = || self.times_ns.iter().filter(meets);
        let (first, last) =
            (chosen().map(RangeInclusive::start).min()?, chosen().map(RangeInclusive::end).max()?);
        let within = |end: Option<u64>, limit: u64| end.unwrap_or(limit).clamp(*first, *last);
        Some((Some(within(from_ns, *first)), Some(within(to_ns, *last))))
    }

    fn passes_comm(&self, session: &Session, comm: Option<CommId>) -> bool {
        let among = |comm| self.comms.iter().any(|wanted| **wanted == *session.comm(comm));
        self.comms.is_empty() || comm.is_some_and(among)
    }

    fn passes_ids(&self, session: &Session, thread: Option<ThreadId>) -> bool {
        let SampleFilter { pids, tids, .. } = self;
        if pids.is_empty() && tids.is_empty() {
            return true;
        }
        let among = |list: &[u32], number: Option<u32>| {
            list.is_empty() || number.is_some_and(|number| list.contains(&number))
        };
        let thread = thread.and_then(|thread| session.thread(thread));
        among(pids, thread.and_then(|thread| session.process(thread.process)).map(|process| process.pid))
            && among(tids, thread.map(|thread| thread.tid))
    }

    fn passes_place(&self, cpu: Option<u32>, time_ns: u64) -> bool {
        self.passes_cpu(cpu) && self.passes_time(time_ns)
    }

    fn passes_cpu(&self, cpu: Option<u32>) -> bool {
        self.cpus.is_empty() || cpu.is_some_and(|cpu| self.cpus.iter().any(|range| range.contains(&cpu)))
    }

    /// Whether samples of this time pass.
    #[inline]
    pub(crate) fn passes_time(&self, time_ns: u64) -> bool {
        self.times_ns.is_empty() || self.times_ns.iter().any(|range| range.contains(&time_ns))
    }

    /// Whether samples of an event pass.
    pub fn passes_event(&self, schema: &Schema, event: usize) -> bool {
        let name = || schema.event(event).map(|event| event.name.as_str());
        self.events.is_empty() || name().is_some_and(|name| self.passes_event_name(name))
    }

    /// Whether samples of an event with this name pass.
    pub(crate) fn passes_event_name(&self, name: &str) -> bool {
        self.events.is_empty() || self.events.iter().any(|wanted| wanted == name)
    }
}
