//! Values, each held once, by number: a list, and an index of it that holds nothing but numbers.
//!
//! A hash map from values to numbers would hold every value twice; with a million addresses and stacks that is most of the
//! memory a profile needs.

use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// No value.
const EMPTY: u32 = u32::MAX;

/// Values by number, in the order of first sight.
#[derive(Clone, Debug)]
pub(crate) struct Interner<T> {
    list: Vec<T>,
    /// Numbers of values, at the hash of the value or behind it. The length is a power of two, or 0.
    slots: Vec<u32>,
}

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
        let mask = self.slots.len().wrapping_sub(1);
        let mut at = hash(&value) & mask;
        while let Some(slot) = self.slots.get_mut(at) {
            match self.list.get(*slot as usize) {
                Some(known) if *known == value => return *slot,
                Some(_) => at = (at + 1) & mask,
                None => {
                    *slot = u32::try_from(self.list.len()).unwrap_or(EMPTY);
                    self.list.push(value);
                    return *slot;
                }
            }
        }
        EMPTY
    }

    #[cold]
    fn grow(&mut self) {
        let len = (self.slots.len() * 2).max(64);
        // The old index is not needed to make the new one.
        self.slots = Vec::new();
        self.slots = vec![EMPTY; len];
        for (number, value) in (0u32..).zip(&self.list) {
            let mut at = hash(value) & (len - 1);
            while let Some(slot) = self.slots.get_mut(at) {
                if *slot == EMPTY {
                    *slot = number;
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

#[inline]
#[allow(clippy::cast_possible_truncation)] // The lower half of a hash is a hash.
fn hash<T: Hash>(value: &T) -> usize {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish() as usize
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
}
