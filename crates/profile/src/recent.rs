//! Look-ups of addresses that were made before, with their answers. Most samples are in places where others were.

use crate::addresses::{AddressId, Lookup};
use readperf_session::SpaceVersion;
use std::hint::black_box;

/// Slots at first, and at most; 16 bytes each. Powers of two.
const FEWEST: usize = 1 << 12;
const MOST: usize = 1 << 20;

/// Answers by a hash of the question; later ones take the place of earlier ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recent {
    slots: Vec<Slot>,
    /// How many have been put in since it was made or grew.
    put: usize,
}

/// A look-up and its answer. A free one is of version 0: without mappings modes share that version, but not the answer, so
/// that those are never remembered.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    ip: u64,
    version: u32,
    number: u32,
}

/// 2^64 over the golden ratio: Fibonacci hashing.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The number of a version, if it is one whose answers are remembered.
#[inline]
fn rememberable(version: SpaceVersion) -> Option<u32> {
    u32::try_from(version.number()).ok().filter(|number| *number != 0)
}

impl Recent {
    /// The slot of a look-up: the upper bits of its hash.
    #[inline]
    fn index(&self, version: u32, ip: u64) -> usize {
        let hash = (ip ^ u64::from(version).rotate_left(40)).wrapping_mul(GOLDEN);
        let bits = self.slots.len().trailing_zeros();
        usize::try_from(hash.checked_shr(64 - bits).unwrap_or(0)).unwrap_or(0)
    }

    #[inline]
    fn slot(&self, version: u32, ip: u64) -> Slot {
        self.slots.get(self.index(version, ip)).copied().unwrap_or_default()
    }

    /// Touches what these look-ups will need, so that the processor waits for many slots at once.
    pub(crate) fn touch(&self, lookups: &[Lookup]) {
        let slots = lookups.iter().map(|lookup| self.slot(lookup.version_number(), lookup.ip()));
        black_box(slots.fold(0, |sum, slot| sum ^ slot.number));
    }

    /// The answer to a look-up, if it is remembered.
    #[inline]
    pub(crate) fn get(&self, version: SpaceVersion, ip: u64) -> Option<AddressId> {
        let version = rememberable(version)?;
        let slot = self.slot(version, ip);
        (slot.ip == ip && slot.version == version).then_some(AddressId(slot.number))
    }

    /// Remembers an answer.
    #[inline]
    pub(crate) fn put(&mut self, version: SpaceVersion, ip: u64, id: AddressId) {
        let Some(version) = rememberable(version) else { return };
        if self.put * 2 >= self.slots.len() && self.slots.len() < MOST {
            self.grow();
        }
        self.put += 1;
        let index = self.index(version, ip);
        if let Some(slot) = self.slots.get_mut(index) {
            *slot = Slot { ip, version, number: id.0 };
        }
    }

    #[cold]
    fn grow(&mut self) {
        let len = (self.slots.len() * 4).clamp(FEWEST, MOST);
        let old = std::mem::replace(&mut self.slots, vec![Slot::default(); len]);
        self.put = 0;
        for known in old.into_iter().filter(|slot| slot.version != 0) {
            let index = self.index(known.version, known.ip);
            if let Some(slot) = self.slots.get_mut(index) {
                *slot = known;
                self.put += 1;
            }
        }
    }
}
