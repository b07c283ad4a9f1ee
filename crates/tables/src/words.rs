//! Texts that many rows have, by the number of what they are the text of: a function's name by the function's number.

use arrow_array::{ArrayRef, StringArray};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::sync::Arc;

/// Texts by number. Each text is in the dictionary once, whatever has it.
#[derive(Debug)]
pub(crate) struct Words {
    values: ArrayRef,
    /// Where in the dictionary, by number.
    keys: Vec<Option<i32>>,
}

impl Words {
    /// Of the things in the order of their numbers; `None` for those without a text.
    pub(crate) fn new<'t>(texts: impl Iterator<Item = Option<Cow<'t, str>>>) -> Words {
        let mut numbers: FxHashMap<Cow<'t, str>, i32> = FxHashMap::default();
        let mut values: Vec<Cow<'t, str>> = Vec::new();
        let keys = texts.map(|text| {
            let text = text?;
            if let Some(known) = numbers.get(&text) {
                return Some(*known);
            }
            let number = i32::try_from(values.len()).ok()?;
            values.push(text.clone());
            numbers.insert(text, number);
            Some(number)
        });
        let keys = keys.collect();
        Words { values: Arc::new(StringArray::from_iter_values(&values)), keys }
    }

    /// Of things that have these numbers; others are without a text.
    pub(crate) fn by_number<const N: usize>(words: [(usize, &'static str); N]) -> Words {
        let end = words.iter().map(|(number, _)| number + 1).max().unwrap_or(0);
        let word = |number| words.iter().find(|(of, _)| *of == number).map(|(_, word)| Cow::from(*word));
        Words::new((0..end).map(word))
    }

    /// Where the text of a number is in the dictionary.
    #[inline]
    pub(crate) fn key(&self, number: usize) -> Option<i32> {
        self.keys.get(number).copied().flatten()
    }

    /// The dictionary.
    pub(crate) fn values(&self) -> ArrayRef {
        Arc::clone(&self.values)
    }
}

impl Default for Words {
    fn default() -> Words {
        Words::new(std::iter::empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Array;

    #[test]
    fn a_text_is_held_once() {
        let words =
            Words::new([Some("a"), None, Some("b"), Some("a")].into_iter().map(|text| text.map(Cow::from)));
        assert_eq!(
            (0..5).map(|nr| words.key(nr)).collect::<Vec<_>>(),
            [Some(0), None, Some(1), Some(0), None]
        );
        assert_eq!(words.values().len(), 2);
    }
}
