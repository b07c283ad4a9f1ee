//! What whoever reads binaries says of a piece of code.

use readperf_code::{Flow, Text};
use readperf_symbols::SymbolBatch;
use std::sync::Arc;

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Its address, in terms of the binary.
    pub address: u64,
    /// Its bytes.
    pub bytes: Box<[u8]>,
    /// Its text, with the names of what it refers to.
    pub text: Text,
    /// Where the processor goes from it. Addresses are in terms of the binary.
    pub flow: Flow,
    /// The name of what it calls or jumps to, as `name` or `name+0x10`.
    pub target_name: Option<String>,
    /// The data that it names by an address that is known without running it.
    pub data: Option<DataReference>,
}

/// Data that an instruction names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataReference {
    /// Its address, in terms of the binary.
    pub address: u64,
    /// The symbol that it is in, and how far behind its beginning, in bytes.
    pub symbol: Option<(String, u64)>,
}

/// The code of a piece.
#[derive(Clone, Debug)]
pub struct PieceCode {
    /// What is added to addresses to get those of the linker; wrapping.
    pub bias: u64,
    /// Its instructions by address, or why there are none.
    pub instructions: Result<Vec<Instruction>, String>,
    /// The lines of the instructions, and of the places of the piece.
    pub lines: CodeLines,
}

/// The lines that addresses of a binary come from.
#[derive(Clone, Debug)]
pub struct CodeLines(Option<Arc<SymbolBatch>>);

/// One level of the source at an address.
#[derive(Clone, Copy, Debug)]
pub struct CodeLevel<'l> {
    /// The name of the function, and its linkage name if that is another one; `None` of what is not inlined.
    pub inlined: Option<(&'l str, Option<&'l str>)>,
    /// The source file, where known.
    pub file: Option<&'l Arc<str>>,
    /// The line in it, from 1; 0 where unknown.
    pub line: u32,
}

impl CodeLines {
    /// Of an answer about addresses of the binary. Nothing is known of others.
    pub fn new(answer: Option<Arc<SymbolBatch>>) -> CodeLines {
        CodeLines(answer)
    }

    /// The levels at an address, the innermost inlined function first; none if nothing is known.
    pub fn at(&self, address: u64) -> impl ExactSizeIterator<Item = CodeLevel<'_>> {
        let answer = self.0.as_deref();
        let index = answer.and_then(|answer| answer.addresses.binary_search(&address).ok());
        let frames = answer.zip(index).map_or(&[][..], |(answer, index)| answer.frames(index));
        let last = frames.len().saturating_sub(1);
        frames.iter().enumerate().map(move |(nr, frame)| {
            let function = frame.function.filter(|_| nr < last).and_then(|id| answer?.function(id));
            CodeLevel {
                inlined: function.map(|name| (name.shown(), name.linkage())),
                file: frame.file.and_then(|id| answer?.files.get(id.index())),
                line: frame.line,
            }
        })
    }
}

/// What lies at an address of a piece, whose instructions are these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    /// An instruction, by index.
    Instruction(usize),
    /// No instruction begins there.
    Nothing,
}

/// What lies at the address of a place. A place at the last byte of a call is a caller: the byte before the return address.
pub(super) fn at(instructions: &[Instruction], address: u64) -> At {
    let behind = instructions.partition_point(|instruction| instruction.address <= address);
    let Some((index, instruction)) = behind.checked_sub(1).and_then(|nr| Some((nr, instructions.get(nr)?)))
    else {
        return At::Nothing;
    };
    let length = u64::try_from(instruction.bytes.len()).unwrap_or(0);
    let is_end = instruction.address.wrapping_add(length) == address.wrapping_add(1);
    let is_caller = is_end && matches!(instruction.flow, Flow::Call { .. });
    if instruction.address == address || is_caller { At::Instruction(index) } else { At::Nothing }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_on_the_instruction_that_begins_there_or_on_its_call() {
        let instruction = |address, flow| Instruction {
            address,
            bytes: [0; 5].into(),
            text: Text::default(),
            flow,
            target_name: None,
            data: None,
        };
        let code = [instruction(10, Flow::Next), instruction(15, Flow::Call { target: None })];
        let found: Vec<At> =
            [9, 10, 11, 14, 15, 18, 19, 20].iter().map(|address| at(&code, *address)).collect();
        let (first, call, nothing) = (At::Instruction(0), At::Instruction(1), At::Nothing);
        // 14 is the last byte of what is no call.
        assert_eq!(found, [nothing, first, nothing, nothing, call, nothing, call, nothing]);
    }
}
