//! Where nothing is mapped, as far as a few bits can tell.
//!
//! A stack without frame pointers is full of words that are no addresses of code: numbers, pointers to data. Each would be looked for
//! among what is remembered, which it is not, and then among the mappings. To know beforehand takes one bit.

use crate::index::upper_bits;
use std::ops::Range;

/// States of mappings whose outlines are held at a time, 512 bytes each: samples of processes that run at the same time take turns.
const HELD: usize = 16;

/// So many words where nothing was mapped make the outline of a state worth it: most states are over soon, when the next file is mapped.
const WORTH_IT: u32 = 8;

/// Mappings are told apart by so many upper bits of their addresses: by MiB.
const GRANULE_SHIFT: u32 = 20;

/// An outline has 2 to the power of this bits.
const HASH_BITS: u32 = 12;

/// Of more mappings than this, or of larger ones than so many granules in all, there is no outline: to make it would take long, and it would
/// hardly have a bit that is not set.
const MOST_GRANULES: u64 = 1 << (HASH_BITS - 1);
const MOST_MAPPINGS: usize = 512;

/// The granules in which something is mapped, by their hash.
type Bits = [u64; WORDS];
const WORDS: usize = 1 << (HASH_BITS - u64::BITS.ilog2());

/// What is said of a state without an outline: anything may be mapped anywhere.
const ANYWHERE: Bits = [u64::MAX; WORDS];

/// What is known of one state of the mappings.
#[derive(Clone, Debug)]
struct Outline {
    /// The number of the state.
    version: u64,
    /// Words that came where nothing is mapped.
    missed: u32,
    bits: Bits,
}

/// The outlines of some states of mappings.
#[derive(Clone, Debug)]
pub(crate) struct Outlines(Vec<Outline>);

impl Default for Outlines {
    fn default() -> Self {
        Outlines(vec![Outline { version: 0, missed: 0, bits: ANYWHERE }; HELD])
    }
}

impl Outlines {
    /// Whether nothing is mapped at an address for sure, in the state with this number.
    #[inline]
    pub(crate) fn is_free(&self, version: u64, address: u64) -> bool {
        let Some(outline) = self.0.get(slot(version)) else { return false };
        let (word, bit) = place(address >> GRANULE_SHIFT);
        (outline.version == version) & outline.bits.get(word).is_some_and(|bits| bits & bit == 0)
    }

    /// A word came where nothing is mapped. If there were enough of them, what is mapped in this state is taken in.
    #[inline]
    pub(crate) fn miss<M: Iterator<Item = Range<u64>>>(&mut self, version: u64, mapped: impl FnOnce() -> M) {
        let Some(outline) = self.0.get_mut(slot(version)) else { return };
        if outline.version != version {
            *outline = Outline { version, missed: 0, bits: ANYWHERE };
        }
        outline.missed = outline.missed.saturating_add(1);
        if outline.missed == WORTH_IT {
            outline.bits = outline_of(mapped()).unwrap_or(ANYWHERE);
        }
    }
}

#[inline]
fn slot(version: u64) -> usize {
    usize::try_from(version).unwrap_or(0) % HELD
}

/// The word and the bit of a granule.
#[inline]
fn place(granule: u64) -> (usize, u64) {
    let hash = upper_bits(granule, HASH_BITS);
    (usize::try_from(hash / u64::from(u64::BITS)).unwrap_or(0), 1 << (hash % u64::from(u64::BITS)))
}

/// The granules in which something is mapped, unless they are too many.
fn outline_of(mapped: impl Iterator<Item = Range<u64>>) -> Option<Bits> {
    let (mut bits, mut granules) = ([0; WORDS], 0);
    for (before, Range { start, end }) in mapped.enumerate() {
        let (first, last) = (start >> GRANULE_SHIFT, end.checked_sub(1)? >> GRANULE_SHIFT);
        granules += last.saturating_sub(first);
        if before >= MOST_MAPPINGS || granules > MOST_GRANULES {
            return None;
        }
        for (word, bit) in (first..=last).map(place) {
            *bits.get_mut(word)? |= bit;
        }
    }
    Some(bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MIB: u64 = 1 << GRANULE_SHIFT;

    /// Outlines that know what is mapped in this state.
    fn knowing(version: u64, mapped: &[Range<u64>]) -> Outlines {
        let mut outlines = Outlines::default();
        (0..WORTH_IT).for_each(|_| outlines.miss(version, || mapped.iter().cloned()));
        outlines
    }

    proptest! {
        #[test]
        fn what_is_mapped_is_never_free(
            mapped in proptest::collection::vec((0..1_u64 << 47, prop_oneof![0..3 * MIB, 0..1_u64 << 40]), 0..40),
            version in 1..100_u64,
        ) {
            let mapped: Vec<Range<u64>> = mapped.into_iter().map(|(start, len)| start..start + len + 1).collect();
            let outlines = knowing(version, &mapped);
            for Range { start, end } in mapped {
                for address in [start, start + (end - start) / 2, end - 1] {
                    prop_assert!(!outlines.is_free(version, address), "{address:#x}");
                }
            }
        }
    }

    #[test]
    fn where_nothing_is_mapped_is_free_once_that_is_worth_knowing() {
        let mapped = [0x40_0000..0x200_0000, 0x7f00_0000_0000..0x7f00_0010_0000];
        let mut outlines = Outlines::default();
        for _ in 1..WORTH_IT {
            outlines.miss(3, || mapped.iter().cloned());
            assert!(!outlines.is_free(3, 5));
        }
        outlines.miss(3, || mapped.iter().cloned());
        let free = [5, 0x3f_ffff, 0x200_0000, 0x7eff_ffff_ffff, 0x7f00_0010_0000, u64::MAX];
        assert!(free.iter().all(|address| outlines.is_free(3, *address)));
        let other = 3 + HELD as u64;
        assert!(!outlines.is_free(other, 5), "another state in its place");
        outlines.miss(other, || mapped.iter().cloned());
        assert!(!outlines.is_free(3, 5), "that has gone");
        assert!(!outlines.is_free(other, 5), "that has only begun");
    }

    #[test]
    fn of_too_much_there_is_no_outline() {
        let many = |count: usize| (0..count as u64).map(|nr| nr * 64..nr * 64 + 8).collect::<Vec<_>>();
        assert!(knowing(1, &many(MOST_MAPPINGS)).is_free(1, 5 * MIB));
        assert!(!knowing(1, &many(MOST_MAPPINGS + 1)).is_free(1, 5 * MIB));
        let large = |granules: u64| (0..2).map(move |nr| nr << 46..(nr << 46) + granules * MIB + 1);
        let free =
            |of: &[Range<u64>]| (0..100).filter(|nr| knowing(1, of).is_free(1, (1 << 45) + nr * MIB)).count();
        assert!(free(&large(MOST_GRANULES / 2).collect::<Vec<_>>()) > 20);
        assert_eq!(free(&large(MOST_GRANULES / 2 + 1).collect::<Vec<_>>()), 0);
        assert_eq!(free(&[0..8, 8..u64::MAX]), 0);
    }
}
