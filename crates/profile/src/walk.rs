//! The stacks of some rows, one after the other, to be gone over at once: without asking at each stack where it ends, which a processor
//! cannot foresee.

use crate::addresses::AddressId;
use crate::stacks::{StackId, Stacks};

/// Rows whose stacks are gone over at once: what is needed of the tables for so many fits into a cache close to the processor.
pub(crate) const AT_ONCE: usize = 512;

/// Marks the place where the sample was taken, which is not of the stack.
const IS_TAKEN: u32 = 1 << 31;

/// Numbers that are written at once, whether there are as many or not.
const SOME: usize = 8;

/// Places, each with the number of the row that it is of.
#[derive(Debug, Default)]
pub(crate) struct Walk {
    places: Vec<AddressId>,
    rows: Vec<u32>,
}

/// A place of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) place: AddressId,
    /// The number of the row, which is small.
    pub(crate) row: u32,
    /// Whether this is where the sample was taken, and not a place of the stack.
    pub(crate) is_taken: bool,
}

impl Walk {
    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.places.clear();
        self.rows.clear();
    }

    /// Adds the place where the samples of a row were taken.
    #[inline]
    pub(crate) fn push_taken(&mut self, place: AddressId, row: u32) {
        self.places.push(place);
        self.rows.push(row | IS_TAKEN);
    }

    /// Adds the stack of a row.
    #[inline]
    pub(crate) fn push_stack(&mut self, stacks: &Stacks, stack: StackId, row: u32) {
        stacks.append_places(stack, &mut self.places);
        while self.rows.len() < self.places.len() {
            self.rows.extend_from_slice(&[row; SOME]);
        }
        self.rows.truncate(self.places.len());
    }

    /// All places, in the order in which they were added.
    pub(crate) fn steps(&self) -> impl Iterator<Item = Step> {
        self.places.iter().zip(&self.rows).map(|(place, row)| Step {
            place: *place,
            row: *row & !IS_TAKEN,
            is_taken: *row & IS_TAKEN > 0,
        })
    }
}

/// Appends so many of the first of these, copying more where there are more.
#[inline]
pub(crate) fn append_first(to: &mut Vec<AddressId>, mut places: &[AddressId], count: usize) {
    let end = to.len() + count.min(places.len());
    while to.len() < end {
        let (some, rest) = places.split_at(SOME.min(places.len()));
        match <&[AddressId; SOME]>::try_from(some) {
            Ok(some) => to.extend_from_slice(some),
            Err(_) => to.extend_from_slice(some),
        }
        places = rest;
    }
    to.truncate(end);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_are_appended_as_are_wanted_and_there() {
        let all: Vec<AddressId> = (0..40).map(AddressId).collect();
        for start in 0..=40 {
            for count in 0..=41 {
                let mut to = vec![AddressId(7)];
                append_first(&mut to, &all[start..], count);
                assert_eq!(to[1..], all[start..(start + count).min(40)], "{count} from {start}");
            }
        }
    }

    #[test]
    fn places_are_gone_over_in_their_order() {
        let stack = |len: u32| (0..len).map(AddressId).collect::<Vec<_>>();
        for mut stacks in [Stacks::default(), Stacks::whole(1 << 10)] {
            let (mut places, mut ends, mut ids) = (Vec::new(), Vec::new(), Vec::new());
            for len in 0..20 {
                places.extend(stack(len));
                ends.push(places.len());
            }
            stacks.number_all(&places, &ends, &mut ids);
            let (mut walk, mut expected) = (Walk::default(), Vec::new());
            for round in 0..2 {
                walk.clear();
                expected.clear();
                for (row, id) in (0..).zip(&ids) {
                    let taken = AddressId(100 + row + round);
                    walk.push_taken(taken, row);
                    walk.push_stack(&stacks, *id, row);
                    expected.push(Step { place: taken, row, is_taken: true });
                    let places = stack(row).into_iter();
                    expected.extend(places.map(|place| Step { place, row, is_taken: false }));
                }
            }
            assert_eq!(walk.steps().collect::<Vec<_>>(), expected);
        }
    }
}
