//! The code of one piece of a function, taken apart.

use readperf_code::{Disassembler, Flow, Instruction as RawInstruction, Refers};
use readperf_profile::view::listing::Instruction;
use readperf_symbols::{FunctionCode, SymbolBatch};

/// Most instructions of a function that are shown.
const MOST_INSTRUCTIONS: usize = 1 << 17;

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
        let referred = all.flat_map(|instruction| [instruction.flow.target(), instruction.refers_to]);
        referred.flatten().filter_map(|linked| self.outside(linked)).collect()
    }

    /// An address outside of the piece, in terms of the binary.
    fn outside(&self, linked: u64) -> Option<u64> {
        let is_within = linked.wrapping_sub(self.code.linked) < self.code.bytes().len() as u64;
        self.code.address_of(linked).filter(|_| !is_within && self.code.is_linked)
    }

    /// The instructions as they are listed. `names` has the names of what they refer to.
    pub(crate) fn instructions(&self, names: Option<&SymbolBatch>) -> Vec<Instruction> {
        let spelled = |linked: u64| -> Option<String> {
            let (names, address) = (names?, self.outside(linked)?);
            let index = names.addresses.binary_search(&address).ok()?;
            let symbol = names.symbol_by_id(names.symbol(index).ok()?)?;
            let name = &symbol.name.shown;
            Some(match address.checked_sub(symbol.start)? {
                0 => name.clone(),
                offset => format!("{name}+{offset:#x}"),
            })
        };
        let own = |linked: Option<u64>| linked.map(|linked| self.own(linked));
        let listed = self.instructions.iter().map(|instruction| Instruction {
            address: self.own(instruction.address),
            bytes: instruction.bytes.into(),
            text: self.disassembler.text(instruction, &mut |address, _: Refers| spelled(address)),
            flow: match instruction.flow {
                Flow::Jump { target, conditional } => Flow::Jump { target: own(target), conditional },
                Flow::Call { target } => Flow::Call { target: own(target) },
                other => other,
            },
            target_name: instruction.flow.target().and_then(spelled),
        });
        listed.collect()
    }
}
