//! The tables of 32-bit Arm: `.ARM.exidx` and `.ARM.extab`.
//!
//! Exception Handling ABI for the Arm Architecture, chapters 6 (index table), 7 (generic model), 9 (compact model) and 10
//! (instructions). A table says how a function body is left; it is not exact in its first and last instructions.

use std::ops::RangeInclusive;

use super::rule::{Cfa, Rule, Saved};
use crate::machine::Machine;

/// `EXIDX_CANTUNWIND`: the function cannot be unwound.
const CANNOT: u32 = 1;
/// Bytes of an entry of the index.
const ENTRY_BYTES: usize = 8;

const SP: u8 = 13;
const LR: u8 = 14;
const PC: u8 = 15;

/// A section and the virtual address that it starts at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) address: u64,
    pub(super) big_endian: bool,
}

impl Placed<'_> {
    fn word(&self, at: usize) -> Option<u32> {
        let bytes: [u8; 4] = self.bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        Some(if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    /// A 31-bit signed distance from its own place, as a virtual address.
    fn relative(&self, at: usize) -> Option<u64> {
        let distance = i64::from((self.word(at)? << 1).cast_signed() >> 1);
        let place = self.address.wrapping_add(u64::try_from(at).ok()?);
        Some(place.wrapping_add_signed(distance) & 0xffff_ffff)
    }
}

/// The rule for the code at a virtual address and for which addresses it holds. What cannot be unwound has no rule, unless it is
/// one of the functions that nobody called: the ABI has one mark for both.
pub(super) fn rule(
    index: Placed<'_>,
    table: Placed<'_>,
    address: u64,
    outermost: &[u64],
) -> Option<(Rule, RangeInclusive<u64>)> {
    let count = index.bytes.len() / ENTRY_BYTES;
    let at = last_at_or_below(index, count, address)?;
    let start = index.relative(at)?;
    let next = at.checked_add(ENTRY_BYTES)?;
    // The last entry has no end of its own; binaries end with one that cannot be unwound.
    let end = index.relative(next).unwrap_or(u64::from(u32::MAX));
    let content_at = at.checked_add(4)?;
    let content = index.word(content_at)?;
    if content == CANNOT {
        let last = end.checked_sub(1).filter(|last| *last >= start)?;
        let is_outermost = outermost.iter().any(|place| (start..=last).contains(place));
        return is_outermost.then(|| (Rule::outermost(&Machine::Arm.convention()), start..=last));
    }
    if address == start {
        return Some((Rule::without_frame(&Machine::Arm.convention()), start..=start));
    }
    let instructions = if content >> 31 == 1 {
        compact(index, content_at)?
    } else {
        let place = index.relative(content_at)?.checked_sub(table.address)?;
        let place = usize::try_from(place).ok()?;
        match table.word(place)? >> 31 {
            1 => compact(table, place)?,
            // A personality routine of a language. All of GNU keep the instructions behind it, with their length.
            _ => with_length(table, place.checked_add(4)?, 0)?,
        }
    };
    Some((Frame::default().run(&instructions)?, start + 1..=end.checked_sub(1).filter(|end| *end > start)?))
}

/// The place of the last entry that starts at an address or below it.
fn last_at_or_below(index: Placed<'_>, count: usize, address: u64) -> Option<usize> {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low.midpoint(high);
        if index.relative(middle.checked_mul(ENTRY_BYTES)?)? <= address {
            low = middle.checked_add(1)?;
        } else {
            high = middle;
        }
    }
    low.checked_sub(1)?.checked_mul(ENTRY_BYTES)
}

/// The instructions of an entry in one of the three forms that the ABI defines itself.
fn compact(section: Placed<'_>, at: usize) -> Option<Vec<u8>> {
    match section.word(at)? >> 24 & 0xf {
        0 => Some(section.word(at)?.to_be_bytes().get(1..)?.to_vec()),
        1 | 2 => with_length(section, at, 1),
        _ => None,
    }
}

/// The instructions of an entry, of whose first word the byte `length_at` says how many words follow.
fn with_length(section: Placed<'_>, at: usize, length_at: usize) -> Option<Vec<u8>> {
    let first = section.word(at)?.to_be_bytes();
    let more = usize::from(*first.get(length_at)?);
    let mut bytes = first.get(length_at.checked_add(1)?..)?.to_vec();
    for number in 1..=more {
        bytes.extend(section.word(at.checked_add(number.checked_mul(4)?)?)?.to_be_bytes());
    }
    Some(bytes)
}

/// What the instructions have said so far: the virtual stack pointer as a register and a distance from it, and where
/// registers are, from the same register.
#[derive(Debug)]
struct Frame {
    base: u8,
    offset: i64,
    saved: [Option<i64>; 16],
}

impl Default for Frame {
    fn default() -> Self {
        Frame { base: SP, offset: 0, saved: [None; 16] }
    }
}

impl Frame {
    /// `None` for what is refused, reserved, or cannot be told by one base register.
    fn run(mut self, instructions: &[u8]) -> Option<Rule> {
        let mut rest = instructions.iter().copied();
        while let Some(first) = rest.next() {
            match first {
                0x00..=0x3f => self.skip(i64::from(first & 0x3f) * 4 + 4),
                0x40..=0x7f => self.skip(-(i64::from(first & 0x3f) * 4 + 4)),
                0x80..=0x8f => {
                    let mask = u16::from_be_bytes([first & 0xf, rest.next()?]);
                    self.pop_all((mask != 0).then_some(mask << 4)?);
                }
                0x90..=0x9f => self.set_base(first & 0xf)?,
                0xa0..=0xaf => {
                    let link = if first & 8 != 0 { 1 << LR } else { 0 };
                    // r4 and as many behind it as the lowest bits say.
                    self.pop_all((0xff_u16 >> (7 - (first & 7))) << 4 | link);
                }
                0xb0 => break,
                0xb1 => {
                    let mask = rest.next()?;
                    self.pop_all((1..16).contains(&mask).then_some(u16::from(mask))?);
                }
                0xb2 => self.skip(leb128(&mut rest)?.checked_mul(4)?.checked_add(0x204)?),
                // Floating-point registers are not followed. The older form of saving them has a word more.
                0xb3 => self.skip(i64::from(rest.next()? & 0xf) * 8 + 12),
                0xb8..=0xbf => self.skip(i64::from(first & 7) * 8 + 12),
                // The code that authenticates the return address.
                0xb4 => self.skip(4),
                0xb5 => {}
                0xc0..=0xc5 | 0xd0..=0xd7 => self.skip(i64::from(first & 7) * 8 + 8),
                0xc6 | 0xc8 | 0xc9 => self.skip(i64::from(rest.next()? & 0xf) * 8 + 8),
                0xc7 => self.skip(i64::from((rest.next()? & 0xf).count_ones()) * 4),
                _ => return None,
            }
        }
        Some(self.into_rule())
    }

    fn skip(&mut self, bytes: i64) {
        self.offset = self.offset.saturating_add(bytes);
    }

    fn pop_all(&mut self, mask: u16) {
        for (register, place) in self.saved.iter_mut().enumerate() {
            if mask >> register & 1 == 1 {
                *place = Some(self.offset);
                self.offset = self.offset.saturating_add(4);
            }
        }
    }

    fn set_base(&mut self, register: u8) -> Option<()> {
        let is_plain = register != SP && register != PC && self.saved.iter().all(Option::is_none);
        is_plain.then(|| (self.base, self.offset) = (register, 0))
    }

    fn into_rule(self) -> Rule {
        let at = |place: i64| Saved::At(place.saturating_sub(self.offset));
        let place = |register: u8| self.saved.get(usize::from(register)).copied().flatten();
        let return_address = place(PC).or(place(LR)).map_or(Saved::Kept, at);
        let saved = (0..LR).filter_map(|register| Some((register, at(place(register)?)))).collect();
        Rule {
            cfa: Cfa::Register { column: self.base, offset: self.offset },
            return_address,
            return_column: LR,
            is_signal: false,
            saved,
            is_plain: true,
        }
    }
}

fn leb128(bytes: &mut impl Iterator<Item = u8>) -> Option<i64> {
    let mut value = 0_i64;
    for shift in (0..28).step_by(7) {
        let byte = bytes.next()?;
        value |= i64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(instructions: &[u8]) -> Option<Rule> {
        Frame::default().run(instructions)
    }

    fn at(rule: &Rule) -> Vec<(u8, i64)> {
        let place = |(column, saved): &(u8, Saved)| match saved {
            Saved::At(offset) => (*column, *offset),
            other => panic!("{other:?}"),
        };
        rule.saved.iter().map(place).collect()
    }

    #[test]
    fn as_the_abi_says() {
        // Pop r4-r6 and r14, then finish: what llvm-readelf shows as "a2 b0" is without r14, "aa b0" with it.
        let rule = run(&[0xaa, 0xb0, 0xb0]).unwrap();
        assert_eq!(rule.cfa, Cfa::Register { column: 13, offset: 16 });
        assert_eq!(rule.return_address, Saved::At(-4));
        assert_eq!(at(&rule), [(4, -16), (5, -12), (6, -8)]);
        // vsp = r7, then 20 bytes up, then pop {r7, lr}.
        let rule = run(&[0x97, 0x04, 0x84, 0x08]).unwrap();
        assert_eq!(rule.cfa, Cfa::Register { column: 7, offset: 28 });
        assert_eq!((at(&rule), rule.return_address), (vec![(7, -8)], Saved::At(-4)));
        // pop {fp, lr} by mask, floating-point registers d8 and d9, 0x204 + 4 bytes.
        let rule = run(&[0xb2, 0x01, 0xd1, 0x84, 0x80]).unwrap();
        assert_eq!(rule.cfa, Cfa::Register { column: 13, offset: 0x208 + 16 + 8 });
        assert_eq!((at(&rule), rule.return_address), (vec![(11, -8)], Saved::At(-4)));
    }

    #[test]
    fn functions_that_nobody_called() {
        // Three entries: 0x1000 and 0x2000 cannot be unwound, 0x1800 pops r4 and lr. Distances are from each word.
        let starts = [(0x1000_u32, CANNOT), (0x1800, 0x80a8_b0b0), (0x2000, CANNOT), (0x2100, CANNOT)];
        let bytes: Vec<u8> = (0_u32..)
            .zip(starts)
            .flat_map(|(number, (start, content))| {
                let distance = start.wrapping_sub(0x8000 + number * 8) & 0x7fff_ffff;
                [distance, content].map(u32::to_le_bytes).concat()
            })
            .collect();
        let index = Placed { bytes: &bytes, address: 0x8000, big_endian: false };
        let table = Placed { bytes: &[], address: 0, big_endian: false };
        let rule = |address, outermost: &[u64]| super::rule(index, table, address, outermost);
        let bottom = Rule::outermost(&Machine::Arm.convention());
        for address in [0x1000, 0x1002, 0x17ff] {
            assert_eq!(rule(address, &[0x1000]), Some((bottom.clone(), 0x1000..=0x17ff)));
            assert_eq!(rule(address, &[]), None);
            assert_eq!(rule(address, &[0xfff, 0x1800, 0x2000]), None);
        }
        assert_eq!(rule(0x20ff, &[0x1000, 0x2080]), Some((bottom, 0x2000..=0x20ff)));
        // An entry that says how it is left is believed, even where the program starts.
        assert_eq!(rule(0x1802, &[0x1800]).unwrap().0.cfa, Cfa::Register { column: 13, offset: 8 });
    }

    #[test]
    fn refused() {
        assert_eq!(run(&[0x80, 0x00]), None);
        assert_eq!(run(&[0x9d]), None);
        assert_eq!(run(&[0xa0, 0x97]), None);
        assert_eq!(run(&[0x84]), None);
        assert_eq!(run(&[0xff]), None);
    }
}
