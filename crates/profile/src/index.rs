//! An index of values that lie elsewhere: their numbers, by hash.

use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// No value.
const EMPTY: u32 = u32::MAX;

/// Numbers of values, at the hash of the value or behind it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    /// The length is a power of two, or 0.
    slots: Vec<Slot>,
}

/// A place of the index. With the hash beside the number, only the value that is looked for is touched.
#[derive(Clone, Copy, Debug)]
struct Slot {
    hash: u32,
    /// [`EMPTY`] in a free one.
    number: u32,
}

const FREE: Slot = Slot { hash: 0, number: EMPTY };

impl Index {
    /// Makes room: a quarter stays free beside this many values.
    #[inline]
    pub(crate) fn make_room(&mut self, values: usize) {
        while values * 4 >= self.slots.len() * 3 {
            self.grow();
        }
    }

    /// The number in the first slot for a hash, if it is that of a value with this hash: most often the one that is looked
    /// for.
    #[inline]
    pub(crate) fn first(&self, hash: u32) -> Option<u32> {
        let slot = self.slots.get(hash as usize & self.slots.len().wrapping_sub(1))?;
        (slot.number != EMPTY && slot.hash == hash).then_some(slot.number)
    }

    /// The number of a value with this hash; `next`, which it is given, if it is new. There must be room for one more.
    #[inline]
    pub(crate) fn find_or_add(&mut self, hash: u32, next: usize, is: impl Fn(u32) -> bool) -> u32 {
        let mask = self.slots.len().wrapping_sub(1);
        let mut at = hash as usize & mask;
        while let Some(slot) = self.slots.get_mut(at) {
            if slot.number == EMPTY {
                // Memory is at its end before the numbers are.
                *slot = Slot { hash, number: u32::try_from(next).unwrap_or(EMPTY) };
                return slot.number;
            }
            if slot.hash == hash && is(slot.number) {
                return slot.number;
            }
            at = (at + 1) & mask;
        }
        EMPTY
    }

    /// Forgets all numbers, and keeps the room.
    pub(crate) fn clear(&mut self) {
        self.slots.fill(FREE);
    }

    /// Makes room for this many values at once: nothing is moved until there are more.
    pub(crate) fn reserve(&mut self, values: usize) {
        let len = values.saturating_mul(4).div_ceil(3).saturating_add(1).next_power_of_two();
        if len > self.slots.len() {
            self.grow_to(len);
        }
    }

    #[cold]
    fn grow(&mut self) {
        self.grow_to((self.slots.len() * 2).max(64));
    }

    /// The length is a power of two.
    fn grow_to(&mut self, len: usize) {
        let old = std::mem::replace(&mut self.slots, vec![FREE; len]);
        for known in old.into_iter().filter(|slot| slot.number != EMPTY) {
            let mut at = known.hash as usize & (len - 1);
            while let Some(slot) = self.slots.get_mut(at) {
                if slot.number == EMPTY {
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
