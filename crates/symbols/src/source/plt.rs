//! Names for the procedure linkage table: small pieces of code that jump to a function of another binary. The symbol
//! table does not name them; the relocations that belong to them do.
//!
//! Sizes and places are those of the processor supplements to the System V ABI.

use std::borrow::Cow;
use std::ops::Range;

use object::elf;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::image::{Cursor, Image, Section, text_at};
use crate::name::as_name;
use crate::source::elf::RawSymbols;
use crate::table::Binding;
use crate::table::{Entry, Table};

/// The sections that may have pieces.
const SECTIONS: [&[u8]; 3] = [b".plt", b".plt.sec", b".plt.got"];

/// The pieces of the procedure linkage table, by file offset.
#[derive(Debug)]
pub(crate) struct Plt {
    pub(crate) table: Table,
    /// Target of each piece; the piece of an `Entry` is `targets[entry.name]`.
    targets: Vec<Target>,
}

#[derive(Clone, Debug)]
enum Target {
    /// The common piece at the start.
    Header,
    /// The function with this name.
    Named(String),
    /// A function chosen at load time, without a name.
    Unnamed { resolver: u64 },
}

impl Plt {
    /// Reads the relocations of the mapped file; `function_names` names the functions at some virtual addresses, for pieces
    /// whose target is chosen at load time (R_*_IRELATIVE).
    pub(crate) fn read(
        runtime: &Image<'_>,
        function_names: impl FnOnce(&[u64]) -> Vec<Option<String>>,
    ) -> Plt {
        let mut plt = PltReader { runtime, entries: Vec::new(), targets: Vec::new() };
        match runtime.machine {
            elf::EM_X86_64 => plt.read_by_code(),
            _ => plt.read_in_order(),
        }
        let PltReader { entries, mut targets, .. } = plt;
        let resolvers = targets.iter_mut().filter_map(|target| Some((target.resolver()?, target)));
        let (addresses, unnamed): (Vec<u64>, Vec<&mut Target>) = resolvers.unzip();
        if !addresses.is_empty() {
            for (target, name) in unnamed.into_iter().zip(function_names(&addresses)) {
                if let Some(name) = name {
                    *target = Target::Named(name);
                }
            }
        }
        Plt { table: Table::of_disjoint(entries), targets }
    }

    /// Where pieces may be: offsets in the mapped file.
    pub(crate) fn ranges(runtime: &Image<'_>) -> impl Iterator<Item = Range<u64>> {
        SECTIONS.iter().filter_map(|name| {
            let section = runtime.section(name)?;
            Some(section.offset..section.offset.saturating_add(section.size))
        })
    }

    /// The name before demangling.
    pub(crate) fn name(&self, entry: &Entry) -> String {
        match usize::try_from(entry.name).ok().and_then(|at| self.targets.get(at)) {
            Some(Target::Named(name)) => format!("{name}@plt"),
            Some(Target::Unnamed { resolver }) => format!("offset_{resolver:#x}@plt"),
            Some(Target::Header) | None => ".plt".to_owned(),
        }
    }
}

impl Target {
    fn resolver(&self) -> Option<u64> {
        match self {
            Target::Unnamed { resolver } => Some(*resolver),
            _ => None,
        }
    }
}

struct PltReader<'i, 'data> {
    runtime: &'i Image<'data>,
    entries: Vec<Entry>,
    targets: Vec<Target>,
}

impl PltReader<'_, '_> {
    /// One piece for each relocation of `.rela.plt` or `.rel.plt`, in order, behind the common piece.
    fn read_in_order(&mut self) {
        let image = self.runtime;
        let Some(plt) = image.section(b".plt").copied() else { return };
        let relocations = image.section(b".rela.plt").or_else(|| image.section(b".rel.plt")).copied();
        let Some(relocations) = relocations else { return };
        let Some((header_bytes, piece_bytes)) = piece_sizes(image, &plt) else { return };
        let mut targets = self.targets_of(&relocations, |_| true);
        if image.machine == elf::EM_386 {
            targets.sort_by_key(|(slot, _)| *slot);
        }
        // Without lazy binding, as in static binaries, there is no common piece.
        let all_bytes = u64::try_from(targets.len()).unwrap_or(u64::MAX).saturating_mul(piece_bytes);
        let header_bytes = if all_bytes == plt.size { 0 } else { header_bytes };
        if header_bytes > 0 {
            self.add(plt.offset, header_bytes, Target::Header);
        }
        // With indirect branch tracking the pieces that are called are in a section of their own.
        let called = if image.machine == elf::EM_386 { image.section(b".plt.sec").copied() } else { None };
        let (mut at, end) = match called {
            Some(section) => (section.offset, section.offset.saturating_add(section.size)),
            None => (plt.offset.saturating_add(header_bytes), plt.offset.saturating_add(plt.size)),
        };
        for (_, target) in targets {
            if at >= end {
                break;
            }
            self.add(at, piece_bytes, target);
            at = at.saturating_add(piece_bytes);
        }
    }

    /// x86-64: each piece jumps through a slot that its instruction names, and the slot has a relocation. That does
    /// not depend on the order, which linkers choose in different ways.
    fn read_by_code(&mut self) {
        let image = self.runtime;
        let relocations =
            [&b".rela.plt"[..], b".rela.dyn"].into_iter().filter_map(|name| image.section(name));
        let pieces = pieces_by_code(image);
        // Most relocations of a large binary fill data, not slots: reading their names would take longest.
        let wanted: FxHashSet<u64> = pieces.iter().filter_map(|piece| piece.slot).collect();
        let lowest = wanted.iter().copied().min().unwrap_or(u64::MAX);
        let highest = wanted.iter().copied().max().unwrap_or(0);
        let is_wanted = |slot: u64| (lowest..=highest).contains(&slot) && wanted.contains(&slot);
        let slots: FxHashMap<u64, Target> =
            relocations.flat_map(|section| self.targets_of(section, is_wanted)).collect();
        for piece in pieces {
            match piece.slot.map(|slot| slots.get(&slot)) {
                Some(Some(target)) => self.add(piece.offset, piece.size, target.clone()),
                None if piece.is_first => self.add(piece.offset, piece.size, Target::Header),
                _ => {}
            }
        }
    }

    /// For each relocation of a section that fills a wanted slot, in order: the address of the slot, and what with.
    fn targets_of(&self, section: &Section<'_>, is_wanted: impl Fn(u64) -> bool) -> Vec<(u64, Target)> {
        let image = self.runtime;
        let symbols =
            image.section_at(section.link).or_else(|| image.section_of_kind(elf::SHT_DYNSYM)).copied();
        let raw = symbols.map(|symbols| RawSymbols::of(image, &symbols));
        let strings =
            symbols.and_then(|symbols| image.section_at(symbols.link)).map(|table| image.bytes(table));
        let with_addend = section.kind == elf::SHT_RELA;
        let size = match (image.is_64, with_addend) {
            (true, true) => 24,
            (true, false) => 16,
            (false, true) => 12,
            (false, false) => 8,
        };
        let relocations = image.bytes(section).chunks_exact(size).map(|bytes| image.cursor(bytes));
        relocations
            .filter_map(|relocation| {
                let slot = slot(&relocation, image.is_64).filter(|slot| is_wanted(*slot))?;
                let (number, addend) = symbol_and_addend(&relocation, image.is_64, with_addend)?;
                let name = usize::try_from(number).ok().filter(|number| *number > 0).and_then(|number| {
                    let at = usize::try_from(raw?.get(number)?.name).ok()?;
                    text_at(strings?, at).map(as_name).map(Cow::into_owned)
                });
                let target = match name {
                    Some(name) if !name.is_empty() => Target::Named(name),
                    _ => Target::Unnamed { resolver: addend },
                };
                Some((slot, target))
            })
            .collect()
    }

    fn add(&mut self, start: u64, size: u64, target: Target) {
        let name = crate::ids::number(self.targets.len());
        self.targets.push(target);
        let end = start.saturating_add(size);
        self.entries.push(Entry { start, end, name, binding: Binding::Global, is_label: false });
    }
}

/// A piece of x86-64 code in a linkage table.
struct Piece {
    offset: u64,
    size: u64,
    /// The slot that it jumps through.
    slot: Option<u64>,
    /// Whether it is at the start of `.plt`, where the common piece is.
    is_first: bool,
}

fn pieces_by_code(image: &Image<'_>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for name in SECTIONS {
        let Some(section) = image.section(name).copied() else { continue };
        let Some((_, size)) = piece_sizes(image, &section) else { continue };
        let bytes = image.bytes(&section);
        let step = usize::try_from(size).map_or(1, |size| size.max(1));
        pieces.extend(bytes.chunks(step).zip(0_u64..).map(|(code, number)| {
            let within = number.saturating_mul(size);
            Piece {
                offset: section.offset.saturating_add(within),
                size,
                slot: jump_slot(code, section.address.wrapping_add(within)),
                is_first: number == 0 && name == b".plt",
            }
        }));
    }
    pieces
}

/// Bytes of the common piece at the start of `.plt`, and of each other piece.
fn piece_sizes(image: &Image<'_>, plt: &Section<'_>) -> Option<(u64, u64)> {
    let sizes = match image.machine {
        elf::EM_ARM => (20, 12),
        elf::EM_AARCH64 | elf::EM_LOONGARCH => (32, 16),
        elf::EM_SPARC => (48, 12),
        elf::EM_SPARCV9 => (128, 32),
        elf::EM_386 | elf::EM_X86_64 => {
            let size = match plt.entry_size {
                size @ (8 | 16) => size,
                _ if plt.alignment == 8 => 8,
                _ => 16,
            };
            (size, size)
        }
        _ => (plt.entry_size, plt.entry_size),
    };
    (sizes.1 > 0).then_some(sizes)
}

/// The slot that a relocation fills.
#[inline]
fn slot(relocation: &Cursor<'_>, is_64: bool) -> Option<u64> {
    if is_64 { relocation.u64(0) } else { relocation.u32(0).map(u64::from) }
}

/// Symbol number and addend of the same relocation.
fn symbol_and_addend(relocation: &Cursor<'_>, is_64: bool, with_addend: bool) -> Option<(u32, u64)> {
    if is_64 {
        let addend = if with_addend { relocation.u64(16)? } else { 0 };
        let symbol = u32::try_from(relocation.u64(8)? >> 32).ok()?;
        Some((symbol, addend))
    } else {
        let addend = if with_addend { relocation.u32(8)?.into() } else { 0 };
        Some((relocation.u32(4)? >> 8, addend))
    }
}

/// The slot through which an x86-64 piece jumps: `[endbr64] [bnd] jmp *disp32(%rip)`.
fn jump_slot(code: &[u8], address: u64) -> Option<u64> {
    let mut skipped = 0_u64;
    let mut rest = code;
    for prefix in [&[0xf3, 0x0f, 0x1e, 0xfa][..], &[0xf2][..]] {
        if let Some(tail) = rest.strip_prefix(prefix) {
            rest = tail;
            skipped = skipped.saturating_add(u64::try_from(prefix.len()).ok()?);
        }
    }
    let operand = rest.strip_prefix(&[0xff, 0x25])?.get(..4)?;
    let distance = i32::from_le_bytes(operand.try_into().ok()?);
    let next_instruction = address.wrapping_add(skipped).wrapping_add(6);
    Some(next_instruction.wrapping_add_signed(i64::from(distance)))
}
