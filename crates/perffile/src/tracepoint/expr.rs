//! The tree of a C expression in a `print fmt`.

use std::fmt;

use super::c_type::{Number, TypeName};
use super::calls::Call;

/// Why a `print fmt` cannot be evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseError {
    /// Bytes from the start of the `print fmt` text.
    pub offset: usize,
    /// What is wrong there.
    pub reason: &'static str,
}

impl fmt::Display for ParseError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "print fmt: {} at byte {}", self.reason, self.offset)
    }
}

impl std::error::Error for ParseError {}

/// An expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Expr {
    Number(Number),
    Text(Vec<u8>),
    /// The field of that index in the event's format.
    Field(usize),
    /// The bytes of a field, for `&REC->field`.
    FieldBytes(usize),
    /// A variable of a statement expression.
    Local(usize),
    /// A name that only the kernel's compiler knew. Never a value; in a table its line never matches.
    Unresolved,
    Unary(UnaryOperator, Box<Expr>),
    Binary(BinaryOperator, Box<Expr>, Box<Expr>),
    Ternary(Box<[Expr; 3]>),
    /// GNU C's `a ?: b`: `a` unless it is 0.
    Otherwise(Box<[Expr; 2]>),
    Index(Box<Expr>, Box<Expr>),
    Cast(TypeName, Box<Expr>),
    Call(Box<Call>),
    /// Definitions of locals (slot, type, value), then the result.
    Block(Vec<(usize, TypeName, Expr)>, Box<Expr>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnaryOperator {
    Not,
    Complement,
    Minus,
    Plus,
    Deref,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BinaryOperator {
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equal,
    Unequal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl BinaryOperator {
    /// The operator and how tightly it binds.
    pub(crate) fn of(mark: &str) -> Option<(BinaryOperator, u8)> {
        Some(match mark {
            "||" => (BinaryOperator::Or, 1),
            "&&" => (BinaryOperator::And, 2),
            "|" => (BinaryOperator::BitOr, 3),
            "^" => (BinaryOperator::BitXor, 4),
            "&" => (BinaryOperator::BitAnd, 5),
            "==" => (BinaryOperator::Equal, 6),
            "!=" => (BinaryOperator::Unequal, 6),
            "<" => (BinaryOperator::Less, 7),
            "<=" => (BinaryOperator::LessEqual, 7),
            ">" => (BinaryOperator::Greater, 7),
            ">=" => (BinaryOperator::GreaterEqual, 7),
            "<<" => (BinaryOperator::ShiftLeft, 8),
            ">>" => (BinaryOperator::ShiftRight, 8),
            "+" => (BinaryOperator::Add, 9),
            "-" => (BinaryOperator::Subtract, 9),
            "*" => (BinaryOperator::Multiply, 10),
            "/" => (BinaryOperator::Divide, 10),
            "%" => (BinaryOperator::Remainder, 10),
            _ => return None,
        })
    }
}
