//! Names that a recording brings itself: the symbol tables that simpleperf writes into its recordings.

use perffile::Features;
use perffile::wire::feature::file::FileKind;
use perffile::wire::feature::{Feature, bit};
use perffile::wire::text::decoded;
use readperf_symbols::{ListedSymbol, SymbolList};
use rustc_hash::FxHashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

/// Symbol tables by the path of their binary.
pub(crate) type Embedded = FxHashMap<Box<[u8]>, SymbolList>;

/// The symbol tables in the features of a recording.
pub(crate) fn embedded(features: &Features) -> Embedded {
    let mut tables = Embedded::default();
    if let Some(Ok((Feature::File(files), _))) = features.feature(bit::FILE) {
        for file in &files.files {
            // What newer writers add to the entry of an ELF file: at which file offset its lowest address lies.
            let offset = features.order().u64_at(file.tail, 0);
            let symbols = file.symbols.iter().map(|symbol| (symbol.addr, symbol.len, symbol.name));
            tables.insert(file.path.into(), list(file.path, file.kind, file.min_vaddr, offset, symbols));
        }
    }
    if let Some(Ok((Feature::File2(messages), _))) = features.feature(bit::FILE2) {
        for message in &messages.files {
            if let Some((path, table)) = message::table(message.message) {
                tables.insert(path, table);
            }
        }
    }
    tables
}

/// Code of ELF files is asked about by file offset; their tables have virtual addresses.
fn list<'a>(
    path: &[u8],
    kind: FileKind,
    min_vaddr: u64,
    offset_of_min: Option<u64>,
    symbols: impl Iterator<Item = (u64, u32, &'a [u8])>,
) -> SymbolList {
    let by_address = matches!(kind, FileKind::KERNEL | FileKind::SYMBOL_MAP);
    // Older writers do not tell; then the lowest address is at the beginning of the file.
    let bias = if by_address { 0 } else { min_vaddr.wrapping_sub(offset_of_min.unwrap_or(0)) };
    let listed = symbols.map(|(address, len, name)| {
        let start = address.wrapping_sub(bias);
        ListedSymbol { start, end: start.saturating_add(len.into()), name: decoded(name).into_owned() }
    });
    SymbolList::new(OsStr::from_bytes(path), listed)
}

/// The messages of FILE2, in the wire format of protocol buffers.
mod message {
    use super::{SymbolList, list};
    use prost::Message;

    /// A binary and some of its symbols.
    #[derive(Clone, PartialEq, Message)]
    struct File {
        #[prost(bytes = "vec", tag = "1")]
        path: Vec<u8>,
        #[prost(uint32, tag = "2")]
        kind: u32,
        #[prost(uint64, tag = "3")]
        min_vaddr: u64,
        #[prost(message, repeated, tag = "4")]
        symbols: Vec<Symbol>,
        #[prost(message, optional, tag = "6")]
        elf_file: Option<ElfFile>,
    }

    /// A symbol.
    #[derive(Clone, PartialEq, Message)]
    struct Symbol {
        #[prost(uint64, tag = "1")]
        vaddr: u64,
        #[prost(uint32, tag = "2")]
        len: u32,
        #[prost(bytes = "vec", tag = "3")]
        name: Vec<u8>,
    }

    /// What is told of ELF files.
    #[derive(Clone, PartialEq, Message)]
    struct ElfFile {
        #[prost(uint64, tag = "1")]
        file_offset_of_min_vaddr: u64,
    }

    /// The path and the symbols of a message; `None` if it cannot be read.
    pub(super) fn table(bytes: &[u8]) -> Option<(Box<[u8]>, SymbolList)> {
        let file = File::decode(bytes).ok()?;
        let offset = file.elf_file.map(|elf| elf.file_offset_of_min_vaddr);
        let symbols = file.symbols.iter().map(|symbol| (symbol.vaddr, symbol.len, symbol.name.as_slice()));
        let table = list(&file.path, super::FileKind(file.kind), file.min_vaddr, offset, symbols);
        Some((file.path.into(), table))
    }
}
