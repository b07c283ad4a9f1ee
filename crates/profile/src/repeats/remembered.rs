//! Sums of samples, by where these were taken.

use crate::addresses::AddressId;
use crate::detail::DetailId;
use crate::place_key::PlaceKey;
use crate::rows::NumberedRow;
use crate::stacks::StackId;
use crate::touch::touch;

/// Buckets at first, and at most: 4 MiB of them. Powers of two. Few in tests, so that samples take each other's place.
const FEWEST: usize = if cfg!(debug_assertions) { 2 } else { 1 << 10 };
const MOST: usize = if cfg!(debug_assertions) { 8 } else { 1 << 16 };

/// Samples by a hash of where they were taken; later ones take the place of earlier ones.
#[derive(Debug, Default)]
pub(super) struct Remembered {
    buckets: Vec<Bucket>,
    /// How many have been put in since it was made or grew.
    put: usize,
}

/// Slots of the same hash, the newest first: what a cache line holds.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Bucket([Slot; 2]);

/// Samples without a stack that agree, with their sums. A free one has none.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    address: u64,
    space: u32,
    origin: u32,
    place: u32,
    samples: u32,
    period: u64,
}

impl Remembered {
    /// The key of a place here.
    #[inline(always)]
    pub(super) fn key(&self, place: PlaceKey) -> PlaceKey {
        place.among(self.buckets.len())
    }

    /// Touches what is remembered of these, so that the processor waits for many at once.
    pub(super) fn touch(&self, keys: &[PlaceKey]) {
        let bucket = |key: &PlaceKey| self.buckets.get(key.bucket as usize);
        touch(keys.iter().map(|key| bucket(key).map_or(0, |Bucket([newest, _])| newest.samples)));
    }

    /// Adds a sample to others that agree; false if there are none.
    #[inline(always)]
    pub(super) fn add(&mut self, key: PlaceKey, sample: &NumberedRow) -> bool {
        let Some(Bucket(slots)) = self.buckets.get_mut(key.bucket as usize) else { return false };
        sample.detail == DetailId::default() && slots.iter_mut().any(|slot| slot.add(key, sample))
    }

    /// Remembers a sample whose place is known. What is to go to a row instead is returned.
    #[inline]
    pub(super) fn put(&mut self, key: PlaceKey, sample: NumberedRow) -> Option<NumberedRow> {
        let Some(slot) = Slot::of(key, &sample) else { return Some(sample) };
        if self.put >= self.buckets.len() && self.buckets.len() < MOST {
            self.grow();
        }
        // It may be another one by now, and another sample may have come.
        let key = self.key(key);
        if self.add(key, &sample) { None } else { self.push(key.bucket, slot).row() }
    }

    /// The older one of the bucket goes.
    fn push(&mut self, bucket: u32, slot: Slot) -> Slot {
        let Some(Bucket(slots)) = self.buckets.get_mut(bucket as usize) else { return slot };
        self.put += 1;
        let [newest, older] = *slots;
        *slots = [slot, newest];
        older
    }

    /// What the samples add up to. Those that agree may have several rows: some went to theirs before.
    pub(super) fn rows(&self) -> impl Iterator<Item = NumberedRow> {
        self.buckets.iter().flat_map(|Bucket(slots)| slots).filter_map(|slot| slot.row())
    }

    /// Makes it larger. The slots of a bucket find room in those that it becomes.
    #[cold]
    fn grow(&mut self) {
        let len = (self.buckets.len() * 4).clamp(FEWEST, MOST);
        let old = std::mem::replace(&mut self.buckets, vec![Bucket::default(); len]);
        self.put = 0;
        for Bucket([newest, older]) in old {
            for slot in [older, newest].into_iter().filter(|slot| slot.samples > 0) {
                let Slot { address, space, .. } = slot;
                let key = self.key(PlaceKey { address, space, bucket: 0 });
                self.push(key.bucket, slot);
            }
        }
    }
}

impl Slot {
    /// What is remembered of a row; `None` if it tells more than that.
    #[inline]
    fn of(key: PlaceKey, row: &NumberedRow) -> Option<Slot> {
        let NumberedRow { origin, address: place, detail, samples, period, .. } = *row;
        let PlaceKey { address, space, .. } = key;
        let is_plain = detail == DetailId::default() && key.is_told();
        let samples = u32::try_from(samples).ok().filter(|samples| is_plain && *samples > 0)?;
        Some(Slot { address, space, origin, place: place.0, samples, period })
    }

    /// Adds samples, if they agree and are not too many.
    #[inline(always)]
    fn add(&mut self, key: PlaceKey, row: &NumberedRow) -> bool {
        if (self.address, self.space, self.origin) != (key.address, key.space, row.origin) {
            return false;
        }
        let more = u32::try_from(row.samples).ok();
        let Some(samples) = more.and_then(|more| self.samples.checked_add(more)) else { return false };
        self.samples = samples;
        self.period = self.period.wrapping_add(row.period);
        true
    }

    /// The row that its samples go to.
    #[inline]
    fn row(self) -> Option<NumberedRow> {
        let Slot { origin, place, samples, period, .. } = self;
        let (stack, address, detail) = (StackId::EMPTY, AddressId(place), DetailId::default());
        (samples > 0).then_some(NumberedRow {
            origin,
            stack,
            address,
            detail,
            samples: samples.into(),
            period,
        })
    }
}
