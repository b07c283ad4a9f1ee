//! A value that is shared until something is added to it.

use std::sync::Arc;

/// A value that others may have, too: the first change makes one's own of it. With an [`Arc`] alone each change would ask whether others have it, which
/// costs more than most changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct AddedTo<T> {
    shared: Arc<T>,
    /// What is there in its place once something was changed.
    own: Option<T>,
}

impl<T: Default> AddedTo<T> {
    /// One that nobody else has.
    pub(crate) fn own(own: T) -> AddedTo<T> {
        AddedTo { own: Some(own), ..AddedTo::default() }
    }
}

impl<T> AddedTo<T> {
    /// One that others have.
    pub(crate) fn shared(shared: Arc<T>) -> AddedTo<T> {
        AddedTo { shared, own: None }
    }

    /// As it is now.
    #[inline]
    pub(crate) fn get(&self) -> &T {
        self.own.as_ref().unwrap_or(&self.shared)
    }

    /// To be changed: the first time `own` makes it of what others have.
    #[inline]
    pub(crate) fn to_mut(&mut self, own: impl FnOnce(&Arc<T>) -> T) -> &mut T {
        self.own.get_or_insert_with(|| own(&self.shared))
    }

    /// To be shared: if nothing was changed, it is the one that others have.
    pub(crate) fn into_shared(self) -> Arc<T> {
        self.own.map_or(self.shared, Arc::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_have_stays_and_what_was_added_is_there() {
        let shared = Arc::new(vec![1]);
        let mut added = AddedTo::shared(Arc::clone(&shared));
        assert!(Arc::ptr_eq(&added.clone().into_shared(), &shared), "nothing was added");
        for number in [2, 3] {
            added.to_mut(|shared| Vec::clone(shared)).push(number);
        }
        assert_eq!((added.get(), &*shared), (&vec![1, 2, 3], &vec![1]));
        assert_eq!(*added.into_shared(), [1, 2, 3]);
        assert_eq!(*AddedTo::own(vec![7]).into_shared(), [7]);
    }
}
