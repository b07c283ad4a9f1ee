//! Whole stacks, each once, one after the other.

use crate::addresses::AddressId;
use crate::stacks::StackId;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use std::hint::black_box;

/// Stacks by number, in the order of first sight.
#[derive(Clone, Debug, Default)]
pub(crate) struct WholeStacks {
    /// The places of all of them, the innermost first.
    places: Vec<AddressId>,
    /// Where each of them ends.
    ends: Vec<usize>,
    /// Stacks, at their hash or behind it. The length is a power of two, or 0.
    slots: Vec<Slot>,
    hashes: Vec<u32>,
}

/// A place of the index.
#[derive(Clone, Copy, Debug)]
struct Slot {
    hash: u32,
    /// [`NONE`] in a free one.
    number: u32,
}

/// No stack.
const NONE: u32 = u32::MAX;
const FREE: Slot = Slot { hash: 0, number: NONE };

impl WholeStacks {
    /// The places of a stack, the innermost first.
    pub(crate) fn places(&self, id: StackId) -> &[AddressId] {
        let Some(index) = id.index() else { return &[] };
        let start = index.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(index).copied().unwrap_or(0);
        self.places.get(start..end).unwrap_or_default()
    }

    /// As [`crate::Stacks::number_all`]. What all stacks need of the tables is touched first, so that the processor waits
    /// for many places at once.
    pub(crate) fn number_all(&mut self, places: &[AddressId], ends: &[usize], ids: &mut Vec<StackId>) {
        while (self.ends.len() + ends.len()) * 4 >= self.slots.len() * 3 {
            self.grow();
        }
        let stacks = || {
            let starts = std::iter::once(&0).chain(ends);
            starts.zip(ends).map(|(start, end)| places.get(*start..*end).unwrap_or_default())
        };
        let mut hashes = std::mem::take(&mut self.hashes);
        hashes.clear();
        hashes.extend(stacks().map(hash));
        black_box(hashes.iter().fold(0, |sum, hash| sum ^ self.slot(*hash).number));
        black_box(hashes.iter().fold(0, |sum, hash| {
            sum ^ self.ends.get(self.slot(*hash).number as usize).copied().unwrap_or(0)
        }));
        black_box(hashes.iter().fold(0, |sum, hash| {
            let known = self.places(StackId(self.slot(*hash).number));
            sum ^ known.first().map_or(0, |place| place.0) ^ known.last().map_or(0, |place| place.0)
        }));
        for (stack, hash) in stacks().zip(&hashes) {
            ids.push(if stack.is_empty() { StackId::EMPTY } else { self.find_or_add(stack, *hash) });
        }
        self.hashes = hashes;
    }

    /// The slot at a hash.
    #[inline]
    fn slot(&self, hash: u32) -> Slot {
        self.slots.get(hash as usize & self.slots.len().wrapping_sub(1)).copied().unwrap_or(FREE)
    }

    fn find_or_add(&mut self, stack: &[AddressId], hash: u32) -> StackId {
        let mask = self.slots.len().wrapping_sub(1);
        let mut at = hash as usize & mask;
        while let Some(slot) = self.slots.get(at).copied().filter(|slot| slot.number != NONE) {
            if slot.hash == hash && self.places(StackId(slot.number)) == stack {
                return StackId(slot.number);
            }
            at = (at + 1) & mask;
        }
        // Memory is at its end before the numbers are.
        let number = u32::try_from(self.ends.len()).unwrap_or(NONE);
        if let Some(slot) = self.slots.get_mut(at) {
            *slot = Slot { hash, number };
        }
        self.places.extend_from_slice(stack);
        self.ends.push(self.places.len());
        StackId(number)
    }

    fn grow(&mut self) {
        let len = (self.slots.len() * 2).max(64);
        let old = std::mem::replace(&mut self.slots, vec![FREE; len]);
        for known in old.into_iter().filter(|slot| slot.number != NONE) {
            let mut at = known.hash as usize & (len - 1);
            while let Some(slot) = self.slots.get_mut(at) {
                if slot.number == NONE {
                    *slot = known;
                    break;
                }
                at = (at + 1) & (len - 1);
            }
        }
    }

    /// Forgets what is only needed to add more.
    pub(crate) fn freeze(&mut self) {
        (self.slots, self.hashes) = Default::default();
        self.places.shrink_to_fit();
    }
}

#[allow(clippy::cast_possible_truncation)] // The lower half of a hash is a hash.
fn hash(places: &[AddressId]) -> u32 {
    let mut hasher = FxHasher::default();
    places.hash(&mut hasher);
    hasher.finish() as u32
}
