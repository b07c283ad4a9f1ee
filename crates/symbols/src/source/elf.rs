//! The symbol table of an ELF file, by file offset.
//!
//! Which symbols count, and at which file offset a symbol lies, follows `perf`. The layout of tables and headers is
//! that of the System V ABI, chapter 4, and of the processor supplements for ARM, AArch64 and 64-bit PowerPC.

use std::borrow::Cow;
use std::sync::Arc;

use object::elf;

use crate::batch::Provides;
use crate::files::Files;
use crate::image::{Cursor, Image, Section, text_at};
use crate::name::as_name;
use crate::needed::{OnDemand, Symbols};
use crate::table::{Binding, Entry, Table};

/// The symbols of one file and where their names are.
#[derive(Debug)]
pub(crate) struct ElfSymbols<'data> {
    origin: Origin<'data>,
    table: OnDemand,
    strings: &'data [u8],
    pub(crate) provides: Provides,
}

/// Where entries come from.
#[derive(Debug)]
enum Origin<'data> {
    /// A table in a file.
    Section(Box<Reader<'data>>),
    /// Several tables, which have been read.
    Read(Vec<Entry>),
}

impl<'data> ElfSymbols<'data> {
    /// Reads the symbols of `image`: `.symtab`, or `.dynsym` where that is missing. `runtime` is the file that was
    /// mapped and has the program headers; it differs from `image` if that is a separate debug file.
    pub(crate) fn read(image: &Image<'data>, runtime: &Image<'data>) -> Option<ElfSymbols<'data>> {
        [(elf::SHT_SYMTAB, Provides::SymbolTable), (elf::SHT_DYNSYM, Provides::DynamicSymbols)]
            .into_iter()
            .find_map(|(kind, provides)| {
                let section = *image.section_of_kind(kind)?;
                let strings = image.bytes(image.section_at(section.link)?);
                let reader = Box::new(Reader::new(image, runtime, &section, strings));
                reader.symbols.all().find_map(|(_, symbol)| reader.entry(symbol))?;
                let origin = Origin::Section(reader);
                Some(ElfSymbols { origin, table: OnDemand::default(), strings, provides })
            })
    }

    /// Reads the symbols of a file that is embedded in `runtime` and has what the dynamic symbols of that lack, and
    /// these. The names of both are kept together in `files`.
    pub(crate) fn read_embedded(
        embedded: &Image<'data>,
        runtime: &Image<'data>,
        files: &'data Files,
    ) -> Option<ElfSymbols<'data>> {
        let (mut names, mut entries) = (Vec::new(), Vec::new());
        for (image, kind) in [(embedded, elf::SHT_SYMTAB), (runtime, elf::SHT_DYNSYM)] {
            let Some(section) = image.section_of_kind(kind) else { continue };
            let strings = image.section_at(section.link).map_or(&[][..], |section| image.bytes(section));
            let Ok(at) = u32::try_from(names.len()) else { break };
            let read = Reader::new(image, runtime, section, strings);
            read.for_each(|_, entry| {
                entries.extend(entry.name.checked_add(at).map(|name| Entry { name, ..entry }));
            });
            names.extend_from_slice(strings);
            // A table may lack its last zero byte, and then would run into the next one.
            names.push(0);
        }
        let strings = files.keep(Arc::new(names));
        (!entries.is_empty()).then(|| ElfSymbols {
            origin: Origin::Read(entries),
            table: OnDemand::default(),
            strings,
            provides: Provides::EmbeddedSymbols,
        })
    }

    /// The symbols that cover these file offsets, which are sorted. Others that start where one that is found does may have better
    /// names: see [`Self::choice`].
    pub(crate) fn covering(&self, offsets: &[u64]) -> Cow<'_, Table> {
        let make = |entries| Table::build_lazily(entries, |_, _| false, |entry| name_of(self.strings, entry));
        match &self.origin {
            Origin::Section(reader) => self.table.covering(offsets, &**reader, make),
            Origin::Read(entries) => self.table.covering(offsets, entries, make),
        }
    }

    /// The symbol that is meant where this one was found in a table.
    pub(crate) fn choice(&self, table: &Table, found: &Entry) -> Entry {
        table.choice(found, |entry| name_of(self.strings, entry))
    }

    /// How long the name of a symbol is, in bytes.
    pub(crate) fn name_bytes(&self, entry: &Entry) -> usize {
        name_of(self.strings, entry).len()
    }

    /// The name of a symbol of this table.
    pub(crate) fn name(&self, entry: &Entry) -> Cow<'data, str> {
        as_name(name_of(self.strings, entry))
    }
}

fn name_of<'data>(strings: &'data [u8], entry: &Entry) -> &'data [u8] {
    usize::try_from(entry.name).ok().and_then(|at| text_at(strings, at)).unwrap_or(b"")
}

/// One record of a symbol table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawSymbol {
    pub(crate) name: u32,
    pub(crate) info: u8,
    pub(crate) other: u8,
    pub(crate) section: u32,
    pub(crate) value: u64,
    pub(crate) size: u64,
}

impl RawSymbol {
    fn of_64(record: &[u8; 24], big_endian: bool) -> RawSymbol {
        let [a, b, c, d, info, other, e, f, value @ .., s, t, u, v, w, x, y, z] = *record;
        RawSymbol {
            name: number_of([a, b, c, d], big_endian, u32::from_be_bytes, u32::from_le_bytes),
            info,
            other,
            section: number_of([e, f], big_endian, u16::from_be_bytes, u16::from_le_bytes).into(),
            value: number_of(value, big_endian, u64::from_be_bytes, u64::from_le_bytes),
            size: number_of([s, t, u, v, w, x, y, z], big_endian, u64::from_be_bytes, u64::from_le_bytes),
        }
    }

    fn of_32(record: &[u8; 16], big_endian: bool) -> RawSymbol {
        let [a, b, c, d, value @ .., s, t, u, v, info, other, e, f] = *record;
        RawSymbol {
            name: number_of([a, b, c, d], big_endian, u32::from_be_bytes, u32::from_le_bytes),
            info,
            other,
            section: number_of([e, f], big_endian, u16::from_be_bytes, u16::from_le_bytes).into(),
            value: number_of(value, big_endian, u32::from_be_bytes, u32::from_le_bytes).into(),
            size: number_of([s, t, u, v], big_endian, u32::from_be_bytes, u32::from_le_bytes).into(),
        }
    }

    pub(crate) fn kind(&self) -> u8 {
        self.info & 0xf
    }
}

/// A number in one of two byte orders.
fn number_of<const N: usize, T>(
    bytes: [u8; N],
    big_endian: bool,
    big: impl Fn([u8; N]) -> T,
    little: impl Fn([u8; N]) -> T,
) -> T {
    if big_endian { big(bytes) } else { little(bytes) }
}

/// How long a record of a symbol table is.
fn entry_bytes(image: &Image<'_>) -> usize {
    if image.is_64 { 24 } else { 16 }
}

/// All records of a symbol table, in the order of the file.
pub(crate) fn raw_symbols<'data>(
    image: &Image<'data>,
    section: &Section<'data>,
) -> impl Iterator<Item = RawSymbol> + use<'data> {
    RawSymbols::of(image, section).all().map(|(_, symbol)| symbol)
}

/// The records of a symbol table, by number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawSymbols<'data> {
    bytes: &'data [u8],
    entry_bytes: usize,
    is_64: bool,
    big_endian: bool,
    /// Symbols of files with 0xff00 and more sections have their section number in a table of its own.
    extended: Option<Cursor<'data>>,
}

impl<'data> RawSymbols<'data> {
    pub(crate) fn of(image: &Image<'data>, section: &Section<'data>) -> RawSymbols<'data> {
        let extended = image.section_of_kind(elf::SHT_SYMTAB_SHNDX);
        RawSymbols {
            bytes: image.bytes(section),
            entry_bytes: entry_bytes(image),
            is_64: image.is_64,
            big_endian: image.big_endian,
            extended: extended.map(|section| image.cursor(image.bytes(section))),
        }
    }

    /// How many there are.
    fn count(&self) -> usize {
        self.bytes.len() / self.entry_bytes
    }

    /// All records with their numbers.
    fn all(self) -> impl Iterator<Item = (usize, RawSymbol)> + use<'data> {
        let records = self.bytes.chunks_exact(self.entry_bytes).enumerate();
        records.filter_map(move |(number, record)| Some((number, self.read(number, record)?)))
    }

    /// One record.
    pub(crate) fn get(&self, number: usize) -> Option<RawSymbol> {
        self.read(number, self.bytes.get(number.checked_mul(self.entry_bytes)?..)?.get(..self.entry_bytes)?)
    }

    /// All records with their numbers. Each of the four forms has a loop of its own.
    fn for_each(&self, take: impl FnMut(usize, RawSymbol)) {
        match self.is_64 {
            true => self.for_each_of(RawSymbol::of_64, take),
            false => self.for_each_of(RawSymbol::of_32, take),
        }
    }

    #[inline(always)]
    fn for_each_of<const N: usize>(
        &self,
        read: impl Fn(&[u8; N], bool) -> RawSymbol,
        mut take: impl FnMut(usize, RawSymbol),
    ) {
        let records = self.bytes.as_chunks().0.iter().enumerate();
        match self.big_endian {
            true => records.for_each(|(nr, record)| take(nr, self.placed(nr, read(record, true)))),
            false => records.for_each(|(nr, record)| take(nr, self.placed(nr, read(record, false)))),
        }
    }

    fn read(&self, number: usize, record: &[u8]) -> Option<RawSymbol> {
        let symbol = match self.is_64 {
            true => RawSymbol::of_64(record.first_chunk()?, self.big_endian),
            false => RawSymbol::of_32(record.first_chunk()?, self.big_endian),
        };
        Some(self.placed(number, symbol))
    }

    /// A record with the number of its section; 0 if it has none.
    #[inline(always)]
    fn placed(&self, number: usize, mut symbol: RawSymbol) -> RawSymbol {
        if symbol.section == u32::from(elf::SHN_XINDEX) {
            symbol.section = self.extended.and_then(|table| table.u32(number.checked_mul(4)?)).unwrap_or(0);
        } else if symbol.section >= u32::from(elf::SHN_LORESERVE) {
            // SHN_ABS, SHN_COMMON and the like are no places in the file.
            symbol.section = 0;
        }
        symbol
    }
}

/// Reads a symbol table.
#[derive(Debug)]
struct Reader<'data> {
    symbols: RawSymbols<'data>,
    machine: u16,
    /// The segments of the file that was mapped.
    runtime: Image<'data>,
    /// By number.
    sections: Vec<Option<InMemory>>,
    strings: &'data [u8],
    descriptors: Option<Descriptors<'data>>,
}

/// A section that is in memory while the program runs.
#[derive(Clone, Copy, Debug)]
struct InMemory {
    /// How much less its offset in the file is than its address.
    distance: u64,
    holds_code_or_data: bool,
}

impl InMemory {
    /// The section with this number.
    fn of(image: &Image<'_>, runtime: &Image<'_>, number: u32) -> Option<InMemory> {
        let mut section = image.section_at(number).filter(|section| is_in_memory(section))?;
        if section.kind == elf::SHT_NOBITS {
            // In a separate debug file the code sections are empty and their offsets mean nothing.
            section = runtime.section_at(number)?;
        }
        let distance = section.address.wrapping_sub(section.offset);
        Some(InMemory { distance, holds_code_or_data: holds_code_or_data(section.name) })
    }
}

impl<'data> Reader<'data> {
    fn new(
        image: &Image<'data>,
        runtime: &Image<'data>,
        section: &Section<'data>,
        strings: &'data [u8],
    ) -> Reader<'data> {
        let (symbols, descriptors) = (RawSymbols::of(image, section), Descriptors::of(runtime));
        let numbers = (0..).take(image.sections.len());
        let sections = numbers.map(|number| InMemory::of(image, runtime, number)).collect();
        let (machine, runtime) = (image.machine, runtime.clone());
        Reader { symbols, machine, runtime, sections, strings, descriptors }
    }

    #[inline(always)]
    fn entry(&self, mut symbol: RawSymbol) -> Option<Entry> {
        let is_label = match symbol.kind() {
            elf::STT_FUNC | elf::STT_GNU_IFUNC | elf::STT_OBJECT => false,
            elf::STT_NOTYPE if is_visible(&symbol) => true,
            _ => return None,
        };
        if symbol.name == 0 || symbol.section == 0 || self.is_mapping_symbol(&symbol) {
            return None;
        }
        if let Some(code) = self.descriptors.as_ref().and_then(|table| table.code_of(&symbol)) {
            (symbol.value, symbol.section) = code;
        }
        let section = (*self.sections.get(symbol.section as usize)?)?;
        if is_label && !section.holds_code_or_data {
            return None;
        }
        if self.machine == elf::EM_ARM && symbol.kind() == elf::STT_FUNC {
            // Bit 0 says that the code is Thumb.
            symbol.value &= !1;
        }
        let offset = self
            .runtime
            .address_to_offset(symbol.value)
            .unwrap_or_else(|| symbol.value.wrapping_sub(section.distance));
        Some(Entry {
            start: offset,
            end: offset.saturating_add(symbol.size),
            name: symbol.name,
            binding: match symbol.info >> 4 {
                elf::STB_LOCAL => Binding::Local,
                elf::STB_WEAK => Binding::Weak,
                _ => Binding::Global,
            },
            is_label,
        })
    }

    /// `$a`, `$d`, `$t` and `$x` mark where code and data begin; assemblers of three machines write them. Where code may still
    /// shrink when it is linked, a file that is not linked has labels of the assembler (`.L0`) at most instructions; the
    /// kernel leaves both out of its own list (`is_mapping_symbol` in `include/linux/module_symbol.h`).
    fn is_mapping_symbol(&self, symbol: &RawSymbol) -> bool {
        let shrinks = matches!(self.machine, elf::EM_RISCV | elf::EM_LOONGARCH);
        if !shrinks && !matches!(self.machine, elf::EM_ARM | elf::EM_AARCH64) {
            return false;
        }
        let name = usize::try_from(symbol.name).ok().and_then(|at| self.strings.get(at..)).unwrap_or(b"");
        match name {
            [b'.', b'L', ..] => shrinks && symbol.kind() == elf::STT_NOTYPE,
            [b'$', b'x', ..] if self.machine == elf::EM_RISCV => true,
            [b'$', b'a' | b'd' | b't' | b'x', 0 | b'.', ..] => true,
            _ => false,
        }
    }
}

/// Those records that are entries.
impl Symbols for Reader<'_> {
    fn count(&self) -> usize {
        self.symbols.count()
    }

    fn for_each(&self, mut take: impl FnMut(u32, Entry)) {
        self.symbols.for_each(|number, symbol| {
            if let (Ok(number), Some(entry)) = (u32::try_from(number), self.entry(symbol)) {
                take(number, entry);
            }
        });
    }

    fn get(&self, number: u32) -> Option<Entry> {
        self.entry(self.symbols.get(usize::try_from(number).ok()?)?)
    }
}

fn is_visible(symbol: &RawSymbol) -> bool {
    !matches!(symbol.other & 3, elf::STV_HIDDEN | elf::STV_INTERNAL)
}

/// Whether it is a section of code or data, by its name; of one that is longer than any real one, by its beginning.
fn holds_code_or_data(section: &[u8]) -> bool {
    const LONGEST: usize = 256;
    section.get(..LONGEST).unwrap_or(section).windows(4).any(|part| part == b"text" || part == b"data")
}

/// The function descriptors of 64-bit PowerPC, ELF version 1: a function symbol names a descriptor in `.opd`, whose
/// first word is the address of the code.
#[derive(Debug)]
struct Descriptors<'i> {
    section: u32,
    address: u64,
    cursor: Cursor<'i>,
    /// Address, size and number of the sections that are in memory, by address.
    sections: Vec<(u64, u64, u32)>,
}

impl<'i> Descriptors<'i> {
    fn of(runtime: &Image<'i>) -> Option<Descriptors<'i>> {
        if runtime.machine != elf::EM_PPC64 {
            return None;
        }
        let number = runtime.sections.iter().position(|section| section.name == b".opd")?;
        let section = runtime.sections.get(number)?;
        let in_memory = runtime.sections.iter().zip(0_u32..).filter(|(section, _)| is_in_memory(section));
        let mut sections: Vec<(u64, u64, u32)> =
            in_memory.map(|(section, number)| (section.address, section.size, number)).collect();
        sections.sort_unstable();
        Some(Descriptors {
            section: u32::try_from(number).ok()?,
            address: section.address,
            cursor: runtime.cursor(runtime.bytes(section)),
            sections,
        })
    }

    /// Address and section of the code that the symbol's descriptor points to.
    fn code_of(&self, symbol: &RawSymbol) -> Option<(u64, u32)> {
        if symbol.section != self.section {
            return None;
        }
        let at = usize::try_from(symbol.value.checked_sub(self.address)?).ok()?;
        let code = self.cursor.u64(at)?;
        let after = self.sections.partition_point(|(address, _, _)| *address <= code);
        let (address, size, number) = *self.sections.get(after.checked_sub(1)?)?;
        (code.checked_sub(address)? < size).then_some((code, number))
    }
}

/// Whether a section occupies memory while the program runs.
fn is_in_memory(section: &Section<'_>) -> bool {
    section.flags & u64::from(elf::SHF_ALLOC) != 0
}
