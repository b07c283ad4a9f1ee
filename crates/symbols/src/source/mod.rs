//! Where names come from. Each source answers for some kinds of subject; the first answer counts.
//!
//! One more source is one more file here and one more line in [`SOURCES`].

pub(crate) mod dwarf;
pub(crate) mod elf;
pub(crate) mod elf_file;
pub(crate) mod image;
pub(crate) mod kallsyms;
mod kernel;
mod naming;
mod plt;
mod running_kernel;
mod table;
pub(crate) mod vdso;

use crate::batch::SymbolBatch;
use crate::options::Options;
use crate::reason::Reason;
use crate::subject::AddressBatch;

/// What the sources of one run share.
#[derive(Debug)]
pub(crate) struct Shared<'a> {
    pub(crate) options: &'a Options,
    pub(crate) kernel_lists: kallsyms::Lists,
}

/// A source of names: `None` when it is not for this kind of subject, else an answer or why there is none.
type Source = fn(&Shared<'_>, &AddressBatch) -> Option<Result<SymbolBatch, Reason>>;

/// All sources, the best first.
const SOURCES: &[Source] = &[elf_file::answer, vdso::answer, kernel::answer];

/// Asks the sources in order. The reason of the first one counts if none has an answer.
pub(crate) fn answer(shared: &Shared<'_>, batch: &AddressBatch) -> Result<SymbolBatch, Reason> {
    let mut first = None;
    for source in SOURCES {
        match source(shared, batch) {
            Some(Ok(answer)) => return Ok(answer),
            Some(Err(reason)) => first = first.or(Some(reason)),
            None => {}
        }
    }
    Err(first.unwrap_or(Reason::Defect))
}
