//! What was made of a recording: its analysis, the ids of what is in it, and which of it the samples use.

use crate::id::{Id, Key};
use crate::needs::Needs;
use crate::source::Source;
use crate::words::Words;
use perffile::tracepoint::{Catalog, TracingData};
use perffile::wire::feature::bit;
use perffile::wire::feature::clock_data::ClockData;
use perffile::wire::head::CpuMode;
use perffile::wire::text::decoded;
use readperf_analysis::Analysis;
use readperf_profile::{AddressId, CodeKind, FunctionId, Mark, MarkKind, Profile, SampleRow, StackId};
use readperf_session::{Binary, BinaryId, ProcessId, Session};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;

/// What modes are called.
const MODES: [(CpuMode, &str); 5] = [
    (CpuMode::Kernel, "kernel"),
    (CpuMode::User, "user"),
    (CpuMode::Hypervisor, "hypervisor"),
    (CpuMode::GuestKernel, "guest kernel"),
    (CpuMode::GuestUser, "guest user"),
];

/// What kinds of code are called.
const KINDS: [(CodeKind, &str); 4] = [
    (CodeKind::User, "user"),
    (CodeKind::Kernel, "kernel"),
    (CodeKind::Jit, "jit"),
    (CodeKind::Unknown, "unknown"),
];

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

/// Texts that many rows have.
#[derive(Debug, Default)]
pub(crate) struct Dictionaries {
    pub(crate) events: Words,
    pub(crate) comms: Words,
    pub(crate) binaries: Words,
    pub(crate) functions: Words,
    pub(crate) files: Words,
    /// By [`CpuMode`].
    pub(crate) modes: Words,
    /// By [`CodeKind`].
    pub(crate) kinds: Words,
    /// Names of fields of tracepoints.
    pub(crate) trace_fields: Words,
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
    pub(crate) binaries: Vec<BinaryId>,
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
        let binary_ids: Vec<Id> = analysis.session.binaries().iter().map(binary_id).collect();
        let mut made = Made {
            needs,
            thread_ids: thread_ids(source.profile_id, &analysis.session),
            source,
            labels,
            clock,
            dictionaries: Dictionaries::default(),
            binary_ids,
            function_ids: Vec::new(),
            frame_ids: Vec::new(),
            node_ids: Vec::new(),
            lone_ids: Vec::new(),
            binaries: Vec::new(),
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
            self.function_ids = function_ids(self.profile(), &self.binary_ids);
        }
        if self.needs.has(Needs::FRAMES) {
            self.frame_ids =
                self.profile().addresses().ids().map(|address| self.make_frame_id(address)).collect();
        }
        if self.needs.has(Needs::STACKS) {
            self.number_stacks();
            self.stacks = self.used_stacks();
        }
        if self.needs.has(Needs::NAMES) {
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
        code.map_or(CodeKind::Unknown, |code| CodeKind::of(code, self.session()))
    }

    /// The binary of a place.
    pub(crate) fn binary_of(&self, address: AddressId) -> Option<BinaryId> {
        self.profile().addresses().get(address)?.binary
    }

    /// A frame is where it is and what is known of it: so rows of one id are the same in all recordings, whatever symbols each was
    /// read with.
    fn make_frame_id(&self, address: AddressId) -> Id {
        let mut key = Key::new("frame");
        let code = self.profile().addresses().get(address);
        let binary = code.and_then(|code| code.binary).and_then(|binary| self.binary_ids.get(binary.index()));
        key.id(binary.copied());
        key.number(code.map(|code| code.address));
        key.number(Some(self.kind(address) as u64));
        for level in self.profile().levels_at(address) {
            key.id(self.function_ids.get(level.function.index()).copied());
            let file = level.file.and_then(|file| self.profile().names().file(file));
            key.text(file.map(str::as_bytes));
            key.number((level.line > 0).then_some(u64::from(level.line)));
        }
        key.end()
    }

    /// Ids of stacks, from the root on: each is that of its caller's stack and its frame.
    fn number_stacks(&mut self) {
        let mut key = Key::default();
        let mut id = |caller: Option<Id>, frame: Option<&Id>| {
            key.begin("stack");
            key.id(caller);
            key.id(frame.copied());
            key.end()
        };
        let mut node_ids: Vec<Id> = Vec::with_capacity(self.profile().stacks().nodes().len());
        for node in self.profile().stacks().nodes() {
            let caller = node.parent.index().and_then(|caller| node_ids.get(caller)).copied();
            node_ids.push(id(caller, self.frame_ids.get(node.address.index())));
        }
        if self.profile().rows().iter().any(|row| row.stack == StackId::EMPTY) {
            self.lone_ids = self.frame_ids.iter().map(|frame| id(None, Some(frame))).collect();
        }
        self.node_ids = node_ids;
    }

    /// The stacks of samples, each once.
    fn used_stacks(&self) -> Vec<StackRow> {
        let (mut seen, mut list) = (FxHashSet::default(), Vec::new());
        let mut seen_nodes = vec![false; self.node_ids.len()];
        for row in self.profile().rows() {
            if let Some(seen) = row.stack.index().and_then(|node| seen_nodes.get_mut(node))
                && std::mem::replace(seen, true)
            {
                continue;
            }
            if let Some(id) = self.stack_id(row).filter(|id| seen.insert(*id)) {
                list.push(StackRow { id, sample: *row });
            }
        }
        list
    }

    /// The places that samples were taken at and that their stacks have, by number.
    fn used_places(&self) -> Vec<AddressId> {
        let addresses = self.profile().addresses();
        let mut used = vec![false; addresses.len()];
        let mut mark = |address: AddressId| {
            if let Some(used) = used.get_mut(address.index()) {
                *used = true;
            }
        };
        let nodes = self.profile().stacks().nodes();
        let mut used_nodes = vec![false; nodes.len()];
        for row in self.profile().rows() {
            mark(row.address);
            if let Some(node) = row.stack.index().and_then(|node| used_nodes.get_mut(node)) {
                *node = true;
            }
        }
        // Callers come before what they call.
        for (nr, node) in nodes.iter().enumerate().rev() {
            if used_nodes.get(nr).is_some_and(|used| *used) {
                mark(node.address);
                if let Some(caller) = node.parent.index().and_then(|caller| used_nodes.get_mut(caller)) {
                    *caller = true;
                }
            }
        }
        addresses.ids().filter(|address| used.get(address.index()).is_some_and(|used| *used)).collect()
    }

    /// Lists the frames, their levels and their functions, and the binaries, each once.
    fn list_used(&mut self) {
        let (mut seen_frames, mut seen_functions) = (FxHashSet::default(), FxHashSet::default());
        let (mut frames, mut levels, mut functions) = (Vec::new(), Vec::new(), Vec::new());
        for address in self.used_places() {
            let own = self.profile().names().function_at(address);
            let inlined = self.profile().levels_at(address).map(|level| level.function);
            for function in inlined.chain(own) {
                if self.function_ids.get(function.index()).is_some_and(|id| seen_functions.insert(*id)) {
                    functions.push(function);
                }
            }
            if self.frame_ids.get(address.index()).is_some_and(|id| seen_frames.insert(*id)) {
                frames.push(address);
                levels.extend(
                    (0..).take(self.profile().levels_at(address).len()).map(|level| (address, level)),
                );
            }
        }
        let mut seen_binaries = FxHashSet::default();
        let ids = self.profile().addresses().as_slice().iter().filter_map(|code| code.binary);
        let of_maps = self.maps.iter().map(|map| map.binary);
        let is_new = |binary: &BinaryId| {
            self.binary_ids.get(binary.index()).is_some_and(|id| seen_binaries.insert(*id))
        };
        let mut binaries: Vec<BinaryId> = ids.chain(of_maps).filter(is_new).collect();
        binaries.sort_unstable();
        (self.frames, self.levels, self.functions, self.binaries) = (frames, levels, functions, binaries);
    }

    /// The fields of all payloads, and the names of the fields by number.
    fn list_payload_fields(&self) -> (Vec<PayloadField>, Vec<String>) {
        let (mut list, mut names) = (Vec::new(), Vec::new());
        // Of each event the number of its first field's name.
        let mut first_names: FxHashMap<u32, u32> = FxHashMap::default();
        for (sample, row) in (0u32..).zip(self.profile().rows()) {
            let Some((tracepoint, _)) = self.payload(row) else { continue };
            let fields = tracepoint.format.own_fields();
            let first = *first_names.entry(row.event).or_insert_with(|| {
                let first = u32::try_from(names.len()).unwrap_or(u32::MAX);
                names.extend(fields.iter().map(|field| field.name.clone()));
                first
            });
            let numbers = (0u32..).zip(fields);
            list.extend(numbers.map(|(field, _)| PayloadField {
                sample,
                field,
                name: first.saturating_add(field),
            }));
        }
        (list, names)
    }

    fn sum_threads(&self) -> Vec<(u64, u64)> {
        let mut sums = vec![(0, 0u64); self.session().threads().len()];
        for row in self.profile().rows() {
            if let Some((samples, period)) = row.thread.and_then(|thread| sums.get_mut(thread.index())) {
                *samples += row.samples;
                *period = period.wrapping_add(row.period);
            }
        }
        sums
    }

    fn make_dictionaries(&self) -> Dictionaries {
        let (profile, session) = (self.profile(), self.session());
        let names = profile.names();
        Dictionaries {
            events: Words::new(profile.events().iter().map(|event| Some(Cow::from(event.name.as_str())))),
            comms: Words::new(session.comms().map(|comm| Some(decoded(comm)))),
            binaries: Words::new(session.binaries().iter().map(|binary| Some(decoded(&binary.short_name)))),
            functions: Words::new(names.functions().iter().map(|function| function.name().map(Cow::from))),
            files: Words::new(names.files().map(|file| Some(Cow::from(file)))),
            modes: Words::by_number(MODES.map(|(mode, word)| (mode as usize, word))),
            kinds: Words::by_number(KINDS.map(|(kind, word)| (kind as usize, word))),
            trace_fields: Words::default(),
        }
    }
}

/// The formats in a recording's tracing data, as far as they can be read.
fn catalog(blob: &[u8]) -> Catalog {
    match TracingData::parse(blob) {
        Ok(data) => Catalog::new(&data),
        Err(partial) => Catalog::new(&partial.data),
    }
}

/// A binary is its name and its build-id: where a kernel or a module was loaded is another matter in every recording.
fn binary_id(binary: &Binary) -> Id {
    let mut key = Key::new("binary");
    key.text(Some(&binary.name));
    key.text(binary.build_id.as_deref());
    key.end()
}

/// A function is its names in its binary, and without a name its address.
fn function_ids(profile: &Profile, binary_ids: &[Id]) -> Vec<Id> {
    let mut key = Key::default();
    let id = |function: &readperf_profile::Function| {
        key.begin("function");
        key.id(function.binary.and_then(|binary| binary_ids.get(binary.index())).copied());
        key.text(function.name().map(str::as_bytes));
        key.text(function.linkage_name().map(str::as_bytes));
        key.number(function.name().is_none().then_some(function.address));
        key.end()
    };
    profile.names().functions().iter().map(id).collect()
}

/// Threads are those of one recording.
fn thread_ids(profile_id: Id, session: &Session) -> Vec<Id> {
    let mut key = Key::default();
    let id = |(nr, thread): (u64, &readperf_session::Thread)| {
        key.begin("thread");
        key.id(Some(profile_id));
        key.number(Some(nr));
        key.number(Some(u64::from(thread.tid)));
        key.end()
    };
    (0..).zip(session.threads()).map(id).collect()
}
