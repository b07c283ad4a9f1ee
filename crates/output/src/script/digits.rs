//! Numbers to text without a formatter: a line has a dozen of them.

/// Appends `count` spaces.
pub(super) fn pad(out: &mut Vec<u8>, count: usize) {
    out.resize(out.len() + count, b' ');
}

/// Appends a text, spaces before it up to `width` bytes.
pub(super) fn right(out: &mut Vec<u8>, text: &[u8], width: usize) {
    filled(out, text, width, b' ');
}

/// Appends a number in decimal, spaces before it up to `width`.
pub(super) fn decimal(out: &mut Vec<u8>, number: u64, width: usize) {
    filled(out, itoa::Buffer::new().format(number).as_bytes(), width, b' ');
}

/// As [`decimal`], with zeros before it.
pub(super) fn decimal_zeros(out: &mut Vec<u8>, number: u64, width: usize) {
    filled(out, itoa::Buffer::new().format(number).as_bytes(), width, b'0');
}

/// As [`decimal`], of a number with a sign.
pub(super) fn signed(out: &mut Vec<u8>, number: i64, width: usize) {
    filled(out, itoa::Buffer::new().format(number).as_bytes(), width, b' ');
}

/// Appends a number in hex digits, spaces before it up to `width`.
pub(super) fn hex(out: &mut Vec<u8>, mut number: u64, width: usize) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = [0u8; 16];
    let mut length = 0;
    for slot in text.iter_mut().rev() {
        let digit = usize::try_from(number % 16).unwrap_or_default();
        *slot = DIGITS.get(digit).copied().unwrap_or_default();
        number /= 16;
        length += 1;
        if number == 0 {
            break;
        }
    }
    filled(out, text.get(text.len() - length..).unwrap_or_default(), width, b' ');
}

#[inline]
fn filled(out: &mut Vec<u8>, digits: &[u8], width: usize, fill: u8) {
    if width > digits.len() {
        out.resize(out.len() + width - digits.len(), fill);
    }
    out.extend_from_slice(digits);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_the_formatter() {
        for number in [0, 7, 10, 4095, 0xffff_ffff_8100_0000, u64::MAX] {
            for width in [0, 5, 16, 22] {
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
}
