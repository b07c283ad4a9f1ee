//! From bytes to instructions, and from instructions to their text.

use std::fmt;

use crate::data;
use crate::instruction::{Content, Flow, Instruction};
use crate::machine::{Machine, Syntax};
use crate::others::Others;
use crate::text::{Names, Text};
use crate::x86::X86;

/// Takes code of one machine apart.
pub struct Disassembler {
    machine: Machine,
    syntax: Syntax,
    decoder: Decoder,
}

enum Decoder {
    X86(X86),
    Others(Others),
}

impl Disassembler {
    /// One for a machine, which writes in a syntax.
    pub fn new(machine: Machine, syntax: Syntax) -> Disassembler {
        let decoder = match machine {
            Machine::X86 => Decoder::X86(X86::new(32, syntax)),
            Machine::X86_64 => Decoder::X86(X86::new(64, syntax)),
            _ => Decoder::Others(Others::new(machine)),
        };
        Disassembler { machine, syntax, decoder }
    }

    /// The machine.
    pub fn machine(&self) -> Machine {
        self.machine
    }

    /// The instructions of a piece of code, from its first byte on.
    pub fn instructions<'d, 'b>(&'d self, address: u64, bytes: &'b [u8]) -> Instructions<'d, 'b> {
        self.instructions_of(Content::Code, address, bytes)
    }

    /// The instructions of a piece of code of another kind, or words of data.
    pub fn instructions_of<'d, 'b>(
        &'d self,
        content: Content,
        address: u64,
        bytes: &'b [u8],
    ) -> Instructions<'d, 'b> {
        Instructions { disassembler: self, content, address, bytes, last: None, conditions: Vec::new() }
    }

    /// The instruction that some bytes begin with. `None` if there are no bytes.
    pub fn first<'b>(&self, address: u64, bytes: &'b [u8]) -> Option<Instruction<'b>> {
        self.instructions(address, bytes).next()
    }

    /// Where the instructions of a piece of code begin, up to the first bytes that are none: indices of its bytes.
    pub fn starts(&self, bytes: &[u8]) -> Vec<usize> {
        if let Decoder::X86(x86) = &self.decoder {
            return x86.starts(bytes);
        }
        let mut starts = Vec::new();
        let mut at = 0;
        for instruction in self.instructions(0, bytes).take_while(|instruction| instruction.flow != Flow::Bad)
        {
            starts.push(at);
            at += instruction.bytes.len();
        }
        starts
    }

    /// The text of an instruction. `names` spells the targets of jumps and calls, and the addresses of data; where it gives
    /// nothing they are numbers.
    pub fn text(&self, instruction: &Instruction<'_>, names: &mut Names<'_>) -> Text {
        match (&self.decoder, instruction.content) {
            (_, Content::Data) => data::text(instruction.bytes, self.machine.has_big_endian_code()),
            (Decoder::X86(x86), _) => x86.text(instruction, names),
            (Decoder::Others(others), _) => others.text(instruction, names),
        }
    }
}

impl fmt::Debug for Disassembler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Disassembler")
            .field("machine", &self.machine)
            .field("syntax", &self.syntax)
            .finish_non_exhaustive()
    }
}

/// The instructions of a piece of code, one after the other. Their bytes are all bytes of it.
#[derive(Clone, Debug)]
pub struct Instructions<'d, 'b> {
    disassembler: &'d Disassembler,
    content: Content,
    address: u64,
    bytes: &'b [u8],
    /// The instruction before.
    last: Option<Instruction<'b>>,
    /// The conditions that an IT of Thumb puts on those behind it, the last one first.
    conditions: Vec<u8>,
}

impl<'b> Iterator for Instructions<'_, 'b> {
    type Item = Instruction<'b>;

    fn next(&mut self) -> Option<Instruction<'b>> {
        if self.bytes.is_empty() {
            return None;
        }
        let (address, bytes) = (self.address, self.bytes);
        let instruction = match (&self.disassembler.decoder, self.content) {
            (_, Content::Data) => data::first(address, bytes),
            (Decoder::X86(x86), _) => x86.first(address, bytes),
            (Decoder::Others(others), content) => {
                let condition = self.conditions.pop();
                let first = others.first(content, address, bytes, condition, self.last.as_ref());
                if let Some(first) = &first {
                    others.conditions(first, &mut self.conditions);
                }
                first
            }
        }?;
        self.bytes = bytes.get(instruction.bytes.len()..).unwrap_or_default();
        self.address = address.wrapping_add(instruction.bytes.len() as u64);
        self.last = Some(instruction);
        Some(instruction)
    }
}
