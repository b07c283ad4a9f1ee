//! A run of structures of fixed size in a file. Borrowed, decoded on the way.

use super::attr::SampleShape;
use super::decode::Decoder;
use super::endian::{ByteOrder, with_order};
use super::measure::Measure;
use super::pass::Element;
use std::fmt;
use std::marker::PhantomData;

/// Some structures, still in the bytes and the byte order of the file.
#[derive(Clone, Copy)]
pub struct List<'a, T> {
    bytes: &'a [u8],
    order: ByteOrder,
    kind: PhantomData<T>,
}

impl<'a, T: Element> List<'a, T> {
    /// The structures in `bytes`; a partial last one is left out.
    pub fn new(bytes: &'a [u8], order: ByteOrder) -> Self {
        List { bytes, order, kind: PhantomData }
    }

    /// Size of one structure in bytes; at least 1.
    pub fn element_size() -> usize {
        Measure::of(&mut T::default(), &SampleShape::default(), 0).max(1)
    }

    /// How many structures.
    pub fn len(&self) -> usize {
        self.bytes.len() / Self::element_size()
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The structures, first one first.
    pub fn iter(&self) -> impl Iterator<Item = T> + use<'a, T> {
        let order = self.order;
        self.bytes.chunks_exact(Self::element_size()).filter_map(move |bytes| {
            let mut value = T::default();
            let shape = SampleShape::default();
            // The chunk has the measured size, so that this cannot fail.
            with_order!(order, O => value.fields(&mut Decoder::<O, _>::new(bytes, &shape, 0)).ok())?;
            Some(value)
        })
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

impl<T> Default for List<'_, T> {
    fn default() -> Self {
        List { bytes: &[], order: ByteOrder::Little, kind: PhantomData }
    }
}

impl<T: Element + fmt::Debug> fmt::Debug for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: Element + PartialEq> PartialEq for List<'_, T> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}
