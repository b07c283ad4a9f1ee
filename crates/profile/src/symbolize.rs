//! The question and the answer about names: addresses of one binary out, functions and lines back.

use readperf_session::{BinaryId, CodeAddress};
use std::sync::Arc;

/// Addresses of one binary, unique and ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressBatch {
    /// The binary.
    pub binary: BinaryId,
    /// What the addresses are to the binary: see [`readperf_session::CodeAddress::address`].
    pub addresses: Vec<u64>,
    /// Which places these are: for each place its index, and that of its address here.
    pub(crate) places: Vec<(u32, u32)>,
}

impl AddressBatch {
    /// Places by binary, in the order of the binaries' ids. Those outside of any binary are left out.
    pub fn by_binary(places: &[CodeAddress]) -> Vec<AddressBatch> {
        let mut wanted: Vec<(BinaryId, u64, u32)> = (0u32..)
            .zip(places)
            .filter_map(|(index, code)| Some((code.binary?, code.address, index)))
            .collect();
        wanted.sort_unstable();
        let by_binary = wanted.chunk_by(|a, b| a.0 == b.0);
        by_binary
            .filter_map(|chunk| {
                let (binary, ..) = *chunk.first()?;
                let mut addresses: Vec<u64> = Vec::new();
                let mut places = Vec::with_capacity(chunk.len());
                for (_, address, place) in chunk {
                    if addresses.last() != Some(address) {
                        addresses.push(*address);
                    }
                    places.push((*place, u32::try_from(addresses.len() - 1).unwrap_or(u32::MAX)));
                }
                Some(AddressBatch { binary, addresses, places })
            })
            .collect()
    }
}

/// What an address turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    /// In a function: index in [`NamedBatch::functions`].
    Function(usize),
    /// In none: why, in plain words.
    Unnamed(Arc<str>),
}

/// A function that covers addresses of the batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedFunction {
    /// Its name.
    pub name: String,
    /// Its name in the symbol table, if that is another one.
    pub linkage_name: Option<Box<str>>,
    /// Its first address.
    pub start: u64,
    /// Its size in bytes; 0 if not known.
    pub size: u64,
    /// Its source file, if looked up.
    pub source_file: Option<String>,
}

/// A function that is inlined at addresses of the batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedInline {
    /// Its name.
    pub name: String,
    /// Its linkage name, if that is another one.
    pub linkage_name: Option<Box<str>>,
}

/// One level of the code at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedFrame {
    /// Index in [`NamedBatch::inlined`]; `None` for the function that the address lies in.
    pub inlined: Option<u32>,
    /// Index in [`NamedBatch::files`].
    pub file: Option<u32>,
    /// The line, from 1; 0 where unknown.
    pub line: u32,
}

/// The answer to an [`AddressBatch`]: one entry for each of its addresses, in the same order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedBatch {
    /// The functions.
    pub functions: Vec<NamedFunction>,
    /// The inlined functions.
    pub inlined: Vec<NamedInline>,
    /// Source files.
    pub files: Vec<String>,
    /// What each address turned out to be.
    pub named: Vec<Named>,
    /// The levels at all addresses, one address after the other, the innermost first.
    pub frames: Vec<NamedFrame>,
    /// For each address, how many frames belong to it and those before it. Empty if there are no frames.
    pub frame_ends: Vec<usize>,
    /// What a user can do about a reason of [`Named::Unnamed`], in plain words.
    pub remedies: Vec<(Arc<str>, String)>,
}

impl NamedBatch {
    /// The levels at the address with this index; none if only its function is known.
    pub fn frames_of(&self, index: usize) -> &[NamedFrame] {
        let start = index.checked_sub(1).and_then(|before| self.frame_ends.get(before)).copied();
        let end = self.frame_ends.get(index).copied().unwrap_or(0);
        self.frames.get(start.unwrap_or(0)..end).unwrap_or_default()
    }
}
