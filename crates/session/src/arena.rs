//! Lists that are only added to, addressed by ids.

use std::marker::PhantomData;

/// A number that stands for an element.
pub(crate) trait Id: Copy {
    fn of(number: u32) -> Self;
    fn number(self) -> u32;
}

/// A list that is only added to.
#[derive(Clone, Debug)]
pub(crate) struct Arena<I, T> {
    list: Vec<T>,
    id: PhantomData<I>,
}

impl<I, T> Default for Arena<I, T> {
    fn default() -> Self {
        Arena { list: Vec::new(), id: PhantomData }
    }
}

impl<I: Id, T> Arena<I, T> {
    /// Adds an element. Memory runs out long before the numbers do.
    pub(crate) fn push(&mut self, element: T) -> I {
        let id = I::of(u32::try_from(self.list.len()).unwrap_or(u32::MAX));
        self.list.push(element);
        id
    }

    #[inline]
    pub(crate) fn get(&self, id: I) -> Option<&T> {
        self.list.get(id.number() as usize)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: I) -> Option<&mut T> {
        self.list.get_mut(id.number() as usize)
    }

    pub(crate) fn iter_with_ids(&self) -> impl Iterator<Item = (I, &T)> {
        (0u32..).map(I::of).zip(&self.list)
    }

    pub(crate) fn as_slice(&self) -> &[T] {
        &self.list
    }
}
