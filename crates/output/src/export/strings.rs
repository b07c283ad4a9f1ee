//! Every text once, by number: the string tables of formats.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// Texts by number, in the order of first sight.
#[derive(Clone, Debug, Default)]
pub(crate) struct Strings {
    set: IndexSet<Box<str>, FxBuildHasher>,
}

impl Strings {
    /// The number of a text.
    pub(crate) fn number(&mut self, text: &str) -> u32 {
        let known = self.set.get_index_of(text);
        let number = known.unwrap_or_else(|| self.set.insert_full(text.into()).0);
        u32::try_from(number).unwrap_or(u32::MAX)
    }

    /// The text with a number.
    pub(crate) fn get(&self, number: u32) -> Option<&str> {
        self.set.get_index(number as usize).map(|text| &**text)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.set.len()
    }

    /// The texts, by number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.set.iter().map(|text| &**text)
    }

    /// Puts the texts in order: the new number of each.
    pub(crate) fn sort(&mut self) -> Vec<u32> {
        let ranks = ranks(self.iter());
        self.set.sort_unstable();
        ranks
    }
}

/// The place of each thing when they are in order; of equal ones the first is first.
pub(crate) fn ranks<T: Ord>(things: impl IntoIterator<Item = T>) -> Vec<u32> {
    let mut order: Vec<(T, usize)> = things.into_iter().zip(0..).collect();
    order.sort_unstable();
    let mut ranks = vec![0; order.len()];
    for (rank, (_, number)) in (0..).zip(order) {
        if let Some(place) = ranks.get_mut(number) {
            *place = rank;
        }
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_once() {
        let mut strings = Strings::default();
        assert_eq!(["a", "", "a", "b", ""].map(|text| strings.number(text)), [0, 1, 0, 2, 1]);
        assert_eq!(strings.iter().collect::<Vec<_>>(), ["a", "", "b"]);
        assert_eq!(strings.sort(), [1, 0, 2]);
        assert_eq!((strings.get(0), strings.get(1), strings.get(3)), (Some(""), Some("a"), None));
    }
}
