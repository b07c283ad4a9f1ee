//! Where the linker put the bytes of a binary.

use crate::options::Options;
use crate::source::image::{Image, Load, offset_to_address};
use crate::subject::Subject;

/// The segments of a binary.
#[derive(Clone, Debug)]
pub struct Layout {
    loads: Vec<Load>,
}

impl Layout {
    /// Reads those of the file of a subject. `None` if there is none, and of kernels, whose addresses are no offsets in a file.
    pub fn open(subject: &Subject, options: &Options) -> Option<Layout> {
        let file = super::file(subject, options)?;
        let image = Image::parse((*file).as_ref())?;
        image.has_layout().then_some(Layout { loads: image.loads })
    }

    /// The address that the linker gave to what is at an offset in the file: the one that disassemblers show.
    pub fn address(&self, offset: u64) -> Option<u64> {
        offset_to_address(&self.loads, offset)
    }
}
