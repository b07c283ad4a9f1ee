//! Evaluation of the expressions of a `print fmt` over one payload.

use std::borrow::Cow;

use super::arithmetic::arithmetic;
use super::bitmap::write_bitmap_hex;
use super::c_type::{IntType, Number, TypeName};
use super::expr::{BinaryOperator, Call, Expr, UnaryOperator};
use super::network::write_socket_address;
use super::tables::{flags, symbolic, write_array, write_hex};
use super::{ByteOrder, EvalError, EventFormat, FieldKind};

/// The value of an expression.
#[derive(Debug, Clone)]
pub(crate) enum Evaluated<'v> {
    Number(Number),
    /// Bytes of the payload, with the type of their elements.
    Bytes(&'v [u8], IntType),
    Text(Cow<'v, [u8]>),
}

impl Evaluated<'_> {
    pub(crate) fn number(&self) -> Result<Number, EvalError> {
        match self {
            Evaluated::Number(number) => Ok(*number),
            _ => Err(EvalError::NotANumber),
        }
    }
}

/// One payload under evaluation.
pub(crate) struct Evaluator<'v> {
    pub(crate) format: &'v EventFormat,
    pub(crate) payload: &'v [u8],
    locals: Vec<Evaluated<'v>>,
}

/// The value of an expression without fields; `None` if it is no constant number.
pub(crate) fn constant(expr: &Expr) -> Option<Number> {
    let abi = super::Abi::new(ByteOrder::Little, 8);
    let format = EventFormat {
        name: String::new(),
        id: None,
        fields: Vec::new(),
        common_count: 0,
        print_fmt: String::new(),
        abi,
    };
    Evaluator::new(&format, &[]).number(expr).ok()
}

impl<'v> Evaluator<'v> {
    pub(crate) fn new(format: &'v EventFormat, payload: &'v [u8]) -> Self {
        Evaluator { format, payload, locals: Vec::new() }
    }

    pub(crate) fn number(&mut self, expr: &'v Expr) -> Result<Number, EvalError>
    where
        Expr: 'v,
    {
        self.evaluate(expr)?.number()
    }

    /// The recursion is bounded by the height that the parser allows.
    pub(crate) fn evaluate(&mut self, expr: &'v Expr) -> Result<Evaluated<'v>, EvalError> {
        match expr {
            Expr::Number(number) => Ok(Evaluated::Number(*number)),
            Expr::Text(text) => Ok(Evaluated::Text(Cow::Borrowed(text))),
            Expr::Field(index) => self.field(*index),
            Expr::FieldBytes(index) => {
                let field = self.format.fields.get(*index).ok_or(EvalError::Unresolved)?;
                let bytes = field.own_bytes(self.payload).ok_or(EvalError::OutOfPayload)?;
                Ok(Evaluated::Bytes(bytes, IntType::U8))
            }
            Expr::Local(slot) => self.locals.get(*slot).cloned().ok_or(EvalError::Unresolved),
            Expr::Unresolved => Err(EvalError::Unresolved),
            Expr::Unary(operator, inner) => {
                let inner = self.evaluate(inner)?;
                self.unary(*operator, inner)
            }
            Expr::Binary(operator, left, right) => self.binary(*operator, left, right),
            Expr::Ternary(parts) => {
                let [condition, yes, no] = parts.as_ref();
                let condition = self.truth(condition)?;
                self.evaluate(if condition { yes } else { no })
            }
            Expr::Otherwise(parts) => {
                let [value, otherwise] = parts.as_ref();
                match self.evaluate(value)? {
                    Evaluated::Number(number) if !number.is_true() => self.evaluate(otherwise),
                    value => Ok(value),
                }
            }
            Expr::Index(array, index) => {
                let array = self.evaluate(array)?;
                let index = self.number(index)?;
                self.element(&array, index.bits)
            }
            Expr::Cast(type_name, inner) => {
                let inner = self.evaluate(inner)?;
                self.cast(*type_name, inner)
            }
            Expr::Call(call) => self.call(call),
            Expr::Block(definitions, result) => self.block(definitions, result),
        }
    }

    fn truth(&mut self, expr: &'v Expr) -> Result<bool, EvalError> {
        Ok(match self.evaluate(expr)? {
            Evaluated::Number(number) => number.is_true(),
            // An array is an address that is never null.
            Evaluated::Bytes(..) | Evaluated::Text(_) => true,
        })
    }

    fn block(
        &mut self,
        definitions: &'v [(usize, TypeName, Expr)],
        result: &'v Expr,
    ) -> Result<Evaluated<'v>, EvalError> {
        let outer = self.locals.len();
        for (slot, type_name, value) in definitions {
            let value = self.evaluate(value)?;
            let value = self.cast(*type_name, value)?;
            self.locals.truncate(*slot);
            self.locals.push(value);
        }
        let result = self.evaluate(result)?;
        self.locals.truncate(outer);
        Ok(result)
    }

    fn field(&self, index: usize) -> Result<Evaluated<'v>, EvalError> {
        let field = self.format.fields.get(index).ok_or(EvalError::Unresolved)?;
        let bytes = field.own_bytes(self.payload).ok_or(EvalError::OutOfPayload)?;
        let element = match field.kind {
            FieldKind::Scalar(int) | FieldKind::Pointer(int) => {
                let bits = self.format.abi.endian.unsigned(bytes).ok_or(EvalError::OutOfPayload)?;
                return Ok(Evaluated::Number(Number::new(bits, int)));
            }
            FieldKind::Chars | FieldKind::Unknown => IntType::U8,
            FieldKind::Array(element) => element,
            FieldKind::Dynamic { .. } => return self.dynamic(index),
        };
        Ok(Evaluated::Bytes(bytes, element))
    }

    /// The bytes that a dynamic field stands for.
    fn dynamic(&self, index: usize) -> Result<Evaluated<'v>, EvalError> {
        let field = self.format.fields.get(index).ok_or(EvalError::Unresolved)?;
        let bytes = field.bytes(self.payload, self.format.abi).ok_or(EvalError::OutOfPayload)?;
        let element = match field.kind {
            FieldKind::Dynamic { element, .. } | FieldKind::Array(element) => element,
            _ => IntType::U8,
        };
        Ok(Evaluated::Bytes(bytes, element))
    }

    fn bytes(&mut self, expr: &'v Expr) -> Result<&'v [u8], EvalError> {
        match self.evaluate(expr)? {
            Evaluated::Bytes(bytes, _) => Ok(bytes),
            _ => Err(EvalError::NotBytes),
        }
    }

    /// As many bytes as asked for, or as there are.
    fn bytes_up_to(&mut self, buffer: &'v Expr, length: &'v Expr) -> Result<&'v [u8], EvalError> {
        let bytes = self.bytes(buffer)?;
        let length = usize::try_from(self.number(length)?.bits).unwrap_or(usize::MAX);
        Ok(bytes.get(..length.min(bytes.len())).unwrap_or_default())
    }

    fn element(&self, array: &Evaluated<'v>, index: u64) -> Result<Evaluated<'v>, EvalError> {
        let Evaluated::Bytes(bytes, element) = array else { return Err(EvalError::NotBytes) };
        let size = usize::from(element.size);
        let start = usize::try_from(index).ok().and_then(|index| index.checked_mul(size));
        let rest = start.and_then(|start| bytes.get(start..)).ok_or(EvalError::Undefined)?;
        let bytes = rest.get(..size).ok_or(EvalError::Undefined)?;
        let bits = self.format.abi.endian.unsigned(bytes).ok_or(EvalError::Undefined)?;
        Ok(Evaluated::Number(Number::new(bits, *element)))
    }

    fn cast(&self, type_name: TypeName, value: Evaluated<'v>) -> Result<Evaluated<'v>, EvalError> {
        match (type_name, value) {
            (TypeName::Int(int), Evaluated::Number(number)) => {
                Ok(Evaluated::Number(Number::new(number.bits, int)))
            }
            (TypeName::Bool, Evaluated::Number(number)) => {
                Ok(Evaluated::Number(Number::new(u64::from(number.is_true()), IntType::U8)))
            }
            (TypeName::Pointer(_), Evaluated::Number(number)) => {
                let address = IntType { size: self.format.abi.long_size, signed: false };
                Ok(Evaluated::Number(Number::new(number.bits, address)))
            }
            (TypeName::Pointer(element), Evaluated::Bytes(bytes, old)) => {
                Ok(Evaluated::Bytes(bytes, element.unwrap_or(old)))
            }
            (TypeName::Int(_) | TypeName::Bool, _) => Err(EvalError::NotANumber),
            (_, value) => Ok(value),
        }
    }

    fn unary(&self, operator: UnaryOperator, value: Evaluated<'v>) -> Result<Evaluated<'v>, EvalError> {
        match operator {
            UnaryOperator::Deref => return self.element(&value, 0),
            UnaryOperator::Not if !matches!(value, Evaluated::Number(_)) => {
                return Ok(Evaluated::Number(Number::truth(false)));
            }
            _ => {}
        }
        let number = value.number()?;
        let int = number.int_type.promoted();
        Ok(Evaluated::Number(match operator {
            UnaryOperator::Not => Number::truth(!number.is_true()),
            UnaryOperator::Complement => Number::new(!number.bits, int),
            UnaryOperator::Minus => Number::new(number.bits.wrapping_neg(), int),
            UnaryOperator::Plus | UnaryOperator::Deref => Number::new(number.bits, int),
        }))
    }

    fn binary(
        &mut self,
        operator: BinaryOperator,
        left: &'v Expr,
        right: &'v Expr,
    ) -> Result<Evaluated<'v>, EvalError> {
        let number = match operator {
            BinaryOperator::Or => Number::truth(self.truth(left)? || self.truth(right)?),
            BinaryOperator::And => Number::truth(self.truth(left)? && self.truth(right)?),
            _ => {
                let left = self.number(left)?;
                arithmetic(operator, left, self.number(right)?)?
            }
        };
        Ok(Evaluated::Number(number))
    }

    fn call(&mut self, call: &'v Call) -> Result<Evaluated<'v>, EvalError> {
        let mut out = Vec::new();
        match call {
            Call::Symbolic { value, table, wide } => {
                let size = if *wide { 8 } else { self.format.abi.long_size };
                let long = IntType { size, signed: false };
                return Ok(Evaluated::Text(symbolic(self.number(value)?, table, long)));
            }
            Call::Flags { value, delimiter, table } => {
                return Ok(Evaluated::Text(flags(self.number(value)?, delimiter, table)));
            }
            Call::Hex { buffer, length, blanks } => {
                write_hex(self.bytes_up_to(buffer, length)?, if *blanks { b" " } else { b"" }, &mut out);
            }
            Call::Array { buffer, count, size } => {
                let bytes = self.bytes(buffer)?;
                let count = usize::try_from(self.number(count)?.bits).unwrap_or(usize::MAX);
                let size = self.number(size)?.bits;
                write_array(bytes, count, size, self.format.abi.endian, &mut out)?;
            }
            Call::DynamicElements { field, size } => {
                let Evaluated::Bytes(bytes, _) = self.dynamic(*field)? else {
                    return Err(EvalError::NotBytes);
                };
                let size = self.number(size)?.bits;
                write_array(bytes, usize::MAX, size, self.format.abi.endian, &mut out)?;
            }
            Call::HexDump { prefix, buffer, length } => {
                out.extend_from_slice(prefix);
                write_hex(self.bytes_up_to(buffer, length)?, b" ", &mut out);
            }
            Call::Dynamic(index) => return self.dynamic(*index),
            Call::DynamicLength(index) => {
                let Evaluated::Bytes(bytes, _) = self.dynamic(*index)? else {
                    return Err(EvalError::NotBytes);
                };
                let length = i32::try_from(bytes.len()).unwrap_or(i32::MAX);
                return Ok(Evaluated::Number(Number::int(length)));
            }
            Call::Bitmask(index) => {
                let Evaluated::Bytes(bytes, _) = self.dynamic(*index)? else {
                    return Err(EvalError::NotBytes);
                };
                write_bitmap_hex(bytes, self.format.abi, &mut out);
            }
            Call::Sockaddr(index) => {
                let Evaluated::Bytes(bytes, _) = self.dynamic(*index)? else {
                    return Err(EvalError::NotBytes);
                };
                write_socket_address(bytes, self.format.abi.endian, true, true, &mut out);
            }
        }
        Ok(Evaluated::Text(Cow::Owned(out)))
    }
}
