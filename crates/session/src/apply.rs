//! One record after the other: what each does to the state.

use crate::long_name;
use crate::moment::{CodeAddress, LostMoment, Moment, SampleMoment, SwitchMoment, TaskChange, Unattributed};
use crate::session::{LastThread, Session};
use perffile::wire::attr::SampleType;
use perffile::wire::head::{CpuMode, misc};
use perffile::wire::record::{Record, kind};
use perffile::wire::sample::SampleView;
use perffile::{Event, IssueKind};

/// Pid and tid of samples that do not tell theirs: what the kernel writes for tasks it does not know any more.
const NO_ID: u32 = u32::MAX;

impl Session {
    /// Takes one record in, and says what it means. Records have to come in order of time
    /// ([`perffile::Ordering::Time`]).
    #[inline]
    pub fn apply<'e>(&mut self, event: &Event<'e>) -> Moment<'e> {
        if event.head().kind == kind::SAMPLE { self.sample(event) } else { self.other(event) }
    }

    /// Whether records of this type may change where addresses are.
    #[inline]
    pub fn may_remap(kind: u32) -> bool {
        changes_state(kind)
            && !matches!(
                kind,
                kind::SWITCH | kind::SWITCH_CPU_WIDE | kind::LOST | kind::LOST_SAMPLES | kind::STAT
            )
    }

    /// What a record that is no sample does.
    fn other<'e>(&mut self, event: &Event<'e>) -> Moment<'e> {
        let head = event.head();
        if !changes_state(head.kind) {
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
        if let Some(len) = long_name::cut(&mut record) {
            let message =
                || format!("a name of {len} bytes, longer than any can be: only its beginning counts");
            self.issues.add(IssueKind::LongName, event.place(), message);
        }
        let time_ns = event.time().unwrap_or_default();
        match record {
            Record::Mmap(mmap) => self.mmap(&mmap, head, time_ns),
            Record::Mmap2(mmap) => self.mmap2(&mmap, head, time_ns),
            Record::Comm(comm) => self.comm_record(&comm, head.misc & misc::COMM_EXEC != 0, time_ns),
            Record::Fork(task) => self.task(&task, TaskChange::Fork, head),
            Record::Exit(task) => self.task(&task, TaskChange::Exit, head),
            Record::Ksymbol(symbol) => self.ksymbol(&symbol, time_ns),
            Record::HeaderBuildId(record) => self.build_id_record(&record, head.misc),
            Record::Switch(_) => self.switch(event, None, time_ns),
            Record::SwitchCpuWide(wide) => {
                self.switch(event, Some((wide.next_prev_pid, wide.next_prev_tid)), time_ns)
            }
            Record::Stat(stat) if event.schema().event_of_count(stat.event_id).is_none() => {
                let message = || "a count's event id belongs to no event".to_owned();
                self.issues.add(IssueKind::UnknownEventId, event.place(), message);
                Moment::Other
            }
            Record::Lost(lost) => self.lost(LostMoment::Records(lost.lost)),
            Record::LostSamples(lost) => self.lost(LostMoment::Samples(lost.lost)),
            _ => Moment::Other,
        }
    }

    /// A sample. Allocates nothing unless its thread is new.
    #[inline]
    fn sample<'e>(&mut self, event: &Event<'e>) -> Moment<'e> {
        let Some((index, description)) =
            event.event_index().and_then(|index| Some((index, event.schema().event(index)?)))
        else {
            return self.unknown_event(event);
        };
        let view = SampleView::new(event.body(), &description.layout, event.head().misc);
        let Ok(fields) = view.essentials() else { return self.undecodable_sample(event, &view) };
        if let Some(message) = view.too_long(fields.left) {
            self.issues.add(IssueKind::BadRecordSize, event.place(), || message);
        }
        let recorded = description.attr.sample_type;
        let (pid, tid) =
            if recorded.has(SampleType::TID) { (fields.pid, fields.tid) } else { (NO_ID, NO_ID) };
        let seen = self.thread_of_sample(pid, tid);
        let mode = event.head().cpu_mode();
        let period = description.period(recorded.has(SampleType::PERIOD).then_some(fields.period));
        let code = self.locate_cached(&seen, mode, fields.ip);
        let shares = self.delivery.shares(event.schema(), index, &view);
        let weight = shares.iter().fold(0u64, |sum, share| sum.saturating_add(share.period));
        self.count(&seen, &code, weight);
        let is_timed = fields.time != 0 && !self.strays.is_stray(event.schema(), fields.time);
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
            code,
            sample: view,
        })
    }

    #[inline]
    fn thread_of_sample(&mut self, pid: u32, tid: u32) -> LastThread {
        if let Some(last) = self.last.thread
            && last.pid == pid
            && last.tid == tid
        {
            return last;
        }
        let (process, thread) = self.find_or_add_thread(pid, tid);
        let known = self.threads.get(thread);
        let comm = known.map_or_else(|| <_ as crate::arena::Id>::of(0), |thread| thread.comm());
        let seen = LastThread { pid, tid, process, thread, comm };
        self.last.thread = Some(seen);
        seen
    }

    /// As [`Session::locate`], trying the last user mapping first.
    #[inline]
    fn locate_cached(&mut self, seen: &LastThread, mode: CpuMode, ip: u64) -> CodeAddress {
        if mode != CpuMode::User {
            return self.locate(seen.process, mode, ip);
        }
        if let Some((process, mapping)) = &self.last.mapping
            && *process == seen.process
            && mapping.covers(ip)
        {
            return CodeAddress::of(Some(mapping), mode, ip);
        }
        let found = self.processes.get(seen.process).and_then(|process| process.space.find(ip)).copied();
        if let Some(mapping) = found {
            self.last.mapping = Some((seen.process, mapping));
        }
        CodeAddress::of(found.as_ref(), mode, ip)
    }

    #[inline]
    fn count(&mut self, seen: &LastThread, code: &CodeAddress, period: u64) {
        self.summary.samples += 1;
        self.summary.period = self.summary.period.saturating_add(period);
        if seen.pid == NO_ID {
            self.summary.without_thread += 1;
        }
        if code.binary.is_none() {
            self.summary.unmapped(code.mode);
        }
        if let Some(process) = self.processes.get_mut(seen.process) {
            process.samples += 1;
            process.period = process.period.saturating_add(period);
        }
    }

    #[cold]
    fn unknown_event<'e>(&mut self, event: &Event<'e>) -> Moment<'e> {
        self.summary.unknown_event += 1;
        let message = || "a sample whose event id belongs to no event".to_owned();
        self.issues.add(IssueKind::UnknownEventId, event.place(), message);
        Moment::Unattributed(Unattributed::UnknownEvent)
    }

    #[cold]
    fn undecodable_sample<'e>(&mut self, event: &Event<'e>, view: &SampleView<'e>) -> Moment<'e> {
        self.summary.undecodable_samples += 1;
        self.issues.add(IssueKind::BadRecord, event.place(), || match view.essentials() {
            Err(error) => format!("a sample that cannot be decoded: {error}"),
            Ok(_) => "a sample that cannot be decoded".to_owned(),
        });
        Moment::Unattributed(Unattributed::Undecodable)
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

/// Whether records of this type mean something here: the others are not even decoded.
fn changes_state(number: u32) -> bool {
    matches!(
        number,
        kind::MMAP
            | kind::MMAP2
            | kind::COMM
            | kind::FORK
            | kind::EXIT
            | kind::KSYMBOL
            | kind::HEADER_BUILD_ID
            | kind::SWITCH
            | kind::SWITCH_CPU_WIDE
            | kind::LOST
            | kind::LOST_SAMPLES
            | kind::STAT
    )
}
