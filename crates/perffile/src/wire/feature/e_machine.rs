//! E_MACHINE (33): what kind of binary was recorded (Linux 7.0 and later).

use crate::wire::declare::fields;
use crate::wire::value::numbers;

numbers! {
    /// `EM_*` of the ELF specification and its supplements, as far as Linux runs on them.
    pub struct ElfMachine(u32) {
        /// EM_SPARC.
        2 SPARC "SPARC",
        /// EM_386.
        3 I386 "x86 (32-bit)",
        /// EM_M68K.
        4 M68K "m68k",
        /// EM_MIPS.
        8 MIPS "MIPS",
        /// EM_PARISC.
        15 PARISC "PA-RISC",
        /// EM_PPC.
        20 PPC "PowerPC",
        /// EM_PPC64.
        21 PPC64 "PowerPC 64",
        /// EM_S390.
        22 S390 "s390",
        /// EM_ARM.
        40 ARM "Arm (32-bit)",
        /// EM_SH.
        42 SH "SuperH",
        /// EM_SPARCV9.
        43 SPARCV9 "SPARC V9",
        /// EM_IA_64.
        50 IA_64 "Itanium",
        /// EM_X86_64.
        62 X86_64 "x86-64",
        /// EM_XTENSA.
        94 XTENSA "Xtensa",
        /// EM_AARCH64.
        183 AARCH64 "AArch64",
        /// EM_RISCV.
        243 RISCV "RISC-V",
        /// EM_CSKY.
        252 CSKY "C-SKY",
        /// EM_LOONGARCH.
        258 LOONGARCH "LoongArch",
    }
}

fields! {
    /// From the ELF header of the recorded program.
    #[derive(Copy)]
    pub struct EMachine {
        /// `EM_*`.
        e_machine: ElfMachine,
        /// Flags, which depend on the machine.
        e_flags: u32,
    }
}
