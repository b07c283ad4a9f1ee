//! Columns of rows.

use rustc_hash::FxHashMap;

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

    /// Appends the values of rows behind `rows` others.
    pub(super) fn extend(&mut self, values: impl Iterator<Item = T> + Clone, rows: usize) {
        if !self.values.is_empty() || values.clone().any(|value| value != self.usual) {
            self.fill(rows);
            self.values.extend(values);
        }
    }

    /// Writes down what is usual, for so many rows.
    #[inline]
    fn fill(&mut self, rows: usize) {
        if self.values.len() < rows {
            self.values.resize(rows, self.usual);
        }
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

    /// Appends the numbers of the next rows.
    pub(super) fn extend(&mut self, numbers: impl Iterator<Item = u64> + Clone) {
        self.make_room_for(numbers.clone().max().unwrap_or(0));
        match self {
            // All fit: there is room for the largest.
            Narrow::Half(halves) => {
                halves.extend(numbers.map(|number| u32::try_from(number).unwrap_or(u32::MAX)))
            }
            Narrow::Whole(whole) => whole.extend(numbers),
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

/// A column of how many samples rows stand for. Most stand for one, or for a few, so that a byte is enough.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    /// For each row how many, or [`MANY`]; empty as long as each stands for one.
    few: Vec<u8>,
    /// By index: for how many those rows stand that stand for many.
    many: FxHashMap<usize, u64>,
}

/// Marks a row that stands for as many as this, or more.
const MANY: u8 = u8::MAX;

impl Counts {
    /// The count of a row; 1 if there is none.
    #[inline]
    pub(super) fn get(&self, at: usize) -> u64 {
        match self.few.get(at) {
            None => 1,
            Some(&MANY) => self.many.get(&at).copied().unwrap_or(0),
            Some(few) => u64::from(*few),
        }
    }

    /// Appends the count of the row behind `rows` others.
    #[inline]
    pub(super) fn push(&mut self, count: u64, rows: usize) {
        if !self.few.is_empty() || count != 1 {
            self.fill(rows + 1);
            self.set(rows, count);
        }
    }

    /// Appends the counts of rows behind `rows` others.
    pub(super) fn extend(&mut self, counts: impl Iterator<Item = u64> + Clone, rows: usize) {
        if self.few.is_empty() && counts.clone().all(|count| count == 1) {
            return;
        }
        self.fill(rows);
        self.few.extend(counts.clone().map(few));
        for (at, count) in (rows..).zip(counts).filter(|(_, count)| few(*count) == MANY) {
            self.many.insert(at, count);
        }
    }

    /// Adds to the count of a row; there are so many rows.
    #[inline]
    pub(super) fn add(&mut self, at: usize, more: u64, rows: usize) {
        self.fill(rows);
        self.set(at, self.get(at).saturating_add(more));
    }

    /// Writes down that each stands for one, for so many rows.
    #[inline]
    fn fill(&mut self, rows: usize) {
        if self.few.len() < rows {
            self.few.resize(rows, 1);
        }
    }

    #[inline]
    fn set(&mut self, at: usize, count: u64) {
        if let Some(known) = self.few.get_mut(at) {
            *known = few(count);
            if *known == MANY {
                self.many.insert(at, count);
            }
        }
    }

    /// Lets go the room for more.
    pub(super) fn shrink(&mut self) {
        self.few.shrink_to_fit();
        self.many.shrink_to_fit();
    }

    /// As [`arranged`].
    pub(super) fn arranged(&self, order: &[u32]) -> Counts {
        let mut counts = Counts::default();
        if !self.few.is_empty() {
            counts.extend(order.iter().map(|at| self.get(*at as usize)), 0);
        }
        counts
    }
}

/// A count, or that it is many.
#[inline]
fn few(count: u64) -> u8 {
    u8::try_from(count).unwrap_or(MANY)
}

/// A column with the values at these indices, in their order; where there is none, what is usual.
pub(super) fn arranged<T: Copy>(column: &[T], order: &[u32], usual: T) -> Vec<T> {
    order.iter().map(|at| column.get(*at as usize).copied().unwrap_or(usual)).collect()
}
