//! Every text once, by number: the string tables of formats.

use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Texts by number, in the order of first sight.
#[derive(Debug, Default)]
pub(crate) struct Strings {
    list: Vec<Rc<str>>,
    numbers: FxHashMap<Rc<str>, u32>,
}

impl Strings {
    /// The number of a text.
    pub(crate) fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        let text: Rc<str> = text.into();
        self.list.push(Rc::clone(&text));
        self.numbers.insert(text, number);
        number
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// The texts, by number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|text| &**text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_once() {
        let mut strings = Strings::default();
        assert_eq!(["a", "", "a", "b", ""].map(|text| strings.number(text)), [0, 1, 0, 2, 1]);
        assert_eq!(strings.iter().collect::<Vec<_>>(), ["a", "", "b"]);
    }
}
