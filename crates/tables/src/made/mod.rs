//! What was made of a recording: its analysis, the ids of what is in it, and which of it the samples use.

mod dictionaries;
mod ids;
mod used;

pub(crate) use dictionaries::Dictionaries;

use crate::id::Id;
use crate::needs::Needs;
use crate::source::Source;
use crate::words::Words;
use perffile::tracepoint::{Catalog, TracingData};
use perffile::wire::feature::bit;
use perffile::wire::feature::clock_data::ClockData;
use readperf_analysis::Analysis;
use readperf_profile::{AddressId, CodeKind, FunctionId, Mark, MarkKind, Profile, SampleRow};
use readperf_session::{BinaryId, ProcessId, Session};
use std::borrow::Cow;

/// A mapping, as a record told it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MapRow {
    pub(crate) process: Option<ProcessId>,
    pub(crate) binary: BinaryId,
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Offset in the file, where there is one.
    pub(crate) offset: Option<u64>,
    pub(crate) time_ns: u64,
}

/// A stack: that of a sample, or the place of one without.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StackRow {
    pub(crate) id: Id,
    /// A sample that has it.
    pub(crate) sample: SampleRow,
}

/// A field of a tracepoint, of a sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PayloadField {
    /// Number of the sample.
    pub(crate) sample: u32,
    /// Number of the field.
    pub(crate) field: u32,
    /// Number of its name.
    pub(crate) name: u32,
}

/// What was made of a recording.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) needs: Needs,
    pub(crate) source: Source,
    pub(crate) labels: Vec<(String, String)>,
    pub(crate) analysis: Analysis,
    pub(crate) clock: Option<ClockData>,
    pub(crate) dictionaries: Dictionaries,
    /// By number.
    pub(crate) binary_ids: Vec<Id>,
    pub(crate) function_ids: Vec<Id>,
    pub(crate) frame_ids: Vec<Id>,
    pub(crate) thread_ids: Vec<Id>,
    /// Of the stacks in the tree, by number.
    node_ids: Vec<Id>,
    /// Of stacks of one place alone, by its number.
    lone_ids: Vec<Id>,
    /// Each of these once, by id.
    /// The binaries by number.
    pub(crate) binaries: Vec<usize>,
    pub(crate) functions: Vec<FunctionId>,
    pub(crate) frames: Vec<AddressId>,
    /// Levels of frames: the frame, and the number of the level in it.
    pub(crate) levels: Vec<(AddressId, u32)>,
    pub(crate) stacks: Vec<StackRow>,
    pub(crate) maps: Vec<MapRow>,
    pub(crate) switches: Vec<Mark>,
    /// Values of counters: round, and which of its readings.
    pub(crate) readings: Vec<(usize, usize)>,
    pub(crate) catalog: Catalog,
    pub(crate) payload_fields: Vec<PayloadField>,
    /// Samples and sum of periods, by thread.
    pub(crate) of_threads: Vec<(u64, u64)>,
}

impl Made {
    pub(crate) fn new(
        needs: Needs,
        source: Source,
        labels: Vec<(String, String)>,
        analysis: Analysis,
        maps: Vec<MapRow>,
    ) -> Made {
        let clock = analysis.metadata.features.clock_data();
        let binary_ids: Vec<Id> = analysis.session.binaries().iter().map(ids::binary_id).collect();
        let mut made = Made {
            needs,
            thread_ids: ids::thread_ids(source.profile_id, &analysis.session),
            source,
            labels,
            clock,
            dictionaries: Dictionaries::default(),
            binaries: used::firsts(&binary_ids),
            binary_ids,
            function_ids: Vec::new(),
            frame_ids: Vec::new(),
            node_ids: Vec::new(),
            lone_ids: Vec::new(),
            functions: Vec::new(),
            frames: Vec::new(),
            levels: Vec::new(),
            stacks: Vec::new(),
            maps,
            switches: Vec::new(),
            readings: Vec::new(),
            catalog: Catalog::default(),
            payload_fields: Vec::new(),
            of_threads: Vec::new(),
            analysis,
        };
        made.fill();
        made
    }

    fn fill(&mut self) {
        let mut trace_fields = Words::default();
        if self.needs.has(Needs::NAMES) {
            self.function_ids = ids::function_ids(self.profile(), &self.binary_ids);
        }
        if self.needs.has(Needs::FRAMES) {
            self.frame_ids =
                self.profile().addresses().ids().map(|address| self.make_frame_id(address)).collect();
        }
        if self.needs.has(Needs::STACKS) {
            self.number_stacks();
            self.stacks = self.used_stacks();
        }
        if self.needs.has(Needs::STACKS) {
            self.list_used();
        }
        if self.needs.has(Needs::SWITCHES) {
            let is_switch =
                |mark: &&Mark| matches!(mark.kind, MarkKind::SwitchIn | MarkKind::SwitchOut { .. });
            self.switches = self.analysis.marks.as_slice().iter().filter(is_switch).copied().collect();
        }
        if self.needs.has(Needs::COUNTERS) {
            let rounds = self.analysis.statistics.counters.rounds.iter().enumerate();
            self.readings =
                rounds.flat_map(|(nr, round)| (0..round.readings.len()).map(move |at| (nr, at))).collect();
        }
        if self.needs.has(Needs::PAYLOADS) {
            let blob = self.analysis.metadata.features.bytes(bit::TRACING_DATA);
            self.catalog = blob.map(catalog).unwrap_or_default();
            let (fields, names) = self.list_payload_fields();
            self.payload_fields = fields;
            trace_fields = Words::new(names.into_iter().map(|name| Some(Cow::from(name))));
        }
        self.of_threads = self.sum_threads();
        self.dictionaries = Dictionaries { trace_fields, ..self.make_dictionaries() };
    }

    pub(crate) fn profile(&self) -> &Profile {
        &self.analysis.profile
    }

    pub(crate) fn session(&self) -> &Session {
        &self.analysis.session
    }

    pub(crate) fn profile_id(&self) -> i64 {
        self.source.profile_id.number()
    }

    /// A time of the recording in microseconds since 1970, if that is known.
    pub(crate) fn moment_us(&self, time_ns: u64) -> Option<i64> {
        crate::clock::moment_us(self.clock.as_ref(), time_ns)
    }

    /// The id of a sample's stack.
    pub(crate) fn stack_id(&self, row: &SampleRow) -> Option<Id> {
        match row.stack.index() {
            Some(node) => self.node_ids.get(node).copied(),
            None => self.lone_ids.get(row.address.index()).copied(),
        }
    }

    /// The kind of code at a place.
    pub(crate) fn kind(&self, address: AddressId) -> CodeKind {
        let code = self.profile().addresses().get(address);
        code.map_or(CodeKind::Unknown, |code| CodeKind::of(&code, self.session()))
    }

    /// The binary of a place.
    pub(crate) fn binary_of(&self, address: AddressId) -> Option<BinaryId> {
        self.profile().addresses().get(address)?.binary
    }
}

/// The formats in a recording's tracing data, as far as they can be read.
fn catalog(blob: &[u8]) -> Catalog {
    match TracingData::parse(blob) {
        Ok(data) => Catalog::new(&data),
        Err(partial) => Catalog::new(&partial.data),
    }
}
