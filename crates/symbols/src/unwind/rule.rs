//! What the tables say about one instruction: where its caller's registers are. Made once, used often.

use super::expression;
use super::registers::Registers;
use super::stack::{Memory, Unreadable};
use crate::machine::Convention;

/// A row of the tables.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Rule {
    /// The canonical frame address.
    pub(super) cfa: Cfa,
    /// Where the return address is.
    pub(super) return_address: Saved,
    /// The column that has the return address.
    pub(super) return_column: u8,
    /// Whether the frame is one that the kernel made to deliver a signal: its caller was interrupted, not calling.
    pub(super) is_signal: bool,
    /// The other registers that change; one that is not listed keeps its value.
    pub(super) saved: Box<[(u8, Saved)]>,
    /// Whether no register of the caller is told by another register, so that they can be replaced one by one.
    pub(super) is_plain: bool,
}

/// How to find the canonical frame address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Cfa {
    /// A register plus an offset.
    Register { column: u8, offset: i64 },
    /// A DWARF expression.
    Expression(Box<[u8]>),
}

/// Where the value that a register has in the caller is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Saved {
    /// Nowhere.
    Nowhere,
    /// Still in the register.
    Kept,
    /// In memory, at this distance from the canonical frame address.
    At(i64),
    /// It is the canonical frame address plus this.
    Value(i64),
    /// In another register.
    In(u8),
    /// In memory, where the expression says.
    AtExpression(Box<[u8]>),
    /// The expression says.
    ValueExpression(Box<[u8]>),
}

/// Why a caller cannot be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// What is needed is above the recorded part of the stack.
    StackTruncated,
    /// A register that is needed has not been recorded, or was not saved.
    RegisterMissing,
    /// The frame that comes out is none.
    BadFrame,
}

impl From<Unreadable> for Failure {
    fn from(unreadable: Unreadable) -> Failure {
        match unreadable {
            Unreadable::Above => Failure::StackTruncated,
            Unreadable::Below => Failure::BadFrame,
        }
    }
}

impl Rule {
    /// The rule of code that has changed nothing since it was called.
    pub(super) fn without_frame(convention: &Convention) -> Rule {
        let word = i64::from(convention.word);
        let (offset, return_address, return_column) = match (convention.link, convention.ip) {
            (None, Some(ip)) => (word, Saved::At(-word), ip),
            (link, _) => (0, Saved::Kept, link.unwrap_or_default()),
        };
        Rule {
            cfa: Cfa::Register { column: convention.sp, offset },
            return_address,
            return_column,
            is_signal: false,
            saved: Box::default(),
            is_plain: true,
        }
    }

    /// The rule of code that nobody called.
    pub(super) fn outermost(convention: &Convention) -> Rule {
        Rule { return_address: Saved::Nowhere, ..Rule::without_frame(convention) }
    }

    /// Turns the registers of a frame into those of its caller; `None` when it has none. `is_exact` tells whether the
    /// frame was interrupted where it is, rather than in a call. After a failure the registers are worth nothing.
    #[inline]
    pub(super) fn apply(
        &self,
        registers: &mut Registers,
        convention: &Convention,
        memory: &Memory<'_>,
        is_exact: bool,
    ) -> Result<Option<()>, Failure> {
        let cfa = match &self.cfa {
            Cfa::Register { column, offset } => {
                let value = registers.get(*column).ok_or(Failure::RegisterMissing)?;
                convention.narrow(value.wrapping_add_signed(*offset))
            }
            Cfa::Expression(bytes) => expression::evaluate(bytes, None, registers, memory)?,
        };
        let callee_sp = registers.get(convention.sp).ok_or(Failure::RegisterMissing)?;
        let callee_ip = registers.ip();
        let Some(return_address) =
            self.return_address.value(self.return_column, cfa, registers, convention, memory)?
        else {
            return Ok(None);
        };
        if self.is_plain {
            for (column, saved) in &self.saved {
                let value = saved.value(*column, cfa, registers, convention, memory);
                replace(registers, *column, value, is_exact);
            }
        } else {
            let callee = registers.clone();
            for (column, saved) in &self.saved {
                let value = saved.value(*column, cfa, &callee, convention, memory);
                replace(registers, *column, value, is_exact);
            }
        }
        let sp_is_listed = self.saved.iter().any(|(column, _)| *column == convention.sp);
        if convention.cfa_is_sp && !sp_is_listed {
            registers.set(convention.sp, cfa);
        }
        let machine = registers.machine();
        let ip = machine.code_address(return_address);
        let sp = registers.get(convention.sp).ok_or(Failure::RegisterMissing)?;
        // Stacks grow downwards, so callers are further up. A function that was interrupted may not have a frame yet;
        // a signal may be handled on a stack of its own.
        let moves_on = sp > callee_sp || (is_exact && sp == callee_sp && ip != callee_ip) || self.is_signal;
        if !moves_on {
            return Err(Failure::BadFrame);
        }
        registers.set(self.return_column, return_address);
        registers.set_ip(ip, convention);
        Ok((ip != 0).then_some(()))
    }
}

#[inline]
fn replace(registers: &mut Registers, column: u8, value: Result<Option<u64>, Failure>, is_exact: bool) {
    match value {
        Ok(Some(value)) => registers.set(column, value),
        // Where registers are popped one after the other compilers leave the old rules in force: the value is below
        // the stack pointer, which is not recorded, and in the register.
        Err(Failure::BadFrame) if is_exact => {}
        Ok(None) | Err(_) => registers.forget(column),
    }
}

impl Saved {
    #[inline]
    fn value(
        &self,
        column: u8,
        cfa: u64,
        callee: &Registers,
        convention: &Convention,
        memory: &Memory<'_>,
    ) -> Result<Option<u64>, Failure> {
        let value = match self {
            Saved::At(offset) => memory.word(convention.narrow(cfa.wrapping_add_signed(*offset)))?,
            Saved::Nowhere => return Ok(None),
            Saved::Kept => callee.get(column).ok_or(Failure::RegisterMissing)?,
            Saved::Value(offset) => cfa.wrapping_add_signed(*offset),
            Saved::In(other) => callee.get(*other).ok_or(Failure::RegisterMissing)?,
            Saved::AtExpression(bytes) => {
                memory.word(expression::evaluate(bytes, Some(cfa), callee, memory)?)?
            }
            Saved::ValueExpression(bytes) => expression::evaluate(bytes, Some(cfa), callee, memory)?,
        };
        Ok(Some(convention.narrow(value)))
    }

    /// Whether the value is told without other registers.
    pub(super) fn is_plain(&self) -> bool {
        !matches!(self, Saved::In(_) | Saved::AtExpression(_) | Saved::ValueExpression(_))
    }
}
