//! Lists that begin with what others have: that is shared, and what came later lies behind it. A change of stacks brings a few more places
//! to tables with half a million.

use std::sync::Arc;

/// A list that may begin with another one. A copy costs what came later: see [`Grown::shared`].
#[derive(Clone, Debug)]
pub(crate) struct Grown<T> {
    first: Arc<Vec<T>>,
    later: Vec<T>,
}

impl<T> Default for Grown<T> {
    fn default() -> Self {
        Grown { first: Arc::default(), later: Vec::new() }
    }
}

impl<T> From<Vec<T>> for Grown<T> {
    fn from(list: Vec<T>) -> Self {
        Grown { first: Arc::new(list), later: Vec::new() }
    }
}

impl<T> Extend<T> for Grown<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        self.later.extend(items);
    }
}

impl<T> Grown<T> {
    /// Room for so many more.
    pub(crate) fn reserve(&mut self, more: usize) {
        self.later.reserve(more);
    }

    /// The same list; copies of it share what there is up to now, if that is all new.
    pub(crate) fn shared(self) -> Grown<T> {
        if self.first.is_empty() { Grown::from(self.later) } else { self }
    }

    /// How many items there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.first.len() + self.later.len()
    }

    /// An item by its number.
    #[inline]
    pub(crate) fn get(&self, at: usize) -> Option<&T> {
        let later = || self.later.get(at.checked_sub(self.first.len())?);
        self.first.get(at).or_else(later)
    }

    /// All items, in order.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + Clone {
        self.first.iter().chain(&self.later)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn copies_grow_apart(steps in proptest::collection::vec((0..3_u8, proptest::collection::vec(0..9_u8, 0..5)), 0..12)) {
            let mut all: Vec<(Grown<u8>, Vec<u8>)> = vec![Default::default()];
            for (what, items) in steps {
                let (mut list, mut expected) = match what {
                    0 => all.last().cloned().unwrap(),
                    1 => all.pop().map(|(list, expected)| (list.shared(), expected)).unwrap(),
                    _ => all.pop().unwrap(),
                };
                list.extend(items.iter().copied());
                expected.extend(&items);
                all.push((list, expected));
            }
            for (list, expected) in all {
                prop_assert_eq!(list.iter().copied().collect::<Vec<_>>(), expected.clone());
                prop_assert_eq!(list.len(), expected.len());
                for at in 0..=expected.len() {
                    prop_assert_eq!(list.get(at), expected.get(at));
                }
            }
        }
    }
}
