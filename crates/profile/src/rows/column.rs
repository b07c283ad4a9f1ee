//! Columns of rows.

/// A column that most profiles have no use for: as long as all rows have the usual value, it is empty.
#[derive(Clone, Debug)]
pub(super) struct Sparse<T> {
    values: Vec<T>,
    usual: T,
}

impl<T: Copy + PartialEq> Sparse<T> {
    /// A column without rows, which most often have this value.
    pub(super) fn usually(usual: T) -> Sparse<T> {
        Sparse { values: Vec::new(), usual }
    }

    /// The value of a row.
    #[inline]
    pub(super) fn get(&self, at: usize) -> T {
        self.values.get(at).copied().unwrap_or(self.usual)
    }

    /// Appends the value of the row behind `rows` others.
    #[inline]
    pub(super) fn push(&mut self, value: T, rows: usize) {
        if !self.values.is_empty() || value != self.usual {
            self.fill(rows);
            self.values.push(value);
        }
    }

    /// Writes down what is usual, for so many rows.
    #[inline]
    fn fill(&mut self, rows: usize) {
        if self.values.len() < rows {
            self.values.resize(rows, self.usual);
        }
    }

    /// The value of a row, to be changed; there are so many rows.
    #[inline]
    pub(super) fn get_mut(&mut self, at: usize, rows: usize) -> Option<&mut T> {
        self.fill(rows);
        self.values.get_mut(at)
    }

    /// Lets go the room for more.
    pub(super) fn shrink(&mut self) {
        self.values.shrink_to_fit();
    }

    /// As [`arranged`].
    pub(super) fn arranged(&self, order: &[u32]) -> Sparse<T> {
        let order = if self.values.is_empty() { &[] } else { order };
        Sparse { values: arranged(&self.values, order, self.usual), usual: self.usual }
    }
}

/// A column with the values at these indices, in their order; where there is none, what is usual.
pub(super) fn arranged<T: Copy>(column: &[T], order: &[u32], usual: T) -> Vec<T> {
    order.iter().map(|at| column.get(*at as usize).copied().unwrap_or(usual)).collect()
}
