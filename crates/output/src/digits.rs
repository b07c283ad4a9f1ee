//! Numbers put into lines without a formatter: a line has a dozen of them.

use crate::buffer::Append;
use wide::{i8x16, u8x16};

/// Appends a text, spaces before it up to `width` bytes.
pub(crate) fn right(out: &mut impl Append, text: &[u8], width: usize) {
    out.pad(width.saturating_sub(text.len()));
    out.slice(text);
}

/// Appends a number in decimal, spaces before it up to `width`.
#[inline(always)]
pub(crate) fn decimal(out: &mut impl Append, number: u64, width: usize) {
    number_filled(out, number, width, b' ');
}

/// As [`decimal`], with zeros before it.
#[inline(always)]
pub(crate) fn decimal_zeros(out: &mut impl Append, number: u64, width: usize) {
    number_filled(out, number, width, b'0');
}

/// As [`decimal`], of a number with a sign.
#[inline(always)]
pub(crate) fn signed(out: &mut impl Append, number: i64, width: usize) {
    match u64::try_from(number) {
        Ok(number) => number_filled(out, number, width, b' '),
        Err(_) => filled(out, itoa::Buffer::new().format(number).as_bytes(), width, b' '),
    }
}

/// So many millionths, fewer than 10^6, as digits behind a point, and the byte behind them.
#[inline(always)]
pub(crate) fn millionths(number: u64, behind: u8) -> [u8; 8] {
    // Of eight digits the first two are zeros: the point takes the place of the second.
    let digits = (eight_digits(number) | u64::from_le_bytes([b'0'; 8])) >> 8;
    (digits & !0xff | u64::from_le_bytes([b'.', 0, 0, 0, 0, 0, 0, behind])).to_le_bytes()
}

/// A number in decimal, spaces before it up to eight bytes, if it has no more.
#[inline(always)]
pub(crate) fn short_decimal(number: u64) -> Option<[u8; 8]> {
    (number < EIGHT_DIGITS).then(|| eight_filled(number, b' ').0)
}

/// Appends a number in hex digits, spaces before it up to `width`.
pub(crate) fn hex(out: &mut impl Append, number: u64, width: usize) {
    let text = hex_right(number);
    let digits = 16 - usize::from(leading_zeros(number));
    out.pad(width.saturating_sub(16));
    let used = width.clamp(digits, 16);
    out.slice(text.get(16 - used..).unwrap_or_default());
}

/// A number in hex digits, spaces before it up to sixteen bytes.
#[inline(always)]
pub(crate) fn hex_right(number: u64) -> [u8; 16] {
    const NTH: i8x16 = i8x16::new([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
    let front = i8x16::splat(leading_zeros(number).cast_signed()).simd_gt(NTH);
    // A zero and a space differ in one bit.
    let text = hex_digits(number) ^ (front & i8x16::splat((b'0' ^ b' ').cast_signed()));
    text.to_array().map(i8::cast_unsigned)
}

/// The hex digits of a number, and how many there are.
#[inline(always)]
pub(crate) fn hex_left(number: u32) -> ([u8; 8], usize) {
    let zeros = (number | 1).leading_zeros() / 4;
    let digits = hex_digits(u64::from(number) << 32).to_array().map(i8::cast_unsigned);
    let [first, ..] = *digits.as_chunks().0 else { return ([b'0'; 8], 1) };
    ((u64::from_le_bytes(first) >> (8 * zeros)).to_le_bytes(), 8 - zeros as usize)
}

/// How many of the sixteen hex digits stand before the first that is shown. The last one is shown if it is zero, too.
#[inline(always)]
fn leading_zeros(number: u64) -> u8 {
    u8::try_from((number | 1).leading_zeros() / 4).unwrap_or(15)
}

/// All sixteen hex digits of a number.
#[inline(always)]
fn hex_digits(number: u64) -> i8x16 {
    const LOW: u64 = 0x0f0f_0f0f_0f0f_0f0f;
    let number = number.swap_bytes();
    let spread = |half: u64| u8x16::new(u128::from(half).to_le_bytes());
    let digits = u8x16::unpack_low(spread(number >> 4 & LOW), spread(number & LOW));
    let digits = i8x16::new(digits.to_array().map(u8::cast_signed));
    let letters = digits.simd_gt(i8x16::splat(9)) & i8x16::splat((b'a' - b'0' - 10).cast_signed());
    digits + i8x16::splat(b'0'.cast_signed()) + letters
}

/// Below this, numbers have at most eight digits.
const EIGHT_DIGITS: u64 = 100_000_000;

#[inline(always)]
fn number_filled(out: &mut impl Append, number: u64, width: usize, fill: u8) {
    if number >= EIGHT_DIGITS || width > 16 {
        return filled(out, itoa::Buffer::new().format(number).as_bytes(), width, fill);
    }
    if width > 8 {
        out.chunk(&[fill; 8], width - 8);
    }
    let (text, digits) = eight_filled(number, fill);
    let used = width.clamp(digits, 8);
    out.chunk(&(u64::from_le_bytes(text) >> (8 * (8 - used))).to_le_bytes(), used);
}

/// A number below 10^8 in decimal, filled to eight bytes, and how many of these are its digits.
#[inline(always)]
fn eight_filled(number: u64, fill: u8) -> ([u8; 8], usize) {
    let digits = eight_digits(number);
    // The last digit is shown if it is zero, too.
    let zeros = (digits | 1 << 56).trailing_zeros() / 8;
    let front = (1 << (8 * zeros)) - 1;
    let text = (digits | u64::from_le_bytes([b'0'; 8])) & !front | u64::from_le_bytes([fill; 8]) & front;
    (text.to_le_bytes(), 8 - zeros as usize)
}

/// The eight decimal digits of a number below 10^8, one a byte, the first the lowest. All are worked out at the same time: in halves,
/// in pairs, one by one. A division is a multiplication that is exact for numbers as small as these.
#[inline]
fn eight_digits(number: u64) -> u64 {
    let halves = (number / 10_000) | ((number % 10_000) << 32);
    let hundreds = ((halves * 5243) >> 19) & 0x0000_007f_0000_007f;
    let pairs = hundreds | (halves - hundreds * 100) << 16;
    let tens = ((pairs * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | (pairs - tens * 10) << 8
}

#[inline(never)]
fn filled(out: &mut impl Append, digits: &[u8], width: usize, fill: u8) {
    if width > digits.len() {
        out.repeat(fill, width - digits.len());
    }
    out.slice(digits);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_the_formatter() {
        let around = |number: u64| [number.wrapping_sub(1), number, number.wrapping_add(1)];
        let tens = (0..20).flat_map(|exponent| around(10u64.pow(exponent)));
        let sixteens = (0..64).flat_map(|shift| around(1 << shift));
        let many = (0..200_000).map(|nr| nr * 499 + 3);
        let others = [0, 0xffff_ffff_8100_0000, 0x1234_5678_9abc_def0, 0x0a0b_0c0d_0e0f_0909, u64::MAX];
        for number in tens.chain(sixteens).chain(many).chain(others) {
            let widths: &[usize] = if number < 1 << 20 { &[10] } else { &[0, 1, 5, 10, 16, 17, 22] };
            for &width in widths {
                let mut out = Vec::new();
                decimal(&mut out, number, width);
                hex(&mut out, number, width);
                decimal_zeros(&mut out, number, width);
                signed(&mut out, number.cast_signed(), width);
                let signed = number.cast_signed();
                let expected = format!("{number:width$}{number:width$x}{number:0width$}{signed:width$}");
                assert_eq!(String::from_utf8(out).unwrap(), expected);
            }
        }
    }

    #[test]
    fn millionths_stand_behind_a_point() {
        for number in (0..1_000_000).step_by(7).chain([1, 9, 10, 99_999, 100_000, 999_999]) {
            assert_eq!(millionths(number, b':').as_slice(), format!(".{number:06}:").as_bytes());
        }
    }

    #[test]
    fn hex_digits_stand_on_either_side() {
        for number in [0, 1, 0xf, 0x10, 0xabc, 0x1234_5678, 0x9abc_def0, u32::MAX] {
            let (text, len) = hex_left(number);
            assert_eq!(text.get(..len), Some(format!("{number:x}").as_bytes()));
            for number in [u64::from(number), u64::from(number) << 32 | 5] {
                assert_eq!(hex_right(number).as_slice(), format!("{number:16x}").as_bytes());
            }
        }
    }
}
