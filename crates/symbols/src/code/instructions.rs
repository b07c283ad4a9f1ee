//! Single instructions of a binary, for x86.

use std::fmt;
use std::ops::Range;

use readperf_code::{Disassembler, Flow, Instruction, Machine, Syntax};

use crate::files::FileBytes;
use crate::image::Image;
use crate::options::Options;
use crate::subject::Subject;

/// A file with code for x86.
pub struct Code {
    file: FileBytes,
    disassembler: Disassembler,
}

impl Code {
    /// Opens the file of a subject. `None` if there is none, if it is for another machine, and of kernels, whose code in
    /// memory is not that of a file.
    pub fn open(subject: &Subject, options: &Options) -> Option<Code> {
        let file = super::file(subject, options)?;
        let image = Image::parse((*file).as_ref())?;
        let machine = Machine::of_elf(image.machine, image.is_64, image.big_endian);
        let machine = machine.filter(|machine| matches!(machine, Machine::X86 | Machine::X86_64))?;
        Some(Code { file, disassembler: Disassembler::new(machine, Syntax::Att) })
    }

    /// The bytes of the instruction at an offset in the file; `None` where there is none.
    pub fn instruction(&self, offset: u64) -> Option<&[u8]> {
        self.first_of(self.bytes(offset, u64::MAX)).map(|instruction| instruction.bytes)
    }

    /// Where the instructions of a piece of the file begin, as offsets, up to the first bytes that are none.
    pub fn starts(&self, piece: Range<u64>) -> Vec<u64> {
        // The last instruction may reach beyond the end.
        const LONGEST: u64 = 15;
        let bytes = self.bytes(piece.start, piece.end.saturating_sub(piece.start).saturating_add(LONGEST));
        let starts = self.disassembler.starts(bytes).into_iter();
        let starts = starts.filter_map(|start| piece.start.checked_add(u64::try_from(start).ok()?));
        starts.take_while(|start| *start < piece.end).collect()
    }

    /// The bytes from an offset in the file on, up to so many; fewer where the file ends.
    pub fn bytes(&self, offset: u64, most: u64) -> &[u8] {
        let file = (*self.file).as_ref();
        let rest = usize::try_from(offset).ok().and_then(|offset| file.get(offset..)).unwrap_or_default();
        rest.get(..usize::try_from(most).unwrap_or(usize::MAX)).unwrap_or(rest)
    }

    /// The instruction that some bytes begin with; `None` if they begin with none, or it is cut off.
    pub fn first_of<'b>(&self, bytes: &'b [u8]) -> Option<Instruction<'b>> {
        self.disassembler.first(0, bytes).filter(|instruction| instruction.flow != Flow::Bad)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Code").field("disassembler", &self.disassembler).finish_non_exhaustive()
    }
}
