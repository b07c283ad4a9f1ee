//! PERF_RECORD_MMAP (1): a file or anonymous memory was mapped executable. Since Linux 2.6.31.

use crate::wire::declare::fields;
use crate::wire::text::CStr8;

fields! {
    /// A mapping, as old recorders tell it.
    #[derive(Copy)]
    pub struct Mmap<'a> {
        /// Process; -1 for the kernel's.
        pid: u32,
        /// Thread.
        tid: u32,
        /// First address.
        addr: u64 as addr,
        /// Size in bytes.
        len: u64 as addr,
        /// Offset in the file, bytes; for the kernel's own mapping the address of its reference symbol.
        pgoff: u64 as addr,
        /// File, or a name in brackets.
        filename: CStr8<'a>,
    }
}
