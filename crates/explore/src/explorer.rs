//! The explorer: a recording that was read, what of it is looked at, and the tables that were made of that.

use crate::calls::OpenCalls;
use crate::change::Base;
use crate::flame::Flame;
use crate::flame_time::{TimeAsked, TimeFlame, TimeWindow};
use crate::ground::{FlameGround, Ground, RowMaking, Telling};
use crate::made::{Made, step};
use crate::rows::{KeptRows, Rows};
use crate::state::State;
use crate::strips::WholeStrips;
use readperf_analysis::{Analysis, CodeReader, ListingRequest, Namer};
use readperf_profile::view::call_tree::{CallFrame, CallLevel, Direction, OpenRow, RowAsked};
use readperf_profile::view::facts::{FactMemory, Facts};
use readperf_profile::view::graph::GraphKey;
use readperf_profile::view::histogram::{Frames, Histogram, RowKey};
use readperf_profile::view::row_paths::{Room, RowPaths};
use readperf_profile::view::surroundings::Surroundings;
use readperf_profile::{Picked, Profile, SampleRow, both};
use readperf_session::Session;
use readperf_symbols::Files;
use regex::Regex;
use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// How many of the ways that were gone before are kept ready to go back to. Each may hold the samples that it chose.
const KEPT: usize = 4;

/// A recording that can be looked into.
#[derive(Debug)]
pub struct Explorer<'f> {
    /// All that is known but for the profile.
    pub(crate) analysis: Analysis,
    pub(crate) whole: Arc<Ground>,
    surroundings: Surroundings,
    code: CodeReader<'f>,
    parent: Option<Regex>,
    pub(crate) now: Made,
    /// What was looked at before, the last behind.
    pub(crate) before: Vec<Made>,
    pub(crate) base: Option<Base>,
    /// What was last asked of all samples by time.
    pub(crate) strips: RefCell<Option<Arc<WholeStrips>>>,
    room: RefCell<Room>,
    /// Stands for the rows of an event without samples.
    no_rows: Histogram,
}

impl<'f> Explorer<'f> {
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn new(
        files: &'f Files,
        analysis: Analysis,
        mut whole: Profile,
        surroundings: Surroundings,
        names: Namer<'f>,
        listings: ListingRequest,
        parent: Option<Regex>,
        state: State,
    ) -> Explorer<'f> {
        let code = CodeReader::new(files, &analysis.metadata, names, listings);
        let picked = Picked::all(whole.rows().len());
        whole.expect_changes();
        let whole = Arc::new(Ground::new(whole));
        Explorer {
            code,
            now: Made::new(state, Arc::clone(&whole), picked),
            before: Vec::new(),
            analysis,
            whole,
            surroundings,
            parent,
            base: None,
            strips: RefCell::default(),
            room: RefCell::default(),
            no_rows: Histogram::default(),
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

    /// What is needed to list code: who reads it, the samples, the processes.
    pub(crate) fn for_listing(&mut self) -> (&mut CodeReader<'f>, &Profile, &Session) {
        (&mut self.code, self.now.summed(), &self.analysis.session)
    }

    /// What is looked at.
    pub fn state(&self) -> &State {
        &self.now.state
    }

    /// The samples that are looked at. Put together they take time: where names and totals are enough, see [`Explorer::totals`], and
    /// [`Explorer::samples`] for a look at each.
    pub fn profile(&self) -> &Profile {
        self.now.chosen()
    }

    /// Places, names and totals of what is looked at, without samples.
    pub fn totals(&self) -> &Profile {
        &self.now.totals
    }

    /// What is looked at with one row for each event and thread name: enough to say what ran.
    pub fn by_comm(&self) -> &Profile {
        self.now.by_comm()
    }

    /// The samples of the event that are looked at, in order of time, as they were recorded: changes of stacks change others
    /// ([`Explorer::profile`]).
    pub fn samples(&self) -> impl Iterator<Item = SampleRow> + Clone {
        self.now.samples().map(|(_, row)| row)
    }

    /// All samples.
    pub fn whole(&self) -> &Profile {
        &self.whole.recorded
    }

    /// Looks at something else. What was made and does not depend on what has changed is kept.
    pub fn go(&mut self, state: State) {
        if !self.now.is_of(&state) {
            let known = self.before.iter().position(|made| made.is_of(&state));
            let next = match known {
                Some(known) => self.before.remove(known),
                None => self.choose(state.clone()),
            };
            let mut before = std::mem::replace(&mut self.now, next);
            // Large, and made anew if other tables are asked for.
            before.forget_samples();
            before.forget_other_flames();
            let room = self.room.get_mut();
            // Rows are large: those of one step back are kept, and the room of others is used again.
            self.before.iter_mut().for_each(|made| take_back(room, made));
            self.before.push(before);
            let too_many = self.before.len().saturating_sub(KEPT);
            self.before.drain(..too_many);
            self.forget_grounds();
        }
        let before = std::mem::replace(&mut self.now.state, state);
        let State { event, weight: _, steps: _, rows, calls: _, reversed: _ } = &self.now.state;
        if *event != before.event {
            self.now.flame = Default::default();
            self.now.compared.flame = Default::default();
            self.now.in_time.take();
        }
        if *event != before.event || !rows.only_order_differs(&before.rows) {
            take_back(&mut self.room.borrow_mut(), &mut self.now);
            self.now.forget_sums();
            self.now.compared.changes.take();
        } else if rows.order != before.rows.order {
            self.sort();
        }
    }

    /// Lets go what was worked out of changed stacks that are not looked at: it is large.
    fn forget_grounds(&mut self) {
        let Explorer { before, now, whole, .. } = self;
        for made in before {
            let is_used = Arc::ptr_eq(&made.ground, whole) || Arc::ptr_eq(&made.ground, &now.ground);
            // Where two that were looked at before share it, the one that is left last does that.
            if let Some(ground) = Arc::get_mut(&mut made.ground).filter(|_| !is_used) {
                ground.forget();
            }
        }
    }

    /// The samples that are looked at in a state.
    fn choose(&self, state: State) -> Made {
        // What is looked at now is where further steps begin.
        let (mut ground, mut picked, more) = match state.steps.strip_prefix(self.now.state.steps.as_slice()) {
            Some(more) => (Arc::clone(&self.now.ground), self.now.picked.clone(), more),
            None => {
                let whole = Arc::clone(&self.whole);
                let all = Picked::all(whole.recorded.rows().len());
                (whole, all, state.steps.as_slice())
            }
        };
        let known = || std::iter::once(&self.now).chain(&self.before).map(|made| &made.ground);
        more.iter().for_each(|next| step(&mut ground, &mut picked, next, &self.analysis.session, known()));
        Made::new(state, ground, picked)
    }

    /// Puts the rows in another order.
    fn sort(&mut self) {
        let Some(mut kept) = self.now.rows.take() else { return };
        if let Some(histogram) = kept.histogram.take() {
            self.room.borrow_mut().take_back(histogram);
        }
        // What was opened refers to the tables.
        let _ = self.now.rows.set(KeptRows { histogram: self.make_rows().0, ..kept });
    }

    /// What is needed to show tables.
    fn facts_with<'e>(&'e self, memory: Cow<'e, FactMemory>) -> Facts<'e> {
        let mut facts =
            Facts::with_memory(&self.now.shown, &self.analysis.session, &self.surroundings, memory);
        facts.parent = self.parent.as_ref();
        facts.innermost_parent = !self.now.state.rows.children;
        facts
    }

    fn kept_rows(&self) -> &KeptRows {
        self.now.rows.get_or_init(|| {
            let (histogram, paths) = self.make_rows();
            KeptRows { histogram, tables: paths.tables() }
        })
    }

    /// The rows of what is looked at, and the paths that led to them.
    fn make_rows(&self) -> (Option<Histogram>, Arc<RowPaths>) {
        let State { event, rows, .. } = &self.now.state;
        let made_with = rows.histogram(&self.now.shown);
        let (ground, telling) = (&*self.now.ground, self.now.telling());
        let making = RowMaking {
            options: made_with.clone(),
            telling,
            event: *event,
            session: &self.analysis.session,
            surroundings: &self.surroundings,
            parent: self.parent.as_ref(),
            innermost_parent: !rows.children,
        };
        // Both take a while where nothing is known yet.
        let threads = if ground.has_groups(telling) { 1 } else { rows.threads };
        let groups = || {
            ground.groups(telling);
        };
        both(threads, groups, || ground.rank_places(&making));
        let paths = ground.row_paths(&making);
        let total = self.now.shown.events().get(*event).cloned().unwrap_or_default();
        let mut facts = self.facts_with(Cow::Borrowed(paths.memory()));
        facts.settle(&made_with);
        let (sums, room) = (self.now.measures(), &mut *self.room.borrow_mut());
        let histogram = KeptRows::histogram(&facts, rows, &made_with, &paths, (&sums, total), room);
        (histogram, paths)
    }

    /// What is 100 % for the event that is looked at: a period, or a number of samples if these are what counts.
    pub fn whole_period(&self) -> u64 {
        let totals = self.now.state.rows.whole.totals(&self.now.shown);
        totals.get(self.now.state.event).map_or(0, |total| total.period)
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
        readperf_profile::view::graph::least(self.now.state.rows.least_percent, self.whole_period())
    }

    /// Opens the calls of a row, in the direction of the state.
    pub fn open_calls(&mut self, row: RowKey) -> OpenCalls {
        self.open_calls_in(row, self.now.state.calls)
    }

    /// Opens the calls of a row.
    pub fn open_calls_in(&mut self, row: RowKey, direction: Direction) -> OpenCalls {
        self.kept_rows();
        let least = self.least();
        let options = self.now.state.rows.histogram(&self.now.shown);
        let mut kept = self.now.rows.take().unwrap_or_default();
        let mut frames = self.now.frames.take().unwrap_or_default();
        let memory = std::mem::take(&mut kept.tables.memory);
        let mut facts = self.facts_with(Cow::Owned(memory));
        let (open, first) = {
            let (values, samples) = (&mut kept.tables.values, &mut self.now.measured());
            let mut asked = RowAsked { samples, options: &options, key: GraphKey::Function, values, row };
            OpenRow::new(&mut facts, &mut asked, &mut frames, direction, least)
        };
        kept.tables.memory = facts.into_memory();
        self.now.frames = Some(frames);
        let _ = self.now.rows.set(kept);
        OpenCalls::new(open, first)
    }

    /// What is behind a frame of the calls of a row.
    pub(crate) fn behind(&self, row: &OpenRow, frame: &CallFrame) -> CallLevel {
        let Some(frames) = &self.now.frames else { return CallLevel::default() };
        let facts = self.facts_with(Cow::Borrowed(&self.kept_rows().tables.memory));
        row.behind(&facts, frames, frame, self.least())
    }

    /// What the frames of calls say; nothing until some were opened.
    pub fn frames(&self) -> Option<&Frames> {
        self.now.frames.as_ref()
    }

    /// The flame graph of the event that is looked at.
    pub fn flame(&self) -> &Flame {
        match self.now.state.reversed {
            true => self.reversed_flame(),
            false => self.upright_flame(),
        }
    }

    /// The same from the outermost functions, whatever is turned around: the only one that has all of every stack.
    pub fn upright_flame(&self) -> &Flame {
        let [upright, _] = &self.now.flame;
        upright.get_or_init(|| {
            let (ground, sums) = (self.flame_ground(), self.now.flame_sums());
            let tree = ground.paths.tree(sums, &mut self.room.borrow_mut()).tree;
            Flame::upright(&ground, tree, self.now.state.weight)
        })
    }

    fn reversed_flame(&self) -> &Flame {
        let [_, reversed] = &self.now.flame;
        reversed.get_or_init(|| {
            let (state, ground, sums) = (&self.now.state, self.flame_ground(), self.now.flame_sums());
            let total = self.now.totals.events().get(state.event);
            Flame::reversed(&ground, (sums, total), state.weight, &mut self.room.borrow_mut())
        })
    }

    /// The flame graph of the event that is looked at in order of time, from the outermost functions.
    pub fn flame_in_time(&self) -> &TimeFlame {
        self.now
            .in_time
            .get_or_init(|| TimeFlame::new(&self.now, &self.flame_ground(), &mut self.room.borrow_mut()))
    }

    /// A part of it.
    pub fn window_in_time(&self, asked: &TimeAsked) -> TimeWindow {
        let groups = self.now.ground.groups(Telling::default());
        let rows = self.now.samples().map(|(at, row)| (groups.of_row(at), row));
        self.flame_in_time().window(rows, asked)
    }

    fn flame_ground(&self) -> Arc<FlameGround> {
        self.now.ground.flame(&self.analysis.session, self.now.state.event)
    }

    /// Times of the first and the last sample that are looked at, ns; nothing if none has a time.
    pub fn times_ns(&self) -> Option<RangeInclusive<u64>> {
        let mut times = self.samples().map(|row| row.time_ns);
        let first = times.find(|time| *time > 0)?;
        Some(first..=times.last().unwrap_or(first))
    }
}

/// Takes back the room of rows that nobody looks at any more. What the frames of their calls say goes with them.
fn take_back(room: &mut Room, made: &mut Made) {
    made.frames = None;
    if let Some(histogram) = made.rows.take().and_then(|rows| rows.histogram) {
        room.take_back(histogram);
    }
}
