//! Which binary the addresses of a process belong to.

/// Number of a binary of an [`Unwinder`](super::Unwinder).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BinaryId(pub u32);

/// Says what is mapped at an address of a process. A caller that knows the mappings of its processes need not make
/// a [`Space`] of each; a closure will do.
pub trait Lookup {
    /// What code is mapped at an address; `None` when none is.
    fn find(&self, address: u64) -> Option<Mapping>;
}

impl<F: Fn(u64) -> Option<Mapping>> Lookup for F {
    fn find(&self, address: u64) -> Option<Mapping> {
        self(address)
    }
}

/// A part of a binary, mapped somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// First address.
    pub start: u64,
    /// First address behind it.
    pub end: u64,
    /// Offset in the file of what is mapped at the start.
    pub offset: u64,
    /// The binary; `None` for memory that no file backs, and of whose code no dump tells.
    pub binary: Option<BinaryId>,
}

impl Mapping {
    /// The offset in the file of an address in the mapping.
    #[inline]
    pub fn offset_of(&self, address: u64) -> u64 {
        address.wrapping_sub(self.start).wrapping_add(self.offset)
    }

    /// Whether it covers an address.
    #[inline]
    pub fn covers(&self, address: u64) -> bool {
        self.start <= address && address < self.end
    }
}

/// What is mapped in a process at some time. Cheap to make: one sort.
#[derive(Clone, Debug, Default)]
pub struct Space {
    mappings: Vec<Mapping>,
}

impl Space {
    /// A space of mappings that do not overlap, in any order. Where they do, the one that starts last counts.
    pub fn new(mut mappings: Vec<Mapping>) -> Space {
        mappings.retain(|mapping| mapping.start < mapping.end);
        mappings.sort_by_key(|mapping| mapping.start);
        Space { mappings }
    }
}

impl Lookup for Space {
    fn find(&self, address: u64) -> Option<Mapping> {
        let above = self.mappings.partition_point(|mapping| mapping.start <= address);
        let mapping = self.mappings.get(above.checked_sub(1)?)?;
        mapping.covers(address).then_some(*mapping)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_become_offsets() {
        let mapping = |start, end, offset, binary| Mapping { start, end, offset, binary };
        let space = Space::new(vec![
            mapping(0x3000, 0x4000, 0x200, Some(BinaryId(1))),
            mapping(0x1000, 0x2000, 0, None),
            mapping(0x1800, 0x1800, 0, None),
        ]);
        let found = |address| space.find(address).map(|found| (found.binary, found.offset_of(address)));
        assert_eq!(found(0x3010), Some((Some(BinaryId(1)), 0x210)));
        assert_eq!(found(0x1fff), Some((None, 0xfff)));
        assert_eq!(space.find(0x2000), None);
        assert_eq!(space.find(0xfff), None);
    }
}
