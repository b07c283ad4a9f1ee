//! From the call frame information of a binary to the rule for one of its instructions.

use std::ops::RangeInclusive;

use gimli::{
    BaseAddresses, CfaRule, DebugFrame, EhFrame, EhFrameHdr, EndianSlice, RegisterRule, RunTimeEndian,
    UnwindContext, UnwindExpression, UnwindSection,
};

use super::expression;
use super::rule::{Cfa, Rule, Saved};
use crate::machine::Machine;

pub(super) type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

/// Rows that a table may put aside (`DW_CFA_remember_state`) and rules a row may have.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Storage;

impl gimli::UnwindContextStorage<usize> for Storage {
    type Rules = [(gimli::Register, RegisterRule<usize>); 128];
    type Stack = Box<[gimli::UnwindTableRow<usize, Storage>; 8]>;
}

/// Space for working out rows; used again and again.
pub(super) type Context = UnwindContext<usize, Storage>;

/// The part of the code that an entry of the tables is about, and where the entry is in its section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) start: u64,
    pub(super) offset: usize,
}

/// One section of call frame information.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frames<'a, S> {
    pub(super) section: &'a S,
    pub(super) bases: &'a BaseAddresses,
    pub(super) machine: Machine,
}

/// The section made for exceptions.
pub(super) fn eh_frame<'a>(bytes: &'a [u8], endian: RunTimeEndian, machine: Machine) -> EhFrame<Slice<'a>> {
    let mut section = EhFrame::new(bytes, endian);
    section.set_address_size(machine.convention().word);
    if machine == Machine::Aarch64 {
        section.set_vendor(gimli::Vendor::AArch64);
    }
    section
}

/// The section made for debuggers.
pub(super) fn debug_frame<'a>(
    bytes: &'a [u8],
    endian: RunTimeEndian,
    machine: Machine,
) -> DebugFrame<Slice<'a>> {
    let mut section = DebugFrame::new(bytes, endian);
    section.set_address_size(machine.convention().word);
    if machine == Machine::Aarch64 {
        section.set_vendor(gimli::Vendor::AArch64);
    }
    section
}

/// Looks an address up in the table that linkers make of `.eh_frame`: the offset of its entry there. The outer `None`
/// means that there is no such table.
pub(super) fn search_header(
    header: &[u8],
    endian: RunTimeEndian,
    bases: &BaseAddresses,
    machine: Machine,
    address: u64,
) -> Option<Option<usize>> {
    let parsed = EhFrameHdr::new(header, endian).parse(bases, machine.convention().word).ok()?;
    let table = parsed.table()?;
    let pointer = table.lookup(address, bases).ok();
    Some(pointer.and_then(|pointer| table.pointer_to_offset(pointer).ok()).map(|offset| offset.0))
}

impl<'a, S> Frames<'a, S>
where
    S: UnwindSection<Slice<'a>>,
    S::Offset: gimli::UnwindOffset<usize>,
{
    /// All entries by the address they start at. What is behind a damaged entry is lost.
    pub(super) fn index(&self) -> Vec<Entry> {
        let mut entries = self.section.entries(self.bases);
        let mut index = Vec::new();
        while let Ok(Some(entry)) = entries.next() {
            let gimli::CieOrFde::Fde(partial) = entry else { continue };
            let Ok(fde) = partial.parse(S::cie_from_offset) else { continue };
            // What the linker threw away starts at zero, or is empty.
            if fde.len() > 0 && fde.initial_address() > 0 {
                index.push(Entry { start: fde.initial_address(), offset: fde.offset() });
            }
        }
        index.sort_unstable_by_key(|entry| (entry.start, entry.offset));
        index
    }

    /// The rule at an address, by the entry at `offset`, and for which addresses it holds. `None` when the entry is
    /// not about the address, or damaged.
    pub(super) fn rule(
        &self,
        offset: usize,
        address: u64,
        context: &mut Context,
    ) -> Option<(Rule, RangeInclusive<u64>)> {
        let fde = self.section.fde_from_offset(self.bases, offset.into(), S::cie_from_offset).ok()?;
        if !fde.contains(address) {
            return None;
        }
        let row = fde.unwind_info_for_address(self.section, self.bases, context, address).ok()?;
        let cfa = match row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => {
                Cfa::Register { column: self.machine.column_of(register.0)?, offset: *offset }
            }
            CfaRule::Expression(expression) => Cfa::Expression(self.bytes(expression)?),
        };
        let return_column = self.machine.column_of(fde.cie().return_address_register().0)?;
        let link = self.machine.convention().link;
        // Compilers leave out the rule of a return address that still is in its register.
        let unlisted = if link.is_some() { Saved::Kept } else { Saved::Nowhere };
        let mut return_address = unlisted;
        let mut saved = Vec::new();
        for (register, rule) in row.registers() {
            let Some(column) = self.machine.column_of(register.0) else { continue };
            let place = self.place(rule);
            if column == return_column {
                return_address = place;
            } else if place != Saved::Kept {
                saved.push((column, place));
            }
        }
        saved.sort_unstable_by_key(|(column, _)| *column);
        let is_plain = saved.iter().all(|(_, saved)| saved.is_plain());
        let rule = Rule {
            cfa,
            return_address,
            return_column,
            is_signal: fde.is_signal_trampoline(),
            saved: saved.into(),
            is_plain,
        };
        let end = row.end_address().min(fde.initial_address().saturating_add(fde.len()));
        Some((rule, row.start_address()..=end.saturating_sub(1)))
    }

    fn place(&self, rule: &RegisterRule<usize>) -> Saved {
        let expression = |expression: &UnwindExpression<usize>| self.bytes(expression);
        match rule {
            RegisterRule::SameValue => Saved::Kept,
            RegisterRule::Offset(offset) => Saved::At(*offset),
            RegisterRule::ValOffset(offset) => Saved::Value(*offset),
            RegisterRule::Register(register) => {
                self.machine.column_of(register.0).map_or(Saved::Nowhere, Saved::In)
            }
            RegisterRule::Expression(at) => expression(at).map_or(Saved::Nowhere, Saved::AtExpression),
            RegisterRule::ValExpression(at) => expression(at).map_or(Saved::Nowhere, Saved::ValueExpression),
            _ => Saved::Nowhere,
        }
    }

    fn bytes(&self, expression: &UnwindExpression<usize>) -> Option<Box<[u8]>> {
        let bytes = expression.get(self.section).ok()?.0.slice();
        (bytes.len() <= expression::MAX_BYTES).then(|| bytes.into())
    }
}
