//! Look-ups of addresses that were made before, with their answers. Most samples are in places where others were.

use crate::addresses::AddressId;
use crate::place_key::PlaceKey;
use crate::touch::touch;

/// Buckets at first, and at most: 4 MiB of them. With more, most of what is found is found anyway, and the rest of the caches is worth
/// more. Powers of two.
const FEWEST: usize = 1 << 10;
const MOST: usize = 1 << 16;

/// Answers by a hash of the question; later ones take the place of earlier ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recent {
    buckets: Vec<Bucket>,
    /// How many have been put in since it was made or grew.
    put: usize,
}

/// Slots of look-ups with the same hash, the newest first: what a cache line holds.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Bucket([Slot; 4]);

/// A look-up and its answer. A free one is of [no space](PlaceKey::FREE).
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    address: u64,
    space: u32,
    number: u32,
}

impl Recent {
    /// The key of a place here.
    #[inline]
    pub(crate) fn key(&self, place: PlaceKey) -> PlaceKey {
        place.among(self.buckets.len())
    }

    /// Touches what these look-ups will need, so that the processor waits for many buckets at once.
    pub(crate) fn touch(&self, keys: &[PlaceKey]) {
        let newest = |key: &PlaceKey| self.slots(*key).map_or(0, |[newest, ..]| newest.number);
        touch(keys.iter().map(newest));
    }

    #[inline]
    fn slots(&self, key: PlaceKey) -> Option<&[Slot; 4]> {
        self.buckets.get(key.bucket as usize).map(|Bucket(slots)| slots)
    }

    /// The answer to a look-up, if it is remembered.
    #[inline]
    pub(crate) fn get(&self, key: PlaceKey) -> Option<AddressId> {
        let slots = self.slots(key)?;
        let known = slots.iter().find(|slot| slot.address == key.address && slot.space == key.space)?;
        Some(AddressId(known.number))
    }

    /// Remembers an answer.
    #[inline]
    pub(crate) fn put(&mut self, key: PlaceKey, id: AddressId) {
        if !key.is_told() {
            return;
        }
        if self.put >= self.buckets.len() * 2 && self.buckets.len() < MOST {
            self.grow();
        }
        self.put += 1;
        self.push(Slot { address: key.address, space: key.space, number: id.0 });
    }

    /// The oldest of the bucket goes.
    #[inline]
    fn push(&mut self, slot: Slot) {
        let Slot { address, space, .. } = slot;
        let key = self.key(PlaceKey { address, space, bucket: 0 });
        if let Some(Bucket(slots)) = self.buckets.get_mut(key.bucket as usize) {
            let [newest, second, third, _] = *slots;
            *slots = [slot, newest, second, third];
        }
    }

    #[cold]
    fn grow(&mut self) {
        let len = (self.buckets.len() * 4).clamp(FEWEST, MOST);
        let old = std::mem::replace(&mut self.buckets, vec![Bucket::default(); len]);
        for Bucket(slots) in old {
            slots
                .into_iter()
                .rev()
                .filter(|slot| slot.space != PlaceKey::FREE)
                .for_each(|slot| self.push(slot));
        }
    }
}
