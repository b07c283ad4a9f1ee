//! The row of each address as the place where samples were taken, and the rows of its levels.

use super::calls::NONE;
use crate::addresses::AddressId;
use std::slice;

/// Rows by address. The only level of most addresses is the place itself, so one number says all of them.
#[derive(Clone, Debug, Default)]
pub(super) struct AddressRows {
    /// The row of each address as place and as level; with [`HELD`] the number of what is held of it. [`NONE`] if it has no row.
    rows: Vec<u32>,
    held: Vec<Held>,
    /// The levels that are held, each address's the outermost first.
    levels: Vec<u32>,
}

/// An address whose levels are others than the place.
#[derive(Clone, Copy, Debug)]
struct Held {
    row: u32,
    /// Where its levels end; they begin where those before it end.
    end: u32,
}

/// Marks the number of what is held of an address. Memory is at its end before there are as many rows.
const HELD: u32 = 1 << 31;

impl AddressRows {
    /// Rows of addresses as places, which are their only levels for now.
    pub(super) fn extend(&mut self, rows: impl Iterator<Item = u32>) {
        self.rows.extend(rows);
    }

    /// Gives an address other levels, the outermost first. Once for each address.
    pub(super) fn set_levels(&mut self, address: usize, levels: impl Iterator<Item = u32>) {
        let Some(row) = self.rows.get_mut(address) else { return };
        let start = self.levels.len();
        self.levels.extend(levels);
        if self.levels.get(start..) == Some(&[*row]) {
            self.levels.truncate(start);
            return;
        }
        self.held.push(Held { row: *row, end: u32::try_from(self.levels.len()).unwrap_or(NONE) });
        *row = HELD | u32::try_from(self.held.len() - 1).unwrap_or(NONE);
    }

    /// How many addresses there are.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The row of an address as the place where a sample was taken; [`NONE`] of one that is not known.
    #[inline]
    pub(super) fn row(&self, address: usize) -> u32 {
        match self.rows.get(address) {
            Some(row) if row & HELD == 0 => *row,
            Some(number) => self.held(number & !HELD).map_or(NONE, |held| held.row),
            None => NONE,
        }
    }

    /// The rows of the levels of an address, the outermost first.
    #[inline]
    pub(super) fn levels(&self, address: usize) -> &[u32] {
        match self.rows.get(address) {
            Some(row) if row & HELD == 0 => slice::from_ref(row),
            Some(number) => self.held_levels(number & !HELD),
            None => &[],
        }
    }

    /// Appends the rows of the levels of places, those of each the outermost first.
    #[inline]
    pub(super) fn append_levels(&self, places: &[AddressId], to: &mut Vec<u32>) {
        let (start, mut any) = (to.len(), 0);
        to.extend(places.iter().map(|place| {
            let row = self.rows.get(place.index()).copied().unwrap_or(NONE);
            any |= row;
            row
        }));
        // Most have one, which is what was taken for it.
        if any & HELD != 0 {
            to.truncate(start);
            places.iter().for_each(|place| to.extend_from_slice(self.levels(place.index())));
        }
    }

    fn held_levels(&self, number: u32) -> &[u32] {
        let end = |number: u32| self.held(number).map_or(0, |held| held.end as usize);
        let start = number.checked_sub(1).map_or(0, end);
        self.levels.get(start..end(number)).unwrap_or_default()
    }

    fn held(&self, number: u32) -> Option<Held> {
        self.held.get(number as usize).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_its_row_and_its_levels() {
        let mut rows = AddressRows::default();
        rows.extend([5, NONE, 7, 8, 9].into_iter());
        rows.set_levels(2, [4, 6].into_iter());
        rows.set_levels(0, [5].into_iter());
        rows.set_levels(3, std::iter::empty());
        rows.set_levels(4, [3].into_iter());
        rows.extend([2].into_iter());
        assert_eq!((rows.len(), rows.held.len()), (6, 3), "of the first nothing is held");
        let all: Vec<u32> = (0..7).map(|address| rows.row(address)).collect();
        assert_eq!(all, [5, NONE, 7, 8, 9, 2, NONE]);
        let levels: Vec<&[u32]> = (0..7).map(|address| rows.levels(address)).collect();
        assert_eq!(levels, [&[5][..], &[], &[4, 6], &[], &[3], &[2], &[]]);
        for places in [0..0, 0..1, 0..7, 2..3, 3..5, 5..6, 5..7] {
            let mut appended = vec![1];
            rows.append_levels(&places.clone().map(AddressId).collect::<Vec<_>>(), &mut appended);
            let of_each = places.map(|place| levels[place as usize]).collect::<Vec<_>>().concat();
            assert_eq!(appended, [vec![1], of_each].concat());
        }
    }
}
