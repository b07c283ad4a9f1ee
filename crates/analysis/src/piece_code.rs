//! The code of one piece of a function, taken apart.

use readperf_code::{Disassembler, Flow, Instruction as RawInstruction, Refers};
use readperf_profile::view::listing::{DataReference, Instruction};
use readperf_symbols::{FunctionCode, SymbolBatch};

/// Most instructions of a function that are shown.
const MOST_INSTRUCTIONS: usize = 1 << 17;

/// Stands for an address that is known only when the code is linked.
const NOT_LINKED: &str = "(not linked)";

/// The instructions of a piece.
pub(crate) struct Decoded<'c> {
    code: &'c FunctionCode,
    disassembler: &'c Disassembler,
    instructions: Vec<RawInstruction<'c>>,
}

impl<'c> Decoded<'c> {
    /// Takes code apart.
    pub(crate) fn new(code: &'c FunctionCode, disassembler: &'c Disassembler) -> Decoded<'c> {
        let instructions = code.instructions(disassembler).take(MOST_INSTRUCTIONS).collect();
        Decoded { code, disassembler, instructions }
    }

    /// What is added to addresses of the binary to get those of the linker; wrapping.
    pub(crate) fn bias(&self) -> u64 {
        self.code.linked.wrapping_sub(self.code.start)
    }

    /// An address of the code in terms of the binary.
    fn own(&self, linked: u64) -> u64 {
        linked.wrapping_sub(self.bias())
    }

    /// The addresses of the instructions, in terms of the binary.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = u64> {
        self.instructions.iter().map(|instruction| self.own(instruction.address))
    }

    /// What its instructions refer to outside of the piece, in terms of the binary.
    pub(crate) fn refers_to(&self) -> Vec<u64> {
        let all = self.instructions.iter();
        let referred = all.flat_map(|instruction| {
            let addresses = [instruction.flow.target(), instruction.refers_to].into_iter().flatten();
            addresses.filter_map(|linked| self.named(instruction, linked))
        });
        referred.collect()
    }

    fn is_within(&self, linked: u64) -> bool {
        linked.wrapping_sub(self.code.linked) < self.code.bytes().len() as u64
    }

    /// An address that an instruction names, in terms of the binary, if it is shown by the name of its symbol: one outside of the
    /// piece, or that of the function itself where it calls itself.
    fn named(&self, instruction: &RawInstruction<'_>, linked: u64) -> Option<u64> {
        let is_call = matches!(instruction.flow, Flow::Call { .. });
        let is_shown = !self.is_within(linked) || is_call && linked == self.code.linked;
        self.code.address_of(linked).filter(|_| is_shown && self.code.is_linked)
    }

    /// Whether an address that an instruction leads to is the one that it had when it ran. In code that is not linked yet only
    /// the assembler's own jumps are: others lead to the next instruction, until the linker says where.
    fn is_final(&self, instruction: &RawInstruction<'_>, target: u64) -> bool {
        let next = instruction.address.wrapping_add(instruction.bytes.len() as u64);
        let is_jump = matches!(instruction.flow, Flow::Jump { .. });
        self.code.is_linked || is_jump && target != next && self.is_within(target)
    }

    /// The symbol that an address is in, and how far behind its beginning.
    fn symbol(
        &self,
        names: Option<&SymbolBatch>,
        instruction: &RawInstruction<'_>,
        linked: u64,
    ) -> Option<(String, u64)> {
        let (names, address) = (names?, self.named(instruction, linked)?);
        let index = names.addresses.binary_search(&address).ok()?;
        let symbol = names.symbol_by_id(names.symbol(index).ok()?)?;
        Some((symbol.name.shown().to_owned(), address.checked_sub(symbol.start)?))
    }

    /// The instructions as they are listed. `names` has the names of what they refer to.
    pub(crate) fn instructions(&self, names: Option<&SymbolBatch>) -> Vec<Instruction> {
        let listed = self.instructions.iter().map(|instruction| {
            let spelled = |linked: u64| {
                let (name, offset) = self.symbol(names, instruction, linked)?;
                Some(if offset == 0 { name } else { format!("{name}+{offset:#x}") })
            };
            let is_final = |target: &u64| self.is_final(instruction, *target);
            let own = |linked: Option<u64>| linked.filter(is_final).map(|linked| self.own(linked));
            let mut text_of = |linked: u64, refers: Refers| match refers {
                Refers::Code if !is_final(&linked) => Some(NOT_LINKED.to_owned()),
                Refers::Data if !self.code.is_linked => Some(NOT_LINKED.to_owned()),
                _ => spelled(linked),
            };
            let data = instruction.refers_to.filter(|_| self.code.is_linked);
            Instruction {
                address: self.own(instruction.address),
                bytes: instruction.bytes.into(),
                text: self.disassembler.text(instruction, &mut text_of),
                flow: match instruction.flow {
                    Flow::Jump { target, conditional } => Flow::Jump { target: own(target), conditional },
                    Flow::Call { target } => Flow::Call { target: own(target) },
                    other => other,
                },
                target_name: instruction.flow.target().and_then(spelled),
                data: data.map(|linked| DataReference {
                    address: self.own(linked),
                    symbol: self.symbol(names, instruction, linked),
                }),
            }
        });
        listed.collect()
    }
}
