//! FILE (128, simpleperf): the binaries of the samples, with the symbols that got any.

use crate::wire::WireError;
use crate::wire::declare::fields;
use crate::wire::pass::{Fields, Pass, Step, WireField};
use crate::wire::value::numbers;

numbers! {
    /// Kinds of binaries; 5 is unknown.
    pub struct FileKind(u32) {
        0 KERNEL "kernel", 1 KERNEL_MODULE "kernel module", 2 ELF_FILE "ELF file", 3 DEX_FILE "dex file",
        4 SYMBOL_MAP "symbol map",
    }
}

/// Binaries, up to the end of the section.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Files<'a> {
    /// In the order of the file.
    pub files: Vec<FileSymbols<'a>>,
}

/// A binary and some of its symbols.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileSymbols<'a> {
    /// Its path, or a name in brackets.
    pub path: &'a [u8],
    /// Kind of binary.
    pub kind: FileKind,
    /// Lowest address of its code, as its program headers have it.
    pub min_vaddr: u64,
    /// The symbols.
    pub symbols: Vec<FileSymbol<'a>>,
    /// What newer writers add: of an ELF file u64, the file offset of `min_vaddr`; of a dex file, u32 count, u64 offsets.
    pub tail: &'a [u8],
}

fields! {
    /// A symbol.
    pub struct FileSymbol<'a> {
        /// Its address in the binary.
        addr: u64 as addr,
        /// Its size in bytes.
        len: u32,
        /// Its name.
        name: &'a [u8] as cstr,
    }
}

impl<'a> Fields<'a> for Files<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        pass.vec_to_end("files", &mut self.files, &FileSymbols::default())
    }
}

impl FileSymbols<'_> {
    /// Bytes behind the size word.
    fn size(&self) -> usize {
        let symbols: usize = self.symbols.iter().map(|symbol| 8 + 4 + symbol.name.len() + 1).sum();
        self.path.len() + 1 + 4 + 8 + 4 + symbols + self.tail.len()
    }
}

impl<'a> Fields<'a> for FileSymbols<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        let size = pass.count_u32("size", self.size())?;
        let before = pass.left();
        pass.cstr("path", &mut self.path)?;
        self.kind.field("type", pass)?;
        pass.addr("min_vaddr", &mut self.min_vaddr)?;
        let nr = pass.count_u32("nr_symbols", self.symbols.len())?;
        pass.vec("symbols", nr, &mut self.symbols)?;
        let tail = match before.zip(pass.left()) {
            Some((before, now)) => size
                .checked_sub(before.saturating_sub(now) as u64)
                .ok_or_else(|| WireError::unreadable("size", size))?,
            None => self.tail.len() as u64,
        };
        pass.bytes("tail", tail, &mut self.tail)
    }
}
