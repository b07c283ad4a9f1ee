//! Values, each held once, by number: a list, and an index of it that holds nothing but numbers.
//!
//! A hash map from values to numbers would hold every value twice; with a million addresses and stacks that is most of the
//! memory a profile needs.

use crate::index::{Index, hash};
use std::hash::Hash;

/// What values are held in, by index.
pub(crate) trait Store: Default {
    type Value: Copy + Eq + Hash;

    fn len(&self) -> usize;
    fn value(&self, index: usize) -> Option<Self::Value>;
    fn push(&mut self, value: Self::Value);
    /// Room for so many more.
    fn reserve(&mut self, more: usize);
    /// Forgets all, and keeps the room.
    fn clear(&mut self);
    /// Lets go the room for more.
    fn shrink_to_fit(&mut self);
}

impl<T: Copy + Eq + Hash> Store for Vec<T> {
    type Value = T;

    #[inline]
    fn len(&self) -> usize {
        Vec::len(self)
    }

    #[inline]
    fn value(&self, index: usize) -> Option<T> {
        self.get(index).copied()
    }

    #[inline]
    fn push(&mut self, value: T) {
        Vec::push(self, value);
    }

    fn reserve(&mut self, more: usize) {
        Vec::reserve(self, more);
    }

    fn clear(&mut self) {
        Vec::clear(self);
    }

    fn shrink_to_fit(&mut self) {
        Vec::shrink_to_fit(self);
    }
}

/// Values by number, in the order of first sight.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interner<S> {
    list: S,
    index: Index,
}

impl<S: Store> Interner<S> {
    /// The values by number.
    #[inline]
    pub(crate) fn list(&self) -> &S {
        &self.list
    }

    /// Room for so many values, so that they need not be moved when there are more. What is not needed costs nothing.
    pub(crate) fn reserve(&mut self, values: usize) {
        self.list.reserve(values);
    }

    /// Values in a list. They are not found by what they are.
    pub(crate) fn of_list(list: S) -> Interner<S> {
        Interner { list, index: Index::default() }
    }

    /// Values in a list, of which some, by their numbers, are found by what they are.
    pub(crate) fn of_known(list: S, is_found: impl Fn(usize) -> bool) -> Interner<S> {
        let mut index = Index::default();
        index.make_room(list.len());
        for nr in (0..list.len()).filter(|nr| is_found(*nr)) {
            if let Some(value) = list.value(nr) {
                index.find_or_add(hash(&value), nr, |_| false);
            }
        }
        Interner { list, index }
    }

    /// The values alone.
    pub(crate) fn into_list(self) -> S {
        self.list
    }

    /// Adds a value that may be there already. It is not found by what it is.
    pub(crate) fn push(&mut self, value: S::Value) -> u32 {
        let number = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        self.list.push(value);
        number
    }

    /// The number of a value; a new one gets the next.
    #[inline]
    pub(crate) fn number(&mut self, value: S::Value) -> u32 {
        self.index.make_room(self.list.len());
        self.find_or_add(hash(&value), value)
    }

    /// The numbers of many values, in their order. The index is larger than the caches: what all values need of it is touched first,
    /// so that the processor waits for many places at once and not for one after the other.
    pub(crate) fn number_all(&mut self, values: &[S::Value], numbers: &mut Vec<u32>) {
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
    fn find_or_add(&mut self, hash: u32, value: S::Value) -> u32 {
        let Interner { list, index } = self;
        let next = list.len();
        let number = index.find_or_add(hash, next, |number| list.value(number as usize) == Some(value));
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
        let mut interner: Interner<Vec<u64>> = Interner::default();
        let numbers: Vec<u32> = (0..1000u64).map(|value| interner.number(value * 4096)).collect();
        assert_eq!(numbers, (0..1000).collect::<Vec<u32>>());
        let again: Vec<u32> = (0..1000u64).map(|value| interner.number(value * 4096)).collect();
        assert_eq!(again, numbers);
        assert_eq!(interner.list().len(), 1000);
        assert_eq!(interner.list()[7], 7 * 4096);
    }

    #[test]
    fn many_at_once_are_numbered_as_one_by_one() {
        let values: Vec<u64> = (0..5000u64).map(|nr| (nr * 7919) % 1237).collect();
        let (mut one, mut many): (Interner<Vec<u64>>, Interner<Vec<u64>>) = Default::default();
        let expected: Vec<u32> = values.iter().map(|value| one.number(*value)).collect();
        let mut numbers = Vec::new();
        values.chunks(300).for_each(|chunk| many.number_all(chunk, &mut numbers));
        assert_eq!(numbers, expected);
        assert_eq!(many.list(), one.list());
    }
}
