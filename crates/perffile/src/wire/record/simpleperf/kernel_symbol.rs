//! KERNEL_SYMBOL (32769): kallsyms of the machine.

use crate::wire::declare::fields;

fields! {
    /// The text of /proc/kallsyms.
    #[derive(Copy)]
    pub struct KernelSymbol<'a> {
        /// The text.
        kallsyms: &'a [u8] as counted_bytes_u32,
        /// Padding to eight bytes.
        pad: &'a [u8] as rest,
    }
}
