//! Ids of tables, each with a number: its place among all that are wanted.

/// Ids in ascending order: numbers do not depend on the order in which rows came.
#[derive(Debug, Default)]
pub(super) struct Numbers(Vec<i64>);

impl Numbers {
    pub(super) fn of(mut ids: Vec<i64>) -> Numbers {
        ids.sort_unstable();
        ids.dedup();
        Numbers(ids)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The number of an id, if it is wanted.
    pub(super) fn number(&self, id: i64) -> Option<usize> {
        self.0.binary_search(&id).ok()
    }

    /// What is known of an id.
    pub(super) fn find<'t, T>(&self, id: i64, table: &'t [T]) -> Option<&'t T> {
        table.get(self.number(id)?)
    }

    /// Room for what is known of each.
    pub(super) fn table<T>(&self) -> Vec<Option<T>> {
        std::iter::repeat_with(|| None).take(self.len()).collect()
    }
}
