//! Sums of samples, by where these were taken.

use crate::addresses::{AddressId, Lookup};
use crate::detail::DetailId;
use crate::index;
use crate::recent::rememberable;
use crate::rows::NumberedRow;
use crate::stacks::StackId;
use crate::touch::touch;
use readperf_session::Mapping;

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

/// What tells a place from others, and its bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    address: u64,
    space: u32,
    bucket: u32,
}

impl Key {
    /// Samples without a key are not remembered: no bucket has this number.
    const NONE: Key = Key { address: 0, space: space::NOT_TOLD, bucket: u32::MAX };
}

/// What an address is in. Of some samples that is not told: they are not remembered.
mod space {
    pub(super) const NOT_TOLD: u32 = 0;
    /// A binary.
    pub(super) const BINARIES: u32 = 1;
    /// The memory, in a state of its mappings.
    pub(super) const STATES: u32 = 1 << 31;
    /// The memory, where nothing is mapped, in whatever state.
    pub(super) const NOWHERE: u32 = u32::MAX;
}

impl Remembered {
    /// Where samples are remembered that were taken there. `mapped` is what is mapped there, where the state of the mappings does not matter.
    #[inline(always)]
    pub(super) fn key(&self, lookup: Lookup, mapped: Option<Option<&Mapping>>) -> Key {
        let Lookup { version, ip, .. } = lookup;
        let (address, space) = match mapped {
            Some(Some(mapping)) => {
                let binary = u32::try_from(mapping.binary.index()).unwrap_or(u32::MAX);
                let space = binary.checked_add(space::BINARIES).filter(|space| *space < space::STATES);
                (mapping.address_in_binary(ip), space)
            }
            Some(None) => (ip, Some(space::NOWHERE)),
            None => {
                let space = rememberable(version).and_then(|version| space::STATES.checked_add(version));
                (ip, space.filter(|space| *space < space::NOWHERE))
            }
        };
        match space {
            Some(space) => Key { address, space, bucket: self.bucket(address, space) },
            None => Key::NONE,
        }
    }

    /// The upper bits of a hash.
    #[inline]
    fn bucket(&self, address: u64, space: u32) -> u32 {
        index::bucket(address, space.into(), self.buckets.len())
    }

    /// Touches what is remembered of these, so that the processor waits for many at once.
    pub(super) fn touch(&self, keys: &[Key]) {
        let bucket = |key: &Key| self.buckets.get(key.bucket as usize);
        touch(keys.iter().map(|key| bucket(key).map_or(0, |Bucket([newest, _])| newest.samples)));
    }

    /// Adds a sample to others that agree; false if there are none.
    #[inline(always)]
    pub(super) fn add(&mut self, key: Key, sample: &NumberedRow) -> bool {
        let Some(Bucket(slots)) = self.buckets.get_mut(key.bucket as usize) else { return false };
        sample.detail == DetailId::default() && slots.iter_mut().any(|slot| slot.add(key, sample))
    }

    /// Remembers a sample whose place is known. What is to go to a row instead is returned.
    #[inline]
    pub(super) fn put(&mut self, key: Key, sample: NumberedRow) -> Option<NumberedRow> {
        let Some(slot) = Slot::of(key, &sample) else { return Some(sample) };
        if self.put >= self.buckets.len() && self.buckets.len() < MOST {
            self.grow();
        }
        // It may be another one by now, and another sample may have come.
        let key = Key { bucket: self.bucket(key.address, key.space), ..key };
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
                self.push(self.bucket(slot.address, slot.space), slot);
            }
        }
    }
}

impl Slot {
    /// What is remembered of a row; `None` if it tells more than that.
    #[inline]
    fn of(key: Key, row: &NumberedRow) -> Option<Slot> {
        let NumberedRow { origin, address: place, detail, samples, period, .. } = *row;
        let Key { address, space, .. } = key;
        let is_plain = detail == DetailId::default() && space != space::NOT_TOLD;
        let samples = u32::try_from(samples).ok().filter(|samples| is_plain && *samples > 0)?;
        Some(Slot { address, space, origin, place: place.0, samples, period })
    }

    /// Adds samples, if they agree and are not too many.
    #[inline(always)]
    fn add(&mut self, key: Key, row: &NumberedRow) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;
    use readperf_session::{Binary, BinaryKind, CpuMode, Session, SpaceVersion};

    #[test]
    fn the_key_of_a_place_is_its_address_in_its_binary() {
        let mut session = Session::default();
        let mut mapping = |name: &[u8], start: u64, file_offset: u64| {
            let binary =
                Binary { name: name.into(), short_name: name.into(), kind: BinaryKind::User, build_id: None };
            let binary = session.add_binary(binary);
            Mapping { start, end: start + 0x1000, bias: start.wrapping_sub(file_offset), binary, data: false }
        };
        let key = |ip: u64, mapped: Option<Option<&Mapping>>| {
            let lookup = Lookup { version: SpaceVersion::default(), mode: CpuMode::User, ip };
            Remembered::default().key(lookup, mapped)
        };
        let (here, there) = (mapping(b"/a", 0x5000, 0x2000), mapping(b"/a", 0x9000, 0x2000));
        let other = mapping(b"/b", 0x9000, 0x2000);
        let place = key(0x5010, Some(Some(&here)));
        assert_eq!(place, key(0x9010, Some(Some(&there))), "mapped elsewhere");
        let others = [
            key(0x5011, Some(Some(&here))),
            key(0x9010, Some(Some(&other))),
            key(0x2010, Some(None)),
            key(0x2010, None),
        ];
        for other in others {
            assert!((place.address, place.space) != (other.address, other.space), "{other:?}");
        }
        assert_eq!(key(0x2010, None), Key::NONE, "of a state without mappings modes are not told apart");
    }
}
