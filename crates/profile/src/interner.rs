//! Values, each held once, by number: a list, and an index of it that holds nothing but numbers.
//!
//! A hash map from values to numbers would hold every value twice; with a million addresses and stacks that is most of the
//! memory a profile needs.

use crate::index::{Index, hash};
use std::hash::Hash;

/// Values by number, in the order of first sight.
#[derive(Clone, Debug)]
pub(crate) struct Interner<T> {
    list: Vec<T>,
    index: Index,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Interner { list: Vec::new(), index: Index::default() }
    }
}

impl<T: Copy + Eq + Hash> Interner<T> {
    /// The values by number.
    pub(crate) fn as_slice(&self) -> &[T] {
        &self.list
    }

    /// Room for so many values, so that they need not be moved when there are more. What is not needed costs nothing.
    pub(crate) fn reserve(&mut self, values: usize) {
        self.list.reserve(values);
    }

    /// Values in a list. They are not found by what they are.
    pub(crate) fn of_list(list: Vec<T>) -> Interner<T> {
        Interner { list, index: Index::default() }
    }

    /// Values in a list, of which some, by their numbers, are found by what they are.
    pub(crate) fn of_known(list: Vec<T>, is_found: impl Fn(usize) -> bool) -> Interner<T> {
        let mut index = Index::default();
        index.make_room(list.len());
        for (nr, value) in list.iter().enumerate().filter(|(nr, _)| is_found(*nr)) {
            index.find_or_add(hash(value), nr, |_| false);
        }
        Interner { list, index }
    }

    /// The values alone.
    pub(crate) fn into_vec(self) -> Vec<T> {
        self.list
    }

    /// Adds a value that may be there already. It is not found by what it is.
    pub(crate) fn push(&mut self, value: T) -> u32 {
        let number = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        self.list.push(value);
        number
    }

    /// The number of a value; a new one gets the next.
    #[inline]
    pub(crate) fn number(&mut self, value: T) -> u32 {
        self.index.make_room(self.list.len());
        self.find_or_add(hash(&value), value)
    }

    /// The numbers of many values, in their order. The index is larger than the caches: what all values need of it is touched first,
    /// so that the processor waits for many places at once and not for one after the other.
    pub(crate) fn number_all(&mut self, values: &[T], numbers: &mut Vec<u32>) {
        self.index.make_room(self.list.len() + values.len());
        let start = numbers.len();
        numbers.extend(values.iter().map(hash));
        let hashes = numbers.get_mut(start..).unwrap_or_default();
        self.index.touch(hashes);
        for (number, value) in hashes.iter_mut().zip(values) {
            *number = self.find_or_add(*number, *value);
        }
    }

    /// The number of a value with this hash; there is room for one more.
    #[inline]
    fn find_or_add(&mut self, hash: u32, value: T) -> u32 {
        let Interner { list, index } = self;
        let next = list.len();
        let number = index.find_or_add(hash, next, |number| list.get(number as usize) == Some(&value));
        if number as usize == next {
            list.push(value);
        }
        number
    }

    /// Forgets all, and keeps the room.
    pub(crate) fn clear(&mut self) {
        self.index.clear(self.list.len());
        self.list.clear();
    }

    /// Forgets what is only needed to add more; what is added from now on is taken for new.
    pub(crate) fn freeze(&mut self) {
        self.index = Index::default();
        self.list.shrink_to_fit();
    }
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
