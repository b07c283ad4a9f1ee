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
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
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
pub(crate) enum Unary {
    Not,
    Complement,
    Minus,
    Plus,
    Deref,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binary {
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

impl Binary {
    /// The operator and how tightly it binds.
    pub(crate) fn of(mark: &str) -> Option<(Binary, u8)> {
        Some(match mark {
            "||" => (Binary::Or, 1),
            "&&" => (Binary::And, 2),
            "|" => (Binary::BitOr, 3),
            "^" => (Binary::BitXor, 4),
            "&" => (Binary::BitAnd, 5),
            "==" => (Binary::Equal, 6),
            "!=" => (Binary::Unequal, 6),
            "<" => (Binary::Less, 7),
            "<=" => (Binary::LessEqual, 7),
            ">" => (Binary::Greater, 7),
            ">=" => (Binary::GreaterEqual, 7),
            "<<" => (Binary::ShiftLeft, 8),
            ">>" => (Binary::ShiftRight, 8),
            "+" => (Binary::Add, 9),
            "-" => (Binary::Subtract, 9),
            "*" => (Binary::Multiply, 10),
            "/" => (Binary::Divide, 10),
            "%" => (Binary::Remainder, 10),
            _ => return None,
        })
    }
}
