//! C bit-fields in a u64 of the recording.
//!
//! A little-endian compiler allocates the first field in the lowest bits, a big-endian one in the highest; the value of
//! a field keeps its own bit order in both. So a foreign word is neither swapped nor reversed: each field is moved.

use super::endian::{ByteOrder, Order};

/// The word as read in the recorder's byte order, to the form with the first field lowest.
#[inline(always)]
pub fn from_wire<O: Order>(word: u64, widths: &[u8]) -> u64 {
    match O::ORDER {
        ByteOrder::Little => word,
        ByteOrder::Big => mirror(word, widths),
    }
}

/// The inverse of [`from_wire`]; mirroring twice gives the word again.
pub fn to_wire<O: Order>(word: u64, widths: &[u8]) -> u64 {
    match O::ORDER {
        ByteOrder::Little => word,
        ByteOrder::Big => mirror_back(word, widths),
    }
}

/// Fields allocated from the top down, to fields allocated from the bottom up. Bits behind the named widths count as one
/// last field.
fn mirror(word: u64, widths: &[u8]) -> u64 {
    let (mut low, mut out) = (0u32, 0u64);
    for width in fields(widths) {
        let top = 64u32.saturating_sub(low + width);
        out |= (word >> top & mask(width)) << low;
        low += width;
    }
    out
}

fn mirror_back(word: u64, widths: &[u8]) -> u64 {
    let (mut low, mut out) = (0u32, 0u64);
    for width in fields(widths) {
        let top = 64u32.saturating_sub(low + width);
        out |= (word >> low & mask(width)) << top;
        low += width;
    }
    out
}

/// The widths, then what is left of the 64 bits.
fn fields(widths: &[u8]) -> impl Iterator<Item = u32> + '_ {
    let used: u32 = widths.iter().map(|w| u32::from(*w)).sum();
    let rest = 64u32.saturating_sub(used);
    widths.iter().map(|w| u32::from(*w)).chain((rest > 0).then_some(rest))
}

fn mask(width: u32) -> u64 {
    u64::MAX.checked_shr(64 - width).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::endian::{Be, Le};

    #[test]
    fn first_field_is_lowest_here_and_highest_on_big_endian() {
        // widths 1,1,2: fields 1, 0, 2. LE: 1 | 0<<1 | 2<<2 = 0b1001. BE: 1 at bit 63, 0 at 62, 2 (0b10) at 60-61.
        assert_eq!(from_wire::<Le>(0b1001, &[1, 1, 2]), 0b1001);
        assert_eq!(from_wire::<Be>(1 << 63 | 0b10 << 60, &[1, 1, 2]), 0b1001);
    }

    #[test]
    fn there_and_back() {
        for word in [0, 1, u64::MAX, 0x0123_4567_89ab_cdef, 1 << 63] {
            for widths in [&[1u8, 1, 1, 1, 16, 4, 2, 4, 3, 31][..], &[1; 40], &[]] {
                assert_eq!(to_wire::<Be>(from_wire::<Be>(word, widths), widths), word);
            }
        }
    }
}
