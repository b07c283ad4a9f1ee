//! PERF_RECORD_BPF_EVENT (18): a BPF program was loaded or unloaded. Since Linux 5.1.

use crate::wire::declare::fields;

fields! {
    /// A BPF program came or went.
    #[derive(Copy)]
    pub struct BpfEvent {
        /// 1 loaded, 2 unloaded.
        bpf_type: u16,
        /// None so far.
        flags: u16,
        /// Id of the program.
        prog_id: u32,
        /// Its tag.
        tag: [u8; 8],
    }
}
