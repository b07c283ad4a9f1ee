//! The code of one piece of a function, taken apart.

use readperf_code::{Disassembler, Flow, Instruction as Decoded1, Machine, Refers, Syntax};
use readperf_profile::Function;
use readperf_profile::view::listing::Instruction;
use readperf_symbols::{Code, Layout, Resolver, Subject, SymbolBatch};

/// Most bytes of a function that are shown.
const MOST_BYTES: usize = 1 << 20;

/// The code of a piece.
pub(crate) struct RawCode {
    machine: Machine,
    /// Its first address, in terms of the binary, and as the linker gave it.
    start: u64,
    linked: u64,
    bytes: Vec<u8>,
}

/// The code at an address of a binary, or why there is none.
pub(crate) fn raw_code(
    resolver: &Resolver<'_>,
    subject: Option<&Subject>,
    symbol: Option<&Function>,
    address: u64,
) -> Result<RawCode, String> {
    let subject = subject.ok_or("no mapping covers the address")?;
    let none = || "its code is not known".to_owned();
    let code = Code::open(subject, resolver.options()).ok_or_else(none)?;
    let layout = Layout::open(subject, resolver.options()).ok_or_else(none)?;
    let start = symbol.filter(|s| s.name().is_some()).map_or(address, |symbol| symbol.address);
    let size = symbol.map_or(64, |symbol| symbol.size().max(1));
    let bytes = code.bytes(start, size).to_vec();
    let linked = layout.address(start).ok_or_else(none)?;
    Ok(RawCode { machine: Machine::X86_64, start, linked, bytes })
}

/// The instructions of a piece.
pub(crate) struct Decoded<'r> {
    disassembler: Disassembler,
    instructions: Vec<Decoded1<'r>>,
    /// What is added to addresses of the binary to get those of the linker; wrapping.
    pub(crate) bias: u64,
}

impl<'r> Decoded<'r> {
    /// Takes code apart.
    pub(crate) fn new(raw: &'r RawCode, syntax: Syntax) -> Decoded<'r> {
        let disassembler = Disassembler::new(raw.machine, syntax);
        let bytes = raw.bytes.get(..MOST_BYTES).unwrap_or(&raw.bytes);
        let instructions = disassembler.instructions(raw.linked, bytes).collect();
        Decoded { instructions, disassembler, bias: raw.linked.wrapping_sub(raw.start) }
    }

    /// The addresses of the instructions, in terms of the binary.
    pub(crate) fn addresses(&self) -> Vec<u64> {
        self.instructions.iter().map(|instruction| instruction.address.wrapping_sub(self.bias)).collect()
    }

    /// The addresses outside of the piece that its instructions refer to, in terms of the binary.
    pub(crate) fn refers_to(&self) -> Vec<u64> {
        let all = self.instructions.iter();
        let referred = all.flat_map(|instruction| [instruction.flow.target(), instruction.refers_to]);
        referred.flatten().filter(|address| !self.covers(*address)).map(|address| self.own(address)).collect()
    }

    /// An address of the linker in terms of the binary.
    fn own(&self, linked: u64) -> u64 {
        linked.wrapping_sub(self.bias)
    }

    fn covers(&self, linked: u64) -> bool {
        let first = self.instructions.first().map(|instruction| instruction.address);
        let last = self.instructions.last().map(|instruction| instruction.address);
        first.is_some_and(|first| first <= linked) && last.is_some_and(|last| linked <= last)
    }

    /// The instructions as they are listed. `names` has the names of what they refer to.
    pub(crate) fn instructions(&self, names: Option<&std::sync::Arc<SymbolBatch>>) -> Vec<Instruction> {
        let spelled = |linked: u64| -> Option<String> {
            if self.covers(linked) {
                return None;
            }
            let names = names?;
            let address = self.own(linked);
            let index = names.addresses.binary_search(&address).ok()?;
            let symbol = names.symbol_by_id(names.symbol(index).ok()?)?;
            let offset = address.checked_sub(symbol.start)?;
            let name = &symbol.name.shown;
            Some(if offset == 0 { name.clone() } else { format!("{name}+{offset:#x}") })
        };
        let listed = self.instructions.iter().map(|instruction| {
            let flow = match instruction.flow {
                Flow::Jump { target, conditional } => {
                    Flow::Jump { target: target.map(|target| self.own(target)), conditional }
                }
                Flow::Call { target } => Flow::Call { target: target.map(|target| self.own(target)) },
                other => other,
            };
            let mut name = |address: u64, _: Refers| spelled(address);
            Instruction {
                address: self.own(instruction.address),
                bytes: instruction.bytes.into(),
                text: self.disassembler.text(instruction, &mut name),
                flow,
                target_name: instruction.flow.target().and_then(spelled),
            }
        });
        listed.collect()
    }
}
