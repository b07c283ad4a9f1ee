//! Where threads were when they gave up their CPU: the stacks of `sched_switch`, and the samples that are made of them.
//!
//! A thread that waits is not sampled. So that it is seen in the graphs, and waiting in the call tree, it gets two samples for
//! a time off the CPU: one where that begins, whose weight is the whole time, and one where it ends. Their innermost frame says
//! that it had no CPU. Times shorter than the sampling interval are put together until they make one.

use super::tables::Tables;
use super::{Source, libraries::Shared, meta};
use crate::export::circumstances::Unit;
use crate::export::threads::ByThread;
use crate::export::{Export, Weight};
use readperf_profile::{RowSlice, SampleRow, ScheduleSpan, ThreadState, WhyOff};
use readperf_session::ThreadId;

/// The event whose samples are taken where threads give up their CPU.
const SCHED_SWITCH: &str = "sched:sched_switch";
/// How long before a record of a switch its `sched_switch` can be, ns: the one is written right after the other.
const JUST_BEFORE_NS: u64 = 100_000;

/// The samples of `sched_switch`, by thread.
pub(super) fn switch_samples<'s>(export: &Export<'s>) -> Option<ByThread<RowSlice<'s>>> {
    let event = export.profile.events().iter().position(|event| event.name == SCHED_SWITCH)?;
    Some(ByThread::new(export.profile.rows_of(event), |row| row.thread))
}

/// What people read of why a thread had no CPU.
pub(super) fn reason(why: WhyOff) -> &'static str {
    match why {
        WhyOff::Preempted => "preempted",
        WhyOff::Waiting => "waiting",
        WhyOff::New => "not started yet",
        WhyOff::Unknown => "not known",
    }
}

/// A time off the CPU, and the sample of the switch that it began with.
#[derive(Clone, Copy)]
pub(super) struct TimeOff {
    pub(super) span: ScheduleSpan,
    pub(super) why: WhyOff,
    pub(super) switch: Option<SampleRow>,
}

/// The times of a thread off the CPU, in order.
pub(super) fn times<'s>(export: &Export<'s>, source: &Source<'s>, thread: ThreadId) -> Vec<TimeOff> {
    let mut rows = source.switches.iter().flat_map(|switches| switches.of(thread)).peekable();
    let mut last: Option<SampleRow> = None;
    let mut ran_since = 0;
    let mut times = Vec::new();
    for span in export.marks.schedule.of(thread) {
        let why = match span.state {
            ThreadState::Off(why) => why,
            ThreadState::Running { .. } => {
                ran_since = span.from_ns.unwrap_or(0);
                continue;
            }
        };
        let switch = span.from_ns.and_then(|from| {
            while let Some(row) = rows.next_if(|row| row.time_ns <= from) {
                last = Some(row);
            }
            let earliest = from.saturating_sub(JUST_BEFORE_NS).max(ran_since);
            last.filter(|row| row.time_ns >= earliest)
        });
        times.push(TimeOff { span: *span, why, switch });
    }
    times
}

/// A sample that is shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) time_ns: u64,
    pub(super) stack: Option<u32>,
    /// In ns where the event counts ns, else by count.
    pub(super) weight: u64,
    /// What a clock says of how long the thread has run since the sample before, ns.
    pub(super) clock_ns: Option<u64>,
}

/// In what a time off the CPU is weighed.
#[derive(Clone, Copy, Debug)]
enum Scale {
    Nanoseconds,
    /// As many samples as there would have been.
    Samples,
    /// What the event counts does not tell of time.
    None,
}

impl Scale {
    fn of(export: &Export<'_>, event: Option<usize>) -> Scale {
        let unit = event.map_or(Unit::Count, |event| export.unit(event));
        match (export.profile.weight(), unit) {
            (Weight::Period, Unit::Nanoseconds) => Scale::Nanoseconds,
            (Weight::Samples, _) if meta::is_by_time(export, event) => Scale::Samples,
            _ => Scale::None,
        }
    }

    /// Takes what can be weighed out of a time.
    fn take(self, owed_ns: &mut u64, interval_ns: u64) -> u64 {
        match self {
            Scale::Nanoseconds => std::mem::take(owed_ns),
            Scale::Samples => {
                let samples = *owed_ns / interval_ns;
                *owed_ns %= interval_ns;
                samples
            }
            Scale::None => {
                *owed_ns = 0;
                0
            }
        }
    }
}

/// The samples that a thread's times off the CPU are shown as.
pub(super) fn points(
    export: &Export<'_>,
    source: &Source<'_>,
    times: &[TimeOff],
    tables: &mut Tables<'_>,
    shared: &mut Shared,
) -> Vec<Point> {
    let scale = Scale::of(export, source.event);
    let interval_ns = meta::interval_ns(export, source.event);
    let mut points: Vec<Point> = Vec::new();
    let mut owed_ns = 0;
    for time in times {
        let (Some(from), Some(switch)) = (time.span.from_ns, time.switch) else { continue };
        let to = time.span.to_ns.unwrap_or(source.end_ns).max(from);
        owed_ns += to - from;
        if owed_ns < interval_ns {
            continue;
        }
        let stack = tables.off_cpu_stack(&switch, reason(time.why), shared);
        let weight = scale.take(&mut owed_ns, interval_ns);
        points.push(Point { time_ns: from, stack, weight, clock_ns: None });
        points.push(Point { time_ns: to, stack, weight: 0, clock_ns: None });
    }
    // What is left belongs to some of these.
    if let (Some(point), Scale::Nanoseconds) = (points.iter_mut().rev().nth(1), scale) {
        point.weight += owed_ns;
    }
    points
}

/// How long a thread ran between two of its samples, as its switches tell.
pub(super) struct RunningTime<'s> {
    spans: &'s [ScheduleSpan],
}

impl<'s> RunningTime<'s> {
    pub(super) fn of(export: &Export<'s>, thread: ThreadId) -> Self {
        RunningTime { spans: export.marks.schedule.of(thread) }
    }

    /// How long it ran between two times; `None` if that is not known of all the time. Times are asked for in order.
    pub(super) fn between(&mut self, from_ns: u64, to_ns: u64) -> Option<u64> {
        while let [first, rest @ ..] = self.spans
            && first.to_ns.is_some_and(|to| to <= from_ns)
        {
            self.spans = rest;
        }
        let (mut ran, mut known) = (0, 0);
        for span in self.spans {
            let from = span.from_ns.unwrap_or(0).max(from_ns);
            let to = span.to_ns.unwrap_or(u64::MAX).min(to_ns);
            if from >= to {
                break;
            }
            known += to - from;
            if matches!(span.state, ThreadState::Running { .. }) {
                ran += to - from;
            }
        }
        (known == to_ns.saturating_sub(from_ns)).then_some(ran)
    }
}
