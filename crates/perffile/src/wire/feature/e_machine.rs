//! E_MACHINE (33): what kind of binary was recorded (Linux 7.0 and later).

use crate::wire::declare::fields;

fields! {
    /// From the ELF header of the recorded program.
    #[derive(Copy)]
    pub struct EMachine {
        /// `EM_*`: 62 x86-64, 183 AArch64, 22 s390, …
        e_machine: u32,
        /// Flags, which depend on the machine.
        e_flags: u32,
    }
}
