//! The boxes of a flame graph: the tree of stacks without what is too small to see, in the order of drawing.

use crate::view::flame_tree::{Children, FlameLevel, FlameTree, NodeIndex, ROOT, Sum};
use crate::weight::Weight;
use std::cmp::Reverse;

/// How siblings are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Siblings {
    /// By name.
    #[default]
    ByName,
    /// The widest first, ties by name.
    ByWeight,
}

/// What a box shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoxContent {
    /// Everything.
    All,
    /// A function, or a thread.
    Level(FlameLevel),
    /// Callees of one function that are too small to be shown; how many, with what they call.
    LeftOut(u64),
}

/// A box.
#[derive(Clone, Copy, Debug)]
pub struct FlameBox {
    /// How many frames are below it.
    pub depth: u32,
    /// The node of the tree that it is; none of what is left out. Of everything it is [`ROOT`].
    pub node: Option<NodeIndex>,
    /// What it shows.
    pub what: BoxContent,
    /// Its weight, on both sides.
    pub total: [Sum; 2],
    /// The weight of samples in the function itself, on both sides.
    pub own: [Sum; 2],
}

/// The boxes, a caller before what it calls, and what is not among them.
#[derive(Clone, Debug, Default)]
pub struct FlameLayout {
    /// The boxes.
    pub list: Vec<FlameBox>,
    /// How many rows they take.
    pub rows: u32,
    /// How many frames are left out.
    pub left_out: u64,
    /// The weight of stacks that are not shown in full, on both sides.
    pub left_out_sum: [Sum; 2],
    /// What is left out: boxes below this share.
    pub least: LeastShare,
    /// How many frames are left out because they stand on too many others.
    pub too_deep: u64,
    /// How many rows there may be.
    pub most_rows: u32,
}

/// What is too small to be drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Least {
    /// As little as possible: the largest of some shares with which 95 % of the weight is shown in full, within a limit of frames.
    #[default]
    ByWeight,
    /// Boxes below this share.
    Below(LeastShare),
}

/// Shares tried by [`Least::ByWeight`], the largest first: half a pixel of a thousand, and what zooming makes visible.
const SHARES: [LeastShare; 9] = [
    LeastShare(500),
    LeastShare(200),
    LeastShare(100),
    LeastShare(50),
    LeastShare(20),
    LeastShare(10),
    LeastShare(5),
    LeastShare(2),
    LeastShare(1),
];
/// How much of the weight is to be shown in full, in percent.
const SHOWN: u128 = 95;
/// A file with more frames takes browsers seconds to open.
const MOST_FRAMES: usize = 150_000;

/// More rows than these are no picture, and recursion has no end.
const MOST_ROWS: u32 = 1000;
/// So many are always shown.
const LEAST_ROWS: u32 = 50;

/// What bounds a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Boxes below this share are left out.
    pub least: LeastShare,
    /// So are those that stand on so many others.
    pub rows: u32,
}

impl Least {
    /// The frames that are shown, as `layout_of` makes them within bounds. Who asks for a share gets all rows, too.
    pub fn choose(self, mut layout_of: impl FnMut(Bounds) -> FlameLayout, weight: Weight) -> FlameLayout {
        if let Least::Below(least) = self {
            return layout_of(Bounds { least, rows: u32::MAX });
        }
        let Some((first, finer)) = SHARES.split_first() else { return FlameLayout::default() };
        let mut rows = MOST_ROWS;
        let mut chosen = layout_of(Bounds { least: *first, rows });
        while chosen.list.len() > MOST_FRAMES && rows / 2 >= LEAST_ROWS {
            rows /= 2;
            chosen = layout_of(Bounds { least: *first, rows });
        }
        for least in finer {
            if chosen.show_enough(weight) {
                break;
            }
            let more = layout_of(Bounds { least: *least, rows });
            if more.list.len() > MOST_FRAMES {
                break;
            }
            chosen = more;
        }
        chosen
    }
}

/// Shares below this are not drawn, in millionths of the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeastShare(pub u32);

impl LeastShare {
    /// The least weight to be drawn of a whole.
    pub fn of(self, whole: u64) -> u64 {
        let least = (u128::from(whole) * u128::from(self.0)).div_ceil(1_000_000);
        u64::try_from(least).unwrap_or(u64::MAX)
    }
}

/// What is worked out of a tree once, for all pictures of it.
#[derive(Clone, Debug)]
pub struct FlameIndex {
    children: Children,
    totals: [Vec<Sum>; 2],
    /// How many nodes each node is, with all above it.
    sizes: Vec<u32>,
}

impl FlameIndex {
    /// That of a tree with one side, or two to compare.
    pub fn new(tree: &FlameTree) -> FlameIndex {
        let mut sizes = vec![1u32; tree.nodes().len()];
        for (index, node) in tree.nodes().iter().enumerate().rev() {
            let size = sizes.get(index).copied().unwrap_or(0);
            if let Some(parent) = sizes.get_mut(node.parent as usize) {
                *parent = parent.saturating_add(size);
            }
        }
        let totals = |side| if tree.own(side).is_empty() { Vec::new() } else { tree.totals(side) };
        FlameIndex { children: tree.children(), totals: [0, 1].map(totals), sizes }
    }

    /// The weight of a node with all above it, on both sides; of [`ROOT`] that of everything.
    pub fn total(&self, node: NodeIndex) -> [Sum; 2] {
        [0, 1].map(|side| match node {
            ROOT => self.sum_of(self.children.of(ROOT), side),
            node => self.side_total(node, side),
        })
    }

    /// The children of the nodes.
    pub fn children(&self) -> &Children {
        &self.children
    }

    fn side_total(&self, node: NodeIndex, side: usize) -> Sum {
        let totals = self.totals.get(side).and_then(|totals| totals.get(node as usize));
        totals.copied().unwrap_or_default()
    }

    fn sum_of(&self, nodes: &[NodeIndex], side: usize) -> Sum {
        let mut sum = Sum::default();
        nodes.iter().for_each(|node| sum.add(self.side_total(*node, side)));
        sum
    }
}

/// The tree, and what is asked of it.
struct Source<'t> {
    tree: &'t FlameTree,
    index: &'t FlameIndex,
    least: [u64; 2],
    weight: Weight,
    siblings: Siblings,
}

impl FlameLayout {
    /// The frames of a tree with one side, or two to compare.
    pub fn new(tree: &FlameTree, weight: Weight, siblings: Siblings, bounds: Bounds) -> FlameLayout {
        FlameLayout::above(tree, &FlameIndex::new(tree), ROOT, weight, siblings, bounds)
    }

    /// The frames above one of them, which is the whole: the work is that of what is shown.
    pub fn above(
        tree: &FlameTree,
        index: &FlameIndex,
        root: NodeIndex,
        weight: Weight,
        siblings: Siblings,
        bounds: Bounds,
    ) -> FlameLayout {
        let whole = index.total(root);
        // A side without weight shows nothing.
        let least = whole.map(|whole| bounds.least.of(weight.of_sum(&whole)).max(1));
        let source = Source { tree, index, least, weight, siblings };
        let mut layout =
            FlameLayout { least: bounds.least, most_rows: bounds.rows, ..FlameLayout::default() };
        layout.push(source.frame(root, 0));
        let mut todo: Vec<(u32, Option<NodeIndex>, FlameBox)> = Vec::new();
        source.push_children(root, 1, &mut layout, &mut todo);
        while let Some((depth, node, frame)) = todo.pop() {
            layout.push(frame);
            if let Some(node) = node {
                source.push_children(node, depth.saturating_add(1), &mut layout, &mut todo);
            }
        }
        layout
    }

    /// Whether what is shown in full is nearly all, on both sides.
    fn show_enough(&self, weight: Weight) -> bool {
        let whole = self.list.first().map(|all| all.total).unwrap_or_default();
        whole.iter().zip(&self.left_out_sum).all(|(whole, left_out)| {
            let (whole, left_out) = (weight.of_sum(whole), weight.of_sum(left_out));
            u128::from(left_out) * 100 <= u128::from(whole) * (100 - SHOWN)
        })
    }

    fn push(&mut self, frame: FlameBox) {
        self.rows = self.rows.max(frame.depth.saturating_add(1));
        self.list.push(frame);
    }
}

impl Source<'_> {
    /// The box of a node.
    fn frame(&self, node: NodeIndex, depth: u32) -> FlameBox {
        let what = match self.tree.nodes().get(node as usize) {
            Some(node) => BoxContent::Level(node.level),
            None => BoxContent::All,
        };
        let own = [0, 1].map(|side| self.tree.own(side).get(node as usize).copied().unwrap_or_default());
        FlameBox { depth, node: Some(node), what, total: self.index.total(node), own }
    }

    fn is_shown(&self, totals: [Sum; 2]) -> bool {
        totals.iter().zip(self.least).any(|(total, least)| self.weight.of_sum(total) >= least)
    }

    fn label(&self, node: NodeIndex) -> u32 {
        self.tree.nodes().get(node as usize).map_or(0, |node| node.level.label)
    }

    /// Puts what a node calls on the list of what is to come; the last of it first.
    fn push_children(
        &self,
        node: NodeIndex,
        depth: u32,
        layout: &mut FlameLayout,
        todo: &mut Vec<(u32, Option<NodeIndex>, FlameBox)>,
    ) {
        let totals = |node: NodeIndex| self.index.total(node);
        let too_deep = depth >= layout.most_rows;
        let (mut shown, left_out): (Vec<NodeIndex>, Vec<NodeIndex>) = self
            .index
            .children
            .of(node)
            .iter()
            .partition(|child| !too_deep && self.is_shown(totals(**child)));
        let widest = |node: NodeIndex| totals(node).map(|total| Reverse(self.weight.of_sum(&total)));
        match self.siblings {
            Siblings::ByName => shown.sort_unstable_by_key(|child| self.label(*child)),
            Siblings::ByWeight => shown.sort_unstable_by_key(|child| (widest(*child), self.label(*child))),
        }
        if !left_out.is_empty() {
            let size = |node: &NodeIndex| self.index.sizes.get(*node as usize).copied().unwrap_or(0);
            let count = left_out.iter().map(|node| u64::from(size(node))).sum();
            let total = [0, 1].map(|side| self.index.sum_of(&left_out, side));
            if too_deep {
                layout.too_deep += count;
            } else {
                layout.left_out += count;
                layout.left_out_sum.iter_mut().zip(total).for_each(|(sum, total)| sum.add(total));
            }
            if self.is_shown(total) {
                let what = BoxContent::LeftOut(count);
                let own = [Sum::default(); 2];
                todo.push((depth, None, FlameBox { depth, node: None, what, total, own }));
            }
        }
        for child in shown.into_iter().rev() {
            todo.push((depth, Some(child), self.frame(child, depth)));
        }
    }
}
