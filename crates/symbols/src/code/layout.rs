//! Where the linker put the bytes of a binary.

use crate::image::{Image, Load, offset_to_address};
use crate::options::Options;
use crate::subject::Subject;
use object::elf;

/// The segments of a binary.
#[derive(Clone, Debug)]
pub struct Layout {
    loads: Vec<Load>,
    machine: u16,
}

impl Layout {
    /// Reads those of the file of a subject. `None` if there is none, and of kernels, whose addresses are no offsets in a file.
    pub fn open(subject: &Subject, options: &Options) -> Option<Layout> {
        let file = super::file(subject, options)?;
        let image = Image::parse((*file).as_ref())?;
        image.has_layout().then_some(Layout { machine: image.machine, loads: image.loads })
    }

    /// The address that the linker gave to what is at an offset in the file: the one that disassemblers show.
    pub fn address(&self, offset: u64) -> Option<u64> {
        offset_to_address(&self.loads, offset)
    }

    /// How long instructions are, bytes, where all have one length.
    pub fn instruction_length(&self) -> Option<u64> {
        [elf::EM_AARCH64, elf::EM_PPC, elf::EM_PPC64, elf::EM_MIPS].contains(&self.machine).then_some(4)
    }
}
