//! Stacks: a tree that shares their outer parts, from the root to where samples were taken; or whole stacks, one after the
//! other.
//!
//! The tree is what call graphs are made of. Where stacks share little, or nobody asks who called whom, whole stacks are
//! made and walked several times as fast.

use crate::addresses::AddressId;
use crate::interner::Interner;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

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
    /// Whole stacks, if those are kept instead of the tree.
    whole: Option<Whole>,
}

/// Whole stacks, each once, one after the other.
#[derive(Clone, Debug, Default)]
struct Whole {
    /// The places of all of them, the innermost first.
    places: Vec<AddressId>,
    /// Where each of them ends.
    ends: Vec<usize>,
    /// Numbers of stacks, at the hash of the stack or behind it. The length is a power of two, or 0.
    slots: Vec<u32>,
}

/// No stack.
const NONE: u32 = u32::MAX;

impl Whole {
    fn places(&self, id: StackId) -> &[AddressId] {
        let Some(index) = id.index() else { return &[] };
        let start = index.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(index).copied().unwrap_or(0);
        self.places.get(start..end).unwrap_or_default()
    }

    fn number(&mut self, innermost_first: impl Iterator<Item = AddressId>) -> StackId {
        if self.ends.len() * 4 >= self.slots.len() * 3 {
            self.grow();
        }
        let start = self.places.len();
        self.places.extend(innermost_first);
        if self.places.len() == start {
            return StackId::EMPTY;
        }
        let new = self.places.get(start..).unwrap_or_default();
        let mask = self.slots.len().wrapping_sub(1);
        let mut at = hash(new) & mask;
        while let Some(slot) = self.slots.get(at).copied().filter(|slot| *slot != NONE) {
            if self.places(StackId(slot)) == new {
                self.places.truncate(start);
                return StackId(slot);
            }
            at = (at + 1) & mask;
        }
        let number = u32::try_from(self.ends.len()).unwrap_or(NONE);
        if let Some(slot) = self.slots.get_mut(at) {
            *slot = number;
        }
        self.ends.push(self.places.len());
        StackId(number)
    }

    fn grow(&mut self) {
        let len = (self.slots.len() * 2).max(64);
        let mut slots = vec![NONE; len];
        for nr in 0..self.ends.len() {
            let number = u32::try_from(nr).unwrap_or(NONE);
            let mut at = hash(self.places(StackId(number))) & (len - 1);
            while let Some(slot) = slots.get_mut(at) {
                if *slot == NONE {
                    *slot = number;
                    break;
                }
                at = (at + 1) & (len - 1);
            }
        }
        self.slots = slots;
    }
}

#[allow(clippy::cast_possible_truncation)] // The lower half of a hash is a hash.
fn hash(places: &[AddressId]) -> usize {
    let mut hasher = FxHasher::default();
    places.hash(&mut hasher);
    hasher.finish() as usize
}

impl Stacks {
    /// Whole stacks instead of a tree.
    pub fn whole() -> Stacks {
        Stacks { whole: Some(Whole::default()), ..Stacks::default() }
    }

    /// The nodes by number; none if whole stacks are kept.
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
        if let Some(whole) = &mut self.whole {
            return whole.number(innermost_first);
        }
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
        let whole = self.whole.as_ref().map_or(&[][..], |whole| whole.places(id)).iter().copied();
        let mut here = if self.whole.is_some() { StackId::EMPTY } else { id };
        let of_tree = std::iter::from_fn(move || {
            let node = self.node(here)?;
            here = node.parent;
            Some(node.address)
        });
        whole.chain(of_tree)
    }

    /// Forgets what is only needed to add more.
    pub(crate) fn freeze(&mut self) {
        self.nodes.freeze();
        self.last = Vec::new();
        if let Some(whole) = &mut self.whole {
            whole.slots = Vec::new();
            whole.places.shrink_to_fit();
        }
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

    #[test]
    fn whole_stacks_are_the_same_to_ask() {
        let mut stacks = Stacks::whole();
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
