//! An index of values that lie elsewhere: their numbers, by hash.

use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// No value.
const EMPTY: u32 = u32::MAX;

/// Numbers of values, at the hash of the value or behind it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    /// The length is a power of two, or 0. Free ones are 0: what is made empty is memory that the system has not given yet, so room that
    /// is not needed costs nothing.
    slots: Vec<u64>,
}

const FREE: u64 = 0;

/// What is in a slot: the number, and the hash beside it, so that only the value that is looked for is touched.
#[inline]
fn slot(hash: u32, number: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(number.wrapping_add(1))
}

/// The hash in a slot, and the number, which is [`EMPTY`] in a free one.
#[inline]
#[allow(clippy::cast_possible_truncation)] // They are the halves.
fn parts(slot: u64) -> (u32, u32) {
    ((slot >> 32) as u32, (slot as u32).wrapping_sub(1))
}

impl Index {
    /// Whether it was never given room.
    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Makes room: a quarter stays free beside this many values.
    #[inline]
    pub(crate) fn make_room(&mut self, values: usize) {
        while values * 4 >= self.slots.len() * 3 {
            self.grow_to((self.slots.len() * 2).max(64));
        }
    }

    /// Makes room for this many values at once: nothing is moved until there are more.
    pub(crate) fn reserve(&mut self, values: usize) {
        let len = values.saturating_mul(4).div_ceil(3).saturating_add(1).next_power_of_two();
        if len > self.slots.len() {
            self.grow_to(len);
        }
    }

    /// The number in the first slot for a hash, if it is that of a value with this hash: most often the one that is looked
    /// for.
    #[inline]
    pub(crate) fn first(&self, hash: u32) -> Option<u32> {
        let slot = *self.slots.get(hash as usize & self.slots.len().wrapping_sub(1))?;
        let (of, number) = parts(slot);
        (number != EMPTY && of == hash).then_some(number)
    }

    /// The number of a value with this hash, if it has one.
    pub(crate) fn find(&self, hash: u32, is: impl Fn(u32) -> bool) -> Option<u32> {
        let mask = self.slots.len().wrapping_sub(1);
        let mut at = hash as usize & mask;
        loop {
            let (of, number) = parts(*self.slots.get(at)?);
            if number == EMPTY || of == hash && is(number) {
                return (number != EMPTY).then_some(number);
            }
            at = (at + 1) & mask;
        }
    }

    /// The number of a value with this hash; `next`, which it is given, if it is new. There must be room for one more.
    #[inline]
    pub(crate) fn find_or_add(&mut self, hash: u32, next: usize, is: impl Fn(u32) -> bool) -> u32 {
        let mask = self.slots.len().wrapping_sub(1);
        let mut at = hash as usize & mask;
        while let Some(known) = self.slots.get_mut(at) {
            let (of, number) = parts(*known);
            if number == EMPTY {
                // Memory is at its end before the numbers are.
                let number = u32::try_from(next).unwrap_or(EMPTY);
                *known = slot(hash, number);
                return number;
            }
            if of == hash && is(number) {
                return number;
            }
            at = (at + 1) & mask;
        }
        EMPTY
    }

    /// Forgets all numbers, and keeps the room.
    pub(crate) fn clear(&mut self) {
        self.slots.fill(FREE);
    }

    /// The length is a power of two.
    #[cold]
    fn grow_to(&mut self, len: usize) {
        let old = std::mem::replace(&mut self.slots, vec![FREE; len]);
        for known in old.into_iter().filter(|known| parts(*known).1 != EMPTY) {
            let mut at = parts(known).0 as usize & (len - 1);
            while let Some(slot) = self.slots.get_mut(at) {
                if parts(*slot).1 == EMPTY {
                    *slot = known;
                    break;
                }
                at = (at + 1) & (len - 1);
            }
        }
    }
}

/// The hash of a value.
#[inline]
#[allow(clippy::cast_possible_truncation)] // The lower half of a hash is a hash.
pub(crate) fn hash<T: Hash + ?Sized>(value: &T) -> u32 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_again_whatever_the_hash() {
        // The first value has the hash and the number that are nearest to those of a free slot.
        let values: Vec<u32> = vec![0, u32::MAX, 1 << 31, 64, 128, 7];
        let is = |value: u32| {
            let values = &values;
            move |number: u32| values.get(number as usize) == Some(&value)
        };
        for room in [0, 3, 1000] {
            let mut index = Index::default();
            index.reserve(room);
            for round in 0..2 {
                for (nr, value) in values.iter().enumerate() {
                    index.make_room(nr + 1);
                    // What is new then gets a number that none of them has.
                    let next = if round == 0 { nr } else { values.len() };
                    let number = index.find_or_add(*value, next, is(*value));
                    assert_eq!(number as usize, nr, "round {round}, room {room}");
                    assert_eq!(index.find(*value, is(*value)), Some(number));
                }
            }
            assert_eq!(index.find(5, is(5)), None);
            index.clear();
            assert_eq!((index.first(0), index.find(0, is(0))), (None, None));
            assert_eq!(index.find_or_add(64, 5, is(64)), 5);
        }
    }

    #[test]
    fn room_is_for_so_many_values() {
        for values in [0, 1, 48, 49, 1000, 3072] {
            let mut index = Index::default();
            index.reserve(values);
            let slots = index.slots.len();
            index.make_room(values);
            assert_eq!(index.slots.len(), slots, "{values}");
        }
    }
}
