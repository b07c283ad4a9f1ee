//! From switches to times with and without a CPU.

use super::gaps::{GONE, Gaps};
use super::log::{SWITCHING_NS, Switch, SwitchLog};
use super::{Schedule, ScheduleSpan, SwitchSource, ThreadState, WhyOff};
use crate::filter::SampleFilter;
use crate::mark::MarkKind;
use readperf_session::{Session, ThreadId};
use rustc_hash::FxHashMap;

/// The thread of every CPU that nobody wants.
const IDLE: Option<u32> = Some(0);

/// What the last switch of a thread told.
#[derive(Clone, Copy, Debug)]
struct Since {
    time_ns: u64,
    cpu: Option<u32>,
    state: ThreadState,
}

impl Schedule {
    /// Pairs the switches. The filter chooses what is kept in the end: a switch that it leaves out still ends the time before it.
    pub(crate) fn of_switches(mut log: SwitchLog, session: &Session, filter: &SampleFilter) -> Schedule {
        log.sort();
        Tracker::new(session, filter, &log).schedule()
    }
}

/// Follows every thread from switch to switch.
struct Tracker<'t> {
    session: &'t Session,
    filter: &'t SampleFilter,
    log: &'t SwitchLog,
    gaps: Gaps,
    threads: FxHashMap<ThreadId, Since>,
    schedule: Schedule,
}

impl<'t> Tracker<'t> {
    /// For switches that are in order of time.
    fn new(session: &'t Session, filter: &'t SampleFilter, log: &'t SwitchLog) -> Self {
        let mut lost = log.lost.clone();
        lost.sort_unstable();
        let schedule = Schedule { source: log.source, ..Schedule::default() };
        let gaps = Gaps::find(&log.switches, &lost);
        Tracker { session, filter, log, gaps, threads: FxHashMap::default(), schedule }
    }

    /// Pairs all switches.
    fn schedule(mut self) -> Schedule {
        if let (SwitchSource::Tracepoint { event }, true) = (self.log.source, self.gaps.of_some_threads) {
            self.schedule.source = SwitchSource::SomeThreads { event };
            return self.schedule;
        }
        for switch in &self.log.switches {
            self.switch(switch);
        }
        for (thread, since) in std::mem::take(&mut self.threads) {
            self.end(thread, since);
        }
        let mut schedule = self.schedule;
        schedule.spans.sort_unstable_by_key(|span| (span.thread, span.from_ns, span.to_ns));
        schedule
    }

    fn switch(&mut self, switch: &Switch) {
        let mark = switch.mark;
        // The idle thread stands for one of each CPU: that one of them runs is not told. Threads that exit are nobody's.
        let Some(thread) = mark.thread.filter(|_| ![IDLE, GONE].contains(&switch.tid)) else { return };
        let state = match mark.kind {
            MarkKind::SwitchIn => ThreadState::Running { cpu: mark.cpu },
            MarkKind::SwitchOut { preempted: true } => ThreadState::Off(WhyOff::Preempted),
            MarkKind::SwitchOut { preempted: false } => ThreadState::Off(WhyOff::Waiting),
            MarkKind::Tracepoint { .. } | MarkKind::Lost(_) => return,
        };
        let now = Since { time_ns: mark.time_ns, cpu: mark.cpu, state };
        let before = self.threads.insert(thread, now);
        match (before, state) {
            (Some(since), ThreadState::Running { .. }) if matches!(since.state, ThreadState::Off(_)) => {
                self.push(thread, since, Some(mark.time_ns));
            }
            (Some(since), ThreadState::Off(_)) if ran_on(since.state, mark.cpu) => {
                self.push(thread, since, Some(mark.time_ns));
            }
            // The switch in between is missing.
            (Some(_), _) => self.schedule.left_out += 1,
            (None, ThreadState::Running { .. }) => self.before_first(thread, now),
            // How long it had been running is not told.
            (None, ThreadState::Off(_)) => {}
        }
    }

    /// The first that is known of a thread is that it got a CPU: it had none before.
    fn before_first(&mut self, thread: ThreadId, now: Since) {
        let forked = self.session.thread(thread).and_then(|thread| thread.fork_time_ns);
        let (from_ns, why) = match forked {
            Some(forked) if forked <= now.time_ns => (Some(forked), WhyOff::New),
            Some(_) => return,
            None => (None, WhyOff::Unknown),
        };
        let span = ScheduleSpan { thread, from_ns, to_ns: Some(now.time_ns), state: ThreadState::Off(why) };
        self.add(span, now.cpu);
    }

    /// What a thread did last, it did to the end.
    fn end(&mut self, thread: ThreadId, since: Since) {
        let exited = self.session.thread(thread).and_then(|thread| thread.exit_time_ns);
        match (exited, since.state) {
            (None, _) => self.push(thread, since, None),
            (Some(exited), ThreadState::Running { .. }) => self.push(thread, since, Some(exited)),
            // Only who runs can exit. The last switch of all comes after that.
            (Some(exited), ThreadState::Off(_)) => {
                self.schedule.left_out += u64::from(exited > since.time_ns.saturating_add(SWITCHING_NS));
            }
        }
    }

    fn push(&mut self, thread: ThreadId, since: Since, to_ns: Option<u64>) {
        let span = ScheduleSpan { thread, from_ns: Some(since.time_ns), to_ns, state: since.state };
        self.add(span, since.cpu);
    }

    /// Adds a time, unless something speaks against it. `cpu` is that of the switch that tells of it.
    fn add(&mut self, span: ScheduleSpan, cpu: Option<u32>) {
        let (from, to) = (span.from_ns.unwrap_or(0), span.to_ns.unwrap_or(u64::MAX));
        let doubtful = match span.state {
            ThreadState::Running { cpu } => self.gaps.on_cpu(cpu, from, to),
            ThreadState::Off(_) => self.gaps.off_cpu(from, to) || self.was_running(span.thread, from, to),
        };
        if doubtful {
            self.schedule.left_out += 1;
            return;
        }
        if let Some((from_ns, to_ns)) =
            self.filter.part_of_span(self.session, span.thread, cpu, (span.from_ns, span.to_ns))
        {
            self.schedule.spans.push(ScheduleSpan { from_ns, to_ns, ..span });
        }
    }

    /// Whether a sample shows a thread with a CPU within a time.
    fn was_running(&self, thread: ThreadId, from_ns: u64, to_ns: u64) -> bool {
        let Some(times) = self.log.running.get(&thread) else { return false };
        let within = from_ns.saturating_add(SWITCHING_NS)..to_ns.saturating_sub(SWITCHING_NS);
        let next = times.partition_point(|time| *time < within.start);
        times.get(next).is_some_and(|time| within.contains(time))
    }
}

/// Whether a thread was running, and on this CPU as far as that is known.
fn ran_on(state: ThreadState, now: Option<u32>) -> bool {
    match state {
        ThreadState::Running { cpu } => cpu.zip(now).is_none_or(|(cpu, now)| cpu == now),
        ThreadState::Off(_) => false,
    }
}
