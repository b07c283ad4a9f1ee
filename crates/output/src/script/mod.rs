//! `readperf script`: a line a sample, in the form of `perf script`.
//!
//! Programs in the wild read that form, so it is kept to the byte: widths, spaces behind lines, and which fields a kind of
//! event has. Names are made harmless for terminals, which perf does not do.

mod beginnings;
mod branch_code;
mod cgroups;
mod choice;
mod code;
mod columns;
mod completed;
mod draft;
mod fields;
mod json;
mod payload_names;
mod pieces;
mod places;
mod records;
mod sample;
mod start;
mod values;

pub use choice::{ChoiceError, FieldChoice};
pub use code::SourceText;
pub use completed::Completed;
pub use draft::{Draft, Fillings, SourceGap};
pub use fields::{ScriptField, ScriptFields};
pub use records::NextRecord;
pub use sample::NextLine;

use crate::buffer::Piece;
use crate::dump::payload::catalog;
use cgroups::Cgroups;
use columns::Columns;
use perffile::tracepoint::Catalog;
use perffile::wire::feature::bit;
use perffile::wire::feature::clock_data::ClockData;
use perffile::wire::registers::Machine;
use perffile::{Container, Features, Metadata, Schema};
use places::Places;
pub use readperf_profile::Known;
use readperf_profile::{AddressId, PayloadNames};
use readperf_session::CommId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// How times are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Times {
    /// As recorded.
    #[default]
    Recorded,
    /// Since the first that is shown.
    SinceFirst,
    /// Since the one that was shown before.
    SinceLast,
}

/// Which places show the functions that are inlined there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inlines {
    /// Those of unwound user stacks, as perf does it.
    #[default]
    Unwound,
    /// All in call chains.
    All,
    /// None.
    None,
}

/// What is shown.
#[derive(Clone, Debug)]
pub struct ScriptOptions {
    /// The fields.
    pub fields: FieldChoice,
    /// Times to the nanosecond; otherwise to the microsecond.
    pub nanoseconds: bool,
    /// How times are shown.
    pub times: Times,
    /// Whether call chains are shown.
    pub chains: bool,
    /// Most entries of a call chain.
    pub max_stack: usize,
    /// Functions behind which a call chain is not shown any more, by name; those that are inlined end none.
    pub stop_at: Vec<String>,
    /// Whether inlined functions are shown.
    pub inlines: Inlines,
    /// Whether source files have their directories.
    pub full_source_path: bool,
    /// Types of records that are shown besides samples.
    pub records: Vec<u32>,
}

/// Most entries of a call chain, as the kernel records them by default (`kernel.perf_event_max_stack`).
pub const MAX_STACK: usize = 127;

impl Default for ScriptOptions {
    fn default() -> Self {
        ScriptOptions {
            fields: FieldChoice::default(),
            nanoseconds: false,
            times: Times::default(),
            chains: true,
            max_stack: MAX_STACK,
            stop_at: Vec::new(),
            inlines: Inlines::default(),
            full_source_path: false,
            records: Vec::new(),
        }
    }
}

/// Makes lines. What has to be known of the recording is told on the way: [`Script::learn`] as its events become known,
/// [`Script::prepare`] before names are shown, [`Script::follow`] with
/// each sample. Then samples can be written, by several threads at once: first into a [`Draft`], which is completed when the
/// names of its places are known.
#[derive(Debug)]
pub struct Script {
    options: ScriptOptions,
    columns: Vec<Columns>,
    fillings: Arc<Fillings>,
    comms: Vec<Piece>,
    features: Option<Arc<Features>>,
    machine: Option<Machine>,
    catalog: Catalog,
    /// Tracepoints whose texts show kernel addresses as symbols, by id.
    symbol_events: FxHashSet<u64>,
    symbols: PayloadNames,
    /// How the clock of the recording stands to the time of day.
    clock: Option<ClockData>,
    cgroups: Cgroups,
    /// The bytes of instructions, by place.
    instructions: FxHashMap<AddressId, Box<[u8]>>,
    /// The code that led to the samples whose lines are being made.
    branch_code: Vec<Box<[u8]>>,
    has_events: usize,
    /// Whether any event has lines with sources of data.
    shows_data_sources: bool,
    /// Whether source text is shown behind lines.
    shows_source: bool,
    before: sample::Before,
}

impl Script {
    /// Nothing known yet.
    pub fn new(options: ScriptOptions) -> Script {
        let fillings = Fillings { stop_at: options.stop_at.clone(), ..Fillings::default() };
        let shows_source = options.fields.any(ScriptField::SourceCode);
        Script {
            options,
            columns: Vec::new(),
            fillings: Arc::new(fillings),
            comms: Vec::new(),
            features: None,
            machine: None,
            catalog: Catalog::default(),
            symbol_events: FxHashSet::default(),
            symbols: PayloadNames::default(),
            clock: None,
            cgroups: Cgroups::default(),
            instructions: FxHashMap::default(),
            branch_code: Vec::new(),
            has_events: 0,
            shows_data_sources: false,
            shows_source,
            before: sample::Before::default(),
        }
    }

    /// What is shown.
    pub fn options(&self) -> &ScriptOptions {
        &self.options
    }

    /// Takes what is known of the recording by now.
    ///
    /// # Errors
    /// A choice of fields that this recording cannot serve, in words.
    pub fn learn(&mut self, metadata: &Metadata) -> Result<(), String> {
        let is_new = self.learn_features(metadata) || self.has_events != metadata.schema.events().len();
        self.learn_events(&metadata.schema)?;
        if is_new {
            self.learn_symbol_events(&metadata.schema);
        }
        // A pipe tells of its clock when it has told of its events.
        let is_told = self.clock.is_some() || metadata.container == Container::Pipe;
        if !is_told && self.columns.iter().any(|columns| columns.fields.has(ScriptField::TimeOfDay)) {
            return Err(
                "the recording does not tell the time of day: record with -k CLOCK_MONOTONIC".to_owned()
            );
        }
        Ok(())
    }

    fn learn_events(&mut self, schema: &Schema) -> Result<(), String> {
        if self.has_events == schema.events().len() {
            return Ok(());
        }
        let (columns, styles) = columns::columns(&self.options, schema)?;
        self.shows_data_sources = columns.iter().any(|columns| columns.fields.has(ScriptField::DataSrc));
        self.columns = columns;
        let fillings = Arc::make_mut(&mut self.fillings);
        fillings.places = styles.into_iter().map(Places::new).collect();
        fillings.learned = 0;
        self.has_events = schema.events().len();
        Ok(())
    }

    /// Whether there were any new ones.
    fn learn_features(&mut self, metadata: &Metadata) -> bool {
        let features = &metadata.features;
        if self.features.as_ref().is_some_and(|known| Arc::ptr_eq(known, features)) {
            return false;
        }
        self.machine = features.machine();
        let formats = |features: &Features| features.bytes(bit::TRACING_DATA).map(<[u8]>::as_ptr_range);
        if self.features.as_deref().and_then(formats) != formats(features) {
            self.catalog = features.bytes(bit::TRACING_DATA).map(catalog).unwrap_or_default();
        }
        self.clock = features.clock_data();
        self.features = Some(Arc::clone(features));
        true
    }

    /// Makes the lines of places that came since the last time; their names must have been learned. No draft should be on the
    /// way to completion by another thread: what goes into its gaps would be copied.
    pub fn prepare(&mut self, known: &Known<'_>) {
        let new = known.since(self.fillings.learned);
        if !new.codes.is_empty() {
            Arc::make_mut(&mut self.fillings).learn(&new);
        }
    }

    /// Forgets all places: they are numbered anew. No draft may wait for them.
    pub fn forget_places(&mut self) {
        Arc::make_mut(&mut self.fillings).forget();
        self.instructions.clear();
    }

    /// What goes into the gaps of drafts, as of the last time it was prepared.
    pub fn fillings(&self) -> &Arc<Fillings> {
        &self.fillings
    }

    /// Whether nothing of a line depends on the places of its sample but what is shown of each of these, in one style: then places may come later than
    /// lines are made, and those where nothing is mapped may be [apart](AddressId::UNMAPPED).
    pub fn shows_places_alone(&self) -> bool {
        let may = |columns: &Columns| {
            let has_one_style = columns.unwound_style == columns.style && columns.return_style.is_none();
            has_one_style && !columns.has_rare
        };
        self.columns.iter().all(may) && !self.shows_source()
    }

    /// Whether source text is shown behind lines; then the gaps of drafts have to be filled ([`Draft::source_gaps`]).
    pub fn shows_source(&self) -> bool {
        self.shows_source
    }

    /// Whether the name of a thread has been taken.
    #[inline]
    pub fn has_thread(&self, comm: CommId) -> bool {
        comm.index() < self.comms.len()
    }

    /// Takes the names of threads that came since the last time.
    pub fn learn_threads(&mut self, known: &Known<'_>) {
        let new = known.session.comms().skip(self.comms.len());
        self.comms.extend(new.map(|name| Piece::new(places::shown(name).as_bytes().to_vec())));
    }

    /// Whether samples of an event have lines.
    #[inline]
    fn columns(&self, event: usize) -> Option<&Columns> {
        self.columns.get(event).filter(|columns| !columns.fields.is_empty())
    }

    #[inline]
    fn comm(&self, id: CommId) -> Option<&Piece> {
        self.comms.get(id.index())
    }
}
