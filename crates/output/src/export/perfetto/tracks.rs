//! Tracks: processes and threads with their states, and tracepoints.

use super::message::*;
use super::{Packets, write_packet};
use crate::export::Export;
use crate::export::runs::Run;
use crate::export::strings::Strings;
use crate::export::threads::ByThread;
use crate::text::{printable, printable_bytes};
use readperf_profile::{Mark, MarkKind};
use readperf_session::{LostMoment, ProcessId, ThreadId};
use std::collections::BTreeSet;
use std::io;

/// The sequence of everything that is on a track.
const SEQUENCE: u32 = 1;

/// What a track is of; with the index of that it makes the track's number.
#[derive(Clone, Copy, Debug)]
enum Track {
    Process(ProcessId),
    Thread(ThreadId),
    Losses,
}

impl Track {
    /// Its number: different for all tracks, and never 0.
    fn uuid(self) -> u64 {
        let number = |kind: usize, index: usize| {
            u64::try_from(kind).unwrap_or(0) << 40 | u64::try_from(index).unwrap_or(0)
        };
        match self {
            Track::Losses => number(1, 0),
            Track::Process(process) => number(2, process.index()),
            Track::Thread(thread) => number(3, thread.index()),
        }
    }
}

/// Writes all tracks, and what is on them.
pub(super) fn write(export: &Export<'_>, packets: &mut Packets<'_>) -> io::Result<()> {
    let mut writer = TrackWriter { export, packets, names: Strings::default(), reused: reused(export) };
    let defaults = Defaults { clock: super::clock(export), samples: None };
    writer.write(TracePacket { flags: STATE_CLEARED, defaults: Some(defaults), ..TracePacket::default() })?;
    writer.processes_and_threads()?;
    let marks = ByThread::new(export.marks.as_slice(), |mark| mark.thread);
    for thread in marks.threads() {
        writer.thread(thread, marks.of(thread))?;
    }
    writer.losses()
}

struct TrackWriter<'w, 'p, 'x> {
    export: &'w Export<'x>,
    packets: &'w mut Packets<'p>,
    names: Strings,
    /// Ids that several threads had one after the other.
    reused: BTreeSet<i32>,
}

fn reused(export: &Export<'_>) -> BTreeSet<i32> {
    let mut seen = BTreeSet::new();
    let threads = export.session.processes().iter().flat_map(|process| &process.threads);
    let tids = threads.map(|thread| export.thread_label(*thread).tid);
    tids.filter(|tid| !seen.insert(*tid)).collect()
}

impl TrackWriter<'_, '_, '_> {
    fn write(&mut self, packet: TracePacket) -> io::Result<()> {
        write_packet(self.packets, &TracePacket { sequence: SEQUENCE, ..packet })
    }

    fn describe(&mut self, track: Track, description: TrackDescriptor) -> io::Result<()> {
        let track = Some(TrackDescriptor { uuid: track.uuid(), ..description });
        self.write(TracePacket { track, ..TracePacket::default() })
    }

    /// Tracks of every process and thread that the profile shows something of.
    fn processes_and_threads(&mut self) -> io::Result<()> {
        let rows = self.export.profile.rows().iter().filter_map(|row| row.thread);
        let marks = self.export.marks.as_slice().iter().filter_map(|mark| mark.thread);
        let threads: BTreeSet<ThreadId> = rows.chain(marks).collect();
        let session = self.export.session;
        let of = |thread: &ThreadId| session.thread(*thread).map(|thread| thread.process);
        let processes: BTreeSet<ProcessId> = threads.iter().filter_map(of).collect();
        for id in processes {
            let Some(process) = session.process(id) else { continue };
            let name = printable_bytes(session.process_name(id)).into_owned();
            let process = Some(ProcessDescriptor { pid: process.pid.cast_signed(), name });
            self.describe(Track::Process(id), TrackDescriptor { process, ..TrackDescriptor::default() })?;
        }
        for id in threads {
            let label = self.export.thread_label(id);
            let name = printable(&label.comm).into_owned();
            // The number of a thread is wider, and has to be that of its samples.
            let (pid, tid) = (label.pid, i64::from(label.tid.cast_unsigned()));
            let description = TrackDescriptor {
                parent: of(&id).map(|process| Track::Process(process).uuid()),
                thread: Some(ThreadDescriptor { pid, tid, name }),
                ..TrackDescriptor::default()
            };
            self.describe(Track::Thread(id), description)?;
        }
        Ok(())
    }

    /// When a thread ran, and the tracepoints that it passed.
    fn thread<'m>(
        &mut self,
        thread: ThreadId,
        marks: impl Iterator<Item = &'m Mark> + Clone,
    ) -> io::Result<()> {
        let track = Track::Thread(thread);
        for run in self.export.runs(thread) {
            match run.cpu {
                Some(cpu) => self.states(thread, cpu, &run)?,
                None => self.slice(track, &run)?,
            }
        }
        for mark in marks {
            if let MarkKind::Tracepoint { event, text } = mark.kind {
                let text = text.and_then(|text| self.export.marks.text(text));
                let annotation = text.map(|text| Annotation {
                    name: "text".into(),
                    text: Some(printable(text).into_owned()),
                    ..Annotation::default()
                });
                let name = self.export.event_name(event as usize);
                let annotations = annotation.into_iter().collect();
                self.event(track, kind::INSTANT, &printable(name), mark.time_ns, annotations)?;
            }
        }
        Ok(())
    }

    /// That a thread ran, and in which state it was left. What is not ended lasts to the end of the trace.
    fn states(&mut self, thread: ThreadId, cpu: u32, run: &Run) -> io::Result<()> {
        let label = self.export.thread_label(thread);
        let (comm, tid) = (printable(&label.comm).into_owned(), i64::from(label.tid.cast_unsigned()));
        let reused = self.reused.contains(&label.tid);
        let exit_ns = self.export.session.thread(thread).and_then(|thread| thread.exit_time_ns);
        let left = |to_ns: u64| match exit_ns {
            // The importer takes nothing more of an id whose thread is dead.
            Some(exit_ns) if to_ns >= exit_ns && !reused => state::DEAD,
            _ if run.preempted => state::RUNNABLE,
            // For what it waits is not recorded.
            _ => state::SLEEPING,
        };
        let states = [Some((run.from_ns, state::RUNNING)), run.to_ns.map(|to_ns| (to_ns, left(to_ns)))];
        states.into_iter().flatten().try_for_each(|(time_ns, state)| {
            self.write(TracePacket {
                flags: NEEDS_STATE,
                timestamp: Some(time_ns),
                task_state: Some(TaskState { cpu, comm: comm.clone(), tid, state }),
                ..TracePacket::default()
            })
        })
    }

    /// That a thread ran, where it is not known on which CPU: states have one.
    fn slice(&mut self, track: Track, run: &Run) -> io::Result<()> {
        self.event(track, kind::SLICE_BEGIN, &run.name(), run.from_ns, Vec::new())?;
        match run.to_ns {
            Some(to_ns) => self.end(track, to_ns),
            None => Ok(()),
        }
    }

    /// What was lost, on a track of its own.
    fn losses(&mut self) -> io::Result<()> {
        let lost = |mark: &Mark| match mark.kind {
            MarkKind::Lost(lost) => Some((mark.time_ns, lost)),
            _ => None,
        };
        let marks = self.export.marks.as_slice();
        if !marks.iter().any(|mark| lost(mark).is_some()) {
            return Ok(());
        }
        let name = Some("lost while recording".to_owned());
        self.describe(Track::Losses, TrackDescriptor { name, ..TrackDescriptor::default() })?;
        for (time_ns, lost) in marks.iter().filter_map(lost) {
            let (name, number) = match lost {
                LostMoment::Records(count) => ("records", count),
                LostMoment::Samples(count) => ("samples", count),
            };
            let annotation =
                Annotation { name: "count".into(), number: Some(number), ..Annotation::default() };
            self.event(Track::Losses, kind::INSTANT, name, time_ns, vec![annotation])?;
        }
        Ok(())
    }

    fn end(&mut self, track: Track, time_ns: u64) -> io::Result<()> {
        let event = TrackEvent { kind: kind::SLICE_END, track: track.uuid(), ..TrackEvent::default() };
        self.put(event, time_ns, None)
    }

    fn event(
        &mut self,
        track: Track,
        kind: u32,
        name: &str,
        time_ns: u64,
        annotations: Vec<Annotation>,
    ) -> io::Result<()> {
        let known = self.names.len();
        // Numbers start at 1.
        let number = self.names.number(name);
        let iid = u64::from(number) + 1;
        let told = || InternedData {
            event_names: vec![EventName { iid, name: name.to_owned() }],
            ..InternedData::default()
        };
        let interned = (self.names.len() > known).then(told);
        let event = TrackEvent { annotations, kind, name: Some(iid), track: track.uuid() };
        self.put(event, time_ns, interned)
    }

    fn put(&mut self, event: TrackEvent, time_ns: u64, interned: Option<InternedData>) -> io::Result<()> {
        self.write(TracePacket {
            flags: NEEDS_STATE,
            timestamp: Some(time_ns),
            interned,
            track_event: Some(event),
            ..TracePacket::default()
        })
    }
}
