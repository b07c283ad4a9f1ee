//! Whole stacks, one after the other. The first ones are taken as they come, then each is there once.

use crate::addresses::AddressId;
use crate::index::{Index, hash};
use crate::stacks::StackId;
use crate::together::Together;
use crate::touch::touch;
use std::ops::Range;

/// Stacks by number, in the order of first sight.
#[derive(Clone, Debug, Default)]
pub(crate) struct WholeStacks {
    /// The places of all of them, the innermost first.
    places: Vec<AddressId>,
    ends: Ends,
    /// So many are taken in without looking whether they are there: where they are only added up, that takes longer than to have them
    /// twice. But memory is to grow with what differs.
    unsought: usize,
    /// Empty until there are more.
    index: Index,
    hashes: Vec<u32>,
}

/// Places of an ordinary stack.
const DEPTH: usize = 8;

/// Where stacks end among the places of all: from where a part of them begins, so that half a number is enough.
#[derive(Clone, Debug, Default)]
struct Ends {
    /// Those of each part, with a 0 before them: where a stack begins and ends are neighbours.
    in_parts: Vec<u32>,
    /// Where each part begins.
    parts: Vec<usize>,
}

/// Stacks of a part, a power of two: no record has room for so many places that those of a part are too many for half a number. Few in tests, so that
/// there are several parts.
const OF_A_PART: usize = if cfg!(debug_assertions) { 4 } else { 1 << 16 };

impl Ends {
    /// How many stacks.
    fn len(&self) -> usize {
        self.in_parts.len() - self.parts.len()
    }

    /// Where the places of a stack are.
    #[inline]
    fn range(&self, index: usize) -> Range<usize> {
        let nr = index / OF_A_PART;
        match (self.parts.get(nr), self.in_parts.get(index + nr..index + nr + 2)) {
            (Some(part), Some([start, end])) => part + *start as usize..part + *end as usize,
            _ => 0..0,
        }
    }

    /// Where the last one ends.
    fn last(&self) -> usize {
        self.len().checked_sub(1).map_or(0, |last| self.range(last).end)
    }

    /// The next stack ends here.
    #[inline]
    fn push(&mut self, end: usize) {
        if self.len().is_multiple_of(OF_A_PART) {
            self.begin_part();
        }
        let part = self.parts.last().copied().unwrap_or(0);
        self.in_parts.push(u32::try_from(end - part).unwrap_or(u32::MAX));
    }

    #[cold]
    fn begin_part(&mut self) {
        self.parts.push(self.last());
        self.in_parts.push(0);
    }
}

impl WholeStacks {
    /// Without stacks; of so many it is not asked whether they are there.
    pub(crate) fn unsought(stacks: usize) -> WholeStacks {
        WholeStacks { unsought: stacks, ..WholeStacks::default() }
    }

    /// Room for the stacks of so many samples.
    pub(crate) fn reserve(&mut self, samples: usize) {
        self.places.reserve(samples.saturating_mul(DEPTH));
        self.ends.in_parts.reserve(samples + samples / OF_A_PART + 1);
    }

    /// The places of a stack, the innermost first.
    pub(crate) fn places(&self, id: StackId) -> &[AddressId] {
        let Some(index) = id.index() else { return &[] };
        self.places.get(self.ends.range(index)).unwrap_or_default()
    }

    /// As [`crate::Stacks::number_all`]. What all stacks need of the tables is touched first, so that the processor waits
    /// for many places at once.
    pub(crate) fn number_all(&mut self, places: &[AddressId], ends: &[usize], ids: &mut Vec<StackId>) {
        if self.ends.len() + ends.len() <= self.unsought {
            return self.push_all(places, ends, ids);
        }
        let stacks = || {
            let starts = std::iter::once(&0).chain(ends);
            starts.zip(ends).map(|(start, end)| places.get(*start..*end).unwrap_or_default())
        };
        if self.index.is_empty() {
            self.index_all();
        }
        self.index.make_room(self.ends.len() + ends.len());
        let mut hashes = std::mem::take(&mut self.hashes);
        hashes.clear();
        hashes.extend(stacks().map(hash));
        let known = || hashes.iter().filter_map(|hash| self.index.first(*hash));
        self.index.touch(&hashes);
        touch(known().map(|number| self.ends.range(number as usize).end));
        touch(known().map(|number| {
            let places = self.places(StackId(number));
            places.first().map_or(0, |place| place.0) ^ places.last().map_or(0, |place| place.0)
        }));
        for (stack, hash) in stacks().zip(&hashes) {
            ids.push(if stack.is_empty() { StackId::EMPTY } else { self.find_or_add(stack, *hash) });
        }
        self.hashes = hashes;
    }

    /// Gives the places their new numbers, and has each stack once from now on. Returns the new numbers of the stacks.
    pub(crate) fn put_together(&mut self, together: &Together) -> Vec<StackId> {
        /// Stacks at a time.
        const SOME: usize = 1024;
        let WholeStacks { mut places, ends, .. } = std::mem::take(self);
        places.iter_mut().for_each(|place| *place = together.of(*place));
        let (mut numbers, mut start) = (Vec::with_capacity(ends.len()), 0);
        for first in (0..ends.len()).step_by(SOME) {
            let some = first..ends.len().min(first + SOME);
            let here: Vec<usize> = some.map(|index| ends.range(index).end - start).collect();
            let end = start + here.last().copied().unwrap_or(0);
            self.number_all(places.get(start..end).unwrap_or_default(), &here, &mut numbers);
            start = end;
        }
        numbers
    }

    /// Takes in stacks without looking whether they are there. Their places are in order already.
    fn push_all(&mut self, places: &[AddressId], ends: &[usize], ids: &mut Vec<StackId>) {
        let before = self.places.len();
        self.places.extend_from_slice(places);
        let mut start = 0;
        for end in ends {
            // Memory is at its end before the numbers are.
            let number = u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
            ids.push(if start == *end { StackId::EMPTY } else { StackId(number) });
            if start < *end {
                self.ends.push(before + end);
            }
            start = *end;
        }
    }

    /// Makes those that are there be found; of equal ones the first.
    #[cold]
    fn index_all(&mut self) {
        let mut index = Index::default();
        index.make_room(self.ends.len());
        for number in 0..self.ends.len() {
            let stack = |number: u32| self.places(StackId(number));
            let this = u32::try_from(number).map(stack).unwrap_or_default();
            index.find_or_add(hash(this), number, |other| stack(other) == this);
        }
        self.index = index;
    }

    fn find_or_add(&mut self, stack: &[AddressId], hash: u32) -> StackId {
        let next = self.ends.len();
        let mut index = std::mem::take(&mut self.index);
        let number = index.find_or_add(hash, next, |number| self.places(StackId(number)) == stack);
        self.index = index;
        if number as usize == next {
            self.places.extend_from_slice(stack);
            self.ends.push(self.places.len());
        }
        StackId(number)
    }

    /// Forgets what is only needed to add more.
    pub(crate) fn freeze(&mut self) {
        (self.index, self.hashes) = Default::default();
        self.places.shrink_to_fit();
        self.ends.in_parts.shrink_to_fit();
    }
}
