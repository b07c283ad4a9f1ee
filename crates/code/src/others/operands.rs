//! Operands as text: taken apart, and their numbers written anew.

/// How a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Radix {
    Decimal,
    /// `0x1f`, also where it is below ten.
    Hexadecimal,
    /// As it is.
    Kept,
}

/// A number in operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Number {
    /// Which operand it is in, from 0; brackets hold one operand together.
    pub(super) operand: usize,
    /// Whether it is in brackets or behind them.
    pub(super) is_of_memory: bool,
}

/// Operands without spaces behind the commas.
pub(super) fn without_spaces(operands: &str) -> String {
    operands.replace(", ", ",")
}

/// Writes all numbers anew.
pub(super) fn with_numbers(operands: &str, radix: impl Fn(Number) -> Radix) -> String {
    let mut written = String::with_capacity(operands.len());
    let (mut depth, mut operand, mut is_of_memory) = (0_usize, 0, false);
    let mut before = ' ';
    let mut rest = operands;
    while let Some(first) = rest.chars().next() {
        match first {
            '[' | '{' | '(' => depth += 1,
            ']' | '}' | ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => operand += 1,
            _ => {}
        }
        is_of_memory |= first == '[';
        let begins_word = !before.is_ascii_alphanumeric() && !matches!(before, '_' | '.' | '%' | '$');
        let length = if begins_word && first.is_ascii_digit() { length_of_number(rest) } else { 0 };
        let (taken, behind) = rest.split_at_checked(length.max(first.len_utf8())).unwrap_or((rest, ""));
        match value(taken).filter(|_| length > 0) {
            Some(value) => match radix(Number { operand, is_of_memory }) {
                // A number that does not fit is a negative one of 64 bits.
                Radix::Decimal => written.push_str(&value.cast_signed().to_string()),
                Radix::Hexadecimal => written.push_str(&format!("{value:#x}")),
                Radix::Kept => written.push_str(taken),
            },
            None => written.push_str(taken),
        }
        before = taken.chars().next_back().unwrap_or(' ');
        rest = behind;
    }
    written
}

/// How long the number is that some text begins with; 0 if it is part of a word.
fn length_of_number(text: &str) -> usize {
    let length = text.find(|digit: char| !digit.is_ascii_alphanumeric()).unwrap_or(text.len());
    let is_fraction = text.get(length..).is_some_and(|rest| rest.starts_with('.'));
    let is_whole = !is_fraction && text.get(..length).and_then(value).is_some();
    if is_whole { length } else { 0 }
}

fn value(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_anew() {
        let decimal = |text| with_numbers(text, |_| Radix::Decimal);
        assert_eq!(decimal("r1, -0x10(r2)"), "r1, -16(r2)");
        assert_eq!(decimal("v0.4s, #0x1f, lsl #8"), "v0.4s, #31, lsl #8");
        assert_eq!(decimal("d0, #1.50000000"), "d0, #1.50000000");
        assert_eq!(decimal("%r10, 0x10(%r1, %r2)"), "%r10, 16(%r1, %r2)");
        let hexadecimal = |number: Number| match number.operand {
            1 if !number.is_of_memory => Radix::Hexadecimal,
            _ => Radix::Decimal,
        };
        assert_eq!(with_numbers("w0, #1", hexadecimal), "w0, #0x1");
        assert_eq!(with_numbers("w0, [x1, #0x10]!", hexadecimal), "w0, [x1, #16]!");
        assert_eq!(with_numbers("x1, [sp], #0x10", hexadecimal), "x1, [sp], #16");
    }
}
