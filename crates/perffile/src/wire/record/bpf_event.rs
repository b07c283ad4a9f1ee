//! PERF_RECORD_BPF_EVENT (18): a BPF program was loaded or unloaded. Since Linux 5.1.

use crate::wire::declare::fields;
use crate::wire::value::numbers;

numbers! {
    /// What happened to a BPF program.
    pub struct BpfEventType(u16) {
        0 UNKNOWN "unknown", 1 LOAD "load", 2 UNLOAD "unload",
    }
}

fields! {
    /// A BPF program came or went.
    #[derive(Copy)]
    pub struct BpfEvent {
        /// What happened.
        bpf_type: BpfEventType,
        /// None so far.
        flags: u16,
        /// Id of the program.
        prog_id: u32,
        /// Its tag.
        tag: [u8; 8],
    }
}
