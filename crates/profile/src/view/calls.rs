//! Stacks as they are shown: the tree of addresses becomes a tree of places as the sort keys tell them apart.

use crate::interner::Interner;
use crate::stacks::{self, StackId};

/// Nodes that are looked up at once: as much of the tables as they need fits into a cache close to the processor.
const AT_ONCE: usize = 1024;

/// No node, or no place.
pub(super) const NONE: u32 = u32::MAX;

/// A place and the node of its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Node {
    /// The caller; [`NONE`] for the outermost.
    pub(super) parent: u32,
    /// Number of its values.
    pub(super) place: u32,
}

/// Every stack as places, as a tree. Parents come before their children.
#[derive(Clone, Debug, Default)]
pub(super) struct Calls {
    pub(super) nodes: Vec<Node>,
    /// For each node of the tree of addresses, the node of its innermost place.
    of_stack: Vec<u32>,
    /// For each node, the nearest node below it in the same row.
    same: Vec<u32>,
    /// The row of each place.
    rows: Vec<u32>,
    children: Children,
}

impl Calls {
    /// The tree of all stacks. `levels` has for each address the places of its levels, the outermost first; `rows` has the
    /// row of each place, of which a row may have several.
    pub(super) fn new(stacks: &[stacks::Node], levels: &Levels, rows: Vec<u32>) -> Calls {
        let mut calls = Calls { rows, ..Calls::default() };
        let mut nodes: Interner<Vec<Node>> = Interner::default();
        calls.of_stack.reserve_exact(stacks.len());
        // What is looked up lies anywhere in a large table: where nodes do not call each other, many are looked up at once.
        let (mut rest, mut here) = (stacks, Vec::new());
        while !rest.is_empty() {
            let first = calls.of_stack.len();
            let is_later = |node: &stacks::Node| node.parent.index().is_some_and(|parent| parent >= first);
            let many = rest.get(..AT_ONCE).unwrap_or(rest);
            let count = many.iter().position(is_later).unwrap_or(many.len()).max(1);
            let (some, others) = rest.split_at(count);
            here.extend(some.iter().map(|node| calls.node_of(node.parent)));
            go_in(&mut nodes, some, levels, &mut here);
            calls.of_stack.append(&mut here);
            rest = others;
        }
        nodes.freeze();
        calls.nodes = nodes.into_list();
        calls.children = Children::new(&calls.nodes);
        calls.find_same();
        calls
    }

    /// The node of the innermost place of a stack; [`NONE`] for the empty one.
    pub(super) fn node_of(&self, stack: StackId) -> u32 {
        stack.index().and_then(|index| self.of_stack.get(index)).copied().unwrap_or(NONE)
    }

    /// A node.
    pub(super) fn node(&self, index: u32) -> Option<Node> {
        self.nodes.get(index as usize).copied()
    }

    /// The row of a node.
    pub(super) fn row_of(&self, node: Node) -> u32 {
        self.rows.get(node.place as usize).copied().unwrap_or(NONE)
    }

    /// What a node called.
    pub(super) fn children_of(&self, index: u32) -> &[u32] {
        self.children.of(index)
    }

    /// Whether no caller of a node, near or far, is in the same row.
    pub(super) fn is_outermost(&self, index: u32) -> bool {
        self.same_caller(index) == NONE
    }

    /// The nearest caller in the same row; [`NONE`] if there is none.
    pub(super) fn same_caller(&self, index: u32) -> u32 {
        self.same.get(index as usize).copied().unwrap_or(NONE)
    }

    /// Whether a row is on the way from a node to the root.
    pub(super) fn has(&self, from: u32, row: u32) -> bool {
        self.path(from).any(|(_, node)| self.row_of(node) == row)
    }

    /// The nodes from one of them to the root.
    pub(super) fn path(&self, from: u32) -> impl Iterator<Item = (u32, Node)> + '_ {
        let mut here = from;
        std::iter::from_fn(move || {
            let node = self.node(here)?;
            let index = std::mem::replace(&mut here, node.parent);
            Some((index, node))
        })
    }

    /// One walk over the tree, with the last open node of each row.
    fn find_same(&mut self) {
        let children = &self.children;
        let mut open = vec![NONE; self.rows.iter().max().map_or(0, |row| *row as usize + 1)];
        self.same = vec![NONE; self.nodes.len()];
        let mut way: Vec<(u32, bool)> = children.of(NONE).iter().map(|root| (*root, false)).collect();
        while let Some((index, leaving)) = way.pop() {
            let Some(node) = self.nodes.get(index as usize) else { continue };
            let row = self.rows.get(node.place as usize).copied().unwrap_or(NONE);
            let Some(last) = open.get_mut(row as usize) else { continue };
            let Some(same) = self.same.get_mut(index as usize) else { continue };
            if leaving {
                *last = *same;
                continue;
            }
            *same = std::mem::replace(last, index);
            way.push((index, true));
            way.extend(children.of(index).iter().map(|child| (*child, false)));
        }
    }
}

/// Goes from the nodes of some callers to those of the innermost places of what they call, a level at a time.
fn go_in(nodes: &mut Interner<Vec<Node>>, called: &[stacks::Node], levels: &Levels, here: &mut [u32]) {
    let (mut next, mut numbers) = (Vec::with_capacity(called.len()), Vec::with_capacity(called.len()));
    for level in 0.. {
        let places = || called.iter().map(|node| levels.of(node.address.index()).get(level).copied());
        next.clear();
        numbers.clear();
        let known = places().zip(&*here);
        next.extend(known.filter_map(|(place, parent)| Some(Node { parent: *parent, place: place? })));
        if next.is_empty() {
            return;
        }
        nodes.number_all(&next, &mut numbers);
        let mut numbers = numbers.iter();
        for (here, _) in here.iter_mut().zip(places()).filter(|(_, place)| place.is_some()) {
            *here = numbers.next().copied().unwrap_or(NONE);
        }
    }
}

/// The children of each node of a tree.
#[derive(Clone, Debug, Default)]
pub(super) struct Children {
    /// Nodes, those of one parent together; the roots last.
    list: Vec<u32>,
    /// Where those of each parent begin.
    starts: Vec<u32>,
}

impl Children {
    /// Those of all nodes, by counting.
    pub(super) fn new(nodes: &[Node]) -> Children {
        let roots = nodes.len();
        let slot = |parent: u32| if parent == NONE { roots } else { parent as usize };
        let mut starts = vec![0u32; nodes.len() + 2];
        for node in nodes {
            if let Some(count) = starts.get_mut(slot(node.parent) + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut next = starts.clone();
        let mut list = vec![0u32; nodes.len()];
        for (index, node) in (0u32..).zip(nodes) {
            if let Some(at) = next.get_mut(slot(node.parent)) {
                if let Some(entry) = list.get_mut(*at as usize) {
                    *entry = index;
                }
                *at += 1;
            }
        }
        Children { list, starts }
    }

    /// Those of a node, or with [`NONE`] the roots; in ascending order.
    pub(super) fn of(&self, parent: u32) -> &[u32] {
        let slot = if parent == NONE { self.starts.len().saturating_sub(2) } else { parent as usize };
        let at = |slot: usize| self.starts.get(slot).copied().unwrap_or(0) as usize;
        self.list.get(at(slot)..at(slot + 1)).unwrap_or_default()
    }
}

/// The places of each address, by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Levels {
    ends: Vec<u32>,
    list: Vec<u32>,
}

impl Levels {
    /// Adds the levels of the next address, the outermost first.
    pub(super) fn push(&mut self, places: impl Iterator<Item = u32>) {
        self.list.extend(places);
        self.ends.push(u32::try_from(self.list.len()).unwrap_or(u32::MAX));
    }

    /// The levels of an address, the outermost first.
    pub(super) fn of(&self, address: usize) -> &[u32] {
        let start = address.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(address).copied().unwrap_or(0);
        self.list.get(start as usize..end as usize).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addresses::AddressId;
    use crate::stacks::Stacks;

    /// Addresses 0.. whose only level is the place of the same number modulo 10.
    fn levels(addresses: u32) -> Levels {
        let mut levels = Levels::default();
        (0..addresses).for_each(|address| levels.push(std::iter::once(address % 10)));
        levels
    }

    fn stack(stacks: &mut Stacks, innermost_first: &[u32]) -> StackId {
        let places: Vec<AddressId> = innermost_first.iter().map(|nr| AddressId(*nr)).collect();
        let mut ids = Vec::new();
        stacks.number_all(&places, &[places.len()], &mut ids);
        ids[0]
    }

    #[test]
    fn addresses_of_one_place_are_one_node() {
        let mut stacks = Stacks::default();
        let a = stack(&mut stacks, &[3, 2, 1]);
        let b = stack(&mut stacks, &[13, 12, 11]);
        let calls = Calls::new(stacks.nodes(), &levels(20), (0..10).collect());
        assert_eq!(calls.nodes.len(), 3);
        assert_eq!(calls.node_of(a), calls.node_of(b));
        assert_eq!(calls.node_of(StackId::EMPTY), NONE);
    }

    #[test]
    fn inlined_levels_are_nodes_of_their_own() {
        // Every third address has two levels more.
        let places = |address: u32| {
            (0..if address.is_multiple_of(3) { 3 } else { 1 }).map(move |nr| address * 10 + nr)
        };
        let mut levels = Levels::default();
        (0..3000).for_each(|address| levels.push(places(address)));
        let mut stacks = Stacks::default();
        let ids: Vec<StackId> =
            (0..3000).map(|nr| stack(&mut stacks, &[nr, (nr * 7) % 3000, 5, 6])).collect();
        let calls = Calls::new(stacks.nodes(), &levels, Vec::new());
        for (nr, id) in (0..3000).zip(ids) {
            let path: Vec<u32> = calls.path(calls.node_of(id)).map(|(_, node)| node.place).collect();
            let called = [6, 5, (nr * 7) % 3000, nr].into_iter().flat_map(places);
            assert_eq!(path.into_iter().rev().collect::<Vec<u32>>(), called.collect::<Vec<u32>>());
        }
    }

    #[test]
    fn recursion_is_seen() {
        let mut stacks = Stacks::default();
        let leaf = stack(&mut stacks, &[1, 2, 1, 3]);
        let other = stack(&mut stacks, &[2, 3]);
        let calls = Calls::new(stacks.nodes(), &levels(10), (0..10).collect());
        let path: Vec<(u32, u32)> =
            calls.path(calls.node_of(leaf)).map(|(nr, node)| (nr, node.place)).collect();
        let places: Vec<u32> = path.iter().map(|(_, place)| *place).collect();
        assert_eq!(places, [1, 2, 1, 3]);
        assert!(!calls.is_outermost(path[0].0));
        assert_eq!(calls.same_caller(path[0].0), path[2].0);
        assert!(calls.is_outermost(path[1].0) && calls.is_outermost(path[2].0));
        assert!(calls.is_outermost(calls.node_of(other)), "not on the same way");
        assert!(calls.has(calls.node_of(leaf), 3) && !calls.has(calls.node_of(other), 1));
    }

    #[test]
    fn children_are_found() {
        let mut stacks = Stacks::default();
        stack(&mut stacks, &[2, 1]);
        stack(&mut stacks, &[3, 1]);
        stack(&mut stacks, &[4]);
        let calls = Calls::new(stacks.nodes(), &levels(10), (0..10).collect());
        let children = Children::new(&calls.nodes);
        let places = |parent| -> Vec<u32> {
            children.of(parent).iter().map(|child| calls.nodes[*child as usize].place).collect()
        };
        assert_eq!(places(NONE), [1, 4]);
        assert_eq!(places(children.of(NONE)[0]), [2, 3]);
        assert_eq!(places(children.of(NONE)[1]), [0; 0]);
    }
}
