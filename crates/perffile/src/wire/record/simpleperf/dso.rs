//! DSO (32770): a binary. Written by the first versions only.

use crate::wire::declare::fields;
use crate::wire::text::CStr8;

fields! {
    /// A binary.
    #[derive(Copy)]
    pub struct Dso<'a> {
        /// Kind of binary: 0 kernel, 1 kernel module, 2 ELF file, others later.
        dso_type: u64,
        /// Its number in the recording.
        dso_id: u64,
        /// Lowest virtual address of its segments.
        min_vaddr: u64 as addr,
        /// Its path.
        name: CStr8<'a>,
    }
}
