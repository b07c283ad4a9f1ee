//! The `printf` call of a `print fmt`: parsed once, then run over payloads.

use super::c_type::{IntType, Number};
use super::errors::{EvalError, ParseError};
use super::eval::{Evaluated, Evaluator};
use super::expr::Expr;
use super::lexer::tokens;
use super::parser::{Parsed, ParsedNode, Parser};
use super::pointer::PointerStyle;
use super::value::c_string;
use super::{EventFormat, PrintkFormats, SymbolNames, limits};

/// A `print fmt`, ready to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrintFmt {
    pieces: Vec<Piece>,
    guessed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Literal(Vec<u8>),
    Conversion(Box<Conversion>),
}

/// One `%` conversion with its argument.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Conversion {
    flags: Flags,
    width: Option<Size>,
    precision: Option<Size>,
    kind: Kind,
    argument: Expr,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Flags {
    minus: bool,
    plus: bool,
    blank: bool,
    alternate: bool,
    zero: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Size {
    Fixed(usize),
    Argument(Expr),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// An integer converted to that type, in that base.
    Integer {
        int: IntType,
        base: Base,
    },
    Char,
    Text,
    Pointer(PointerStyle),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    Decimal,
    Octal,
    HexLower,
    HexUpper,
}

impl PrintFmt {
    /// Parses the `print fmt` of an event. An error means that its text cannot be made from the format alone (a
    /// function of the kernel, a structure whose members are not described): show the fields instead.
    pub fn parse(format: &EventFormat) -> Result<Self, ParseError> {
        if format.print_fmt.len() > limits::PRINT_FMT_BYTES {
            return Err(ParseError { offset: limits::PRINT_FMT_BYTES, reason: "too long a print fmt" });
        }
        let tokens = tokens(&format.print_fmt, format.abi.long_size)?;
        let mut parser = Parser::new(format, &tokens);
        let Some(text) = parser.texts() else { return parser.fail("no format string") };
        let mut arguments = Vec::new();
        while parser.eat(",") {
            let ParsedNode { expr, .. } = parser.expression()?;
            arguments.push(expr);
        }
        if !parser.at_end() {
            return parser.fail("something after the last argument");
        }
        let long = IntType::new(u64::from(format.abi.long_size), true).unwrap_or(IntType::I64);
        let mut compiler =
            Compiler { text: &text, at: 0, arguments: arguments.into_iter(), long, parser: &parser };
        let pieces = compiler.pieces()?;
        Ok(PrintFmt { pieces, guessed: parser.guessed })
    }

    /// True if a variable or an enumerator of the kernel that the format does not resolve was taken for 0, as `perf`
    /// does: the value it takes part in is not to be trusted (`page=` of `kmem:mm_page_alloc`).
    pub fn is_guessed(&self) -> bool {
        self.guessed
    }

    /// Whether the text shows addresses as symbols (`%pS` and its kin).
    pub fn shows_symbols(&self) -> bool {
        let is_symbol = |piece: &Piece| {
            matches!(piece, Piece::Conversion(conversion)
                if matches!(conversion.kind, Kind::Pointer(PointerStyle::Symbol { .. })))
        };
        self.pieces.iter().any(is_symbol)
    }

    /// Appends the text of one payload (a sample's raw data, from `common_type` on). After an error, `out` holds the
    /// text up to the conversion that failed.
    pub fn write(
        &self,
        format: &EventFormat,
        payload: &[u8],
        names: &dyn SymbolNames,
        printk: &PrintkFormats,
        out: &mut Vec<u8>,
    ) -> Result<(), EvalError> {
        let start = out.len();
        let mut evaluator = Evaluator::new(format, payload);
        for piece in &self.pieces {
            match piece {
                Piece::Literal(text) => out.extend_from_slice(text),
                Piece::Conversion(conversion) => conversion.write(&mut evaluator, names, printk, out)?,
            }
            if out.len() - start > limits::TEXT_BYTES {
                return Err(EvalError::TooLong);
            }
        }
        Ok(())
    }
}

/// Cuts the format string into pieces and hands out the arguments.
struct Compiler<'t, 'p> {
    text: &'t [u8],
    at: usize,
    arguments: std::vec::IntoIter<Expr>,
    long: IntType,
    parser: &'t Parser<'p>,
}

impl Compiler<'_, '_> {
    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn argument(&mut self) -> Parsed<Expr> {
        match self.arguments.next() {
            Some(expr) => Ok(expr),
            None => self.parser.fail("a conversion without argument"),
        }
    }

    fn pieces(&mut self) -> Parsed<Vec<Piece>> {
        let mut pieces = Vec::new();
        let mut literal = Vec::new();
        while let Some(byte) = self.next() {
            if byte != b'%' {
                literal.push(byte);
            } else if self.eat(b'%') {
                literal.push(b'%');
            } else {
                if !literal.is_empty() {
                    pieces.push(Piece::Literal(std::mem::take(&mut literal)));
                }
                pieces.push(Piece::Conversion(Box::new(self.conversion()?)));
            }
        }
        if !literal.is_empty() {
            pieces.push(Piece::Literal(literal));
        }
        Ok(pieces)
    }

    fn conversion(&mut self) -> Parsed<Conversion> {
        let mut flags = Flags::default();
        loop {
            match self.peek() {
                Some(b'-') => flags.minus = true,
                Some(b'+') => flags.plus = true,
                Some(b' ') => flags.blank = true,
                Some(b'#') => flags.alternate = true,
                Some(b'0') => flags.zero = true,
                _ => break,
            }
            self.at += 1;
        }
        let width = self.size()?;
        let precision = if self.eat(b'.') { Some(self.size()?.unwrap_or(Size::Fixed(0))) } else { None };
        let int = self.length();
        let (int, base) = match self.next() {
            Some(b'd' | b'i') => (int, Base::Decimal),
            Some(b'u') => (IntType { signed: false, ..int }, Base::Decimal),
            Some(b'o') => (IntType { signed: false, ..int }, Base::Octal),
            Some(b'x') => (IntType { signed: false, ..int }, Base::HexLower),
            Some(b'X') => (IntType { signed: false, ..int }, Base::HexUpper),
            other => return self.other(flags, width, precision, other),
        };
        let argument = self.argument()?;
        Ok(Conversion { flags, width, precision, kind: Kind::Integer { int, base }, argument })
    }

    fn other(
        &mut self,
        flags: Flags,
        width: Option<Size>,
        precision: Option<Size>,
        letter: Option<u8>,
    ) -> Parsed<Conversion> {
        let kind = match letter {
            Some(b'c') => Kind::Char,
            Some(b's') => Kind::Text,
            Some(b'p') => {
                let rest = self.text.get(self.at..).unwrap_or_default();
                let (style, length) = PointerStyle::parse(rest);
                self.at += length;
                Kind::Pointer(style)
            }
            _ => return self.parser.fail("an unknown conversion"),
        };
        Ok(Conversion { flags, width, precision, kind, argument: self.argument()? })
    }

    /// A number or an asterisk.
    fn size(&mut self) -> Parsed<Option<Size>> {
        if self.eat(b'*') {
            return Ok(Some(Size::Argument(self.argument()?)));
        }
        let mut size: Option<usize> = None;
        while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
            let digit = usize::from(digit - b'0');
            size = Some(size.unwrap_or(0).saturating_mul(10).saturating_add(digit));
            self.at += 1;
        }
        Ok(size.map(|size| Size::Fixed(size.min(limits::FIELD_WIDTH))))
    }

    /// The length modifiers, as the signed type that they name.
    fn length(&mut self) -> IntType {
        let mut size = 4;
        while let Some(byte) = self.peek() {
            size = match byte {
                b'h' if size == 2 => 1,
                b'h' => 2,
                b'l' if size == 4 && self.text.get(self.at + 1) != Some(&b'l') => self.long.size,
                b'l' | b'L' | b'q' | b'j' => 8,
                b'z' | b'Z' | b't' => self.long.size,
                _ => break,
            };
            self.at += 1;
        }
        IntType { size, signed: true }
    }
}

impl Conversion {
    fn write<'v>(
        &'v self,
        evaluator: &mut Evaluator<'v>,
        names: &dyn SymbolNames,
        printk: &PrintkFormats,
        out: &mut Vec<u8>,
    ) -> Result<(), EvalError> {
        let mut flags = self.flags;
        let mut width = 0;
        if let Some(size) = &self.width {
            let (value, negative) = size.evaluate(evaluator)?;
            width = value;
            flags.minus |= negative;
        }
        // A negative precision counts as none (C standard, 7.21.6.1).
        let precision = match &self.precision {
            Some(size) => {
                Some(size.evaluate(evaluator)?).filter(|(_, negative)| !negative).map(|(value, _)| value)
            }
            None => None,
        };
        let value = evaluator.evaluate(&self.argument)?;
        match self.kind {
            Kind::Integer { int, base } => {
                let number = Number::new(value.number()?.bits, int);
                write_integer(number, base, flags, width, precision, out);
            }
            Kind::Char => {
                let byte = value.number()?.bits.to_le_bytes()[0];
                pad(&[byte], flags, width, out);
            }
            Kind::Text => {
                let owned;
                let text = match &value {
                    Evaluated::Text(text) => c_string(text),
                    Evaluated::Bytes(bytes, _) => c_string(bytes),
                    Evaluated::Number(address) => match printk.text(address.bits) {
                        Some(text) => text,
                        None if address.bits == 0 => b"",
                        None => {
                            owned = format!("{:x}", address.bits);
                            owned.as_bytes()
                        }
                    },
                };
                let text = text.get(..precision.unwrap_or(usize::MAX).min(text.len())).unwrap_or(text);
                pad(text, flags, width, out);
            }
            Kind::Pointer(style) => {
                let start = out.len();
                let given = self.width.as_ref().map(|_| width);
                style.write(&value, given, evaluator.format.abi, names, out)?;
                if !style.takes_width() {
                    pad_from(start, flags, width, out);
                }
            }
        }
        Ok(())
    }
}

impl Size {
    /// The size, and whether it was negative.
    fn evaluate<'v>(&'v self, evaluator: &mut Evaluator<'v>) -> Result<(usize, bool), EvalError> {
        match self {
            Size::Fixed(size) => Ok((*size, false)),
            Size::Argument(expr) => {
                let value = Number::new(evaluator.number(expr)?.bits, IntType::INT).bits.cast_signed();
                let size = usize::try_from(value.unsigned_abs()).unwrap_or(usize::MAX);
                Ok((size.min(limits::FIELD_WIDTH), value < 0))
            }
        }
    }
}

fn write_integer(
    number: Number,
    base: Base,
    flags: Flags,
    width: usize,
    precision: Option<usize>,
    out: &mut Vec<u8>,
) {
    let signed = number.int_type.signed;
    let negative = signed && number.bits.cast_signed() < 0;
    let magnitude = if negative { number.bits.wrapping_neg() } else { number.bits };
    let mut buffer = [0u8; 22];
    let digits =
        if precision == Some(0) && magnitude == 0 { &[] } else { digits(magnitude, base, &mut buffer) };
    let prefix: &[u8] = match base {
        Base::HexLower if flags.alternate && magnitude != 0 => b"0x",
        Base::HexUpper if flags.alternate && magnitude != 0 => b"0X",
        Base::Octal if flags.alternate && digits.first() != Some(&b'0') => b"0",
        _ if negative => b"-",
        _ if signed && flags.plus => b"+",
        _ if signed && flags.blank => b" ",
        _ => b"",
    };
    let least = precision.unwrap_or(0);
    let zeros = if flags.zero && !flags.minus && precision.is_none() {
        width.saturating_sub(prefix.len() + digits.len())
    } else {
        least.saturating_sub(digits.len())
    };
    let blanks = width.saturating_sub(prefix.len() + zeros + digits.len());
    if !flags.minus {
        out.extend(std::iter::repeat_n(b' ', blanks));
    }
    out.extend_from_slice(prefix);
    out.extend(std::iter::repeat_n(b'0', zeros));
    out.extend_from_slice(digits);
    if flags.minus {
        out.extend(std::iter::repeat_n(b' ', blanks));
    }
}

/// The digits of a number, at the end of the buffer (22 are enough for 64 bits in octal).
fn digits(mut magnitude: u64, base: Base, buffer: &mut [u8; 22]) -> &[u8] {
    let (radix, symbols): (u64, &[u8; 16]) = match base {
        Base::Decimal => (10, b"0123456789abcdef"),
        Base::Octal => (8, b"0123456789abcdef"),
        Base::HexLower => (16, b"0123456789abcdef"),
        Base::HexUpper => (16, b"0123456789ABCDEF"),
    };
    let mut start = buffer.len();
    for (place, slot) in buffer.iter_mut().enumerate().rev() {
        let digit = usize::try_from(magnitude % radix).unwrap_or(0);
        *slot = symbols.get(digit).copied().unwrap_or(b'?');
        magnitude /= radix;
        start = place;
        if magnitude == 0 {
            break;
        }
    }
    buffer.get(start..).unwrap_or_default()
}

/// The text with blanks up to the width, on the side that the flags say.
fn pad(text: &[u8], flags: Flags, width: usize, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(text);
    pad_from(start, flags, width, out);
}

/// Blanks for the text that `out` has from `start` on.
fn pad_from(start: usize, flags: Flags, width: usize, out: &mut Vec<u8>) {
    let length = out.len() - start;
    let blanks = width.saturating_sub(length);
    out.resize(out.len() + blanks, b' ');
    if !flags.minus && blanks > 0 {
        // `start` and its distance to the end are within the vector: it has just grown.
        if let Some(tail) = out.get_mut(start..) {
            tail.rotate_right(blanks);
        }
    }
}
