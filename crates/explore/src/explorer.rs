//! The explorer: a recording that was read, what of it is looked at, and the tables that were made of that.

use crate::calls::OpenCalls;
use crate::change::{Base, Changes};
use crate::flame::Flame;
use crate::rows::{KeptRows, Rows};
use crate::state::{State, follow};
use readperf_analysis::{Analysis, CodeReader, ListingRequest, Namer};
use readperf_profile::Profile;
use readperf_profile::view::call_tree::{CallFrame, CallLevel, CallTree, Direction, OpenRow};
use readperf_profile::view::facts::{FactMemory, Facts};
use readperf_profile::view::graph::GraphKey;
use readperf_profile::view::histogram::{Frames, Histogram, RowKey, RowValues};
use readperf_profile::view::surroundings::Surroundings;
use readperf_profile::view::time_strip::{Parts, Strip, ThreadStrips};
use readperf_session::Session;
use readperf_symbols::Files;
use regex_lite::Regex;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::RangeInclusive;

/// A recording that can be looked into.
#[derive(Debug)]
pub struct Explorer<'f> {
    /// All that is known but for the profile.
    pub(crate) analysis: Analysis,
    whole: Profile,
    surroundings: Surroundings,
    pub(crate) code: CodeReader<'f>,
    parent: Option<Regex>,
    state: State,
    /// What of the whole is looked at.
    pub(crate) chosen: Profile,
    base: Option<Base>,
    rows: OnceCell<KeptRows>,
    /// Stands for the rows of an event without samples.
    no_rows: Histogram,
    calls: Option<CallTree>,
    flame: OnceCell<Flame>,
}

impl<'f> Explorer<'f> {
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn new(
        files: &'f Files,
        analysis: Analysis,
        whole: Profile,
        surroundings: Surroundings,
        names: Namer<'f>,
        listings: ListingRequest,
        parent: Option<Regex>,
        state: State,
    ) -> Explorer<'f> {
        let code = CodeReader::new(files, &analysis.metadata, names, listings);
        Explorer {
            code,
            chosen: follow(&whole, &analysis.session, &state.steps, state.weight),
            analysis,
            whole,
            surroundings,
            parent,
            state,
            base: None,
            rows: OnceCell::new(),
            no_rows: Histogram::default(),
            calls: None,
            flame: OnceCell::new(),
        }
    }

    /// What is known of the recording: metadata, processes, issues. Its profile is empty: see [`Explorer::profile`].
    pub fn analysis(&self) -> &Analysis {
        &self.analysis
    }

    /// Processes, threads, binaries.
    pub fn session(&self) -> &Session {
        &self.analysis.session
    }

    /// What is looked at.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The samples that are looked at.
    pub fn profile(&self) -> &Profile {
        &self.chosen
    }

    /// All samples.
    pub fn whole(&self) -> &Profile {
        &self.whole
    }

    /// Looks at something else. What was made and does not depend on what has changed is kept.
    pub fn go(&mut self, state: State) {
        let before = std::mem::replace(&mut self.state, state);
        let State { event, weight, steps, rows, calls: _, reversed } = &self.state;
        if *steps != before.steps || *weight != before.weight {
            // What was looked at before is where further steps begin.
            let (from, more) = match steps.strip_prefix(before.steps.as_slice()) {
                Some(more) if *weight == before.weight => (&self.chosen, more),
                _ => (&self.whole, steps.as_slice()),
            };
            self.chosen = follow(from, &self.analysis.session, more, *weight);
            self.rows.take();
            self.calls = None;
            self.flame.take();
            return;
        }
        if *event != before.event || *reversed != before.reversed {
            self.flame.take();
        }
        if *event != before.event || !rows.only_order_differs(&before.rows) {
            self.rows.take();
            self.calls = None;
        } else if rows.order != before.rows.order {
            self.sort();
        }
    }

    /// Puts the rows in another order.
    fn sort(&mut self) {
        let Some(mut kept) = self.rows.take() else { return };
        if let Some(mut histogram) = kept.histogram.take() {
            let facts = self.facts_with(Cow::Borrowed(&kept.tables.memory));
            histogram.sort(&self.state.rows.order, 0, &facts, &kept.tables.values);
            kept.histogram = Some(histogram);
        }
        let _ = self.rows.set(kept);
    }

    fn facts_with<'e>(&'e self, memory: Cow<'e, FactMemory>) -> Facts<'e> {
        let facts = Facts::with_memory(&self.chosen, &self.analysis.session, &self.surroundings, memory);
        self.with_parent(facts)
    }

    fn with_parent<'e>(&'e self, mut facts: Facts<'e>) -> Facts<'e> {
        facts.parent = self.parent.as_ref();
        facts.innermost_parent = !self.state.rows.children;
        facts
    }

    fn kept_rows(&self) -> &KeptRows {
        self.rows.get_or_init(|| {
            let facts = Facts::new(&self.chosen, &self.analysis.session, &self.surroundings);
            KeptRows::new(self.with_parent(facts), &self.state.rows, self.state.event)
        })
    }

    /// The period that is 100 % for the event that is looked at.
    pub fn whole_period(&self) -> u64 {
        let totals = self.state.rows.whole.totals(&self.chosen);
        totals.get(self.state.event).map_or(0, |total| total.period)
    }

    /// The rows of the event that is looked at, sorted.
    pub fn rows(&self) -> Rows<'_> {
        let kept = self.kept_rows();
        Rows {
            histogram: kept.histogram.as_ref().unwrap_or(&self.no_rows),
            facts: self.facts_with(Cow::Borrowed(&kept.tables.memory)),
            values: &kept.tables.values,
            whole: self.whole_period(),
        }
    }

    /// The period below which rows and calls are left out.
    fn least(&self) -> u64 {
        readperf_profile::view::graph::least(self.state.rows.least_percent, self.whole_period())
    }

    /// Opens the calls of a row, in the direction of the state.
    pub fn open_calls(&mut self, row: RowKey) -> OpenCalls {
        self.open_calls_in(row, self.state.calls)
    }

    /// Opens the calls of a row.
    pub fn open_calls_in(&mut self, row: RowKey, direction: Direction) -> OpenCalls {
        let (event, least) = (self.state.event, self.least());
        let (open, first) =
            self.with_calls(|tree, facts, values| tree.open(facts, values, event, row, direction, least));
        OpenCalls::new(open, first)
    }

    /// What is behind a frame of the calls of a row.
    pub(crate) fn behind(&mut self, row: &OpenRow, frame: &CallFrame) -> CallLevel {
        let least = self.least();
        self.with_calls(|tree, facts, values| tree.behind(facts, values, row, frame, least))
    }

    /// What the frames of calls say; nothing until some were opened.
    pub fn frames(&self) -> Option<&Frames> {
        self.calls.as_ref().map(CallTree::frames)
    }

    /// Works with the tree of calls, which is made when it is needed first.
    fn with_calls<T>(&mut self, work: impl FnOnce(&mut CallTree, &mut Facts<'_>, &mut RowValues) -> T) -> T {
        self.kept_rows();
        let mut kept = self.rows.take().unwrap_or_default();
        let known = self.calls.take();
        let options = self.state.rows.histogram(&self.chosen);
        let mut memory = std::mem::take(&mut kept.tables.memory);
        let mut tree = known.unwrap_or_else(|| {
            let facts = self.facts_with(Cow::Owned(std::mem::take(&mut memory)));
            let (tree, learned) = CallTree::new(facts, &options, GraphKey::Function);
            memory = learned;
            tree
        });
        let mut facts = self.facts_with(Cow::Owned(memory));
        facts.settle(&options);
        let values = &mut kept.tables.values;
        let done = work(&mut tree, &mut facts, values);
        kept.tables.memory = facts.into_memory();
        self.calls = Some(tree);
        let _ = self.rows.set(kept);
        done
    }

    /// The flame graph of the event that is looked at.
    pub fn flame(&self) -> &Flame {
        self.flame.get_or_init(|| {
            Flame::new(&self.chosen, &self.analysis.session, self.state.event, self.state.reversed)
        })
    }

    /// Times of the first and the last sample that are looked at, ns; nothing if none has a time.
    pub fn times_ns(&self) -> Option<RangeInclusive<u64>> {
        let rows = self.chosen.rows_of(self.state.event);
        let first = rows.iter().find(|row| row.time_ns > 0)?;
        Some(first.time_ns..=rows.last()?.time_ns)
    }

    /// The samples that are looked at by time.
    pub fn strip(&self, parts: &Parts) -> Strip {
        self.chosen.strip(self.state.event, parts)
    }

    /// The same of the threads with most of them.
    pub fn thread_strips(&self, parts: &Parts, most: usize) -> ThreadStrips {
        self.chosen.thread_strips(self.state.event, parts, self.state.weight, most)
    }

    /// Compares with another recording from now on.
    pub fn set_base(&mut self, base: Analysis) {
        self.base = Some(Base::new(base));
    }

    /// What has changed since the other recording, row by row; nothing if there is none, or the rows cannot be compared.
    pub fn changes(&self) -> Option<Changes> {
        let base = self.base.as_ref()?;
        let rows = self.rows();
        base.changes(&self.chosen, &self.analysis.session, &self.state, &rows)
    }
}
