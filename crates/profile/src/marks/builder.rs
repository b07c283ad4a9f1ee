//! Takes marks in as records pass.

use super::{Mark, MarkKind, MarkTextId, Marks};
use crate::filter::SampleFilter;
use crate::schedule::{Schedule, Switch, SwitchLog, SwitchSource};
use perffile::tracepoint::{Catalog, EventFormat, FieldValue, NoSymbols, TracingData};
use perffile::wire::attr::{AttrFlags, EventAttr};
use perffile::wire::feature::bit;
use perffile::wire::text::decoded;
use perffile::{Event, Metadata};
use readperf_session::{Moment, SampleMoment, Session, SwitchMoment, ThreadId};
use rustc_hash::FxHashMap;

/// The tracepoint that tells of context switches: its system, its name, and the name of its event.
const SCHED_SWITCH: (&str, &str) = ("sched", "sched_switch");
const SCHED_SWITCH_EVENT: &str = "sched:sched_switch";
/// How many bytes of different payloads are held; what more there is stays without a text, and is counted.
const MOST_BYTES: usize = 64 << 20;

/// Takes marks in. Payloads become texts at the end: a pipe may tell how only then.
#[derive(Debug, Default)]
pub struct MarkBuilder {
    list: Vec<Mark>,
    payloads: Vec<(u64, Box<[u8]>)>,
    /// Payloads by tracepoint and bytes.
    numbers: FxHashMap<(u64, Box<[u8]>), u32>,
    held: usize,
    without_text: u64,
    switches: SwitchLog,
    /// Samples of tracepoints that the filter leaves out, but that tell of switches.
    unshown: Vec<Mark>,
}

impl MarkBuilder {
    /// Takes in what a record tells, if it passes the filter. Of samples only those of tracepoints count, and `sample` says
    /// whether they pass. What tells when threads had a CPU is taken in whether it passes or not.
    pub fn add(
        &mut self,
        session: &Session,
        filter: &SampleFilter,
        event: &Event<'_>,
        moment: &Moment<'_>,
        sample: bool,
    ) {
        match moment {
            Moment::Switch(switch) => self.switch(session, filter, switch),
            Moment::Lost(lost) => {
                let time_ns = event.time().unwrap_or_default();
                let cpu = event.sample_id().and_then(|id| id.cpu);
                // Without a time, perf itself tells of all that it has told of before.
                if time_ns > 0 {
                    self.switches.lost(time_ns, cpu);
                }
                self.list.push(Mark { time_ns, thread: None, cpu, kind: MarkKind::Lost(*lost) });
            }
            Moment::Sample(moment) => self.sample(event, moment, sample),
            _ => {}
        }
    }

    fn switch(&mut self, session: &Session, filter: &SampleFilter, switch: &SwitchMoment) {
        let kind = match switch.out {
            true => MarkKind::SwitchOut { preempted: switch.preempted },
            false => MarkKind::SwitchIn,
        };
        let (time_ns, thread, cpu) = (switch.time_ns, switch.thread, switch.cpu);
        let mark = Mark { time_ns, thread, cpu, kind };
        let tid = thread.and_then(|thread| session.thread(thread)).map(|thread| thread.tid);
        self.switches.source = SwitchSource::Records;
        self.switches.add(Switch { mark, tid });
        if tid != Some(0) && filter.passes_thread(session, thread, cpu, time_ns) {
            self.list.push(mark);
        }
    }

    fn sample(&mut self, event: &Event<'_>, sample: &SampleMoment<'_>, passes: bool) {
        let Some(description) = event.schema().event(sample.event) else { return };
        let is_tracepoint = description.attr.tracepoint().is_some();
        let is_switch = is_tracepoint && description.name == SCHED_SWITCH_EVENT;
        match is_switch {
            true => self.switches.expect_out(sample.thread, sample.time_ns),
            false => self.switches.sampled(sample.thread, sample.time_ns),
        }
        if !is_tracepoint || !(passes || is_switch) {
            return;
        }
        let payload = sample.sample.decode().ok().and_then(|(sample, _)| sample.raw);
        let text = payload.and_then(|payload| self.payload(description.attr.config, payload));
        let event = u32::try_from(sample.event).unwrap_or(u32::MAX);
        let (time_ns, thread, cpu) = (sample.time_ns, Some(sample.thread), sample.cpu);
        let mark = Mark { time_ns, thread, cpu, kind: MarkKind::Tracepoint { event, text } };
        if passes {
            self.list.push(mark);
        } else {
            self.unshown.push(mark);
        }
    }

    /// The number of a payload.
    fn payload(&mut self, tracepoint: u64, payload: &[u8]) -> Option<MarkTextId> {
        let key = (tracepoint, Box::from(payload));
        if let Some(number) = self.numbers.get(&key) {
            return Some(MarkTextId(*number));
        }
        if self.held + payload.len() > MOST_BYTES {
            self.without_text += 1;
            return None;
        }
        // It is held twice: in the list and in the index.
        self.held += 2 * payload.len();
        let number = u32::try_from(self.payloads.len()).ok()?;
        self.payloads.push(key.clone());
        self.numbers.insert(key, number);
        Some(MarkTextId(number))
    }

    /// Makes texts of the payloads, sorts everything by time, and finds out when threads had a CPU.
    pub fn finish(self, session: &Session, metadata: &Metadata, filter: &SampleFilter) -> Marks {
        let MarkBuilder { mut list, payloads, numbers, without_text, mut switches, unshown, .. } = self;
        drop(numbers);
        let catalog = metadata.features.bytes(bit::TRACING_DATA).map(catalog).unwrap_or_default();
        if switches.source == SwitchSource::None {
            let told = Payloads { payloads: &payloads, catalog: &catalog, metadata, session };
            told.add_switches(list.iter().chain(&unshown), &mut switches);
            let known = |switch: &&Switch| {
                let Mark { time_ns, thread, cpu, .. } = switch.mark;
                let shown = switch.tid != Some(0) && thread.is_some();
                shown && filter.passes_thread(session, thread, cpu, time_ns)
            };
            list.extend(switches.sort().iter().filter(known).map(|switch| switch.mark));
        }
        let texts = payloads.iter().map(|(tracepoint, payload)| {
            let mut text = Vec::new();
            catalog.write_text(*tracepoint, payload, &NoSymbols, &mut text);
            decoded(&text).into()
        });
        let texts = texts.collect();
        // What happens at the same time stays in the order of the recording.
        list.sort_by_key(|mark| mark.time_ns);
        Marks { list, texts, schedule: Schedule::of_switches(switches, session, filter), without_text }
    }
}

/// The formats in a recording's tracing data, as far as they can be read.
fn catalog(blob: &[u8]) -> Catalog {
    match TracingData::parse(blob) {
        Ok(data) => Catalog::new(&data),
        Err(partial) => Catalog::new(&partial.data),
    }
}

/// The payloads of tracepoints, and what makes sense of them.
struct Payloads<'p> {
    payloads: &'p [(u64, Box<[u8]>)],
    catalog: &'p Catalog,
    metadata: &'p Metadata,
    session: &'p Session,
}

impl Payloads<'_> {
    /// Adds the context switches that tracepoints tell of, if they tell of all.
    fn add_switches<'m>(&self, marks: impl Iterator<Item = &'m Mark>, log: &mut SwitchLog) {
        let mut threads: FxHashMap<u32, Vec<ThreadId>> = FxHashMap::default();
        for thread in self.session.processes().iter().flat_map(|process| &process.threads) {
            if let Some(known) = self.session.thread(*thread) {
                threads.entry(known.tid).or_default().push(*thread);
            }
        }
        for mark in marks {
            let MarkKind::Tracepoint { event, text: Some(text) } = mark.kind else { continue };
            let Some((tracepoint, payload)) = self.payloads.get(text.index()) else { continue };
            let (id, tracepoint) = (Some(*tracepoint), self.catalog.of_payload(*tracepoint, payload));
            // Members of a group may have the payload of their leader, whose mark tells it.
            let Some(tracepoint) = tracepoint.filter(|tracepoint| tracepoint.format.id == id) else {
                continue;
            };
            if (&*tracepoint.system, &*tracepoint.format.name) != SCHED_SWITCH {
                continue;
            }
            let attr = self.metadata.schema.event(event as usize).map(|event| &event.attr);
            if !attr.is_some_and(records_all) {
                log.source = SwitchSource::Sampled { event };
                continue;
            }
            if log.source == SwitchSource::None {
                log.source = SwitchSource::Tracepoint { event };
            }
            let number = |name| number(&tracepoint.format, name, payload);
            let thread_of = |tid: u32| {
                let known = threads.get(&tid).into_iter().flatten().copied();
                known.rev().find(|thread| self.was_there(*thread, mark.time_ns))
            };
            let tid = |name| number(name).and_then(|tid| u32::try_from(tid).ok());
            // sched_switch: a state of 0 is that of a thread that still wants to run; bits above the known ones mark preemption.
            let preempted = number("prev_state").is_some_and(|state| state & 0xff == 0);
            let (out, into) = (tid("prev_pid"), tid("next_pid"));
            // A thread that exits is nobody any more; the payload knows it.
            let thread = out.and_then(thread_of).or(mark.thread);
            log.add(Switch {
                mark: Mark { kind: MarkKind::SwitchOut { preempted }, thread, ..*mark },
                tid: out,
            });
            let thread = into.and_then(thread_of);
            log.add(Switch { mark: Mark { kind: MarkKind::SwitchIn, thread, ..*mark }, tid: into });
        }
        if matches!(log.source, SwitchSource::Sampled { .. }) {
            log.clear();
        }
    }

    /// Whether a thread had begun at a time: numbers are used again.
    fn was_there(&self, thread: ThreadId, time_ns: u64) -> bool {
        let forked = self.session.thread(thread).and_then(|thread| thread.fork_time_ns);
        forked.is_none_or(|forked| forked <= time_ns)
    }
}

/// Whether every occurrence of an event is a sample.
fn records_all(attr: &EventAttr) -> bool {
    !attr.flags.has(AttrFlags::freq) && attr.sample_period == 1
}

/// A number among the fields of a payload.
fn number(format: &EventFormat, name: &str, payload: &[u8]) -> Option<i64> {
    match format.field(name)?.value(payload, format.abi) {
        FieldValue::I64(number) => Some(number),
        FieldValue::U64(number) => i64::try_from(number).ok(),
        _ => None,
    }
}
