//! Records are applied to the session, one after the other.

use crate::long_name;
use crate::moment::{LostMoment, Moment, SampleMoment, SwitchMoment, TaskChange, is_loss, loss};
use crate::recent_threads::KnownThread;
use crate::session::Session;
use perffile::wire::attr::SampleType;
use perffile::wire::head::RecordHead;
use perffile::wire::misc;
use perffile::wire::record::{Record, kind};
use perffile::{Event, IssueKind, Share, Unattributed, UsableSample, record_handlers};

/// Pid and tid of samples that do not tell theirs: what the kernel writes for tasks it does not know any more.
const NO_ID: u32 = u32::MAX;

impl Session {
    /// Takes one record in, and says what it means. Records have to come in order of time
    /// ([`perffile::Ordering::Time`]).
    #[inline(always)]
    pub fn apply<'e>(&mut self, event: &Event<'e>) -> Moment<'e> {
        if event.head().kind == kind::SAMPLE { self.sample(event) } else { self.other(event) }
    }

    /// What a record that is no sample does.
    fn other<'e>(&mut self, event: &Event<'e>) -> Moment<'e> {
        let head = event.head();
        let (remaps, is_loss) = (remaps(head.kind), is_loss(head.kind));
        if !remaps && !is_loss && !is_noted(head.kind) {
            return Moment::Other;
        }
        let mut record = match event.record() {
            Ok((record, _)) => record,
            Err(error) => {
                self.summary.undecodable_records += 1;
                event.tell_undecodable(&error, &mut self.issues);
                return Moment::Undecodable;
            }
        };
        let time_ns = event.time().unwrap_or_default();
        let moment = if remaps {
            self.cut_names(&mut record, event);
            remap(record, self, head, time_ns)
        } else if is_loss {
            loss(record).map(|lost| self.lost(lost))
        } else {
            note(record, self, event, time_ns)
        };
        moment.unwrap_or(Moment::Other)
    }

    /// Cuts names that are too long.
    fn cut_names<'e>(&mut self, record: &mut Record<'e>, event: &Event<'e>) {
        record.each_name(&event.body_and_shape().1, event.head().misc, |name| {
            if let Some(len) = long_name::cut(name) {
                let message =
                    || format!("a name of {len} bytes, longer than any can be: only its beginning counts");
                self.issues.add(IssueKind::LongName, event.place(), message);
            }
        });
    }

    /// A sample. Allocates nothing unless its thread is new.
    #[inline(always)]
    fn sample<'e>(&mut self, event: &Event<'e>) -> Moment<'e> {
        let usable = match event.usable_sample(&mut self.issues) {
            Ok(usable) => usable,
            Err(why) => return self.unattributed(why),
        };
        let UsableSample { index, event: description, sample: view, essentials: fields } = usable;
        let recorded = description.attr.sample_type;
        let (pid, tid) =
            if recorded.has(SampleType::TID) { (fields.pid, fields.tid) } else { (NO_ID, NO_ID) };
        let seen = self.thread_of_sample(pid, tid);
        let mode = event.head().cpu_mode();
        let period = description.period(recorded.has(SampleType::PERIOD).then_some(fields.period));
        let shares = self.delivery.shares_of(event.schema(), Share { event: index, period }, &view);
        let weight = shares.iter().fold(0u64, |sum, share| sum.saturating_add(share.period));
        self.count(&seen, weight);
        let is_timed = fields.time != 0 && !event.has_stray_time();
        Moment::Sample(SampleMoment {
            event: index,
            process: seen.process,
            thread: seen.thread,
            comm: seen.comm,
            time_ns: fields.time,
            is_timed,
            cpu: recorded.has(SampleType::CPU).then_some(fields.cpu),
            period,
            mode,
            ip: fields.ip,
            sample: view,
        })
    }

    #[inline]
    fn thread_of_sample(&mut self, pid: u32, tid: u32) -> KnownThread {
        if let Some(known) = self.recent_threads.get(pid, tid) {
            return known;
        }
        let (process, thread) = self.find_or_add_thread(pid, tid);
        let known = self.threads.get(thread);
        let comm = known.map_or_else(|| <_ as crate::arena::Id>::of(0), |thread| thread.comm());
        let seen = KnownThread { pid, tid, process, thread, comm };
        self.recent_threads.put(seen);
        seen
    }

    #[inline]
    fn count(&mut self, seen: &KnownThread, period: u64) {
        self.summary.samples += 1;
        self.summary.period = self.summary.period.saturating_add(period);
        if seen.pid == NO_ID {
            self.summary.without_thread += 1;
        }
        if let Some(process) = self.processes.get_mut(seen.process) {
            process.samples += 1;
            process.period = process.period.saturating_add(period);
        }
    }

    #[cold]
    fn unattributed<'e>(&mut self, why: Unattributed) -> Moment<'e> {
        match why {
            Unattributed::UnknownEvent => self.summary.unknown_event += 1,
            Unattributed::Undecodable => self.summary.undecodable_samples += 1,
        }
        Moment::Unattributed(why)
    }

    fn switch<'e>(&mut self, event: &Event<'e>, other: Option<(u32, u32)>, time_ns: u64) -> Moment<'e> {
        let id = event.sample_id().unwrap_or_default();
        let thread = match (id.pid, id.tid) {
            (Some(pid), Some(tid)) => Some(self.find_or_add_thread(pid, tid).1),
            _ => None,
        };
        let bits = event.head().misc;
        let out = bits & misc::SWITCH_OUT != 0;
        let preempted = out && bits & misc::SWITCH_OUT_PREEMPT != 0;
        Moment::Switch(SwitchMoment { thread, other, out, preempted, cpu: id.cpu, time_ns })
    }

    fn lost<'e>(&mut self, lost: LostMoment) -> Moment<'e> {
        let (sum, count) = match lost {
            LostMoment::Records(count) => (&mut self.summary.lost_records, count),
            LostMoment::Samples(count) => (&mut self.summary.lost_samples, count),
        };
        *sum = sum.saturating_add(count);
        Moment::Lost(lost)
    }
}

record_handlers! {
    /// Whether records of this type may change where addresses are, or whose.
    fn remaps;
    /// Applies one of them.
    fn remap<'e>(session: &mut Session, head: RecordHead, time_ns: u64) -> Moment<'e> {
        Mmap(mmap) => session.mmap(&mmap, head, time_ns),
        Mmap2(mmap) => session.mmap2(&mmap, head, time_ns),
        Comm(comm) => session.comm_record(&comm, head.misc & misc::COMM_EXEC != 0, time_ns),
        Fork(task) => session.task(&task, TaskChange::Fork, head),
        Exit(task) => session.task(&task, TaskChange::Exit, head),
        Ksymbol(symbol) => session.ksymbol(&symbol, time_ns),
        HeaderBuildId(record) => session.build_id_record(&record, head.misc),
    }
}

record_handlers! {
    /// Whether records of this type change something else in the session.
    fn is_noted;
    /// Applies one of them.
    fn note<'e>(session: &mut Session, event: &Event<'e>, time_ns: u64) -> Moment<'e> {
        Switch(_) => session.switch(event, None, time_ns),
        SwitchCpuWide(wide) => session.switch(event, Some((wide.next_prev_pid, wide.next_prev_tid)), time_ns),
        Stat(count) => {
            // If it belongs to no event, that is an issue.
            let _ = event.event_of_count(&count, &mut session.issues);
            Moment::Other
        },
    }
}
