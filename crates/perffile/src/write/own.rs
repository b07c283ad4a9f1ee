//! Recordings of programs that are not perf, and say no more than they have to: whose threads are where, and when.

use super::target::Target;
use super::writer::Writer;
use crate::error::Result;
use crate::wire::attr::{AttrFlags, EventAttr, SampleType};
use crate::wire::callchain::Marker;
use crate::wire::event_type::EventType;
use crate::wire::head::CpuMode;
use crate::wire::record::{Record, comm::Comm, mmap::Mmap};
use crate::wire::sample::{Sample, SampleId};
use crate::wire::text::CStr8;
use crate::wire::words::U64s;
use std::ops::Range;

/// A sample of user code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnSample<'s> {
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// When, ns of any clock. Samples should come in order of time.
    pub time_ns: u64,
    /// For how much of the event it stands.
    pub period: u64,
    /// Addresses, innermost first: where the thread was, and behind it where its callers go on.
    pub stack: &'s [u64],
}

/// Short ways to what a profiler of user code has to say. All else is said with [`Writer::event`] and [`Writer::record`].
impl<T: Target> Writer<T> {
    /// Adds an event for [`Writer::own_sample`]; its index among the events.
    pub fn own_event(&mut self, name: &str) -> usize {
        let sample_type =
            SampleType::IP | SampleType::TID | SampleType::TIME | SampleType::PERIOD | SampleType::CALLCHAIN;
        let id = self.head().events.len() as u64 + 1;
        // Of the kinds that there are, the one that says nothing else: perf shows no addresses of dummies, and clocks count ns.
        let attr = EventAttr {
            kind: EventType::RAW,
            config: id,
            sample_type: sample_type | SampleType::IDENTIFIER,
            flags: AttrFlags::sample_id_all | AttrFlags::exclude_kernel,
            ..EventAttr::default()
        };
        self.event(attr, &[id], name)
    }

    /// Says the name of a thread.
    ///
    /// # Errors
    /// No event yet; what the operating system says.
    pub fn own_thread(&mut self, pid: u32, tid: u32, name: &str) -> Result<()> {
        let comm = Comm { pid, tid, comm: CStr8::new(name.as_bytes()) };
        self.record(0, 0, Record::Comm(comm), &at_no_time(pid, tid))
    }

    /// Says that a process has code of a file at these addresses, from this offset of the file in bytes on.
    ///
    /// # Errors
    /// No event yet; a path that is too long for a record; what the operating system says.
    pub fn own_mapping(&mut self, pid: u32, at: Range<u64>, pgoff: u64, file: &str) -> Result<()> {
        let (addr, len) = (at.start, at.end.saturating_sub(at.start));
        let mapping = Mmap { pid, tid: pid, addr, len, pgoff, filename: CStr8::new(file.as_bytes()) };
        self.record(0, CpuMode::User.misc(), Record::Mmap(mapping), &at_no_time(pid, pid))
    }

    /// Writes a sample of an event that [`Writer::own_event`] has added.
    ///
    /// # Errors
    /// No such event; a stack of more than 8,000 addresses; what the operating system says.
    pub fn own_sample(&mut self, event: usize, own: OwnSample<'_>) -> Result<()> {
        let OwnSample { pid, tid, time_ns, period, stack } = own;
        let order = self.head().order;
        let chain: Vec<u8> =
            [Marker::USER.0].iter().chain(stack).flat_map(|word| order.put_u64(*word)).collect();
        let sample = Sample {
            ip: stack.first().copied(),
            pid: Some(pid),
            tid: Some(tid),
            time: Some(time_ns),
            period: Some(period),
            callchain: Some(U64s::new(&chain, order)),
            ..Sample::default()
        };
        self.record(event, CpuMode::User.misc(), Record::Sample(sample), &SampleId::default())
    }
}

/// The trailer of what is true from the beginning on.
fn at_no_time(pid: u32, tid: u32) -> SampleId {
    SampleId { pid: Some(pid), tid: Some(tid), ..SampleId::default() }
}
