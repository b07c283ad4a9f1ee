//! Tokens of the C expressions in a `print fmt`.

use super::c_type::{IntType, Number};
use super::errors::ParseError;

/// A token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    Name(String),
    Number(Number),
    /// A string literal with its escapes resolved.
    Text(Vec<u8>),
    /// An operator or a punctuation mark.
    Mark(&'static str),
}

/// Longest first, so that `<<` is not taken for two `<`.
const MARKS: [&str; 40] = [
    "<<=", ">>=", "...", "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++", "--", "+=", "-=", "*=",
    "/=", "|=", "&=", "(", ")", "{", "}", "[", "]", ",", ";", ":", "?", "+", "-", "*", "/", "%", "&", "|",
    "^", "!", "~",
];

/// The tokens of `text`, each with its byte offset.
pub(crate) fn tokens(text: &str, long_size: u8) -> Result<Vec<(usize, Token)>, ParseError> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let offset = text.len() - rest.len();
        let fail = |reason| ParseError { offset, reason };
        let (token, length) = if first == '"' {
            let (bytes, length) = string(rest).ok_or_else(|| fail("a string that does not end"))?;
            (Token::Text(bytes), length)
        } else if first == '\'' {
            character(rest).ok_or_else(|| fail("a malformed character"))?
        } else if first.is_ascii_digit() {
            number(rest, long_size).ok_or_else(|| fail("a malformed number"))?
        } else if first == '_' || first.is_alphabetic() {
            let length = rest.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(rest.len());
            (Token::Name(rest.get(..length).unwrap_or_default().to_owned()), length)
        } else {
            let mark = mark(rest).ok_or_else(|| fail("an unexpected character"))?;
            (Token::Mark(mark), mark.len())
        };
        tokens.push((offset, token));
        rest = rest.get(length..).unwrap_or_default().trim_start();
    }
    Ok(tokens)
}

fn mark(rest: &str) -> Option<&'static str> {
    const SINGLE: [&str; 4] = ["<", ">", "=", "."];
    MARKS.iter().chain(&SINGLE).find(|mark| rest.starts_with(**mark)).copied()
}

/// A string literal from its opening quote: the bytes it means, and its length in the text.
fn string(rest: &str) -> Option<(Vec<u8>, usize)> {
    let source = rest.as_bytes();
    let mut bytes = Vec::new();
    let mut at = 1;
    loop {
        match *source.get(at)? {
            b'"' => return Some((bytes, at + 1)),
            b'\\' => {
                let (byte, length) = escape(source.get(at + 1..)?)?;
                bytes.push(byte);
                at += 1 + length;
            }
            byte => {
                bytes.push(byte);
                at += 1;
            }
        }
    }
}

/// What stands after a backslash: the byte it means, and how many bytes of the source say so.
fn escape(source: &[u8]) -> Option<(u8, usize)> {
    let first = *source.first()?;
    let plain = |byte| Some((byte, 1));
    match first {
        b'n' => plain(b'\n'),
        b't' => plain(b'\t'),
        b'r' => plain(b'\r'),
        b'a' => plain(7),
        b'b' => plain(8),
        b'e' => plain(27),
        b'f' => plain(12),
        b'v' => plain(11),
        b'0'..=b'7' => digits(source, 8, 3),
        b'x' => digits(source.get(1..)?, 16, 2).map(|(byte, length)| (byte, length + 1)),
        other => plain(other),
    }
}

fn digits(source: &[u8], radix: u32, most: usize) -> Option<(u8, usize)> {
    let mut value = 0u32;
    let mut length = 0;
    for byte in source.iter().take(most) {
        let Some(digit) = char::from(*byte).to_digit(radix) else { break };
        value = value * radix + digit;
        length += 1;
    }
    if length == 0 { None } else { Some((u8::try_from(value & 0xff).unwrap_or(0), length)) }
}

/// A character constant, which in C is an `int`.
fn character(rest: &str) -> Option<(Token, usize)> {
    let source = rest.as_bytes();
    let (byte, length) = match *source.get(1)? {
        b'\\' => escape(source.get(2..)?).map(|(byte, length)| (byte, length + 1))?,
        byte => (byte, 1),
    };
    let closed = source.get(1 + length) == Some(&b'\'');
    closed.then(|| (Token::Number(Number::int(i32::from(byte))), length + 2))
}

/// An integer constant. Its type is the first of `int`, `long`, `long long` that holds it (C standard, 6.4.4.1).
fn number(rest: &str, long_size: u8) -> Option<(Token, usize)> {
    let length = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    let word = rest.get(..length)?.to_ascii_lowercase();
    let (digits, radix) = match word.strip_prefix("0x") {
        Some(digits) => (digits, 16),
        None if word.starts_with("0b") => (word.get(2..)?, 2),
        None if word.starts_with('0') => (word.as_str(), 8),
        None => (word.as_str(), 10),
    };
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    let value = u64::from_str_radix(digits.get(..end)?, radix).ok()?;
    let suffix = digits.get(end..)?;
    if !suffix.chars().all(|c| c == 'u' || c == 'l') {
        return None;
    }
    let longs = suffix.chars().filter(|c| *c == 'l').count();
    let unsigned = suffix.contains('u');
    let sizes: &[u8] = match longs {
        0 => &[4, long_size, 8],
        1 => &[long_size, 8],
        _ => &[8],
    };
    let fits = |size: u8, signed: bool| Number::new(value, IntType { size, signed }).bits == value;
    for &size in sizes {
        let positive = Number::new(value, IntType { size, signed: true }).bits.cast_signed() >= 0;
        if !unsigned && fits(size, true) && positive {
            return Some((Token::Number(Number::new(value, IntType { size, signed: true })), length));
        }
        if (unsigned || radix != 10) && fits(size, false) {
            return Some((Token::Number(Number::new(value, IntType { size, signed: false })), length));
        }
    }
    Some((Token::Number(Number::new(value, IntType::U64)), length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Token {
        let mut tokens = tokens(text, 8).unwrap();
        assert_eq!(tokens.len(), 1, "{text}");
        tokens.remove(0).1
    }

    #[test]
    fn constants_have_the_types_of_c() {
        let int = |bits, size, signed| Token::Number(Number { bits, int_type: IntType { size, signed } });
        assert_eq!(one("0x7fffffff"), int(0x7fff_ffff, 4, true));
        assert_eq!(one("0x80000000"), int(0x8000_0000, 4, false));
        assert_eq!(one("2147483648"), int(0x8000_0000, 8, true));
        assert_eq!(one("1U"), int(1, 4, false));
        assert_eq!(one("1ULL"), int(1, 8, false));
        assert_eq!(one("010"), int(8, 4, true));
        assert_eq!(one("0"), int(0, 4, true));
        assert_eq!(one("0xffffffffffffffff"), int(u64::MAX, 8, false));
        assert_eq!(one("'\\n'"), int(10, 4, true));
    }

    #[test]
    fn strings_and_marks() {
        assert_eq!(one(r#""a\"\x41\101\\n""#), Token::Text(b"a\"AA\\n".to_vec()));
        let marks: Vec<Token> = tokens("a->b<<=c", 8).unwrap().into_iter().map(|(_, token)| token).collect();
        assert_eq!(marks[1], Token::Mark("->"));
        assert_eq!(marks[3], Token::Mark("<<="));
    }

    #[test]
    fn hostile_text_is_refused() {
        for text in ["\"abc", "'", "'ab'", "0x", "1z", "@", "\"\\", "\"\\x\"", "99999999999999999999999"] {
            assert!(tokens(text, 8).is_err(), "{text}");
        }
    }
}
