//! The tree of a C expression in a `print fmt`.

use super::c_type::{Number, TypeName};

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

/// A call of one of the kernel's functions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Call {
    /// `__print_symbolic(value, { number, "name" }, ...)`, and its `wide` form for 64 bits on a 32-bit machine.
    Symbolic { value: Expr, table: Vec<Line>, wide: bool },
    /// `__print_flags(value, "delimiter", { mask, "name" }, ...)`
    Flags { value: Expr, delimiter: Vec<u8>, table: Vec<Line> },
    /// `__print_hex(buffer, length)`, and `__print_hex_str` without blanks.
    Hex { buffer: Expr, length: Expr, blanks: bool },
    /// `__print_array(buffer, count, element_size)`
    Array { buffer: Expr, count: Expr, size: Expr },
    /// `__print_dynamic_array(field, element_size)`
    DynamicElements { field: usize, size: Expr },
    /// `__print_hex_dump("prefix", prefix_type, row_size, group_size, buffer, length, ascii)`: shown as plain bytes.
    HexDump { prefix: Vec<u8>, buffer: Expr, length: Expr },
    /// `__get_dynamic_array`, `__get_str`: the bytes of a field.
    Dynamic(usize),
    /// `__get_dynamic_array_len`: their number.
    DynamicLength(usize),
    /// `__get_bitmask`, `__get_cpumask`
    Bitmask(usize),
    /// `__get_sockaddr`
    Sockaddr(usize),
}

/// A line of a table; one whose number is unknown never matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) number: Option<Number>,
    pub(crate) text: Vec<u8>,
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
