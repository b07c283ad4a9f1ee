//! PERF_RECORD_KSYMBOL (17): a kernel symbol came or went at run time. Since Linux 5.1.

use crate::wire::declare::fields;
use crate::wire::text::CStr8;

fields! {
    /// A symbol of generated kernel code.
    #[derive(Copy)]
    pub struct Ksymbol<'a> {
        /// First address.
        addr: u64 as addr,
        /// Size in bytes.
        len: u32,
        /// 0 unknown, 1 BPF program, 2 out-of-line code (trampolines).
        ksym_type: u16,
        /// Bit 0: it went.
        flags: u16,
        /// Its name.
        name: CStr8<'a>,
    }
}
