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

/// A column of numbers that are small in most profiles: as long as half a number is enough for all, they take half of the room.
#[derive(Clone, Debug)]
pub(super) enum Narrow {
    Half(Vec<u32>),
    Whole(Vec<u64>),
}

impl Default for Narrow {
    fn default() -> Narrow {
        Narrow::Half(Vec::new())
    }
}

impl Narrow {
    /// Room for so many rows.
    pub(super) fn with_capacity(rows: usize) -> Narrow {
        Narrow::Half(Vec::with_capacity(rows))
    }

    /// The number of a row; 0 if there is none.
    #[inline(always)]
    pub(super) fn get(&self, at: usize) -> u64 {
        match self {
            Narrow::Half(numbers) => numbers.get(at).copied().map_or(0, u64::from),
            Narrow::Whole(numbers) => numbers.get(at).copied().unwrap_or(0),
        }
    }

    /// Appends the number of the next row.
    #[inline]
    pub(super) fn push(&mut self, number: u64) {
        self.make_room_for(number);
        match (self, u32::try_from(number)) {
            (Narrow::Half(numbers), half) => numbers.extend(half),
            (Narrow::Whole(numbers), _) => numbers.push(number),
        }
    }

    /// Gives a row another number.
    #[inline]
    pub(super) fn set(&mut self, at: usize, number: u64) {
        self.make_room_for(number);
        match (self, u32::try_from(number)) {
            (Narrow::Half(numbers), half) => {
                numbers.get_mut(at).into_iter().zip(half).for_each(|(known, half)| *known = half);
            }
            (Narrow::Whole(numbers), _) => {
                numbers.get_mut(at).into_iter().for_each(|known| *known = number);
            }
        }
    }

    /// Holds whole numbers from now on if this one needs it.
    #[inline]
    fn make_room_for(&mut self, number: u64) {
        if number > u64::from(u32::MAX) {
            self.widen();
        }
    }

    #[cold]
    fn widen(&mut self) {
        if let Narrow::Half(numbers) = self {
            let mut whole = Vec::with_capacity(numbers.capacity());
            whole.extend(numbers.iter().copied().map(u64::from));
            *self = Narrow::Whole(whole);
        }
    }

    /// Lets go the room for more.
    pub(super) fn shrink(&mut self) {
        match self {
            Narrow::Half(numbers) => numbers.shrink_to_fit(),
            Narrow::Whole(numbers) => numbers.shrink_to_fit(),
        }
    }

    /// As [`arranged`].
    pub(super) fn arranged(&self, order: &[u32]) -> Narrow {
        match self {
            Narrow::Half(numbers) => Narrow::Half(arranged(numbers, order, 0)),
            Narrow::Whole(numbers) => Narrow::Whole(arranged(numbers, order, 0)),
        }
    }
}

/// A column with the values at these indices, in their order; where there is none, what is usual.
pub(super) fn arranged<T: Copy>(column: &[T], order: &[u32], usual: T) -> Vec<T> {
    order.iter().map(|at| column.get(*at as usize).copied().unwrap_or(usual)).collect()
}
