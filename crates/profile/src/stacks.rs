//! Stacks that share their outer parts: a tree, from the root to where samples were taken.

use crate::addresses::AddressId;
use crate::interner::Interner;

/// Number of a stack in [`Stacks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StackId(u32);

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

/// Every stack once, as a tree. Parents come before their children.
#[derive(Clone, Debug, Default)]
pub struct Stacks {
    nodes: Interner<Node>,
    /// The stack that was asked for last, the outermost place first: the next one often has the same outer part.
    last: Vec<(AddressId, StackId)>,
}

impl Stacks {
    /// The nodes by number.
    pub fn nodes(&self) -> &[Node] {
        self.nodes.as_slice()
    }

    /// A node; of the empty stack none.
    #[inline]
    pub fn node(&self, id: StackId) -> Option<Node> {
        self.nodes().get(id.index()?).copied()
    }

    /// The number of the stack whose places are given, the innermost first.
    pub fn number(&mut self, innermost_first: impl DoubleEndedIterator<Item = AddressId>) -> StackId {
        let mut here = StackId::EMPTY;
        let mut depth = 0;
        let mut same = true;
        for address in innermost_first.rev() {
            match self.last.get(depth) {
                Some((known, stack)) if same && *known == address => here = *stack,
                _ => {
                    if same {
                        self.last.truncate(depth);
                        same = false;
                    }
                    here = self.push(here, address);
                    self.last.push((address, here));
                }
            }
            depth += 1;
        }
        self.last.truncate(depth);
        here
    }

    /// The stack that is `parent` with one more place on top.
    #[inline]
    pub fn push(&mut self, parent: StackId, address: AddressId) -> StackId {
        StackId(self.nodes.number(Node { parent, address }))
    }

    /// The places of a stack, the innermost first.
    pub fn places(&self, id: StackId) -> impl Iterator<Item = AddressId> + '_ {
        let mut here = id;
        std::iter::from_fn(move || {
            let node = self.node(here)?;
            here = node.parent;
            Some(node.address)
        })
    }

    /// Forgets what is only needed to add more.
    pub(crate) fn freeze(&mut self) {
        self.nodes.freeze();
        self.last = Vec::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(stacks: &mut Stacks, innermost_first: &[u32]) -> StackId {
        stacks.number(innermost_first.iter().map(|nr| AddressId(*nr)))
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
}
