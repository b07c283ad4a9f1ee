//! A run of u64 in a file: call chains, ids, register values. Borrowed, read on the way.

use super::endian::{ByteOrder, Order, with_order};
use std::fmt;

/// Some u64, still in the bytes and the byte order of the file.
#[derive(Clone, Copy, Default)]
pub struct U64s<'a> {
    bytes: &'a [u8],
    order: ByteOrder,
}

impl<'a> U64s<'a> {
    /// The words in `bytes`; a partial last one is left out.
    #[inline]
    pub fn new(bytes: &'a [u8], order: ByteOrder) -> Self {
        U64s { bytes, order }
    }

    /// How many words.
    #[inline]
    pub fn len(&self) -> usize {
        self.bytes.len() / 8
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The word at `index`.
    #[inline]
    pub fn get(&self, index: usize) -> Option<u64> {
        self.order.u64_at(self.bytes, index.checked_mul(8)?)
    }

    /// The words, first one first.
    #[inline]
    pub fn iter(&self) -> Iter<'a> {
        Iter { words: self.bytes.as_chunks().0.iter(), order: self.order }
    }

    /// Appends the words to a list.
    #[inline]
    pub fn append_to(&self, words: &mut Vec<u64>) {
        let bytes = self.bytes.as_chunks().0.iter();
        with_order!(self.order, O => words.extend(bytes.map(|word| O::u64(*word))));
    }

    /// The words from `index` on; none if there are fewer.
    pub fn skip(&self, index: usize) -> U64s<'a> {
        U64s { bytes: self.bytes.get(index.saturating_mul(8)..).unwrap_or_default(), order: self.order }
    }

    /// The bytes as they lie in the file.
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The byte order they lie in.
    pub fn order(&self) -> ByteOrder {
        self.order
    }
}

/// Iterator over [`U64s`].
#[derive(Clone, Debug)]
pub struct Iter<'a> {
    words: std::slice::Iter<'a, [u8; 8]>,
    order: ByteOrder,
}

impl Iterator for Iter<'_> {
    type Item = u64;
    #[inline]
    fn next(&mut self) -> Option<u64> {
        self.words.next().map(|w| self.order.u64(*w))
    }
    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.words.size_hint()
    }
    /// Asks for the byte order once, not per word: sums, `for_each` and the like run at memory speed.
    #[inline]
    fn fold<B, F: FnMut(B, u64) -> B>(self, init: B, mut f: F) -> B {
        with_order!(self.order, O => self.words.fold(init, |acc, word| f(acc, O::u64(*word))))
    }
}

impl DoubleEndedIterator for Iter<'_> {
    fn next_back(&mut self) -> Option<u64> {
        self.words.next_back().map(|w| self.order.u64(*w))
    }
}

impl ExactSizeIterator for Iter<'_> {}

impl<'a> IntoIterator for U64s<'a> {
    type Item = u64;
    type IntoIter = Iter<'a>;
    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl PartialEq for U64s<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}
impl Eq for U64s<'_> {}

impl fmt::Debug for U64s<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|w| format!("{w:#x}"))).finish()
    }
}
