//! An index of values that lie elsewhere: their numbers, by hash.

use crate::touch::touch;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// No value.
const EMPTY: u32 = u32::MAX;

/// Numbers of values, at the hash of the value or behind it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    /// The length is a power of two, or 0. It begins small: the slots in use are all over it, so room that is not needed costs as much as
    /// room that is.
    slots: Vec<u64>,
    /// What is added to numbers in slots. Where there is no more than this, the number is forgotten, and the slot is free.
    forgotten: u32,
}

const FREE: u64 = 0;

/// Slots at first.
const FEWEST: usize = 64;

/// The most that is added to numbers. As many are left.
const MOST_FORGOTTEN: u32 = 1 << 31;

/// What is in a slot: the number, from 1 and above those that are forgotten, and the hash beside it, so that only the value that is looked
/// for is touched.
#[inline]
fn slot(hash: u32, number: u32, forgotten: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(number.wrapping_add(1).wrapping_add(forgotten))
}

/// The hash in a slot, and the number, which is [`EMPTY`] in a free one.
#[inline]
#[allow(clippy::cast_possible_truncation)] // They are the halves.
fn parts(slot: u64, forgotten: u32) -> (u32, u32) {
    let (hash, number) = ((slot >> 32) as u32, slot as u32);
    (hash, if number > forgotten { number - forgotten - 1 } else { EMPTY })
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
            self.grow();
        }
    }

    /// Touches the first slot for each of these hashes, so that the processor waits for many at once. Nothing is asked of what is in them: it
    /// would have to wait for the answer.
    pub(crate) fn touch(&self, hashes: &[u32]) {
        let mask = self.slots.len().wrapping_sub(1);
        let slot = |hash: &u32| self.slots.get(*hash as usize & mask).copied().unwrap_or(FREE);
        touch(hashes.iter().map(slot));
    }

    /// The number in the first slot for a hash, if it is that of a value with this hash: most often the one that is looked
    /// for.
    #[inline]
    pub(crate) fn first(&self, hash: u32) -> Option<u32> {
        let slot = *self.slots.get(hash as usize & self.slots.len().wrapping_sub(1))?;
        let (of, number) = parts(slot, self.forgotten);
        (number != EMPTY && of == hash).then_some(number)
    }

    /// The number of a value with this hash, if it has one.
    pub(crate) fn find(&self, hash: u32, is: impl Fn(u32) -> bool) -> Option<u32> {
        let mask = self.slots.len().wrapping_sub(1);
        let mut at = hash as usize & mask;
        loop {
            let (of, number) = parts(*self.slots.get(at)?, self.forgotten);
            if number == EMPTY || of == hash && is(number) {
                return (number != EMPTY).then_some(number);
            }
            at = (at + 1) & mask;
        }
    }

    /// The number of a value with this hash; `next`, which it is given, if it is new. There must be room for one more.
    #[inline]
    pub(crate) fn find_or_add(&mut self, hash: u32, next: usize, is: impl Fn(u32) -> bool) -> u32 {
        let Index { slots, forgotten } = self;
        let mask = slots.len().wrapping_sub(1);
        let mut at = hash as usize & mask;
        while let Some(known) = slots.get_mut(at) {
            let (of, number) = parts(*known, *forgotten);
            if number == EMPTY {
                // Memory is at its end before the numbers are.
                let number = u32::try_from(next).unwrap_or(EMPTY);
                *known = slot(hash, number, *forgotten);
                return number;
            }
            if of == hash && is(number) {
                return number;
            }
            at = (at + 1) & mask;
        }
        EMPTY
    }

    /// Forgets all numbers, of which there are so many, and keeps the room. Nothing is written: numbers are higher from now on.
    pub(crate) fn clear(&mut self, numbers: usize) {
        let forgotten = u32::try_from(numbers).ok().and_then(|numbers| self.forgotten.checked_add(numbers));
        self.forgotten = forgotten.filter(|forgotten| *forgotten <= MOST_FORGOTTEN).unwrap_or_else(|| {
            self.slots.fill(FREE);
            0
        });
    }

    /// Makes it twice as long, where it lies. A number stays near where it was, or goes as near to the same place of the new half: both
    /// halves are gone over once, from their beginning to their end.
    #[cold]
    fn grow(&mut self) {
        self.free_forgotten();
        let before = self.slots.len();
        self.slots.resize((before * 2).max(FEWEST), FREE);
        // At the beginning there may be numbers that found no room at the end. Without them, nothing that is still to be moved lies
        // between a number that has been moved and its hash.
        let first_free = self.slots.iter().take(before).position(|slot| *slot == FREE).unwrap_or(0);
        let from_the_end: Vec<u64> = self.slots.iter_mut().take(first_free).map(std::mem::take).collect();
        for at in first_free..before {
            let known = self.slots.get_mut(at).map_or(FREE, std::mem::take);
            self.put(known);
        }
        from_the_end.into_iter().for_each(|known| self.put(known));
    }

    /// Makes slots of numbers that are forgotten like those that never had one.
    fn free_forgotten(&mut self) {
        let forgotten = std::mem::take(&mut self.forgotten);
        for known in self.slots.iter_mut().filter(|_| forgotten > 0) {
            let (hash, number) = parts(*known, forgotten);
            *known = if number == EMPTY { FREE } else { slot(hash, number, 0) };
        }
    }

    /// Puts what was in a slot at its hash or behind it.
    fn put(&mut self, known: u64) {
        let mask = self.slots.len().wrapping_sub(1);
        let mut at = parts(known, 0).0 as usize & mask;
        while let Some(slot) = self.slots.get_mut(at).filter(|_| known != FREE) {
            if *slot == FREE {
                *slot = known;
                return;
            }
            at = (at + 1) & mask;
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

/// So many upper bits of the hash of a number; none is 0.
#[inline]
pub(crate) fn upper_bits(number: u64, bits: u32) -> u64 {
    /// 2^64 over the golden ratio: Fibonacci hashing.
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    number.wrapping_mul(GOLDEN).checked_shr(u64::BITS - bits).unwrap_or(0)
}

/// The bucket of an address in a space, among so many: a power of two, or none.
#[inline]
pub(crate) fn bucket(address: u64, space: u64, buckets: usize) -> u32 {
    // There are far fewer than numbers.
    u32::try_from(upper_bits(address ^ space.rotate_left(40), buckets.trailing_zeros())).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
            index.make_room(room);
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
            index.clear(values.len());
            assert_eq!((index.first(0), index.find(0, is(0))), (None, None));
            assert_eq!(index.find_or_add(64, 5, is(64)), 5);
        }
    }

    #[test]
    fn what_is_forgotten_is_not_found_and_takes_no_room() {
        let mut index = Index::default();
        index.make_room(40);
        let len = index.slots.len();
        for round in 0..100 {
            // Their hashes are those of the round before, too.
            let hash = |number: u32| (number + round) % 13;
            for number in 0..40 {
                assert_eq!(index.find(hash(number), |other| other == number), None, "{round}");
                assert_eq!(index.find_or_add(hash(number), number as usize, |other| other == number), number);
            }
            if round % 10 == 9 {
                index.grow();
            }
            assert!((0..40).all(|number| index.find(hash(number), |other| other == number) == Some(number)));
            index.clear(40);
        }
        assert_eq!(index.slots.len(), len << 10);
        index.clear(u32::MAX as usize);
        assert_eq!((index.forgotten, index.slots.iter().all(|slot| *slot == FREE)), (0, true));
    }

    proptest! {
        /// Most hashes lie where the slots end and begin, so that numbers go from the end to the beginning.
        #[test]
        fn what_grows_finds_what_it_had(hashes in proptest::collection::vec(
            prop_oneof![3 => Just(u32::MAX), 3 => u32::MAX - 40..=u32::MAX, 2 => 0..40_u32, 1 => any::<u32>()], 1..700)
        ) {
            let mut index = Index::default();
            for (nr, hash) in hashes.iter().enumerate() {
                index.make_room(nr + 1);
                prop_assert_eq!(index.find_or_add(*hash, nr, |_| false) as usize, nr, "all are new");
                if nr.is_power_of_two() || nr + 1 == hashes.len() {
                    let find = |nr: usize| index.find(hashes[nr], |number| number as usize == nr);
                    prop_assert!((0..=nr).all(|nr| find(nr) == u32::try_from(nr).ok()), "of {}", nr + 1);
                }
            }
            let free = index.slots.iter().filter(|slot| **slot == FREE).count();
            prop_assert_eq!(free, index.slots.len() - hashes.len());
        }
    }
}
