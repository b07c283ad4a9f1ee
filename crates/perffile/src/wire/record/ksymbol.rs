//! PERF_RECORD_KSYMBOL (17): a kernel symbol came or went at run time. Since Linux 5.1.

use crate::wire::declare::fields;
use crate::wire::text::CStr8;
use crate::wire::value::{bits, numbers};

numbers! {
    /// Kind of generated kernel code.
    pub struct KsymbolType(u16) {
        0 UNKNOWN "unknown", 1 BPF "bpf", 2 OUT_OF_LINE "out_of_line",
    }
}

bits! {
    /// What happened to generated kernel code.
    pub struct KsymbolFlags(u16 as u16) {
        /// It went.
        0 unregister,
    }
}

fields! {
    /// A symbol of generated kernel code.
    #[derive(Copy)]
    pub struct Ksymbol<'a> {
        /// First address.
        addr: u64 as addr,
        /// Size in bytes.
        len: u32,
        /// Kind of code.
        ksym_type: KsymbolType,
        /// What happened to it.
        flags: KsymbolFlags,
        /// Its name.
        name: CStr8<'a>,
    }
}
