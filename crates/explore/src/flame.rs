//! The flame graph of what is looked at. The tree is made once; a window of it costs what is seen.

use crate::flame_names::{ComparedFrame, ComparedSide, FlameNames};
use crate::ground::FlameGround;
use readperf_profile::frames::UniqueFrame;
use readperf_profile::profile::EventTotal;
use readperf_profile::view::flame_layout::{
    Bounds, BoxContent, FlameIndex, FlameLayout, LeastShare, Siblings,
};
use readperf_profile::view::flame_reverse::ReversedSide;
use readperf_profile::view::flame_tree::{FlameLevel, FlameLevels, FlameTree, NO_LINE, NodeIndex, ROOT, Sum};
use readperf_profile::view::row_paths::Room;
use readperf_profile::{AddressId, Profile, SampleRow, Weight};
use readperf_session::{CommId, Session};
use regex::Regex;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::sync::Arc;

/// Turned around, what is below this share is not grown further: a full tree would be as large as all stacks together.
const LEAST_GROWN: LeastShare = LeastShare(200);

/// What a frame is called.
#[derive(Clone, Copy, Debug)]
pub enum Label<'f> {
    /// By the name of a thread, on which its stacks stand.
    Comm(CommId),
    /// By its function, or its binary.
    Frame(&'f UniqueFrame),
    /// The same in a graph of two recordings: it may be of either.
    Compared(&'f ComparedFrame),
}

/// A flame graph: stacks merged by what their levels are called.
#[derive(Debug)]
pub struct Flame {
    pub(crate) tree: FlameTree,
    index: FlameIndex,
    names: Arc<FlameNames>,
    comms: Vec<CommId>,
    pub(crate) weight: Weight,
}

/// A cell of a window.
#[derive(Clone, Copy, Debug)]
pub struct FlameCell {
    /// The frame; none of what is left out.
    pub node: Option<NodeIndex>,
    /// How many frames are below it, from 0.
    pub depth: u32,
    /// Where it begins: the weight of what stands before it.
    pub from: u64,
    /// Its width.
    pub weight: u64,
    /// What it is.
    pub what: BoxContent,
    /// Samples with it in their stack.
    pub total: Sum,
    /// Samples in it.
    pub own: Sum,
    /// Samples of the recording that is compared with, with it in their stack.
    pub before: Sum,
}

/// A part of a flame graph: a frame and what is above it. A caller comes before what it calls.
#[derive(Clone, Debug, Default)]
pub struct FlameWindow {
    /// The cells; the first is the whole.
    pub cells: Vec<FlameCell>,
    /// How many frames are too narrow or too high to be among them.
    pub left_out: u64,
}

/// What a pattern matches.
#[derive(Clone, Debug, Default)]
pub struct Matching {
    /// For each label whether it matches.
    labels: Vec<bool>,
    /// The samples with a match in their stack, each once.
    pub sum: Sum,
    /// The same of the recording that is compared with.
    pub before: Sum,
}

impl Matching {
    /// Whether a cell matches.
    pub fn has(&self, cell: &FlameCell) -> bool {
        matches!(cell.what, BoxContent::Level(level) if self.labels.get(level.label as usize) == Some(&true))
    }
}

/// What stacks stand on: the names of their threads, in order, with the labels behind those of functions.
pub(crate) struct Roots {
    pub(crate) comms: Vec<CommId>,
    labels: FxHashMap<CommId, u32>,
}

impl Roots {
    pub(crate) fn new(comms: impl Iterator<Item = CommId>, session: &Session, functions: usize) -> Roots {
        let mut comms: Vec<CommId> = comms.collect();
        comms.sort_unstable();
        comms.dedup();
        comms.sort_by_key(|comm| session.comm(*comm));
        let labels = comms.iter().copied().zip(u32::try_from(functions).unwrap_or(u32::MAX)..).collect();
        Roots { comms, labels }
    }

    pub(crate) fn of(&self, row: &SampleRow) -> Option<FlameLevel> {
        let label = self.labels.get(&row.comm).copied()?;
        Some(FlameLevel { label, variant: u32::MAX, line: NO_LINE })
    }
}

impl Flame {
    /// From the outermost functions.
    pub(crate) fn upright(ground: &FlameGround, tree: FlameTree, weight: Weight) -> Flame {
        Flame::of_tree(tree, Arc::clone(&ground.names), ground.comms.clone(), weight)
    }

    /// From where samples were taken to the callers, of what some samples add up to.
    pub(crate) fn reversed(
        ground: &FlameGround,
        (sums, total): (&[Sum], Option<&EventTotal>),
        weight: Weight,
        room: &mut Room,
    ) -> Flame {
        Flame::upright(ground, ground.paths.reversed(sums, least_grown(total), room), weight)
    }

    /// That of two recordings. Stacks do not stand on names of threads: these are more often others than functions are.
    pub(crate) fn compared(new: &ComparedSide<'_>, base: &ComparedSide<'_>, reversed: bool) -> Flame {
        let names = FlameNames::compared(new, base);
        let side = |side: &ComparedSide<'_>| side.event.unwrap_or(usize::MAX);
        let mut sides =
            [(new.profile, side(new), &names.levels), (base.profile, side(base), &names.levels_before)];
        let tree = match reversed {
            true => turned_around(&mut sides, |_| None),
            false => {
                let mut tree = FlameTree::default();
                sides.iter().for_each(|(profile, event, levels)| tree.add(profile, *event, levels, |_| None));
                tree
            }
        };
        Flame::of_tree(tree, Arc::new(names), Vec::new(), new.profile.weight())
    }

    fn of_tree(mut tree: FlameTree, names: Arc<FlameNames>, comms: Vec<CommId>, weight: Weight) -> Flame {
        tree.freeze();
        let index = FlameIndex::new(&tree);
        Flame { tree, index, names, comms, weight }
    }

    /// The root: everything.
    pub const ROOT: NodeIndex = ROOT;

    /// What a level is called.
    pub fn label(&self, level: FlameLevel) -> Option<Label<'_>> {
        match (level.label as usize).checked_sub(self.names.count) {
            Some(comm) => self.comms.get(comm).copied().map(Label::Comm),
            None => self.names.label(level.variant),
        }
    }

    /// What the levels at an address are called, from the outermost.
    pub(crate) fn levels_at(&self, address: AddressId) -> &[FlameLevel] {
        self.names.levels.at(address)
    }

    /// The frames below a frame, from the outermost to itself.
    pub fn path(&self, node: NodeIndex) -> Vec<NodeIndex> {
        let parent = |node: &NodeIndex| self.tree.nodes().get(*node as usize).map(|node| node.parent);
        let first = (node != ROOT).then_some(node);
        let mut path: Vec<NodeIndex> =
            std::iter::successors(first, |node| parent(node).filter(|parent| *parent != ROOT)).collect();
        path.reverse();
        path
    }

    /// What a frame is.
    pub fn level(&self, node: NodeIndex) -> Option<FlameLevel> {
        self.tree.nodes().get(node as usize).map(|node| node.level)
    }

    /// The frames above one of them, the widest first, as far as they are one column of so many wide and no higher than some rows.
    pub fn window(&self, root: NodeIndex, columns: u32, rows: u32) -> FlameWindow {
        self.window_in_order(root, columns, rows, Siblings::ByWeight)
    }

    /// The same, with siblings in another order.
    pub fn window_in_order(
        &self,
        root: NodeIndex,
        columns: u32,
        rows: u32,
        siblings: Siblings,
    ) -> FlameWindow {
        let bounds = Bounds { least: LeastShare(1_000_000 / columns.max(1)), rows };
        let layout = FlameLayout::above(&self.tree, &self.index, root, self.weight, siblings, bounds);
        let mut next: Vec<u64> = Vec::new();
        let mut cells = Vec::with_capacity(layout.list.len());
        for cell in &layout.list {
            let ([total, before], [own, _]) = (cell.total, cell.own);
            let (depth, weight) = (cell.depth as usize, self.weight.of_sum(&total));
            next.resize(depth.saturating_add(2), 0);
            let from = next.get(depth).copied().unwrap_or(0);
            if let Some(next) = next.get_mut(depth) {
                *next = from.saturating_add(weight);
            }
            if let Some(above) = next.get_mut(depth.saturating_add(1)) {
                *above = from;
            }
            cells.push(FlameCell {
                node: cell.node,
                depth: cell.depth,
                from,
                weight,
                what: cell.what,
                total,
                own,
                before,
            });
        }
        FlameWindow { cells, left_out: layout.left_out.saturating_add(layout.too_deep) }
    }

    /// The frames that stand on a frame, in no order; on [`Flame::ROOT`] the outermost.
    pub fn children(&self, node: NodeIndex) -> &[NodeIndex] {
        self.index.children().of(node)
    }

    /// The samples with a frame in their stack, and those in the frame itself. Of [`Flame::ROOT`] it is all of them.
    pub fn sums(&self, node: NodeIndex) -> (Sum, Sum) {
        let [total, _] = self.index.total(node);
        let own = self.tree.own(0).get(node as usize).copied().unwrap_or_default();
        (total, own)
    }

    /// The same of the recording that is compared with; nothing where there is none.
    pub fn sums_before(&self, node: NodeIndex) -> (Sum, Sum) {
        let [_, total] = self.index.total(node);
        let own = self.tree.own(1).get(node as usize).copied().unwrap_or_default();
        (total, own)
    }

    /// What a pattern matches in all of the graph. `name` says what a label is called.
    pub fn matching<'s>(&'s self, pattern: &Regex, name: impl Fn(Label<'s>) -> Cow<'s, str>) -> Matching {
        let mut labels: Vec<Option<bool>> = vec![None; self.names.count.saturating_add(self.comms.len())];
        let (mut sum, mut sum_before) = (Sum::default(), Sum::default());
        // Callers come before what they call: whether a match is below is known.
        let mut below: Vec<bool> = Vec::with_capacity(self.tree.nodes().len());
        for (node, here) in (0..).zip(self.tree.nodes()) {
            let is_below = below.get(here.parent as usize).copied().unwrap_or(false);
            let known = labels.get(here.level.label as usize).copied().flatten();
            let matches = known.unwrap_or_else(|| {
                self.label(here.level).is_some_and(|label| pattern.is_match(&name(label)))
            });
            if let Some(label) = labels.get_mut(here.level.label as usize) {
                *label = Some(matches);
            }
            if matches && !is_below {
                let [total, before] = self.index.total(node);
                sum.add(total);
                sum_before.add(before);
            }
            below.push(is_below || matches);
        }
        let labels = labels.into_iter().map(|label| label.unwrap_or(false)).collect();
        Matching { labels, sum, before: sum_before }
    }
}

/// What a node from the leaves weighs at least to be grown further.
fn least_grown(total: Option<&EventTotal>) -> Sum {
    Sum {
        period: LEAST_GROWN.of(total.map_or(0, |total| total.period)),
        samples: LEAST_GROWN.of(total.map_or(0, |total| total.samples)),
    }
}

/// The tree from the leaves of two recordings.
fn turned_around(
    sides: &mut [(&Profile, usize, &FlameLevels)],
    root: impl Fn(&SampleRow) -> Option<FlameLevel>,
) -> FlameTree {
    let mut roots: Vec<_> = sides.iter().map(|_| &root).collect();
    let mut reversed: Vec<ReversedSide<'_>> = sides
        .iter()
        .zip(&mut roots)
        .map(|((profile, event, levels), root)| {
            let least = least_grown(profile.events().get(*event));
            ReversedSide { profile, event: *event, levels, root, least }
        })
        .collect();
    FlameTree::reversed(&mut reversed, u32::MAX)
}
