//! The code of a function.

use std::ops::Range;
use std::sync::Arc;

use readperf_code::{Content, Disassembler, Instruction, Machine, Syntax};

/// The code of a function, from its first byte to its last.
///
/// It has two kinds of addresses. Those of the *subject* are the ones that samples have and that an
/// [`AddressBatch`](crate::AddressBatch) takes. *Linked* addresses are those that the linker gave, which disassemblers show, and
/// which instructions name: [`Self::instructions`] has these, and [`Self::address_of`] leads back.
#[derive(Clone, Debug)]
pub struct FunctionCode {
    /// The machine it is for.
    pub machine: Machine,
    /// The address of the first byte, in the address space of the subject.
    pub start: u64,
    /// The linked address of the first byte.
    pub linked: u64,
    /// How it is known where the function begins and ends.
    pub extent: Extent,
    /// Whether the addresses in it are those that it ran with. They are not in the file of a kernel module, which the kernel links
    /// when it loads it: calls and data seem to lead anywhere.
    pub is_linked: bool,
    pub(crate) bytes: Arc<[u8]>,
    /// Where what kind of content begins, as an offset; the first one is 0.
    pub(crate) parts: Vec<(usize, Content)>,
    pub(crate) space: Space,
}

/// How it is known where a function begins and ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    /// By its symbol.
    Symbol,
    /// No symbol covers the address, but an entry of the unwinding table does (`.eh_frame`).
    UnwindingTable,
    /// It is not known: the code begins at the address that was asked for, and goes on for some bytes.
    Unknown,
}

/// Where the code of a binary is.
#[derive(Clone, Debug)]
pub(crate) enum Space {
    Segments(Arc<[Segment]>),
    /// Linked addresses are those of the subject.
    Same,
}

/// A piece of a binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// In the address space of the subject.
    pub(crate) address: u64,
    pub(crate) linked: u64,
    pub(crate) size: u64,
    /// Where it is in the file.
    pub(crate) offset: u64,
}

impl FunctionCode {
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The address behind the last byte, in the address space of the subject.
    pub fn end(&self) -> u64 {
        self.start.wrapping_add(self.bytes.len() as u64)
    }

    /// One that takes it apart.
    pub fn disassembler(&self, syntax: Syntax) -> Disassembler {
        Disassembler::new(self.machine, syntax)
    }

    /// Its instructions, and the data between them, at linked addresses; they are all of its bytes.
    pub fn instructions<'c>(
        &'c self,
        disassembler: &'c Disassembler,
    ) -> impl Iterator<Item = Instruction<'c>> {
        self.parts().flat_map(move |(range, content)| {
            let bytes = self.bytes.get(range.clone()).unwrap_or_default();
            disassembler.instructions_of(content, self.linked.wrapping_add(range.start as u64), bytes)
        })
    }

    fn parts(&self) -> impl Iterator<Item = (Range<usize>, Content)> {
        let ends = self.parts.iter().skip(1).map(|(start, _)| *start).chain([self.bytes.len()]);
        self.parts.iter().zip(ends).map(|((start, content), end)| (*start..end, *content))
    }

    /// The linked address of an address of the subject in this function.
    pub fn linked_of(&self, address: u64) -> u64 {
        address.wrapping_sub(self.start).wrapping_add(self.linked)
    }

    /// The address of the subject for a linked one, which may be anywhere in the binary: to be asked about with an
    /// [`AddressBatch`](crate::AddressBatch) of the same subject. `None` if the file has nothing there.
    pub fn address_of(&self, linked: u64) -> Option<u64> {
        match &self.space {
            Space::Same => Some(linked),
            Space::Segments(segments) => segments.iter().find_map(|segment| {
                let within = linked.checked_sub(segment.linked)?;
                (within < segment.size).then(|| segment.address.wrapping_add(within))
            }),
        }
    }
}
