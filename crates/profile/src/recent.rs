//! Look-ups of addresses that were made before, with their answers. Most samples are in places where others were.

use crate::addresses::AddressId;
use crate::index;
use crate::touch::touch;
use readperf_session::SpaceVersion;

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

/// A look-up and its answer. A free one is of version 0: without mappings modes share that version, but not the answer, so
/// that those are never remembered.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    ip: u64,
    version: u32,
    number: u32,
}

/// The number of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BucketId(u32);

impl BucketId {
    /// That of a look-up which need not be made.
    pub(crate) const NONE: BucketId = BucketId(u32::MAX);
}

/// The number of a version, if it is one whose answers are remembered.
#[inline]
pub(crate) fn rememberable(version: SpaceVersion) -> Option<u32> {
    u32::try_from(version.number()).ok().filter(|number| *number != 0)
}

impl Recent {
    /// The number of a look-up's bucket: the upper bits of its hash.
    #[inline]
    pub(crate) fn bucket(&self, version: u64, ip: u64) -> BucketId {
        BucketId(index::bucket(ip, version, self.buckets.len()))
    }

    /// Touches what these look-ups will need, so that the processor waits for many buckets at once.
    pub(crate) fn touch(&self, buckets: &[BucketId]) {
        let newest = |id: &BucketId| self.slots(*id).map_or(0, |[newest, ..]| newest.number);
        touch(buckets.iter().map(newest));
    }

    #[inline]
    fn slots(&self, BucketId(bucket): BucketId) -> Option<&[Slot; 4]> {
        self.buckets.get(bucket as usize).map(|Bucket(slots)| slots)
    }

    /// The answer to a look-up whose bucket this is, if it is remembered.
    #[inline]
    pub(crate) fn get(&self, bucket: BucketId, version: SpaceVersion, ip: u64) -> Option<AddressId> {
        let version = rememberable(version)?;
        let slots = self.slots(bucket)?;
        let known = slots.iter().find(|slot| slot.ip == ip && slot.version == version)?;
        Some(AddressId(known.number))
    }

    /// Remembers an answer.
    #[inline]
    pub(crate) fn put(&mut self, version: SpaceVersion, ip: u64, id: AddressId) {
        let Some(version) = rememberable(version) else { return };
        if self.put >= self.buckets.len() * 2 && self.buckets.len() < MOST {
            self.grow();
        }
        self.put += 1;
        self.push(Slot { ip, version, number: id.0 });
    }

    /// The oldest of the bucket goes.
    #[inline]
    fn push(&mut self, slot: Slot) {
        let BucketId(bucket) = self.bucket(slot.version.into(), slot.ip);
        if let Some(Bucket(slots)) = self.buckets.get_mut(bucket as usize) {
            let [newest, second, third, _] = *slots;
            *slots = [slot, newest, second, third];
        }
    }

    #[cold]
    fn grow(&mut self) {
        let len = (self.buckets.len() * 4).clamp(FEWEST, MOST);
        let old = std::mem::replace(&mut self.buckets, vec![Bucket::default(); len]);
        for Bucket(slots) in old {
            slots.into_iter().rev().filter(|slot| slot.version != 0).for_each(|slot| self.push(slot));
        }
    }
}
