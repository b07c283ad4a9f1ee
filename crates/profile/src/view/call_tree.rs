//! The calls of rows, opened level by level: what a viewer shows below a row that is opened. What nobody opens costs nothing.
//!
//! Numbers and order are those of the call graphs of a histogram ([`super::graph`]).

use super::amount::Amount;
use super::calls::{Calls, NONE};
use super::column::compare;
use super::facts::{FactMemory, Facts};
use super::graph::{self, GraphKey, GraphOptions, GraphOrder, Grapher, Ways};
use super::histogram::{HistogramOptions, Histograms};
use super::key::KeyUse;
use super::place_numbers::Frames;
use super::rows::{RowKey, RowValues};
use super::sample_numbers::SampleNumbers;
use super::sums::Subtrees;
use std::sync::Arc;

/// The tree of calls of a profile, by the keys of a histogram's rows.
#[derive(Debug)]
pub struct CallTree {
    pub(super) keys: Vec<KeyUse>,
    pub(super) children: bool,
    pub(super) calls: Calls,
    pub(super) frames: Frames,
    /// The row of each address as the place where a sample was taken.
    pub(super) taken_at: Vec<u32>,
    /// The sums that were asked for last.
    pub(super) sums: Option<Arc<SampleSums>>,
}

/// What the samples of an event for which the keys of the sample say the same add up to in the tree.
#[derive(Debug)]
pub(super) struct SampleSums {
    event: usize,
    sample: u32,
    sums: Vec<Amount>,
    /// The row of each node that has a sum, sorted.
    nodes: Vec<(u32, u32)>,
    /// The row that samples were taken in, and the node of their innermost place; sorted.
    taken: Vec<(u32, u32, Amount)>,
}

/// A row that is open.
#[derive(Clone, Debug)]
pub struct OpenRow {
    event: usize,
    key: RowKey,
    order: GraphOrder,
    ways: Ways,
}

/// Which calls of a row are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// What it called, as the call graphs of a histogram have it: samples in the row itself are shown with all their callers
    /// ([`GraphOrder::Caller`]).
    #[default]
    Callees,
    /// Who called it ([`GraphOrder::Callee`]).
    Callers,
    /// What it called and nothing else, wherever it was called: the first level is the row itself.
    Below,
}

impl Direction {
    fn order(self) -> GraphOrder {
        match self {
            Direction::Callees | Direction::Below => GraphOrder::Caller,
            Direction::Callers => GraphOrder::Callee,
        }
    }
}

/// A frame of the calls of a row.
#[derive(Clone, Debug)]
pub struct CallFrame {
    /// The frame: what [`CallTree::frames`] says.
    pub frame: u32,
    /// Sum of the periods of samples that came this way.
    pub period: u64,
    /// How many samples came this way.
    pub samples: u64,
    /// Sum of the periods of those that ended here.
    pub own: u64,
    /// How many ended here.
    pub own_samples: u64,
    /// Whether there is something behind it.
    pub has_more: bool,
    level: graph::Level,
}

/// One level of calls, and what is too small to be among them.
#[derive(Clone, Debug, Default)]
pub struct CallLevel {
    /// The frames, the heaviest first; ties by name.
    pub frames: Vec<CallFrame>,
    /// The frames that are left out.
    pub left_out: graph::Branches,
}

impl CallTree {
    /// The tree of a profile, for the rows of histograms with these options.
    pub fn new(facts: Facts<'_>, options: &HistogramOptions, key: GraphKey) -> (CallTree, FactMemory) {
        // Rows have the numbers that they have there: those of places come in the same order.
        let graph = Some(GraphOptions { key, ..GraphOptions::default() });
        let options = HistogramOptions { graph, ..options.clone() };
        Histograms::new(facts, &options).into_call_tree()
    }

    /// What frames say.
    pub fn frames(&self) -> &Frames {
        &self.frames
    }

    /// The calls of a row of an event: the row itself, to ask for more, and the first level.
    pub fn open(
        &mut self,
        facts: &mut Facts<'_>,
        values: &mut RowValues,
        event: usize,
        key: RowKey,
        direction: Direction,
        least: u64,
    ) -> (OpenRow, CallLevel) {
        let order = direction.order();
        let sums = self.sums_of(facts, values, event, key.sample);
        let grapher = self.grapher(&sums, order);
        let from = sums.nodes.partition_point(|(row, _)| *row < key.place);
        let of_row = sums.nodes.get(from..).unwrap_or_default().iter();
        let nodes: Vec<u32> =
            of_row.take_while(|(row, _)| *row == key.place).map(|(_, node)| *node).collect();
        let from = sums.taken.partition_point(|(row, ..)| *row < key.place);
        let own = sums.taken.get(from..).unwrap_or_default().iter().take_while(|(row, ..)| *row == key.place);
        let own: Vec<(u32, Amount)> = own.map(|(_, node, amount)| (*node, *amount)).collect();
        let (first, ways) = match direction {
            Direction::Below => (grapher.below(&nodes), Ways::default()),
            Direction::Callees | Direction::Callers => {
                let (first, _, ways) = grapher.start(key.place, &nodes, &own, self.children);
                (first, ways)
            }
        };
        let level = self.level(facts, &grapher, first, &ways, least);
        (OpenRow { event, key, order, ways }, level)
    }

    /// What is behind a frame of an open row. Frames with a smaller period than `least` are left out.
    pub fn behind(
        &mut self,
        facts: &mut Facts<'_>,
        values: &mut RowValues,
        row: &OpenRow,
        frame: &CallFrame,
        least: u64,
    ) -> CallLevel {
        let sums = self.sums_of(facts, values, row.event, row.key.sample);
        let grapher = self.grapher(&sums, row.order);
        let next = grapher.next(&frame.level, &row.ways);
        self.level(facts, &grapher, next, &row.ways, least)
    }

    fn grapher<'g>(&'g self, sums: &'g SampleSums, order: GraphOrder) -> Grapher<'g> {
        let options = GraphOptions { order, ..GraphOptions::default() };
        Grapher { calls: &self.calls, sums: &sums.sums, options, whole: 0 }
    }

    fn level(
        &self,
        facts: &Facts<'_>,
        grapher: &Grapher<'_>,
        level: graph::Level,
        ways: &Ways,
        least: u64,
    ) -> CallLevel {
        let mut by_name = |a, b| compare(facts, self.frames.says(a), self.frames.says(b));
        let mut shown = CallLevel::default();
        for (frame, amount, level) in grapher.frames(level, &mut by_name) {
            let Amount { period, samples } = amount;
            if period < least.max(1) {
                shown.left_out.count += 1;
                shown.left_out.period = shown.left_out.period.wrapping_add(period);
                shown.left_out.samples += samples;
                continue;
            }
            let next = grapher.next(&level, ways);
            let own = amount.without(Amount::total(next.iter().map(|(_, weight)| *weight)));
            let (own, own_samples) = (own.period, own.samples);
            let has_more = !next.is_empty();
            shown.frames.push(CallFrame { frame, period, samples, own, own_samples, has_more, level });
        }
        shown
    }

    /// The sums of samples, worked out anew if others were asked for before.
    fn sums_of(
        &mut self,
        facts: &mut Facts<'_>,
        values: &mut RowValues,
        event: usize,
        sample: u32,
    ) -> Arc<SampleSums> {
        match self.sums.take().filter(|sums| (sums.event, sums.sample) == (event, sample)) {
            Some(known) => Arc::clone(self.sums.insert(known)),
            None => {
                let sums = Arc::new(self.add_up(facts, values, event, sample));
                Arc::clone(self.sums.insert(sums))
            }
        }
    }

    fn add_up(&self, facts: &mut Facts<'_>, values: &mut RowValues, event: usize, sample: u32) -> SampleSums {
        let profile = facts.profile;
        let mut numbers = SampleNumbers::new(&self.keys);
        let mut taken: Vec<(u32, u32, Amount)> = Vec::new();
        for row in profile.rows_of(event) {
            if numbers.number(facts, &self.keys, &mut values.samples, row) == sample {
                let place = self.taken_at.get(row.address.index()).copied().unwrap_or(NONE);
                let amount = Amount { period: row.period, samples: row.samples };
                taken.push((place, self.calls.node_of(row.stack), amount));
            }
        }
        let mut subtrees = Subtrees::new(&self.calls);
        subtrees.add_up(taken.iter().map(|(_, node, amount)| (*node, *amount)));
        let row_of = |node: u32| self.calls.node(node).map_or(NONE, |node| self.calls.row_of(node));
        let mut nodes: Vec<(u32, u32)> = subtrees.touched.iter().map(|node| (row_of(*node), *node)).collect();
        nodes.sort_unstable();
        taken.sort_unstable_by_key(|(place, node, _)| (*place, *node));
        taken.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                kept.2.add(next.2);
            }
            same
        });
        SampleSums { event, sample, sums: subtrees.sums, nodes, taken }
    }
}
