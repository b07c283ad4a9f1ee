//! Histograms: what samples add up to by sort keys, for the places themselves and with what they call.
//!
//! With stacks every row has two sums: of the samples taken there, and of the samples whose stack it is in, each counted
//! once however often it is. The second is worked out on the tree of stacks: it is the sum of the subtrees of the
//! outermost nodes of the row.

use super::calls::{Calls, Levels, NONE};
use super::column::compare;
use super::facts::{Facts, Place};
use super::graph::{GraphKey, GraphNode, GraphOptions, Grapher};
use super::key::{KeyUse, Part};
use super::keys::code;
use crate::detail::DetailId;
use crate::profile::{EventTotal, SampleRow};
use crate::stacks::StackId;
use crate::value::{Tuples, Value};
use perffile::wire::head::CpuMode;
use readperf_session::{CommId, ThreadId};
use rustc_hash::FxHashMap;

/// What histograms are to show.
#[derive(Clone, Debug, Default)]
pub struct HistogramOptions {
    /// What makes a row.
    pub keys: Vec<KeyUse>,
    /// Whether rows have sums over their stacks.
    pub children: bool,
    /// Whether inlined functions are levels of a stack.
    pub inline: bool,
    /// Which call graphs rows get, if any.
    pub graph: Option<GraphOptions>,
    /// For each event the period that is 100 %, for thresholds.
    pub whole: Vec<u64>,
    /// Rows below this share, in percent, are only counted.
    pub percent_limit: f64,
}

/// Rows that are below the threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// How many.
    pub rows: u64,
    /// Sum of their own periods.
    pub self_period: u64,
}

/// Sums by mode of the CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByMode {
    /// Kernel.
    pub kernel: u64,
    /// User.
    pub user: u64,
    /// Kernel of a guest.
    pub guest_kernel: u64,
    /// User of a guest.
    pub guest_user: u64,
}

impl ByMode {
    fn add(&mut self, mode: CpuMode, period: u64) {
        let sum = match mode {
            CpuMode::Kernel => &mut self.kernel,
            CpuMode::User => &mut self.user,
            CpuMode::GuestKernel => &mut self.guest_kernel,
            CpuMode::GuestUser => &mut self.guest_user,
            CpuMode::Unknown | CpuMode::Hypervisor => return,
        };
        *sum = sum.wrapping_add(period);
    }
}

/// What the samples of a row add up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// How many samples were taken there.
    pub samples: u64,
    /// Sum of their periods.
    pub self_period: u64,
    /// Sum of the periods of all samples with this row in their stack; without children the same as `self_period`.
    pub total_period: u64,
    /// `self_period` by mode.
    pub by_mode: ByMode,
}

/// A row of a histogram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistogramRow {
    /// What the keys say, in their order.
    pub values: Box<[Value]>,
    /// What its samples add up to.
    pub numbers: Numbers,
    /// The same for the other events of a group, in their order.
    pub others: Box<[Numbers]>,
    /// Its call graph, if asked for.
    pub graph: Box<[GraphNode]>,
}

/// The histogram of one event, or of a group.
#[derive(Clone, Debug)]
pub struct Histogram {
    /// Index of the event in [`crate::Profile::events`].
    pub event: usize,
    /// The event and its totals.
    pub total: EventTotal,
    /// The other events of a group.
    pub others: Vec<EventTotal>,
    /// Their indices, as `event`.
    pub other_events: Vec<usize>,
    /// The rows, in no order yet.
    pub rows: Vec<HistogramRow>,
    /// What is not among them.
    pub left_out: LeftOut,
}

impl Histogram {
    /// Histograms of several events side by side; the first one leads. `None` if there is none.
    pub fn side_by_side(histograms: Vec<Histogram>) -> Option<Histogram> {
        let count = histograms.len();
        let mut rows: FxHashMap<Box<[Value]>, Vec<Numbers>> = FxHashMap::default();
        let mut totals = Vec::new();
        let other_events = histograms.iter().skip(1).map(|histogram| histogram.event).collect();
        let event = histograms.first()?.event;
        for (nr, histogram) in histograms.into_iter().enumerate() {
            totals.push(histogram.total);
            for row in histogram.rows {
                let all = rows.entry(row.values).or_insert_with(|| vec![Numbers::default(); count]);
                if let Some(numbers) = all.get_mut(nr) {
                    *numbers = row.numbers;
                }
            }
        }
        let row = |(values, mut all): (_, Vec<Numbers>)| {
            let others = all.split_off(1.min(all.len()));
            HistogramRow {
                values,
                numbers: all.pop().unwrap_or_default(),
                others: others.into(),
                graph: Box::default(),
            }
        };
        let rows = rows.into_iter().map(row).collect();
        let others = totals.split_off(1);
        let left_out = LeftOut::default();
        Some(Histogram { event, total: totals.pop()?, others, other_events, rows, left_out })
    }
}

impl Histogram {
    /// Takes away rows that are below a share, in percent, of each of their events; `whole` has the periods that are 100 %.
    pub fn cut(&mut self, percent: f64, whole: &[u64]) {
        let events = std::iter::once(&self.event).chain(&self.other_events);
        let least: Vec<u64> = events
            .map(|event| super::graph::least(percent, whole.get(*event).copied().unwrap_or(0)))
            .collect();
        let left_out = &mut self.left_out;
        self.rows.retain(|row| {
            let numbers = std::iter::once(&row.numbers).chain(&row.others);
            let shown = numbers.zip(&least).any(|(numbers, least)| numbers.total_period >= *least);
            if !shown {
                left_out.rows += 1;
                left_out.self_period = left_out.self_period.wrapping_add(row.numbers.self_period);
            }
            shown
        });
    }
}

/// Samples that agree in all that a histogram tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Group {
    sample: u32,
    node: u32,
    place: u32,
    mode: CpuMode,
}

/// Makes histograms of a profile.
#[derive(Debug)]
pub struct Histograms<'f, 'o> {
    /// What is known.
    pub facts: Facts<'f>,
    options: &'o HistogramOptions,
    samples: Tuples,
    places: Tuples,
    /// The place of each address as one where samples were taken.
    taken_at: Vec<u32>,
    /// What frames of call graphs say.
    frames: Tuples,
    calls: Calls,
    sample_numbers: FxHashMap<SampleParts, u32>,
    scratch: Vec<Value>,
}

/// What keys of the sample depend on.
type SampleParts = (u32, CommId, Option<ThreadId>, Option<u32>, DetailId, StackId);

impl<'f, 'o> Histograms<'f, 'o> {
    /// Prepares histograms of all events.
    pub fn new(facts: Facts<'f>, options: &'o HistogramOptions) -> Histograms<'f, 'o> {
        let mut histograms = Histograms {
            facts,
            options,
            samples: Tuples::default(),
            places: Tuples::default(),
            taken_at: Vec::new(),
            frames: Tuples::default(),
            calls: Calls::default(),
            sample_numbers: FxHashMap::default(),
            scratch: Vec::new(),
        };
        histograms.number_places();
        histograms
    }

    fn number_places(&mut self) {
        let Histograms { facts, options, places, taken_at, .. } = self;
        let mut numbers = PlaceNumbers::new(facts, options, places);
        for index in 0..facts.profile.addresses.len() {
            let place = facts.profile.addresses.id(index).and_then(|address| facts.taken_at(address));
            taken_at.push(place.map_or(NONE, |place| numbers.row(facts, &place)));
        }
        if options.children || options.graph.is_some() {
            self.number_calls();
        }
    }

    /// Makes the tree of calls. Without graphs its places are rows; with graphs a row may have several.
    fn number_calls(&mut self) {
        let Histograms { facts, options, places, frames, .. } = self;
        let (mut levels, mut rows, mut of_address) = (Levels::default(), Vec::new(), Vec::new());
        let mut numbers = PlaceNumbers::new(facts, options, places);
        for index in 0..facts.profile.addresses.len() {
            if let Some(address) = facts.profile.addresses.id(index) {
                match options.inline {
                    true => of_address.extend(facts.levels(address).rev()),
                    false => of_address.extend(facts.taken_at(address)),
                }
            }
            levels.push(of_address.drain(..).map(|level: Place<'f>| {
                let row = numbers.row(facts, &level);
                let frame = match &options.graph {
                    Some(graph) => {
                        frames.number(&[frame(facts, &level, graph.key), Value::Number(row.into())])
                    }
                    None => row,
                };
                if rows.len() <= frame as usize {
                    rows.resize(frame as usize + 1, NONE);
                }
                if let Some(slot) = rows.get_mut(frame as usize) {
                    *slot = row;
                }
                frame
            }));
        }
        self.calls = Calls::new(&self.facts.profile.stacks, &levels, rows);
    }

    /// What the frames of call graphs say, by number.
    pub fn frames(&self) -> Vec<Value> {
        (0..self.frames.len()).map(|frame| self.frame(u32::try_from(frame).unwrap_or(NONE))).collect()
    }

    /// What a frame of a call graph says.
    fn frame(&self, frame: u32) -> Value {
        self.frames.values(frame).first().copied().unwrap_or_default()
    }

    /// The number of what the keys of the sample say.
    fn number_sample(&mut self, row: &SampleRow) -> u32 {
        let Histograms { facts, options, samples, sample_numbers, scratch, .. } = self;
        let of_stack = options.keys.iter().any(|key| matches!(key.key.part, Part::Stack(_)));
        let of_event = options.keys.iter().any(|key| matches!(key.key.part, Part::Field(_)));
        let stack = if of_stack { row.stack } else { StackId::EMPTY };
        let event = if of_event { row.event } else { 0 };
        let parts = (event, row.comm, row.thread, row.cpu, row.detail, stack);
        if let Some(number) = sample_numbers.get(&parts) {
            return *number;
        }
        scratch.clear();
        for key in &options.keys {
            match key.key.part {
                Part::Sample(of) => scratch.push(of(facts, row)),
                Part::Field(of) => scratch.push(of(facts, row, &key.field)),
                Part::Stack(of) => scratch.push(of(facts, row.stack)),
                Part::Function(_) | Part::Place(_) => {}
            }
        }
        let number = samples.number(scratch);
        sample_numbers.insert(parts, number);
        number
    }

    /// The histogram of one event; `None` if it has no samples.
    pub fn of_event(&mut self, event: usize) -> Option<Histogram> {
        let profile = self.facts.profile;
        let rows = profile.rows_of(event);
        if rows.is_empty() {
            return None;
        }
        // The text of a tracepoint depends on the event.
        self.sample_numbers.clear();
        let mut groups: FxHashMap<Group, (u64, u64)> = FxHashMap::default();
        for row in rows {
            let sample = self.number_sample(row);
            let place = self.taken_at.get(row.address.index()).copied().unwrap_or(NONE);
            let mode = profile.addresses.get(row.address).map_or(CpuMode::Unknown, |code| code.mode);
            let group = Group { sample, node: self.calls.node_of(row.stack), place, mode };
            let sum = groups.entry(group).or_default();
            sum.0 += row.samples;
            sum.1 = sum.1.wrapping_add(row.period);
        }
        let mut groups: Vec<(Group, u64, u64)> =
            groups.into_iter().map(|(group, (samples, period))| (group, samples, period)).collect();
        groups.sort_unstable_by_key(|(group, ..)| *group);
        let (mut rows, mut left_out) = (Vec::new(), LeftOut::default());
        let mut subtrees = Subtrees::new(&self.calls);
        for of_sample in groups.chunk_by(|a, b| a.0.sample == b.0.sample) {
            self.add_sample(event, of_sample, &mut subtrees, (&mut rows, &mut left_out));
        }
        let total = profile.events().get(event).cloned().unwrap_or_default();
        Some(Histogram { event, total, others: Vec::new(), other_events: Vec::new(), rows, left_out })
    }

    /// Adds the rows of samples for which the keys of the sample say the same.
    fn add_sample(
        &self,
        event: usize,
        groups: &[(Group, u64, u64)],
        subtrees: &mut Subtrees<'_>,
        (rows, left_out): (&mut Vec<HistogramRow>, &mut LeftOut),
    ) {
        let mut sums: FxHashMap<u32, Numbers> = FxHashMap::default();
        for (group, samples, period) in groups {
            let sum = sums.entry(group.place).or_default();
            sum.samples += samples;
            sum.self_period = sum.self_period.wrapping_add(*period);
            sum.by_mode.add(group.mode, *period);
            // A sample that was taken where its recorded stack is not is there all the same.
            if !self.options.children || !self.calls.has(group.node, group.place) {
                sum.total_period = sum.total_period.wrapping_add(*period);
            }
        }
        subtrees.add_up(groups.iter().map(|(group, _, period)| (group.node, *period)));
        if self.options.children {
            for (node, period) in subtrees.iter().filter(|(node, _)| self.calls.is_outermost(*node)) {
                let row = self.calls.node(node).map_or(NONE, |node| self.calls.row_of(node));
                let sum = sums.entry(row).or_default();
                sum.total_period = sum.total_period.wrapping_add(period);
            }
        }
        let sample = groups.first().map_or(NONE, |(group, ..)| group.sample);
        let whole = self.options.whole.get(event).copied().unwrap_or(0);
        let least = super::graph::least(self.options.percent_limit, whole);
        // Without sums over stacks the total is their own.
        sums.retain(|_, numbers| {
            let shown = numbers.total_period >= least;
            if !shown {
                left_out.rows += 1;
                left_out.self_period = left_out.self_period.wrapping_add(numbers.self_period);
            }
            shown
        });
        let graphs = self.graphs(event, groups, subtrees, &sums);
        rows.extend(sums.into_iter().map(|(place, numbers)| HistogramRow {
            values: self.values(sample, place),
            numbers,
            others: Box::default(),
            graph: graphs.get(&place).cloned().unwrap_or_default(),
        }));
    }

    /// The call graphs of the rows that are above the threshold.
    fn graphs(
        &self,
        event: usize,
        groups: &[(Group, u64, u64)],
        subtrees: &Subtrees<'_>,
        sums: &FxHashMap<u32, Numbers>,
    ) -> FxHashMap<u32, Box<[GraphNode]>> {
        let mut graphs = FxHashMap::default();
        let Some(options) = self.options.graph else { return graphs };
        let whole = self.options.whole.get(event).copied().unwrap_or(0);
        let grapher = Grapher { calls: &self.calls, sums: &subtrees.sums, options, whole };
        let row_of = |node: u32| self.calls.node(node).map_or(NONE, |node| self.calls.row_of(node));
        let mut nodes: Vec<(u32, u32)> = subtrees.touched.iter().map(|node| (row_of(*node), *node)).collect();
        nodes.sort_unstable();
        let mut taken: Vec<(u32, u32, u64)> =
            groups.iter().map(|(group, _, period)| (group.place, group.node, *period)).collect();
        taken.sort_unstable();
        for row in sums.keys() {
            let from = nodes.partition_point(|(other, _)| other < row);
            let of_row = nodes.get(from..).unwrap_or_default().iter().take_while(|(other, _)| other == row);
            let of_row: Vec<u32> = of_row.map(|(_, node)| *node).collect();
            let from = taken.partition_point(|(other, ..)| other < row);
            let own = taken.get(from..).unwrap_or_default().iter().take_while(|(other, ..)| other == row);
            let own: Vec<(u32, u64)> = own.map(|(_, node, period)| (*node, *period)).collect();
            let by_name = |a, b| {
                let (a, b) = (self.frame(a), self.frame(b));
                compare(&self.facts, Some(&a), Some(&b))
            };
            let graph = grapher.graph(*row, &of_row, &own, self.options.children, by_name);
            graphs.insert(*row, graph.into());
        }
        graphs
    }

    /// What the keys say, in their order.
    fn values(&self, sample: u32, place: u32) -> Box<[Value]> {
        let mut of_sample = self.samples.values(sample).iter();
        let mut of_place = self.places.values(place).iter();
        let value = |key: &KeyUse| match key.key.part {
            Part::Function(_) | Part::Place(_) => of_place.next().copied().unwrap_or_default(),
            _ => of_sample.next().copied().unwrap_or_default(),
        };
        self.options.keys.iter().map(value).collect()
    }
}

/// Numbers what the keys say of places.
#[derive(Debug)]
struct PlaceNumbers<'n> {
    keys: &'n [KeyUse],
    tuples: &'n mut Tuples,
    scratch: Vec<Value>,
    /// If only functions matter: the number of each that was asked about, as itself and as an inlined one.
    known: Option<Vec<[u32; 2]>>,
}

impl<'n> PlaceNumbers<'n> {
    fn new(facts: &Facts<'_>, options: &'n HistogramOptions, tuples: &'n mut Tuples) -> PlaceNumbers<'n> {
        let by_place = options.keys.iter().any(|key| matches!(key.key.part, Part::Place(_)));
        let functions = facts.profile.names.functions().len();
        let known = (!by_place).then(|| vec![[NONE; 2]; functions]);
        PlaceNumbers { keys: &options.keys, tuples, scratch: Vec::new(), known }
    }

    fn row(&mut self, facts: &mut Facts<'_>, place: &Place<'_>) -> u32 {
        let index = (place.function.index(), usize::from(place.inlined));
        let known = self.known.as_ref().and_then(|known| known.get(index.0)?.get(index.1)).copied();
        if let Some(number) = known.filter(|number| *number != NONE) {
            return number;
        }
        self.scratch.clear();
        for key in self.keys {
            if let Part::Function(of) | Part::Place(of) = key.key.part {
                self.scratch.push(of(facts, place));
            }
        }
        let number = self.tuples.number(&self.scratch);
        let known = self.known.as_mut().and_then(|known| known.get_mut(index.0)?.get_mut(index.1));
        if let Some(slot) = known {
            *slot = number;
        }
        number
    }
}

/// What a frame of a call graph says.
fn frame(facts: &mut Facts<'_>, place: &Place<'_>, key: GraphKey) -> Value {
    match key {
        GraphKey::Function => code::symbol(facts, place),
        GraphKey::Address => code::symoff(facts, place),
        GraphKey::SourceLine => code::srcline(facts, place),
    }
}

/// Sums of the subtrees of a tree of calls, as far as there are any.
#[derive(Debug)]
struct Subtrees<'c> {
    calls: &'c Calls,
    sums: Vec<u64>,
    /// Whether a node is among `touched`.
    seen: Vec<bool>,
    touched: Vec<u32>,
}

impl<'c> Subtrees<'c> {
    fn new(calls: &'c Calls) -> Subtrees<'c> {
        let len = calls.nodes.len();
        Subtrees { calls, sums: vec![0; len], seen: vec![false; len], touched: Vec::new() }
    }

    /// Forgets all sums, and adds up others.
    fn add_up(&mut self, weights: impl Iterator<Item = (u32, u64)>) {
        for node in self.touched.drain(..) {
            if let (Some(sum), Some(seen)) =
                (self.sums.get_mut(node as usize), self.seen.get_mut(node as usize))
            {
                (*sum, *seen) = (0, false);
            }
        }
        for (node, weight) in weights {
            if let Some(sum) = self.sums.get_mut(node as usize) {
                *sum = sum.wrapping_add(weight);
            }
            for (index, _) in self.calls.path(node) {
                match self.seen.get_mut(index as usize) {
                    Some(seen) if !*seen => *seen = true,
                    _ => break,
                }
                self.touched.push(index);
            }
        }
        // Children come behind their parents.
        self.touched.sort_unstable_by_key(|node| std::cmp::Reverse(*node));
        for node in &self.touched {
            let sum = self.sums.get(*node as usize).copied().unwrap_or(0);
            let parent = self.calls.node(*node).map_or(NONE, |node| node.parent);
            if let Some(of_parent) = self.sums.get_mut(parent as usize) {
                *of_parent = of_parent.wrapping_add(sum);
            }
        }
    }

    /// The nodes that have a sum.
    fn iter(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        self.touched.iter().map(|node| (*node, self.sums.get(*node as usize).copied().unwrap_or(0)))
    }
}
