//! Where names come from. Each source answers for some kinds of subject; the first one that can be opened counts.
//!
//! One more source is one more file here and one more line in [`SOURCES`].

pub(crate) mod dwarf;
pub(crate) mod elf;
pub(crate) mod elf_file;
pub(crate) mod generated;
pub(crate) mod generations;
pub(crate) mod jitdump;
pub(crate) mod kallsyms;
mod kernel;
pub(crate) mod kernel_image;
mod kernel_list;
pub(crate) mod kernel_machine;
mod layers;
pub(crate) mod listed;
mod mini_debug_info;
mod naming;
pub(crate) mod perf_map;
pub(crate) mod plt;
pub(crate) mod running_kernel;
pub(crate) mod same_kernel;
pub(crate) mod shown;
mod unbacked;
pub(crate) mod vdso;

pub(crate) use kernel::read_list;

use std::sync::Arc;

use crate::batch::SymbolBatch;
use crate::code::{FunctionCode, NoCode};
use crate::files::Files;
use crate::options::Options;
use crate::reason::Reason;
use crate::subject::{AddressBatch, Subject};

/// What the sources of one resolver share.
#[derive(Debug)]
pub(crate) struct Shared<'f> {
    pub(crate) options: Options,
    /// Keeps the bytes that an opened source borrows.
    pub(crate) files: &'f Files,
    pub(crate) kernel_lists: Arc<kallsyms::Lists>,
}

/// The names of one subject: found, read, and ready to be asked.
pub(crate) trait Names: std::fmt::Debug + Send + Sync {
    /// Names the addresses of a batch. It may be asked from several threads at once, and what it answers for an
    /// address must not depend on the others.
    fn name(&self, options: &Options, batch: &AddressBatch) -> SymbolBatch;

    /// The code at an address, where it is kept together with the names. `None` if it is elsewhere.
    fn code(&self, _subject: &Subject, _address: u64) -> Option<Result<FunctionCode, NoCode>> {
        None
    }
}

/// A source of names: `None` when it is not for this kind of subject, else the names or why there are none.
type Source = for<'f> fn(&Shared<'f>, &Subject) -> Option<Result<Box<dyn Names + 'f>, Reason>>;

/// All sources, the best first.
const SOURCES: &[Source] =
    &[listed::open, elf_file::open, generated::open, vdso::open, kernel::open, unbacked::open];

/// Asks the sources in order. The reason of the first one counts if none can be opened.
pub(crate) fn open<'f>(shared: &Shared<'f>, subject: &Subject) -> Result<Box<dyn Names + 'f>, Reason> {
    let mut first = None;
    for source in SOURCES {
        match source(shared, subject) {
            Some(Ok(names)) => return Ok(names),
            Some(Err(reason)) => first = first.or(Some(reason)),
            None => {}
        }
    }
    Err(first.unwrap_or(Reason::Defect))
}
