//! Debug information of files that were not linked, as kernel modules are: the addresses in it are to be filled in (System V ABI,
//! chapter 4, relocation).

use std::borrow::Cow;

use super::relocated_riscv::Change;
use object::{Object, ObjectSection, ObjectSymbol, RelocationKind, RelocationTarget};

/// Fills in the addresses in a debug section. `sections_at` has the address of every section by its number; references to
/// other debug sections are offsets in them. `None` if there is something that cannot be filled in.
pub(super) fn apply<'f>(
    file: &object::File<'f>,
    section: &object::Section<'f, '_>,
    bytes: Cow<'f, [u8]>,
    sections_at: &[u64],
) -> Option<Cow<'f, [u8]>> {
    let mut relocations = section.relocations().peekable();
    if relocations.peek().is_none() {
        return Some(bytes);
    }
    let mut bytes = bytes.into_owned();
    for (offset, relocation) in relocations {
        let change = match (relocation.kind(), relocation.size()) {
            (RelocationKind::None, _) => continue,
            (RelocationKind::Absolute, 32) => Kind::Absolute(4),
            (RelocationKind::Absolute, 64) => Kind::Absolute(8),
            // Differences, and places of variables of threads, which are not code. All else would be guessed.
            (RelocationKind::Unknown, _) if is_of_thread(relocation.flags(), file.architecture()) => continue,
            (RelocationKind::Unknown, _) => Kind::RiscV(change_of(relocation.flags(), file)?),
            _ => return None,
        };
        let target = match relocation.target() {
            RelocationTarget::Symbol(index) => {
                let symbol = file.symbol_by_index(index).ok()?;
                let base = symbol.section_index().map_or(0, |section| base(file, section, sections_at));
                symbol.address().wrapping_add(base)
            }
            RelocationTarget::Section(section) => base(file, section, sections_at),
            RelocationTarget::Absolute => 0,
            _ => return None,
        };
        let start = usize::try_from(offset).ok()?;
        let width = match change {
            Kind::Absolute(width) => width,
            Kind::RiscV(change) => {
                change.make(bytes.get_mut(start..)?, target.wrapping_add_signed(relocation.addend()))?;
                continue;
            }
        };
        let place = bytes.get_mut(start..start.checked_add(width)?)?;
        let mut word = [0; 8];
        let little = file.is_little_endian();
        let within = if little { 0 } else { 8_usize.checked_sub(width)? };
        let part = within..within.checked_add(width)?;
        let mut value = target.wrapping_add_signed(relocation.addend());
        if relocation.has_implicit_addend() {
            word.get_mut(part.clone())?.copy_from_slice(place);
            value =
                value.wrapping_add(if little { u64::from_le_bytes(word) } else { u64::from_be_bytes(word) });
        }
        let word = if little { value.to_le_bytes() } else { value.to_be_bytes() };
        place.copy_from_slice(word.get(part)?);
    }
    Some(Cow::Owned(bytes))
}

/// What a relocation does.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// To put an address of so many bytes there.
    Absolute(usize),
    RiscV(Change),
}

/// The relocations of RISC-V; `None` for others, and for the big-endian variant, of which there are no kernels.
fn change_of(flags: object::RelocationFlags, file: &object::File<'_>) -> Option<Change> {
    let object::RelocationFlags::Elf { r_type } = flags else { return None };
    let is_riscv =
        matches!(file.architecture(), object::Architecture::Riscv32 | object::Architecture::Riscv64);
    (is_riscv && file.is_little_endian()).then(|| Change::of(r_type))?
}

/// The address of a section: sections that are not in memory have none, and addresses in them are offsets.
fn base(file: &object::File<'_>, section: object::SectionIndex, sections_at: &[u64]) -> u64 {
    const IN_MEMORY: u64 = object::elf::SHF_ALLOC as u64;
    let flags = file.section_by_index(section).map(|section| section.flags());
    match flags {
        Ok(object::SectionFlags::Elf { sh_flags }) if sh_flags & IN_MEMORY != 0 => {
            sections_at.get(section.0).copied().unwrap_or(0)
        }
        _ => 0,
    }
}

fn is_of_thread(flags: object::RelocationFlags, architecture: object::Architecture) -> bool {
    use object::elf;
    let object::RelocationFlags::Elf { r_type } = flags else { return false };
    match architecture {
        object::Architecture::X86_64 => r_type == elf::R_X86_64_DTPOFF64 || r_type == elf::R_X86_64_DTPOFF32,
        object::Architecture::Aarch64 => r_type == elf::R_AARCH64_TLS_DTPREL,
        _ => false,
    }
}
