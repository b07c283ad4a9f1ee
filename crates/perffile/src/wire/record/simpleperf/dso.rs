//! DSO (32770): a binary. Written by the first versions only.

use crate::wire::declare::fields;
use crate::wire::feature::file::FileKind;
use crate::wire::text::CStr8;
use crate::wire::value::{Words, value};

/// Kind of a binary, in eight bytes here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DsoType(pub u64);

value!(DsoType as u64, |kind: DsoType| kind.kind()?.name().map(Words::text), FileKind::VALUES);

impl DsoType {
    /// As features have it.
    pub fn kind(self) -> Option<FileKind> {
        u32::try_from(self.0).ok().map(FileKind)
    }
}

fields! {
    /// A binary.
    #[derive(Copy)]
    pub struct Dso<'a> {
        /// Kind of binary.
        dso_type: DsoType,
        /// Its number in the recording.
        dso_id: u64,
        /// Lowest virtual address of its segments.
        min_vaddr: u64 as addr,
        /// Its path.
        name: CStr8<'a>,
    }
}
