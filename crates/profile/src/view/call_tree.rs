//! The calls of rows, opened level by level: what a viewer shows below a row that is opened. What nobody opens costs nothing.
//!
//! Numbers and order are those of the call graphs of a histogram ([`super::graph`]).

use super::amount::Amount;
use super::calls::{Calls, Levels, NONE};
use super::column::compare;
use super::facts::Facts;
use super::graph::{self, GraphKey, GraphOptions, GraphOrder, Grapher, Ways};
use super::histogram::HistogramOptions;
use super::place_numbers::Frames;
use super::rows::{RowKey, RowValues};
use super::sample_numbers::SampleNumbers;
use super::sums::Subtrees;
use crate::profile::SampleRow;
use crate::stacks::{Node, StackId, needed};

use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The tree of the stacks that a row is in.
#[derive(Clone, Debug)]
struct RowTree {
    calls: Calls,
    /// Sums of its subtrees.
    sums: Vec<Amount>,
    /// The nodes of the row.
    nodes: Vec<u32>,
    /// The samples that were taken in the row, by the node of their innermost place.
    taken: Vec<(u32, Amount)>,
}

/// A row that is open.
#[derive(Clone, Debug)]
pub struct OpenRow {
    tree: Arc<RowTree>,
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
    /// The frame: see [`Frames::says`].
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

impl OpenRow {
    /// Opens the calls of a row of an event: the row, to ask for more, and the first level. Facts are those of the profile of which the
    /// samples are. Frames are numbered in `frames`; those with a smaller period than `least` are left out.
    pub fn new(
        facts: &mut Facts<'_>,
        asked: &mut RowAsked<'_>,
        frames: &mut Frames,
        direction: Direction,
        least: u64,
    ) -> (OpenRow, CallLevel) {
        facts.settle(asked.options);
        asked.values.learn_levels(facts, asked.options);
        let tree = Arc::new(RowTree::new(facts, asked, frames));
        let order = direction.order();
        let grapher = tree.grapher(order);
        let (first, ways) = match direction {
            Direction::Below => (grapher.below(&tree.nodes), Ways::default()),
            Direction::Callees | Direction::Callers => {
                let children = asked.options.children;
                let (first, _, ways) = grapher.start(asked.row.place, &tree.nodes, &tree.taken, children);
                (first, ways)
            }
        };
        let level = level(facts, frames, &grapher, first, &ways, least);
        (OpenRow { tree, order, ways }, level)
    }

    /// What is behind a frame of the row.
    pub fn behind(&self, facts: &Facts<'_>, frames: &Frames, frame: &CallFrame, least: u64) -> CallLevel {
        let grapher = self.tree.grapher(self.order);
        let next = grapher.next(&frame.level, &self.ways);
        level(facts, frames, &grapher, next, &self.ways, least)
    }
}

/// The frames of a level.
fn level(
    facts: &Facts<'_>,
    frames: &Frames,
    grapher: &Grapher<'_>,
    level: graph::Level,
    ways: &Ways,
    least: u64,
) -> CallLevel {
    let mut by_name = |a, b| compare(facts, frames.says(a), frames.says(b));
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

/// The row that is opened, and what it is a row of.
pub struct RowAsked<'a> {
    /// The samples of the event, which may be put together.
    pub samples: &'a mut dyn Iterator<Item = SampleRow>,
    /// How the histogram was made.
    pub options: &'a HistogramOptions,
    /// What makes two frames one.
    pub key: GraphKey,
    /// What the keys of rows say.
    pub values: &'a mut RowValues,
    /// The row.
    pub row: RowKey,
}

impl std::fmt::Debug for RowAsked<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowAsked").field("key", &self.key).field("row", &self.row).finish_non_exhaustive()
    }
}

/// Samples of a row: their stack, whether they were taken in the row, and what they add up to.
type Taken = (StackId, bool, Amount);

impl RowTree {
    fn new(facts: &mut Facts<'_>, asked: &mut RowAsked<'_>, frames: &mut Frames) -> RowTree {
        let profile = facts.profile;
        let samples = samples_of(facts, asked);
        let (nodes, numbers) = needed(profile.stacks.nodes(), samples.iter().map(|(stack, ..)| *stack));
        let levels = frames_of(facts, asked, frames, &nodes);
        let calls = Calls::new(&nodes, &levels, frames.rows());
        let node_of = |stack: StackId| {
            let number = stack.index().and_then(|index| numbers.get(index)).copied();
            number.map_or(NONE, |number| calls.node_of(number))
        };
        let mut subtrees = Subtrees::new(&calls);
        subtrees.add_up(samples.iter().map(|(stack, _, amount)| (node_of(*stack), *amount)));
        let is_of_row =
            |node: &u32| calls.node(*node).is_some_and(|known| calls.row_of(known) == asked.row.place);
        let mut of_row: Vec<u32> = subtrees.touched.iter().copied().filter(is_of_row).collect();
        of_row.sort_unstable();
        let mut sums: FxHashMap<u32, Amount> = FxHashMap::default();
        for (stack, _, amount) in samples.iter().filter(|(_, is_taken_here, _)| *is_taken_here) {
            sums.entry(node_of(*stack)).or_default().add(*amount);
        }
        let mut taken: Vec<(u32, Amount)> = sums.into_iter().collect();
        taken.sort_unstable_by_key(|(node, _)| *node);
        let sums = subtrees.sums;
        RowTree { calls, sums, nodes: of_row, taken }
    }

    fn grapher(&self, order: GraphOrder) -> Grapher<'_> {
        let options = GraphOptions { order, ..GraphOptions::default() };
        Grapher { calls: &self.calls, sums: &self.sums, options, whole: 0 }
    }
}

/// The samples with the row in their stack.
fn samples_of(facts: &mut Facts<'_>, asked: &mut RowAsked<'_>) -> Vec<Taken> {
    let RowAsked { samples: all, options, values, row, .. } = asked;
    let (profile, places) = (facts.profile, Arc::clone(values.places()));
    // Callers come before what they call.
    let mut has_row: Vec<bool> = Vec::with_capacity(profile.stacks.nodes().len());
    for node in profile.stacks.nodes() {
        let above = node.parent.index().and_then(|parent| has_row.get(parent)).copied();
        has_row.push(above.unwrap_or(false) || places.levels_of(node.address).contains(&row.place));
    }
    let mut numbers = SampleNumbers::new(&options.keys);
    let mut samples = Vec::new();
    for sample in all {
        let is_taken_here = places.row_of(sample.address) == row.place;
        let is_in = sample.stack.index().and_then(|stack| has_row.get(stack)).copied().unwrap_or(false);
        if (is_taken_here || is_in)
            && numbers.number(facts, &options.keys, &mut values.samples, &sample) == row.sample
        {
            let amount = Amount { period: sample.period, samples: sample.samples };
            samples.push((sample.stack, is_taken_here, amount));
        }
    }
    samples
}

/// The frames at the addresses of some nodes.
fn frames_of(facts: &mut Facts<'_>, asked: &RowAsked<'_>, frames: &mut Frames, nodes: &[Node]) -> Levels {
    let mut is_needed = vec![false; facts.profile.addresses.len()];
    for node in nodes {
        if let Some(needed) = is_needed.get_mut(node.address.index()) {
            *needed = true;
        }
    }
    let (mut levels, mut of_address) = (Levels::default(), Vec::new());
    for (address, is_needed) in facts.profile.addresses.ids().zip(is_needed) {
        match (is_needed, asked.options.inline) {
            (false, _) => {}
            (true, true) => of_address.extend(facts.levels(address).rev()),
            (true, false) => of_address.extend(facts.taken_at(address)),
        }
        let rows = asked.values.places().levels_of(address);
        levels.push(of_address.drain(..).zip(rows).map(|(level, row)| {
            let says = asked.key.of(facts, &level);
            frames.number(says, *row)
        }));
    }
    levels
}
