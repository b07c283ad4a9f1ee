//! All machines but x86, by Capstone.
//!
//! Capstone writes an instruction as text, a little differently for each machine; what it knows beyond that is coarse on some
//! (a call is a jump, a target a distance). So where an instruction leads is read from its text here, by a table for each
//! machine, which also makes the text look as `objdump` has it.

mod arm;
mod arm64;
mod length;
mod operands;
mod ppc;
mod riscv;
mod s390x;

use capstone::arch::arm::ArchExtraMode as ArmMode;
use capstone::arch::riscv::ArchExtraMode as RiscvMode;
use capstone::{Arch, Capstone, Endian, ExtraMode, Mode};

use crate::instruction::{Content, Flow, Instruction};
use crate::machine::Machine;
use crate::text::{self, Names, Refers, Text};

/// Longest instruction of these machines, in bytes.
const LONGEST: usize = 8;

/// Decodes code of one machine.
pub(crate) struct Others {
    machine: Machine,
    dialect: Dialect,
    main: Option<Capstone>,
    thumb: Option<Capstone>,
}

/// How Capstone writes instructions of a machine.
#[derive(Clone, Copy)]
struct Dialect {
    flow: fn(&Raw<'_>) -> Flow,
    refers_to: fn(&Raw<'_>, Option<&Instruction<'_>>) -> Option<u64>,
    /// The text of an instruction that Capstone does not know: mnemonic and operands.
    more: fn(u32) -> Option<(&'static str, String)>,
    /// Makes the text that of `objdump`, but for the target.
    spell: fn(&Raw<'_>, &mut Text),
}

/// An instruction as Capstone wrote it.
#[derive(Clone, Copy)]
struct Raw<'i> {
    address: u64,
    bytes: &'i [u8],
    mnemonic: &'i str,
    operands: &'i str,
    content: Content,
}

impl Raw<'_> {
    /// The last operand as a number.
    fn last_number(&self) -> Option<u64> {
        number(last_operand(self.operands))
    }

    /// The bytes as a word of a little-endian machine.
    fn word(&self) -> u32 {
        word(self.bytes)
    }
}

impl Others {
    pub(crate) fn new(machine: Machine) -> Others {
        let dialect = match machine {
            Machine::Arm => arm::DIALECT,
            Machine::Riscv32 | Machine::Riscv64 => riscv::DIALECT,
            Machine::S390x => s390x::DIALECT,
            Machine::Ppc | Machine::Ppc64 { .. } => ppc::DIALECT,
            // Those of x86 do not come here.
            Machine::Arm64 | Machine::X86 | Machine::X86_64 => arm64::DIALECT,
        };
        let thumb = (machine == Machine::Arm).then(|| capstone(machine, Content::Thumb)).flatten();
        Others { machine, dialect, main: capstone(machine, Content::Code), thumb }
    }

    /// The first instruction; if there is none, as many bytes as it would have.
    pub(crate) fn first<'b>(
        &self,
        content: Content,
        address: u64,
        bytes: &'b [u8],
        condition: Option<u8>,
        last: Option<&Instruction<'b>>,
    ) -> Option<Instruction<'b>> {
        let bad = || {
            let length = length::of(self.machine, content, bytes).min(bytes.len());
            let flow = Flow::Bad;
            Some(Instruction {
                address,
                bytes: bytes.get(..length)?,
                flow,
                refers_to: None,
                content,
                condition: None,
            })
        };
        let known = self.decoded(content, address, bytes, condition, |raw| {
            (raw.bytes.len(), (self.dialect.flow)(raw), (self.dialect.refers_to)(raw, last))
        });
        let Some((length, flow, refers_to)) = known else { return bad() };
        let Some(bytes) = bytes.get(..length).filter(|bytes| !bytes.is_empty()) else { return bad() };
        Some(Instruction { address, bytes, flow, refers_to, content, condition })
    }

    /// Notes which conditions an instruction puts on those behind it.
    pub(crate) fn conditions(&self, instruction: &Instruction<'_>, conditions: &mut Vec<u8>) {
        if instruction.content == Content::Thumb
            && let Some(put) = arm::conditions(instruction.bytes)
        {
            *conditions = put;
        }
    }

    pub(crate) fn text(&self, instruction: &Instruction<'_>, names: &mut Names<'_>) -> Text {
        if instruction.flow == Flow::Bad {
            return text::bad();
        }
        let Instruction { content, address, bytes, condition, .. } = *instruction;
        let known = self.decoded(content, address, bytes, condition, |raw| {
            let mut text =
                Text { mnemonic: raw.mnemonic.to_owned(), operands: raw.operands.to_owned(), comment: None };
            (self.dialect.spell)(raw, &mut text);
            text
        });
        let Some(mut text) = known else { return text::bad() };
        match (instruction.flow.target(), instruction.refers_to) {
            (Some(target), _) if is_number(last_operand(&text.operands)) => {
                let kept = text.operands.len().saturating_sub(last_operand(&text.operands).len());
                text.operands.truncate(kept);
                text.operands.push_str(&text::spelled(names, target, Refers::Code));
            }
            // The target comes out of two instructions.
            (Some(target), _) => text.comment = Some(text::spelled(names, target, Refers::Code)),
            (None, Some(address)) if number(last_operand(&text.operands)) == Some(address) => {
                let kept = text.operands.len().saturating_sub(last_operand(&text.operands).len());
                text.operands.truncate(kept);
                text.operands.push_str(&text::spelled(names, address, Refers::Data));
            }
            (None, Some(address)) => text.comment = Some(text::spelled(names, address, Refers::Data)),
            (None, None) => {}
        }
        text
    }

    /// Decodes the first instruction, and does something with it.
    fn decoded<T>(
        &self,
        content: Content,
        address: u64,
        bytes: &[u8],
        condition: Option<u8>,
        take: impl FnOnce(&Raw<'_>) -> T,
    ) -> Option<T> {
        let capstone = match content {
            Content::Thumb => self.thumb.as_ref()?,
            _ => self.main.as_ref()?,
        };
        let bytes = bytes.get(..LONGEST).unwrap_or(bytes);
        // What a condition does to an instruction is seen if the one that puts it there comes before it.
        let with_condition;
        let (bytes, start, skipped) = match condition {
            Some(condition) => {
                with_condition = [&arm::it(condition), bytes].concat();
                (with_condition.as_slice(), address.wrapping_sub(2), 1)
            }
            None => (bytes, address, 0),
        };
        let decoded = capstone.disasm_count(bytes, start, skipped + 1).ok()?;
        let Some(first) = decoded.get(skipped) else {
            let bytes = bytes.get(..4).filter(|_| skipped == 0)?;
            let word =
                if self.machine.has_big_endian_code() { word(bytes).swap_bytes() } else { word(bytes) };
            let (mnemonic, operands) = (self.dialect.more)(word)?;
            return Some(take(&Raw { address, bytes, mnemonic, operands: &operands, content }));
        };
        let raw = Raw {
            address,
            bytes: first.bytes(),
            mnemonic: first.mnemonic()?,
            operands: first.op_str().unwrap_or_default(),
            content,
        };
        Some(take(&raw))
    }
}

/// A decoder; `None` if Capstone was built without the machine.
fn capstone(machine: Machine, content: Content) -> Option<Capstone> {
    let (arch, mode, endian) = match (machine, content) {
        (Machine::Arm, Content::Thumb) => (Arch::ARM, Mode::Thumb, Endian::Little),
        (Machine::Arm, _) => (Arch::ARM, Mode::Arm, Endian::Little),
        (Machine::Riscv32, _) => (Arch::RISCV, Mode::RiscV32, Endian::Little),
        (Machine::Riscv64, _) => (Arch::RISCV, Mode::RiscV64, Endian::Little),
        (Machine::S390x, _) => (Arch::SYSZ, Mode::Default, Endian::Big),
        (Machine::Ppc, _) => (Arch::PPC, Mode::Mode32, Endian::Big),
        (Machine::Ppc64 { big_endian: true }, _) => (Arch::PPC, Mode::Mode64, Endian::Big),
        (Machine::Ppc64 { big_endian: false }, _) => (Arch::PPC, Mode::Mode64, Endian::Little),
        (Machine::Arm64 | Machine::X86 | Machine::X86_64, _) => (Arch::ARM64, Mode::Arm, Endian::Little),
    };
    let extra: Option<ExtraMode> = match machine {
        Machine::Arm => Some(ArmMode::V8.into()),
        Machine::Riscv32 | Machine::Riscv64 => Some(RiscvMode::RiscVC.into()),
        _ => None,
    };
    Capstone::new_raw(arch, mode, extra.into_iter(), Some(endian)).ok()
}

/// What is behind the last comma, or all of it.
fn last_operand(operands: &str) -> &str {
    operands.rsplit(',').next().unwrap_or_default().trim_start()
}

fn is_number(text: &str) -> bool {
    number(text).is_some()
}

/// A number as Capstone and `objdump` write them: `#0x10`, `-12`.
fn number(text: &str) -> Option<u64> {
    let text = text.strip_prefix('#').unwrap_or(text);
    let (is_negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let value = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok()?,
        None => text.parse().ok()?,
    };
    Some(if is_negative { value.wrapping_neg() } else { value })
}

/// The first four bytes as a little-endian word; 0 if there are fewer.
fn word(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |word| u32::from_le_bytes(*word))
}
