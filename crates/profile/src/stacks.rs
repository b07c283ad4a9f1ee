//! Stacks: a tree that shares their outer parts, from the root to where samples were taken; or whole stacks, one after the
//! other.
//!
//! The tree is what call graphs are made of. Where stacks share little, or nobody asks who called whom, whole stacks are
//! made and walked several times as fast. There the same stack may have several numbers: it is enough that all that is
//! added up is there.

use crate::addresses::AddressId;
use crate::interner::Interner;
use crate::together::Together;
use crate::whole_stacks::WholeStacks;

/// Number of a stack in [`Stacks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StackId(pub(crate) u32);

impl StackId {
    /// The stack without frames.
    pub const EMPTY: StackId = StackId(u32::MAX);

    /// Its index in [`Stacks::nodes`]; of the empty stack none.
    pub fn index(self) -> Option<usize> {
        (self != StackId::EMPTY).then_some(self.0 as usize)
    }
}

/// A place and the stack below it, which called it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// The caller's stack.
    pub parent: StackId,
    /// The place.
    pub address: AddressId,
}

/// Every stack once, as a tree. Parents come before their children. Where groups of samples were changed, stacks may be there twice, and
/// parts without a place stand in it through which no stack goes.
#[derive(Clone, Debug, Default)]
pub struct Stacks {
    nodes: Interner<Vec<Node>>,
    climb: Climb,
    /// Whole stacks, if those are kept instead of the tree.
    whole: Option<WholeStacks>,
}

/// Stacks that are on their way into the tree, all at the same height.
#[derive(Clone, Debug, Default)]
struct Climb {
    climbers: Vec<Climber>,
    nodes: Vec<Node>,
    numbers: Vec<u32>,
}

/// A stack on its way into the tree.
#[derive(Clone, Copy, Debug)]
struct Climber {
    /// Its index.
    nr: usize,
    /// Where its places begin, and end for now: the outer ones have been taken in.
    start: usize,
    end: usize,
    /// Places that it has in common with the climber before it, from the outermost.
    common: usize,
    here: StackId,
}

impl Stacks {
    /// Whole stacks instead of a tree. The first ones, so many, may be there more than once.
    pub fn whole(unsought: usize) -> Stacks {
        Stacks { whole: Some(WholeStacks::unsought(unsought)), ..Stacks::default() }
    }

    /// A tree of these parts. They are not found by what they are.
    pub(crate) fn of_nodes(nodes: Vec<Node>) -> Stacks {
        Stacks { nodes: Interner::of_list(nodes), ..Stacks::default() }
    }

    /// Room for the stacks of so many samples.
    pub(crate) fn reserve(&mut self, samples: usize) {
        match &mut self.whole {
            Some(whole) => whole.reserve(samples),
            None => self.nodes.reserve(samples),
        }
    }

    /// The nodes by number; none if whole stacks are kept.
    pub fn nodes(&self) -> &[Node] {
        self.nodes.list()
    }

    /// A node; of the empty stack none.
    #[inline]
    pub fn node(&self, id: StackId) -> Option<Node> {
        self.nodes().get(id.index()?).copied()
    }

    /// Appends the numbers of stacks. `places` has their places one stack after the other, each the innermost first, and
    /// `ends` has where each of them ends.
    ///
    /// All of them climb the tree together, level by level: the nodes of one level are looked up at the same time.
    pub fn number_all(&mut self, places: &[AddressId], ends: &[usize], ids: &mut Vec<StackId>) {
        if let Some(whole) = &mut self.whole {
            return whole.number_all(places, ends, ids);
        }
        let first = ids.len();
        ids.resize(first + ends.len(), StackId::EMPTY);
        let Stacks { nodes: tree, climb: Climb { climbers, nodes, numbers }, .. } = self;
        climbers.clear();
        let (mut start, mut before): (usize, &[AddressId]) = (0, &[]);
        for (nr, end) in ends.iter().enumerate() {
            let stack = places.get(start..*end).unwrap_or_default();
            let common = before.iter().rev().zip(stack.iter().rev()).take_while(|(a, b)| a == b).count();
            if !stack.is_empty() {
                climbers.push(Climber { nr, start, end: *end, common, here: StackId::EMPTY });
                before = stack;
            }
            start = *end;
        }
        let mut height = 0;
        while !climbers.is_empty() {
            nodes.clear();
            numbers.clear();
            for climber in climbers.iter_mut() {
                climber.end -= 1;
                if let Some(address) = places.get(climber.end).filter(|_| climber.common <= height) {
                    nodes.push(Node { parent: climber.here, address: *address });
                }
            }
            tree.number_all(nodes, numbers);
            let (mut numbers, mut here) = (numbers.iter(), StackId::EMPTY);
            height += 1;
            climbers.retain_mut(|climber| {
                if climber.common < height {
                    here = numbers.next().map_or(StackId::EMPTY, |number| StackId(*number));
                }
                climber.here = here;
                let is_on_top = climber.start == climber.end;
                if let (true, Some(id)) = (is_on_top, ids.get_mut(first + climber.nr)) {
                    *id = here;
                }
                !is_on_top
            });
        }
    }

    /// Gives the places their new numbers, and has each stack once. Returns the new numbers of the stacks.
    pub(crate) fn put_together(&mut self, together: &Together) -> Vec<StackId> {
        if let Some(whole) = &mut self.whole {
            return whole.put_together(together);
        }
        let before = std::mem::take(&mut self.nodes).into_list();
        let mut numbers: Vec<StackId> = Vec::with_capacity(before.len());
        for Node { parent, address } in before {
            // Callers come first.
            let parent = parent.index().and_then(|caller| numbers.get(caller)).copied();
            let node = Node { parent: parent.unwrap_or(StackId::EMPTY), address: together.of(address) };
            numbers.push(self.push(node));
        }
        numbers
    }

    /// The number of a place on top of a stack.
    pub(crate) fn push(&mut self, node: Node) -> StackId {
        StackId(self.nodes.number(node))
    }

    /// The number of a place on top of a stack, which is known to be new. It is not found by what it is.
    pub(crate) fn push_new(&mut self, node: Node) -> StackId {
        StackId(self.nodes.push(node))
    }

    /// The places of a stack, the innermost first.
    pub fn places(&self, id: StackId) -> impl Iterator<Item = AddressId> + '_ {
        let whole = self.whole.as_ref().map_or(&[][..], |whole| whole.places(id)).iter().copied();
        let mut here = if self.whole.is_some() { StackId::EMPTY } else { id };
        let of_tree = std::iter::from_fn(move || {
            let node = self.node(here)?;
            here = node.parent;
            Some(node.address)
        });
        whole.chain(of_tree)
    }

    /// The same one after the other, in `room` unless they lie so already.
    #[inline]
    pub(crate) fn places_in<'s>(&'s self, id: StackId, room: &'s mut Vec<AddressId>) -> &'s [AddressId] {
        if let Some(whole) = &self.whole {
            return whole.places(id);
        }
        room.clear();
        room.extend(self.places(id));
        room
    }

    /// Forgets what is only needed to add more.
    pub(crate) fn freeze(&mut self) {
        self.nodes.freeze();
        self.climb = Climb::default();
        if let Some(whole) = &mut self.whole {
            whole.freeze();
        }
    }
}

/// The part of a tree that some stacks need, and for each node of the whole its number there.
pub(crate) fn needed(nodes: &[Node], stacks: impl Iterator<Item = StackId>) -> (Vec<Node>, Vec<StackId>) {
    let mut is_needed = vec![false; nodes.len()];
    for stack in stacks {
        if let Some(needed) = stack.index().and_then(|index| is_needed.get_mut(index)) {
            *needed = true;
        }
    }
    for (index, node) in nodes.iter().enumerate().rev() {
        if is_needed.get(index) == Some(&true)
            && let Some(caller) = node.parent.index().and_then(|caller| is_needed.get_mut(caller))
        {
            *caller = true;
        }
    }
    let (mut part, mut numbers): (Vec<Node>, Vec<StackId>) = (Vec::new(), Vec::with_capacity(nodes.len()));
    for (node, is_needed) in nodes.iter().zip(is_needed) {
        if !is_needed {
            numbers.push(StackId::EMPTY);
            continue;
        }
        let parent = node.parent.index().and_then(|caller| numbers.get(caller)).copied();
        let number = u32::try_from(part.len()).map_or(StackId::EMPTY, StackId);
        part.push(Node { parent: parent.unwrap_or(StackId::EMPTY), address: node.address });
        numbers.push(number);
    }
    (part, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(stacks: &mut Stacks, innermost_first: &[u32]) -> StackId {
        stacks_of(stacks, &[innermost_first])[0]
    }

    fn stacks_of(stacks: &mut Stacks, innermost_first: &[&[u32]]) -> Vec<StackId> {
        let places: Vec<AddressId> =
            innermost_first.iter().copied().flatten().map(|nr| AddressId(*nr)).collect();
        let ends: Vec<usize> = innermost_first
            .iter()
            .scan(0, |end, stack| {
                *end += stack.len();
                Some(*end)
            })
            .collect();
        let mut ids = Vec::new();
        stacks.number_all(&places, &ends, &mut ids);
        ids
    }

    #[test]
    fn many_at_once_are_numbered_as_one_by_one() {
        let all: Vec<Vec<u32>> =
            (0..900u32).map(|nr| (0..nr % 7).map(|level| (nr * 31 + level) % 5 + level).collect()).collect();
        let slices: Vec<&[u32]> = all.iter().map(Vec::as_slice).collect();
        for mut stacks in [Stacks::default(), Stacks::whole(0)] {
            let at_once: Vec<StackId> =
                slices.chunks(100).flat_map(|chunk| stacks_of(&mut stacks, chunk)).collect();
            let again: Vec<StackId> = slices.iter().map(|one| stack(&mut stacks, one)).collect();
            assert_eq!(at_once, again);
            for (id, places) in at_once.iter().zip(&slices) {
                assert_eq!(stacks.places(*id).map(|id| id.0).collect::<Vec<_>>(), *places);
            }
        }
    }

    #[test]
    fn outer_parts_are_shared() {
        let mut stacks = Stacks::default();
        let leaf = stack(&mut stacks, &[3, 2, 1]);
        let other = stack(&mut stacks, &[4, 2, 1]);
        let outer = stack(&mut stacks, &[2, 1]);
        assert_ne!(leaf, other);
        assert_eq!(stacks.node(leaf).map(|node| node.parent), Some(outer));
        assert_eq!(stacks.node(other).map(|node| node.parent), Some(outer));
        assert_eq!(stacks.nodes().len(), 4, "1, 2 below it, and two leaves");
        assert_eq!(stacks.places(other).map(|id| id.0).collect::<Vec<_>>(), [4, 2, 1]);
    }

    #[test]
    fn the_same_place_twice_is_two_levels() {
        let mut stacks = Stacks::default();
        let recursive = stack(&mut stacks, &[1, 1, 1]);
        assert_eq!(stacks.places(recursive).count(), 3);
        assert_eq!(stack(&mut stacks, &[1, 1, 1]), recursive);
    }

    #[test]
    fn no_places_are_the_empty_stack() {
        let mut stacks = Stacks::default();
        assert_eq!(stack(&mut stacks, &[]), StackId::EMPTY);
        assert_eq!(stacks.places(StackId::EMPTY).count(), 0);
        assert_eq!(StackId::EMPTY.index(), None);
    }

    #[test]
    fn whole_stacks_are_the_same_to_ask() {
        let mut stacks = Stacks::whole(0);
        let a = stack(&mut stacks, &[3, 2, 1]);
        let b = stack(&mut stacks, &[2, 1]);
        assert_ne!(a, b);
        assert_eq!(stack(&mut stacks, &[3, 2, 1]), a);
        assert_eq!(stack(&mut stacks, &[]), StackId::EMPTY);
        for nr in 0..1000 {
            stack(&mut stacks, &[nr, 1]);
        }
        assert_eq!(stack(&mut stacks, &[3, 2, 1]), a, "still known after growth");
        let places = |id| stacks.places(id).map(|id| id.0).collect::<Vec<_>>();
        assert_eq!((places(a), places(b)), (vec![3, 2, 1], vec![2, 1]));
        assert_eq!(places(StackId::EMPTY), [0; 0]);
        assert!(stacks.nodes().is_empty());
    }
}
