//! Why the text of a tracepoint cannot be made.

use std::fmt;

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

/// Why the text of one payload cannot be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvalError {
    /// The payload ends before a field does, or a locator points outside of it.
    OutOfPayload,
    /// An integer is needed where bytes or text stand.
    NotANumber,
    /// Bytes are needed where an integer stands, whose memory is not in the recording.
    NotBytes,
    /// Division by zero, or an index outside of its array.
    Undefined,
    /// The text exceeds [`super::limits::TEXT_BYTES`].
    TooLong,
    /// A name that only the kernel's compiler knew.
    Unresolved,
}

impl fmt::Display for EvalError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            EvalError::OutOfPayload => "a field lies outside of the payload",
            EvalError::NotANumber => "a number is needed where bytes stand",
            EvalError::NotBytes => "bytes are needed that are not in the recording",
            EvalError::Undefined => "division by zero or index out of range",
            EvalError::TooLong => "the text is too long",
            EvalError::Unresolved => "a name that only the kernel's compiler knew",
        })
    }
}

impl std::error::Error for EvalError {}
