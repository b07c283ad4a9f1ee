//! Names of the kernel and its modules out of their ELF files, at the addresses that they had when running.

use crate::batch::SymbolBatch;
use crate::demangle::Demangle;
use crate::image::{Image, Load, text_at};
use crate::options::Options;
use crate::reason::Reason;
use crate::source::Names;
use crate::source::elf::{RawSymbol, raw_symbols};
use crate::source::naming::ElfNames;
use crate::subject::AddressBatch;
use object::elf;

/// An ELF file of the kernel, and how its code was put into memory.
#[derive(Debug)]
pub(super) struct AtRunTime<'f> {
    names: ElfNames<'f>,
    placed: Vec<Placed>,
}

/// A piece of the file in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) address: u64,
    pub(crate) size: u64,
    pub(crate) offset: u64,
}

impl<'f> AtRunTime<'f> {
    /// The kernel proper. `reference` tells where it was when recording; without it, it was where it was linked for.
    pub(super) fn kernel(
        image: &Image<'_>,
        names: ElfNames<'f>,
        reference: Option<&(String, u64)>,
    ) -> Result<AtRunTime<'f>, Reason> {
        let moved = moved(image, reference)?;
        let place = |load: &Load| Placed {
            address: load.address.wrapping_add(moved),
            size: load.memory_size,
            offset: load.offset,
        };
        Ok(AtRunTime { names, placed: image.loads.iter().map(place).collect() })
    }

    /// A module, loaded at `start`.
    pub(super) fn module(image: &Image<'_>, names: ElfNames<'f>, start: u64) -> AtRunTime<'f> {
        AtRunTime { names, placed: places_of_module(image, start) }
    }

    /// Whether lines and inlined functions are known, and wanted.
    pub(super) fn has_debug_info(&self) -> bool {
        self.names.has_debug_info()
    }

    fn offset(&self, address: u64) -> Option<u64> {
        self.placed.iter().find_map(|placed| {
            let within = address.checked_sub(placed.address)?;
            (within < placed.size).then(|| placed.offset.wrapping_add(within))
        })
    }
}

impl Names for AtRunTime<'_> {
    fn name(&self, options: &Options, batch: &AddressBatch) -> SymbolBatch {
        let offsets: Vec<Option<u64>> = batch.addresses.iter().map(|address| self.offset(*address)).collect();
        let asked = AddressBatch::new(batch.subject.clone(), offsets.iter().flatten().copied().collect());
        // Names of the kernel are shown as they are in its own list.
        let options = Options { demangle: Demangle::None, ..options.clone() };
        self.names.name(&options, &asked).for_original(batch, &offsets)
    }
}

/// Where the parts of a module are that was loaded at `start`. Its file is not linked: the kernel puts the sections with code one
/// behind the other, in the order of the file and without those for initialisation, which are elsewhere (`kernel/module/main.c`).
pub(crate) fn places_of_module(image: &Image<'_>, start: u64) -> Vec<Placed> {
    let mut placed = Vec::new();
    let mut at = start;
    let in_code = u64::from(elf::SHF_ALLOC | elf::SHF_EXECINSTR);
    // What comes before `.text` is made by the kernel itself, on some machines, and not where `start` is.
    let sections = image.sections.iter().skip_while(|section| section.name != b".text");
    for section in sections {
        let is_early = section.name.starts_with(b".init");
        if section.flags & in_code != in_code || is_early {
            continue;
        }
        // The kernel makes the jump tables of some machines larger than they are in the file.
        if section.name != b".text" && section.kind == elf::SHT_NOBITS {
            break;
        }
        let Some(address) = at.checked_next_multiple_of(section.alignment.max(1)) else { break };
        placed.push(Placed { address, size: section.size, offset: section.offset });
        at = address.saturating_add(section.size);
    }
    placed
}

/// How far the kernel was moved from where it was linked for. `reference` tells where it was when recording.
pub(crate) fn moved(image: &Image<'_>, reference: Option<&(String, u64)>) -> Result<u64, Reason> {
    match reference {
        Some((symbol, recorded)) if *recorded != 0 => {
            let missing = || Reason::ReferenceMissing { symbol: symbol.clone() };
            Ok(recorded.wrapping_sub(address_of(image, symbol).ok_or_else(missing)?))
        }
        _ => Ok(0),
    }
}

/// The address that a symbol was linked for.
fn address_of(image: &Image<'_>, wanted: &str) -> Option<u64> {
    let section = image.section_of_kind(elf::SHT_SYMTAB)?;
    let strings = image.bytes(image.section_at(section.link)?);
    let is_named = |symbol: &RawSymbol| {
        let name = usize::try_from(symbol.name).ok().and_then(|at| text_at(strings, at));
        // One that is not defined here has no value; one that belongs to no section may have.
        symbol.value != 0 && name == Some(wanted.as_bytes())
    };
    raw_symbols(image, section).find(is_named).map(|symbol| symbol.value)
}
