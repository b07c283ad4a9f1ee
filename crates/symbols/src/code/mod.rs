//! The code of a binary: of functions, and single instructions, and where the linker put it.

mod content;
mod file;
mod function;
mod instructions;
mod kernel;
mod layout;
mod no_code;
mod recorded;
mod source;
mod unwinding;

pub(crate) use function::Space;
pub use function::{Extent, FunctionCode};
pub use instructions::Code;
pub use layout::Layout;
pub use no_code::{KernelMemory, NoCode};
pub use recorded::RecordedCode;
pub(crate) use source::{CodeSource, OpenedCode};

use std::sync::Arc;

use crate::files::FileBytes;
use crate::find::Search;
use crate::options::Options;
use crate::source::vdso;
use crate::subject::Subject;

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
