//! DWARF expressions in the tables, with limits: no loop without end, no read outside the recorded stack.

use gimli::{EndianSlice, Evaluation, EvaluationResult, Location, RunTimeEndian, Value};

use super::registers::Registers;
use super::rule::Failure;
use super::stack::Memory;

/// Operations of one expression. Those that compilers write have ten.
const MAX_OPERATIONS: u32 = 256;

/// Longest expression that is looked at, in bytes.
pub(super) const MAX_BYTES: usize = 512;

/// Fixed space, so that nothing is allocated: a deeper stack is an error.
struct Storage;

impl<R: gimli::Reader> gimli::EvaluationStorage<R> for Storage {
    type Stack = [Value; 32];
    type ExpressionStack = [(R, R); 1];
    type Result = [gimli::Piece<R>; 1];
}

/// Works out an expression. `first` is what is on its stack when it starts: the canonical frame address for a
/// register, nothing for the canonical frame address itself.
pub(super) fn evaluate(
    bytes: &[u8],
    first: Option<u64>,
    registers: &Registers,
    memory: &Memory<'_>,
) -> Result<u64, Failure> {
    let endian = if memory.is_big_endian() { RunTimeEndian::Big } else { RunTimeEndian::Little };
    let encoding =
        gimli::Encoding { address_size: memory.word_size(), format: gimli::Format::Dwarf32, version: 4 };
    let mut evaluation: Evaluation<_, Storage> =
        Evaluation::new_in(EndianSlice::new(bytes, endian), encoding);
    evaluation.set_max_iterations(MAX_OPERATIONS);
    if let Some(first) = first {
        evaluation.set_initial_value(first);
    }
    let bad = |_| Failure::BadFrame;
    let mut state = evaluation.evaluate().map_err(bad)?;
    loop {
        state = match state {
            EvaluationResult::Complete => break,
            EvaluationResult::RequiresRegister { register, .. } => {
                let column = registers.machine().column_of(register.0).ok_or(Failure::RegisterMissing)?;
                let value = registers.get(column).ok_or(Failure::RegisterMissing)?;
                evaluation.resume_with_register(Value::Generic(value)).map_err(bad)?
            }
            EvaluationResult::RequiresMemory { address, size, space: None, .. } => {
                let value = memory.read(address, size)?;
                evaluation.resume_with_memory(Value::Generic(value)).map_err(bad)?
            }
            _ => return Err(Failure::BadFrame),
        };
    }
    match evaluation.as_result().last().map(|piece| &piece.location) {
        Some(Location::Address { address }) => Ok(*address),
        _ => Err(Failure::BadFrame),
    }
}
