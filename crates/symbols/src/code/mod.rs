//! The code of a binary: its instructions for x86, as bytes, and where the linker put it.

mod layout;
mod x86;

pub use layout::Layout;

use std::fmt;
use std::sync::Arc;

use object::elf;

use crate::files::FileBytes;
use crate::find::Search;
use crate::image::Image;
use crate::options::Options;
use crate::source::vdso;
use crate::subject::Subject;

/// A file with code for x86.
#[derive(Clone)]
pub struct Code {
    file: FileBytes,
    /// Whether the code is for the 64-bit mode.
    is_64_bit: bool,
}

impl Code {
    /// Opens the file of a subject. `None` if there is none, if it is for another machine, and of kernels, whose code in
    /// memory is not that of a file.
    pub fn open(subject: &Subject, options: &Options) -> Option<Code> {
        let file = file(subject, options)?;
        let is_64_bit = match Image::parse((*file).as_ref())?.machine {
            // Also with pointers of 32 bits (x32).
            elf::EM_X86_64 => true,
            elf::EM_386 => false,
            _ => return None,
        };
        Some(Code { file, is_64_bit })
    }

    /// The instruction at an offset in the file; `None` where there is none.
    pub fn instruction(&self, offset: u64) -> Option<&[u8]> {
        self.first_of(self.bytes(offset, u64::MAX))
    }

    /// The bytes from an offset in the file on, up to so many; fewer where the file ends.
    pub fn bytes(&self, offset: u64, most: u64) -> &[u8] {
        let file = (*self.file).as_ref();
        let rest = usize::try_from(offset).ok().and_then(|offset| file.get(offset..)).unwrap_or_default();
        rest.get(..usize::try_from(most).unwrap_or(usize::MAX)).unwrap_or(rest)
    }

    /// The instruction that some bytes begin with; `None` if they begin with none, or it is cut off.
    pub fn first_of<'b>(&self, bytes: &'b [u8]) -> Option<&'b [u8]> {
        bytes.get(..x86::instruction_length(bytes, self.is_64_bit)?)
    }

    /// Whether an instruction may go on elsewhere than behind itself.
    pub fn is_branch(&self, instruction: &[u8]) -> bool {
        x86::is_branch(instruction, self.is_64_bit)
    }
}

/// The file that the code of a subject is in, if there is one.
fn file(subject: &Subject, options: &Options) -> Option<FileBytes> {
    match subject {
        Subject::File { path, build_id } => {
            Some(Search { options, path, build_id: *build_id, debug_link: None }.binary().ok()?.bytes)
        }
        Subject::Vdso { build_id } => Some(Arc::new(vdso::image_of(options, *build_id).ok()?)),
        _ => None,
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Code").field("is_64_bit", &self.is_64_bit).finish_non_exhaustive()
    }
}
