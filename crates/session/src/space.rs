//! What is mapped where: an address space.

use crate::ids::BinaryId;
use crate::tree::Tree;

/// A part of a binary, mapped somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// First address.
    pub start: u64,
    /// First address behind it. The very last address of all cannot be mapped.
    pub end: u64,
    /// An address minus this, wrapping, is the address in the binary: `start - pgoff` for files, whose code is known by
    /// file offset, and 0 where the address itself is wanted. Does not change when the mapping is cut.
    pub bias: u64,
    /// The binary.
    pub binary: BinaryId,
    /// Whether it was mapped as data, not to be executed.
    pub data: bool,
}

impl Mapping {
    /// Whether it covers an address.
    #[inline]
    pub fn covers(&self, address: u64) -> bool {
        self.start <= address && address < self.end
    }

    /// The address in its binary: file offset, or the address itself.
    #[inline]
    pub fn address_in_binary(&self, address: u64) -> u64 {
        address.wrapping_sub(self.bias)
    }
}

/// The mappings of a process, or of the kernel. The newest wins; what it covers of older ones is cut away. A clone costs
/// nothing, and does not see what is mapped later.
#[derive(Clone, Debug, Default)]
pub struct AddressSpace {
    mappings: Tree,
    version: SpaceVersion,
    /// Whether there are mappings of code that took the place of other code.
    pub(crate) has_generations: bool,
}

/// Names one state of an address space: spaces of one session with equal versions have the same mappings. A process keeps
/// its parent's version until something is mapped, so that what was looked up for one holds for the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SpaceVersion(u64);

impl SpaceVersion {
    /// As a number, for hashing.
    #[inline]
    pub fn number(self) -> u64 {
        self.0
    }
}

/// Hands out versions; 0 stands for no mappings at all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Versions(u64);

impl Versions {
    pub(crate) fn next(&mut self) -> SpaceVersion {
        self.0 += 1;
        SpaceVersion(self.0)
    }
}

impl AddressSpace {
    /// Which state of a space this is.
    #[inline]
    pub fn version(&self) -> SpaceVersion {
        self.version
    }

    /// Notes that the mappings have changed.
    pub(crate) fn stamp(&mut self, version: SpaceVersion) {
        self.version = version;
    }

    /// Whether nothing is mapped.
    pub fn is_empty(&self) -> bool {
        self.mappings.is_empty()
    }

    /// The mapping that covers an address. O(log n).
    #[inline]
    pub fn find(&self, address: u64) -> Option<&Mapping> {
        self.last_from(address).filter(|mapping| address < mapping.end)
    }

    /// The last mapping that starts at an address or below it, whether it reaches the address or not. O(log n).
    #[inline]
    pub fn last_from(&self, address: u64) -> Option<&Mapping> {
        self.mappings.last_from(address)
    }

    /// The mappings by address, as far as newer ones left them.
    pub fn iter(&self) -> impl Iterator<Item = &Mapping> {
        self.mappings.iter()
    }

    /// Adds a mapping over whatever was there. One without size changes nothing. O(log n).
    pub fn insert(&mut self, new: Mapping) {
        if new.start >= new.end {
            return;
        }
        let (mut below, rest) = self.mappings.split(new.start);
        let (covered, mut above) = rest.split(new.end);
        let mut last = covered.split_last().map(|(_, last)| last);
        if let Some((others, reaching)) = below.split_last()
            && reaching.end > new.start
        {
            // It also is the only one that can reach beyond the new one, or nothing starts inside of that.
            last = last.or(Some(reaching));
            below = Tree::join(others, Mapping { end: new.start, ..reaching }, Tree::default());
        }
        if let Some(last) = last
            && last.end > new.end
        {
            above = Tree::join(Tree::default(), Mapping { start: new.end, ..last }, above);
        }
        self.mappings = Tree::join(below, new, above);
    }

    /// The mappings in a range, or what of them is in it.
    pub(crate) fn within(&self, start: u64, end: u64) -> Vec<Mapping> {
        let first = self.find(start).filter(|first| first.start < start).copied();
        let (_, rest) = self.mappings.split(start);
        let (inside, _) = rest.split(end);
        let cut = |mapping: Mapping| Mapping {
            start: mapping.start.max(start),
            end: mapping.end.min(end),
            ..mapping
        };
        first.into_iter().chain(inside.iter().copied()).map(cut).collect()
    }

    /// Takes the mapping that covers an address away, as far as newer ones left it.
    pub fn remove_at(&mut self, address: u64) -> Option<Mapping> {
        let found = *self.find(address)?;
        let (below, rest) = self.mappings.split(found.start);
        let (_, above) = rest.split(found.end);
        self.mappings = Tree::concat(&below, above);
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Id;
    use proptest::prelude::*;

    fn mapping(start: u64, end: u64, binary: u32) -> Mapping {
        Mapping { start, end, bias: u64::from(binary) * 1000, binary: BinaryId::of(binary), data: false }
    }

    /// The same by brute force: the last of all insertions that covers an address.
    #[derive(Clone, Default)]
    struct Model(Vec<(u64, u64, u32)>);

    impl Model {
        fn find(&self, at: u64) -> Option<u32> {
            let covers = |(start, end, _): &&(u64, u64, u32)| *start <= at && at < *end;
            self.0.iter().rev().find(covers).map(|(_, _, binary)| *binary)
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Insert { space: usize, start: u64, len: u64 },
        Fork { space: usize },
    }

    /// Addresses that collide: few, and at both ends of all.
    fn address() -> impl Strategy<Value = u64> {
        prop_oneof![0..200u64, (0..50u64).prop_map(|below| u64::MAX - below), any::<u64>()]
    }

    fn step() -> impl Strategy<Value = Step> {
        let len = prop_oneof![0..60u64, any::<u64>()];
        prop_oneof![
            6 => (0..4usize, address(), len).prop_map(|(space, start, len)| Step::Insert { space, start, len }),
            1 => (0..4usize).prop_map(|space| Step::Fork { space }),
        ]
    }

    fn check(space: &AddressSpace, model: &Model) -> Result<(), TestCaseError> {
        prop_assert!(space.mappings.is_balanced());
        let all: Vec<&Mapping> = space.iter().collect();
        prop_assert!(all.iter().all(|m| m.start < m.end));
        prop_assert!(all.windows(2).all(|w| w[0].end <= w[1].start));
        let edges = model.0.iter().flat_map(|(start, end, _)| [*start, *end]).chain([0, u64::MAX]);
        for at in edges.flat_map(|edge| [edge.wrapping_sub(1), edge, edge.wrapping_add(1)]) {
            let found = space.find(at);
            prop_assert_eq!(found.map(|m| m.binary.number()), model.find(at), "at {:#x}", at);
            if let Some(found) = found {
                let by_bias = at.wrapping_sub(u64::from(found.binary.number()) * 1000);
                prop_assert_eq!(found.address_in_binary(at), by_bias);
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn newest_wins_as_in_the_model(steps in prop::collection::vec(step(), 0..120)) {
            let mut spaces = vec![(AddressSpace::default(), Model::default())];
            for (number, step) in (0u32..).zip(&steps) {
                let count = spaces.len();
                match *step {
                    Step::Insert { space, start, len } => {
                        let (space, model) = &mut spaces[space % count];
                        let end = start.saturating_add(len);
                        space.insert(mapping(start, end, number));
                        model.0.push((start, end, number));
                    }
                    Step::Fork { space } => spaces.push(spaces[space % count].clone()),
                }
            }
            for (space, model) in &spaces {
                check(space, model)?;
            }
        }

        #[test]
        fn what_is_removed_is_gone_and_the_rest_stays(
            starts in prop::collection::btree_set(0..2000u64, 1..100),
            picks in prop::collection::vec(0..2000u64, 0..100),
        ) {
            let mut space = AddressSpace::default();
            let mut left = std::collections::BTreeSet::new();
            for start in &starts {
                space.insert(mapping(*start, start + 1, 0));
                left.insert(*start);
            }
            for pick in picks {
                prop_assert_eq!(space.remove_at(pick).is_some(), left.remove(&pick));
                prop_assert!(space.mappings.is_balanced());
            }
            prop_assert!(space.iter().map(|m| m.start).eq(left.iter().copied()));
        }
    }

    #[test]
    fn a_mapping_in_the_middle_leaves_both_ends() {
        let mut space = AddressSpace::default();
        space.insert(mapping(100, 200, 1));
        space.insert(mapping(120, 150, 2));
        let parts: Vec<_> = space.iter().map(|m| (m.start, m.end, m.binary.number())).collect();
        assert_eq!(parts, [(100, 120, 1), (120, 150, 2), (150, 200, 1)]);
        assert!(space.find(99).is_none() && space.find(200).is_none());
    }

    #[test]
    fn what_is_in_a_range_is_cut_at_its_ends() {
        let mut space = AddressSpace::default();
        for (start, end, binary) in [(100, 200, 1), (200, 250, 2), (300, 400, 3)] {
            space.insert(mapping(start, end, binary));
        }
        let within = |start, end| -> Vec<(u64, u64, u32)> {
            let parts = space.within(start, end).into_iter();
            parts.map(|m| (m.start, m.end, m.binary.number())).collect()
        };
        assert_eq!(within(150, 350), [(150, 200, 1), (200, 250, 2), (300, 350, 3)]);
        assert_eq!(within(200, 300), [(200, 250, 2)]);
        assert_eq!(within(210, 220), [(210, 220, 2)]);
        assert_eq!(within(250, 300), []);
    }

    #[test]
    fn many_mappings_stay_shallow() {
        let mut space = AddressSpace::default();
        for nr in 0..100_000u64 {
            space.insert(mapping(nr * 16, nr * 16 + 16, 7));
        }
        assert!(space.mappings.is_balanced());
        assert_eq!(space.iter().count(), 100_000);
    }
}
