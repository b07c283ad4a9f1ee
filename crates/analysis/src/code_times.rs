//! When generated code came to its place: what jitdump files tell of that, beside the records of the recording.
//!
//! Two kinds of times can be compared with those of samples. Times of `CLOCK_MONOTONIC`, if all events have that clock
//! (`perf record -k mono`). And ticks of the processor, if no event has a clock that was asked for, and the recording tells how
//! the one that events have by themselves follows from the ticks (TIME_CONV). The kernel tells that where its own clock is that of
//! the processor: on most machines with x86, but not with the clock of KVM.

use crate::processor_time::ProcessorTime;
use perffile::wire::clock::ClockId;
use perffile::wire::record::{Record, kind};
use perffile::{Event, EventDescription, Schema};
use readperf_session::{BinaryId, Moment, NewCode, ProcessId, Session};
use readperf_symbols::{JitDump, Options};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// Most pieces of code that are known and still to come.
const MOST_WAITING: usize = 1 << 20;

/// Most processes that are believed to have written a file of one name; each has one of its own in its container.
const MOST_WRITERS: u32 = 16;

/// How well generated code could be told by the time of a sample, where other code took its place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeTimes {
    /// Pieces of code that came to a place where other code was or would be, at their time.
    pub replaced: u64,
    /// Such pieces whose time is that of another clock than the recording's.
    pub other_clock: u64,
    /// Such pieces whose time is in ticks of the processor, in a recording that does not tell what time that is.
    pub unrelated_ticks: u64,
    /// Such pieces for which there was no room.
    pub too_many: u64,
    /// What of the files could not be used: a sentence for each file.
    pub unused: Vec<String>,
}

impl CodeTimes {
    /// Says what could not be used of the files, and which code is not told by its time, and why; a sentence each.
    pub fn told(&self) -> Vec<String> {
        self.unused.iter().cloned().chain(self.not_in_time()).collect()
    }

    fn not_in_time(&self) -> Option<String> {
        let clock = "their times are not of the clock of the recording (record with -k mono)";
        let ticks = "their times are ticks of the processor, and the recording does not tell how its clock follows from \
                     these (with -k it never does)";
        let too_many = "there are too many of them";
        let counts = [(self.other_clock, clock), (self.unrelated_ticks, ticks), (self.too_many, too_many)];
        let all = counts.iter().fold(0_u64, |all, (count, _)| all.saturating_add(*count));
        let reasons: Vec<String> = counts
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, reason)| format!("{count} because {reason}"))
            .collect();
        (!reasons.is_empty()).then(|| {
            format!(
                "{all} pieces of generated code share their place with others, and the last one there lends its name: {}",
                reasons.join(", ")
            )
        })
    }
}

/// Code that is to come: when, and in the order in which the files tell it.
type Due = Reverse<(u64, u64, Code)>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Code {
    process: ProcessId,
    start: u64,
    end: u64,
    generation: u32,
}

/// A clock that can be compared with that of the recording.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Clock {
    Same,
    Processor(ProcessorTime),
}

impl Clock {
    /// How the times of a dump become those of the recording; `None` if they cannot be compared.
    pub(crate) fn of(
        dump: &JitDump,
        schema: &Schema,
        processor_time: Option<ProcessorTime>,
    ) -> Option<Clock> {
        if dump.has_processor_time() {
            processor_time.filter(|_| has_own_clock(schema)).map(Clock::Processor)
        } else {
            is_monotonic(schema).then_some(Clock::Same)
        }
    }

    pub(crate) fn time_ns(self, time: u64) -> u64 {
        match self {
            Clock::Same => time,
            Clock::Processor(clock) => clock.time_ns(time),
        }
    }
}

/// Reads the dumps that processes map, and puts their code into the session when it is time.
#[derive(Debug)]
pub(crate) struct CodeInTime<'o> {
    /// Where the files are looked for; without, nothing is read.
    options: Option<&'o Options>,
    waiting: BinaryHeap<Due>,
    /// When the next code comes, ns.
    next_ns: u64,
    count: u64,
    read: FxHashSet<(ProcessId, BinaryId)>,
    writers: FxHashMap<BinaryId, u32>,
    /// How the recording's own clock follows from the ticks of the processor, if it tells.
    processor_time: Option<ProcessorTime>,
    times: CodeTimes,
}

impl<'o> CodeInTime<'o> {
    pub(crate) fn new(options: Option<&'o Options>) -> CodeInTime<'o> {
        CodeInTime {
            options,
            waiting: BinaryHeap::new(),
            next_ns: u64::MAX,
            count: 0,
            read: FxHashSet::default(),
            writers: FxHashMap::default(),
            processor_time: None,
            times: CodeTimes::default(),
        }
    }

    /// What was done.
    pub(crate) fn times(&self) -> &CodeTimes {
        &self.times
    }

    /// Whether code came before this record did.
    #[inline]
    pub(crate) fn is_due(&self, event: &Event<'_>) -> bool {
        self.next_ns != u64::MAX && event.time().unwrap_or(0) >= self.next_ns && !event.has_stray_time()
    }

    /// Puts the code into the session that came before this record.
    pub(crate) fn put(&mut self, session: &mut Session, event: &Event<'_>) {
        let time_ns = event.time().unwrap_or(0);
        while let Some(Reverse((_, _, code))) = self.waiting.peek().filter(|due| due.0.0 <= time_ns) {
            let Code { process, start, end, generation } = *code;
            session.put_code(&NewCode { process, start, end, generation });
            self.times.replaced += 1;
            self.waiting.pop();
        }
        self.next_ns = self.waiting.peek().map_or(u64::MAX, |due| due.0.0);
    }

    /// Looks whether a record that is no sample tells how the clock follows from the ticks of the processor, or of a dump, which is read.
    pub(crate) fn learn(&mut self, session: &Session, event: &Event<'_>, moment: &Moment<'_>) {
        learn_clock(&mut self.processor_time, event);
        if let (Some(options), Moment::Map(map)) = (self.options, moment)
            && let (Some(process), Some(binary)) = (map.process, map.binary)
        {
            self.learn_map(options, session, event.schema(), process, binary);
        }
    }

    fn learn_map(
        &mut self,
        options: &Options,
        session: &Session,
        schema: &Schema,
        process: ProcessId,
        binary: BinaryId,
    ) {
        let Some(name) = session.binary(binary).map(|binary| Path::new(OsStr::from_bytes(&binary.name)))
        else {
            return;
        };
        let Some(pid) = session.process(process).map(|process| process.pid) else { return };
        if JitDump::pid_in_name(name).is_none() || !self.read.insert((process, binary)) {
            return;
        }
        let writers = self.writers.entry(binary).or_default();
        *writers += 1;
        if *writers > MOST_WRITERS {
            return;
        }
        // Why a file cannot be read is told with the names that are missing.
        let Ok(dump) = JitDump::find(options, pid, name) else { return };
        let unused = dump.unused(&[]);
        if !unused.is_empty() {
            self.times.unused.push(not_used(name, &unused));
        }
        let count = u64::try_from(dump.changes().len()).unwrap_or(u64::MAX);
        self.times.too_many += dump.changes_left_out();
        match Clock::of(&dump, schema, self.processor_time) {
            None if dump.has_processor_time() => self.times.unrelated_ticks += count,
            None => self.times.other_clock += count,
            Some(_) if self.waiting.len() + dump.changes().len() > MOST_WAITING => {
                self.times.too_many += count
            }
            Some(clock) => self.wait_for(process, &dump, clock),
        }
    }

    fn wait_for(&mut self, process: ProcessId, dump: &JitDump, clock: Clock) {
        for change in dump.changes() {
            let code = Code { process, start: change.start, end: change.end, generation: change.generation };
            self.waiting.push(Reverse((clock.time_ns(change.since), self.count, code)));
            self.count += 1;
        }
        self.next_ns = self.waiting.peek().map_or(u64::MAX, |due| due.0.0);
    }
}

/// Takes note of a record that tells how the clock follows from the ticks of the processor.
pub(crate) fn learn_clock(processor_time: &mut Option<ProcessorTime>, event: &Event<'_>) {
    if event.head().kind == kind::TIME_CONV
        && let Ok((Record::TimeConv(record), _)) = event.record()
    {
        *processor_time = ProcessorTime::told(&record);
    }
}

/// Why code that took the place of other code cannot be told by its time, as far as the clocks of the events tell; `None` if it can.
pub(crate) fn not_told_apart(dump: &JitDump, schema: &Schema) -> Option<String> {
    let count = dump.changes().len();
    let why = match dump.has_processor_time() {
        true if !has_own_clock(schema) => "its times are ticks of the processor (record without -k)",
        false if !is_monotonic(schema) => {
            "its times are not of the clock of the recording (record with -k mono)"
        }
        _ => return None,
    };
    (count > 0).then(|| format!("{count} pieces of code share their place with others, and {why}"))
}

/// What of a file is not used, as a sentence.
pub(crate) fn not_used(name: &Path, what: &[String]) -> String {
    format!("not all of {} is used: {}", name.display(), what.join(", "))
}

/// Whether all events have the clock that the kernel gives them by itself.
fn has_own_clock(schema: &Schema) -> bool {
    !schema.events().iter().any(|event| event.attr.clockid().is_some())
}

/// Whether the times of all events are those of the clock of runtimes.
fn is_monotonic(schema: &Schema) -> bool {
    let is = |event: &EventDescription| event.attr.clockid() == Some(ClockId::MONOTONIC);
    !schema.events().is_empty() && schema.events().iter().all(is)
}
