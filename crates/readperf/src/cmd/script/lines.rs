//! The lines of a recording, made while it is read.

use super::destination::Destination;
use super::finisher::{Finisher, Waiting, spent};
use super::naming::{Naming, Unnamed, fill_in_sources};
use crate::outcome::wrong_usage;
use crate::source_lines::SourceLines;
use perffile::{Event, Metadata};
use readperf::output::script::{Draft, Fillings, Known, Script};
use readperf::profile::{Codes, NameFilter, Names};
use readperf::session::{CommId, CpuMode};
use readperf::symbols::{Files, Options};
use readperf::{BranchCode, Chunk, CodeStep, Entry, Instructions, NamedPlaces, Namer, Sample, See, State};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::collections::hash_map;

/// Bytes of lines that wait for names: the more, the fewer look-ups, each for more places. Where another thread looks up, fewer wait,
/// so that it begins sooner and has less left to do at the end. Tests are to see what happens when there are more.
const MOST_WAITING: usize = if cfg!(debug_assertions) { 1 << 19 } else { 8 << 20 };
const MOST_WAITING_BESIDE: usize = MOST_WAITING / 2;

/// How often lines are handed to another thread before the first of them are written: it is to have work while this one waits for places.
const MOST_FLUSHES: usize = 2;

/// Places in a stack, mostly.
const USUAL_DEPTH: usize = 4;

/// Records whose code between branches is held at a time: of one sample it can be megabytes.
const CODE_AT_ONCE: usize = 16;

/// A run over a recording.
pub(super) struct Lines<'f> {
    files: &'f Files,
    namer: Option<Namer<'f>>,
    symbols: Options,
    script: Script,
    /// The names of places, unless another thread has them.
    names: Names,
    /// Whether another thread names places.
    is_handed_over: bool,
    /// Kernel addresses in the payloads of tracepoints.
    payload_places: NamedPlaces,
    instructions: Option<Instructions>,
    branch_code: Option<BranchCode>,
    sources: SourceLines,
    how: How,
    /// Lines of the records that were seen as they came.
    seen: Draft,
    /// Lines that wait for names, by where they go.
    drafts: Vec<Vec<Draft>>,
    /// Drafts that have been written: their memory is used again.
    spare: Vec<Draft>,
    /// How much those that wait hold, bytes.
    waiting: usize,
}

/// How lines are made.
#[derive(Debug)]
pub(super) struct How {
    /// As JSON.
    pub(super) json: bool,
    /// Whether names are wanted with each chunk: because what is shown besides places has some, or because someone waits.
    pub(super) at_once: bool,
    /// How many pieces of code between branches are shown; all if not said.
    pub(super) max_blocks: Option<usize>,
    /// Which samples are shown.
    pub(super) filter: NameFilter,
}

impl<'f> Lines<'f> {
    pub(super) fn new(
        files: &'f Files,
        symbols: Options,
        script: Script,
        sources: SourceLines,
        how: How,
    ) -> Lines<'f> {
        Lines {
            files,
            namer: None,
            symbols,
            script,
            names: Names::default(),
            is_handed_over: false,
            payload_places: NamedPlaces::default(),
            instructions: None,
            branch_code: None,
            sources,
            how,
            seen: Draft::default(),
            drafts: Vec::new(),
            spare: Vec::new(),
            waiting: 0,
        }
    }

    /// Whether the places of samples are only shown, in the gaps of text, as far as events are known by now: no line comes or goes with them, and nothing
    /// else of it depends on them.
    pub(super) fn shows_places_alone(&self, metadata: &Metadata) -> bool {
        let How { json, filter, .. } = &self.how;
        if *json || !filter.is_open() {
            return false;
        }
        // Names of events may still be told on the way.
        let mut script = Script::new(self.script.options().clone());
        script.learn(metadata).is_ok() && script.shows_places_alone()
    }

    /// Shows what is in a chunk.
    pub(super) fn show(
        &mut self,
        finisher: &mut Finisher<'_, 'f, '_>,
        state: &mut State,
        chunk: &Chunk<'_>,
    ) -> anyhow::Result<()> {
        let targets = finisher.learn(&chunk.metadata().schema)?;
        self.drafts.resize_with(targets, Vec::new);
        let new_namer = || Namer::new(self.files, self.symbols.clone(), chunk.metadata());
        let namer = self.namer.get_or_insert_with(new_namer);
        match self.how.at_once {
            true => self.learn_names(state),
            false => namer.read_ahead(&state.session, chunk),
        }
        if chunk.was_seen() {
            let next = self.spare.pop().unwrap_or_else(|| Draft::with_room(chunk.records(), 0));
            let seen = std::mem::replace(&mut self.seen, next);
            self.put_by(vec![seen]);
            self.flush_if_many(finisher, state)?;
        } else {
            self.learn_instructions(state, chunk);
            self.learn_payloads(state, chunk);
            let at_once = if self.script.shows_branch_code() { CODE_AT_ONCE } else { usize::MAX };
            for some in chunk.entries().chunks(at_once) {
                self.show_some(finisher, state, chunk, some)?;
            }
        }
        if state.is_full {
            self.flush(finisher, state)?;
            self.forget_places();
        }
        Ok(())
    }

    /// Forgets all places: they are numbered anew.
    fn forget_places(&mut self) {
        self.names = Names::default();
        self.script.forget_places();
    }

    /// Shows some records of a chunk.
    fn show_some(
        &mut self,
        finisher: &mut Finisher<'_, 'f, '_>,
        state: &mut State,
        chunk: &Chunk<'_>,
        entries: &[Entry<'_>],
    ) -> anyhow::Result<()> {
        let targets = self.drafts.len();
        let code =
            self.learn_branch_code(state, entries.iter().filter_map(|entry| chunk.sample(state, entry)));
        let mut code = code.iter();
        let State { session, addresses, .. } = &*state;
        let known = Known { session, addresses, names: &self.names };
        self.script.learn_threads(&known);
        let (filter, json) = (&self.how.filter, self.how.json);
        let is_open = filter.is_open();
        let schema = &*chunk.metadata().schema;
        let room = if targets == 1 { entries.len() } else { 0 };
        let empty = || self.spare.pop().unwrap_or_else(|| Draft::with_room(room, room * USUAL_DEPTH));
        let mut drafts: Vec<Draft> = std::iter::repeat_with(empty).take(targets).collect();
        let has_files = targets > 1;
        for entry in entries {
            let sample = chunk.sample(state, entry);
            let steps = sample.as_ref().and_then(|_| code.next());
            match &sample {
                Some(sample) if is_open || filter.passes(&known, sample.address, sample.stack) => {
                    if has_files {
                        sample.shares.iter().for_each(|share| finisher.count(share.event));
                    }
                    let Some(mut line) = self.script.follow(sample) else { continue };
                    if let (Some(steps), Some(code)) = (steps, &mut self.branch_code) {
                        self.script.show_branch_code(&mut line, steps, &code.places().known(session));
                    }
                    match drafts.first_mut() {
                        // Writing to memory does not fail.
                        Some(draft) if json => {
                            let _ = draft.append(|text| self.script.write_json(text, &known, schema, &line));
                        }
                        _ => self.script.write_sample(&mut drafts, &known, &line),
                    }
                }
                Some(_) => {}
                None if json => {}
                None => {
                    if let Some(draft) = drafts.first_mut() {
                        show_record(&mut self.script, draft, &entry.event, entry.comm);
                    }
                }
            }
        }
        self.script.forget_branch_code();
        self.put_by(drafts);
        self.flush_if_many(finisher, state)
    }

    /// Has lines wait for names, those of each target.
    fn put_by(&mut self, drafts: Vec<Draft>) {
        for (draft, waiting) in drafts.into_iter().zip(&mut self.drafts).filter(|(draft, _)| draft.size() > 0)
        {
            self.waiting += draft.size();
            waiting.push(draft);
        }
    }

    /// Writes the lines that wait, or has them written, if they are many, or someone waits for them.
    fn flush_if_many(
        &mut self,
        finisher: &mut Finisher<'_, 'f, '_>,
        state: &mut State,
    ) -> anyhow::Result<()> {
        let most = match finisher {
            Finisher::Here(_) => MOST_WAITING,
            Finisher::Beside(_) => MOST_WAITING_BESIDE,
        };
        let are_many = self.waiting + state.located_size() > most;
        if self.how.at_once || are_many { self.flush(finisher, state) } else { Ok(()) }
    }

    /// Learns the instructions at the places of a chunk's samples, if they are shown.
    fn learn_instructions(&mut self, state: &State, chunk: &Chunk<'_>) {
        if !self.script.shows_instructions() {
            return;
        }
        let instructions = self.instructions.get_or_insert_with(|| Instructions::new(self.symbols.clone()));
        for place in chunk.samples(state).map(|sample| sample.address) {
            if let (false, Some(code)) = (self.script.has_instruction(place), state.addresses.get(place)) {
                self.script.learn_instruction(place, instructions.at(&state.session, &code));
            }
        }
    }

    /// The code that led to each of these samples, if it is shown, with the names of its places learned.
    fn learn_branch_code<'c, 'e: 'c>(
        &mut self,
        state: &State,
        samples: impl Iterator<Item = Sample<'c, 'e>>,
    ) -> Vec<Vec<CodeStep>> {
        let Some(namer) = self.namer.as_mut().filter(|_| self.script.shows_branch_code()) else {
            return Vec::new();
        };
        let symbols = &self.symbols;
        let code =
            self.branch_code.get_or_insert_with(|| BranchCode::new(Instructions::new(symbols.clone())));
        let most = self.how.max_blocks;
        let State { session, addresses, .. } = state;
        let steps = |sample: Sample<'_, '_>| match addresses.get(sample.address) {
            Some(taken_at) => code.steps(session, addresses, sample.branches, taken_at, most),
            None => Vec::new(),
        };
        let steps = samples.map(steps).collect();
        code.places().learn(namer, session);
        steps
    }

    /// Learns the names of the kernel addresses in the payloads of a chunk's samples, if these are shown.
    fn learn_payloads(&mut self, state: &State, chunk: &Chunk<'_>) {
        if !self.script.shows_symbols_in_payloads() {
            return;
        }
        let mut new = BTreeMap::new();
        for sample in chunk.samples(state) {
            let process = sample.moment.process;
            new.extend(self.script.unnamed_symbols(&sample).into_iter().map(|ip| (ip, process)));
        }
        let Some(namer) = self.namer.as_mut().filter(|_| !new.is_empty()) else { return };
        let number = |(ip, process)| {
            let code = state.session.locate(process, CpuMode::Kernel, ip);
            (ip, self.payload_places.number(code))
        };
        let new: Vec<_> = new.into_iter().map(number).collect();
        self.payload_places.learn(namer, &state.session);
        for (ip, place) in new {
            self.script.learn_symbol(ip, self.payload_places.symbol(place));
        }
    }

    /// Writes the lines that wait, or has them written.
    fn flush(&mut self, finisher: &mut Finisher<'_, 'f, '_>, state: &mut State) -> anyhow::Result<()> {
        let written = finisher.wait_for_less_than(MOST_FLUSHES)?;
        self.spare.extend(written.drafts);
        self.waiting = 0;
        let mut drafts: Vec<Vec<Draft>> = self.drafts.iter_mut().map(std::mem::take).collect();
        match finisher {
            Finisher::Here(writer) => {
                self.learn_names(state);
                let located = state.take_located_here();
                for (target, mut drafts) in drafts.into_iter().enumerate() {
                    fill_in_sources(&mut self.sources, &self.names, &mut drafts);
                    writer.write(target, &drafts, self.script.fillings(), &located)?;
                    self.spare.extend(spent(drafts));
                }
                state.use_again(located);
            }
            Finisher::Beside(beside) => {
                let drafts = drafts.pop().unwrap_or_default();
                let before = state.places_told();
                let mut located = state.take_located();
                let (unnamed, naming) = self.unnamed(state, before, located.take_new_places());
                if let Some(unnamed) = unnamed {
                    beside.write(Waiting { drafts, located, unnamed, naming });
                }
                state.use_again(written.located);
            }
        }
        Ok(())
    }

    /// Places that came after so many others, with all that is needed to name them, and, at first, what names them from now on.
    fn unnamed(
        &mut self,
        state: &State,
        before: usize,
        codes: Codes,
    ) -> (Option<Unnamed>, Option<Box<Naming<'f>>>) {
        let State { session, .. } = state;
        let Some(namer) = &mut self.namer else { return (None, None) };
        let questions = namer.ask(codes.as_slice(), session);
        let naming = (!self.is_handed_over).then(|| {
            Box::new(Naming {
                resolver: namer.hand_over(session),
                names: std::mem::take(&mut self.names),
                fillings: Fillings::clone(self.script.fillings()),
                sources: std::mem::take(&mut self.sources),
            })
        });
        self.is_handed_over = true;
        let mut binaries = FxHashMap::default();
        for id in codes.as_slice().iter().filter_map(|code| code.binary) {
            if let (hash_map::Entry::Vacant(new), Some(binary)) = (binaries.entry(id), session.binary(id)) {
                new.insert(binary.clone());
            }
        }
        (Some(Unnamed { before, codes, questions, binaries }), naming)
    }

    /// Writes what is left of the lines. Returns what must be said of names ([`Namer::told`]), and where the lines went.
    pub(super) fn end<'i>(
        mut self,
        mut finisher: Finisher<'_, 'f, 'i>,
        state: &mut State,
    ) -> anyhow::Result<(Option<String>, Destination<'i>)> {
        self.flush(&mut finisher, state)?;
        finisher.wait_for_less_than(1)?;
        let out = finisher.end()?.into_out();
        Ok((
            self.namer.and_then(|mut namer| {
                namer.end_ahead();
                namer.told()
            }),
            out,
        ))
    }

    /// Learns the names of all places met so far.
    fn learn_names(&mut self, state: &State) {
        let State { session, addresses, .. } = state;
        if let Some(namer) = &mut self.namer
            && self.names.len() < addresses.len()
        {
            namer.learn(&mut self.names, addresses, session);
        }
        self.script.prepare(&Known { session, addresses, names: &self.names });
    }
}

impl See for Lines<'_> {
    fn begin(&mut self, metadata: &Metadata) {
        if let Err(message) = self.script.learn(metadata) {
            wrong_usage(&message);
        }
    }

    #[inline(always)]
    fn sample(&mut self, state: &State, sample: &Sample<'_, '_>) {
        let State { session, addresses, .. } = state;
        let known = Known { session, addresses, names: &self.names };
        if !self.script.has_thread(sample.moment.comm) {
            self.script.learn_threads(&known);
        }
        if let Some(line) = self.script.follow(sample) {
            self.script.write_sample(std::slice::from_mut(&mut self.seen), &known, &line);
        }
    }

    fn other(&mut self, state: &State, event: &Event<'_>, comm: Option<CommId>) {
        let State { session, addresses, .. } = state;
        self.script.learn_threads(&Known { session, addresses, names: &self.names });
        show_record(&mut self.script, &mut self.seen, event, comm);
    }
}

/// Shows a record that is no sample, or none that counts, if it is one that is shown.
fn show_record(script: &mut Script, draft: &mut Draft, event: &Event<'_>, comm: Option<CommId>) {
    if let Some(record) = script.follow_record(event, comm) {
        draft.append(|text| script.write_record(text, &record));
    }
}
