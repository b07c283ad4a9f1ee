//! What else happened, by time: context switches, what was lost, the texts of tracepoints. For views that have a time line.

use crate::filter::SampleFilter;
use perffile::tracepoint::{Catalog, EventFormat, NoSymbols, TracingData, Value};
use perffile::wire::feature::bit;
use perffile::{Event, Metadata};
use readperf_session::{LostMoment, Moment, SampleMoment, Session, ThreadId};
use rustc_hash::FxHashMap;

/// `PERF_TYPE_TRACEPOINT` (linux/perf_event.h).
const TRACEPOINT: u32 = 2;
/// The name of the tracepoint that tells of context switches.
const SCHED_SWITCH: &str = "sched_switch";
/// How many bytes of different payloads are held; what more there is stays without a text, and is counted.
const MOST_BYTES: usize = 64 << 20;

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// When, in ns of the recording's clock.
    pub time_ns: u64,
    /// To which thread, where that is known.
    pub thread: Option<ThreadId>,
    /// On which CPU, where that is known.
    pub cpu: Option<u32>,
    /// What.
    pub kind: MarkKind,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkKind {
    /// The thread got a CPU.
    SwitchIn,
    /// The thread gave its CPU up.
    SwitchOut {
        /// Whether it still wanted to run.
        preempted: bool,
    },
    /// Something was lost while recording.
    Lost(LostMoment),
    /// A tracepoint was passed.
    Tracepoint {
        /// Index of the event.
        event: u32,
        /// What it says, if the recording describes it.
        text: Option<TextId>,
    },
}

/// Number of a text in [`Marks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TextId(u32);

impl TextId {
    /// Its index, from 0 without gaps.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What happened, by time.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    list: Vec<Mark>,
    texts: Vec<Box<str>>,
    /// Tracepoints for whose texts there was no room.
    pub without_text: u64,
}

impl Marks {
    /// All of it, in order of time.
    pub fn as_slice(&self) -> &[Mark] {
        &self.list
    }

    /// A text.
    pub fn text(&self, id: TextId) -> Option<&str> {
        self.texts.get(id.index()).map(|text| &**text)
    }

    /// The texts, by number.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(|text| &**text)
    }
}

/// Takes marks in. Payloads become texts at the end: a pipe may tell how only then.
#[derive(Debug, Default)]
pub struct MarkBuilder {
    list: Vec<Mark>,
    payloads: Vec<(u64, Box<[u8]>)>,
    /// Payloads by tracepoint and bytes.
    numbers: FxHashMap<(u64, Box<[u8]>), u32>,
    held: usize,
    without_text: u64,
    /// Whether there are records of context switches.
    switches: bool,
}

impl MarkBuilder {
    /// Takes in what a record tells, if it passes the filter. Of samples only those of tracepoints count, and `sample` says
    /// whether they pass.
    pub fn add(
        &mut self,
        session: &Session,
        filter: &SampleFilter,
        event: &Event<'_>,
        moment: &Moment<'_>,
        sample: bool,
    ) {
        match moment {
            Moment::Switch(switch) => {
                let passes = !is_idle(session, switch.thread)
                    && filter.passes_thread(session, switch.thread, switch.cpu, switch.time_ns);
                self.switches = true;
                let kind = match switch.out {
                    true => MarkKind::SwitchOut { preempted: switch.preempted },
                    false => MarkKind::SwitchIn,
                };
                let (time_ns, thread, cpu) = (switch.time_ns, switch.thread, switch.cpu);
                if passes {
                    self.list.push(Mark { time_ns, thread, cpu, kind });
                }
            }
            Moment::Lost(lost) => {
                let time_ns = event.time().unwrap_or_default();
                self.list.push(Mark { time_ns, thread: None, cpu: None, kind: MarkKind::Lost(*lost) });
            }
            Moment::Sample(moment) if sample => self.tracepoint(event, moment),
            _ => {}
        }
    }

    fn tracepoint(&mut self, event: &Event<'_>, sample: &SampleMoment<'_>) {
        let Some(description) = event.schema().event(sample.event) else { return };
        if description.attr.kind != TRACEPOINT {
            return;
        }
        let payload = sample.sample.decode().ok().and_then(|(sample, _)| sample.raw);
        let text = payload.and_then(|payload| self.payload(description.attr.config, payload));
        let event = u32::try_from(sample.event).unwrap_or(u32::MAX);
        let (time_ns, thread, cpu) = (sample.time_ns, Some(sample.thread), sample.cpu);
        self.list.push(Mark { time_ns, thread, cpu, kind: MarkKind::Tracepoint { event, text } });
    }

    /// The number of a payload.
    fn payload(&mut self, tracepoint: u64, payload: &[u8]) -> Option<TextId> {
        let key = (tracepoint, Box::from(payload));
        if let Some(number) = self.numbers.get(&key) {
            return Some(TextId(*number));
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
        Some(TextId(number))
    }

    /// Makes texts of the payloads, and sorts everything by time.
    pub fn finish(self, session: &Session, metadata: &Metadata) -> Marks {
        let MarkBuilder { mut list, payloads, numbers, without_text, switches, .. } = self;
        drop(numbers);
        let catalog = metadata.features.bytes(bit::TRACING_DATA).map(catalog).unwrap_or_default();
        if !switches {
            add_switches(&mut list, &payloads, session, &catalog);
        }
        let texts = payloads.iter().map(|(tracepoint, payload)| {
            let mut text = Vec::new();
            catalog.write_text(*tracepoint, payload, &NoSymbols, &mut text);
            String::from_utf8_lossy(&text).into()
        });
        let texts = texts.collect();
        // What happens at the same time stays in the order of the recording.
        list.sort_by_key(|mark| mark.time_ns);
        Marks { list, texts, without_text }
    }
}

/// The formats in a recording's tracing data, as far as they can be read.
fn catalog(blob: &[u8]) -> Catalog {
    match TracingData::parse(blob) {
        Ok(data) => Catalog::new(&data),
        Err(partial) => Catalog::new(&partial.data),
    }
}

/// Adds the context switches that tracepoints tell of.
fn add_switches(list: &mut Vec<Mark>, payloads: &[(u64, Box<[u8]>)], session: &Session, catalog: &Catalog) {
    let mut threads: FxHashMap<i64, ThreadId> = FxHashMap::default();
    for thread in session.processes().iter().flat_map(|process| &process.threads) {
        if let Some(known) = session.thread(*thread) {
            threads.insert(i64::from(known.tid), *thread);
        }
    }
    let mut switches = Vec::new();
    for mark in list.iter() {
        let MarkKind::Tracepoint { text: Some(text), .. } = mark.kind else { continue };
        let Some((tracepoint, payload)) = payloads.get(text.index()) else { continue };
        let Some(tracepoint) = catalog.tracepoint(*tracepoint) else { continue };
        if tracepoint.system != "sched" || tracepoint.format.name != SCHED_SWITCH {
            continue;
        }
        let number = |name| number(&tracepoint.format, name, payload);
        // sched_switch: a state of 0 is that of a thread that still wants to run; bits above the known ones mark preemption.
        let preempted = number("prev_state").is_some_and(|state| state & 0xff == 0);
        if !is_idle(session, mark.thread) {
            switches.push(Mark { kind: MarkKind::SwitchOut { preempted }, ..*mark });
        }
        let next = number("next_pid").filter(|tid| *tid != 0);
        if let Some(thread) = next.and_then(|tid| threads.get(&tid)) {
            switches.push(Mark { kind: MarkKind::SwitchIn, thread: Some(*thread), ..*mark });
        }
    }
    list.extend(switches);
}

/// Whether it is the idle thread, which stands for one of each CPU: that one of them runs is not told.
fn is_idle(session: &Session, thread: Option<ThreadId>) -> bool {
    thread.and_then(|thread| session.thread(thread)).is_some_and(|thread| thread.tid == 0)
}

/// A number among the fields of a payload.
fn number(format: &EventFormat, name: &str, payload: &[u8]) -> Option<i64> {
    match format.field(name)?.value(payload, format.abi) {
        Value::I64(number) => Some(number),
        Value::U64(number) => i64::try_from(number).ok(),
        _ => None,
    }
}
