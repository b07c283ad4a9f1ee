//! Values, each held once, by number: a list, and an index of it that holds nothing but numbers.
//!
//! A hash map from values to numbers would hold every value twice; with a million addresses and stacks that is most of the
//! memory a profile needs.

use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use std::hint::black_box;

/// No value.
const EMPTY: u32 = u32::MAX;

/// Values by number, in the order of first sight.
#[derive(Clone, Debug)]
pub(crate) struct Interner<T> {
    list: Vec<T>,
    /// The values are at their hash or behind it. The length is a power of two, or 0.
    slots: Vec<Slot>,
}

/// A place of the index. With the hash beside the number, only the value that is looked for is touched in the list.
#[derive(Clone, Copy, Debug)]
struct Slot {
    hash: u32,
    /// [`EMPTY`] in a free one.
    number: u32,
}

const FREE: Slot = Slot { hash: 0, number: EMPTY };

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Interner { list: Vec::new(), slots: Vec::new() }
    }
}

impl<T: Copy + Eq + Hash> Interner<T> {
    /// The values by number.
    pub(crate) fn as_slice(&self) -> &[T] {
        &self.list
    }

    /// The values, to be changed in what does not make them different.
    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.list
    }

    /// The values alone.
    pub(crate) fn into_vec(self) -> Vec<T> {
        self.list
    }

    /// The number of a value; a new one gets the next.
    #[inline]
    pub(crate) fn number(&mut self, value: T) -> u32 {
        if self.list.len() * 4 >= self.slots.len() * 3 {
            self.grow();
        }
        find_or_add(&mut self.list, &mut self.slots, hash(&value), value)
    }

    /// The numbers of many values, in their order. The tables are larger than the caches: what all values need of them is
    /// touched first, so that the processor waits for many places at once and not for one after the other.
    pub(crate) fn number_all(&mut self, values: &[T], numbers: &mut Vec<u32>) {
        while (self.list.len() + values.len()) * 4 >= self.slots.len() * 3 {
            self.grow();
        }
        let Interner { list, slots } = self;
        let mask = slots.len().wrapping_sub(1);
        let start = numbers.len();
        numbers.extend(values.iter().map(hash));
        let hashes = numbers.get_mut(start..).unwrap_or_default();
        let slot_of = |hash: u32| slots.get(hash as usize & mask).copied().unwrap_or(FREE);
        black_box(hashes.iter().fold(0, |sum, hash| sum ^ slot_of(*hash).number));
        let met = hashes.iter().zip(values).filter(|(hash, value)| {
            let slot = slot_of(**hash);
            slot.hash == **hash && list.get(slot.number as usize) == Some(*value)
        });
        black_box(met.count());
        for (number, value) in hashes.iter_mut().zip(values) {
            *number = find_or_add(list, slots, *number, *value);
        }
    }

    #[cold]
    fn grow(&mut self) {
        let len = (self.slots.len() * 2).max(64);
        let old = std::mem::replace(&mut self.slots, vec![FREE; len]);
        for known in old.into_iter().filter(|slot| slot.number != EMPTY) {
            let mut at = known.hash as usize & (len - 1);
            while let Some(slot) = self.slots.get_mut(at) {
                if slot.number == EMPTY {
                    *slot = known;
                    break;
                }
                at = (at + 1) & (len - 1);
            }
        }
    }

    /// Forgets what is only needed to add more; what is added from now on is taken for new.
    pub(crate) fn freeze(&mut self) {
        self.slots = Vec::new();
        self.list.shrink_to_fit();
    }
}

/// The number of a value with this hash; there is room for one more.
#[inline]
fn find_or_add<T: Copy + Eq>(list: &mut Vec<T>, slots: &mut [Slot], hash: u32, value: T) -> u32 {
    let mask = slots.len().wrapping_sub(1);
    let mut at = hash as usize & mask;
    while let Some(slot) = slots.get_mut(at) {
        if slot.number == EMPTY {
            *slot = Slot { hash, number: u32::try_from(list.len()).unwrap_or(EMPTY) };
            list.push(value);
            return slot.number;
        }
        if slot.hash == hash && list.get(slot.number as usize) == Some(&value) {
            return slot.number;
        }
        at = (at + 1) & mask;
    }
    EMPTY
}

#[inline]
#[allow(clippy::cast_possible_truncation)] // The lower half of a hash is a hash.
fn hash<T: Hash>(value: &T) -> u32 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_one_number() {
        let mut interner = Interner::default();
        let numbers: Vec<u32> = (0..1000u64).map(|value| interner.number(value * 4096)).collect();
        assert_eq!(numbers, (0..1000).collect::<Vec<u32>>());
        let again: Vec<u32> = (0..1000u64).map(|value| interner.number(value * 4096)).collect();
        assert_eq!(again, numbers);
        assert_eq!(interner.as_slice().len(), 1000);
        assert_eq!(interner.as_slice()[7], 7 * 4096);
    }

    #[test]
    fn many_at_once_are_numbered_as_one_by_one() {
        let values: Vec<u64> = (0..5000u64).map(|nr| (nr * 7919) % 1237).collect();
        let (mut one, mut many) = (Interner::default(), Interner::default());
        let expected: Vec<u32> = values.iter().map(|value| one.number(*value)).collect();
        let mut numbers = Vec::new();
        values.chunks(300).for_each(|chunk| many.number_all(chunk, &mut numbers));
        assert_eq!(numbers, expected);
        assert_eq!(many.as_slice(), one.as_slice());
    }
}
