//! E_MACHINE (33): what kind of binary was recorded (Linux 7.0 and later).

use crate::wire::declare::fields;
use crate::wire::value::numbers;

numbers! {
    /// `EM_*` of the ELF specification and its supplements, as far as Linux runs on them.
    pub struct ElfMachine(u32) {
        2 SPARC "SPARC", 3 I386 "x86 (32-bit)", 4 M68K "m68k", 8 MIPS "MIPS", 15 PARISC "PA-RISC",
        20 PPC "PowerPC", 21 PPC64 "PowerPC 64", 22 S390 "s390", 40 ARM "Arm (32-bit)", 42 SH "SuperH",
        43 SPARCV9 "SPARC V9", 50 IA_64 "Itanium", 62 X86_64 "x86-64", 94 XTENSA "Xtensa",
        183 AARCH64 "AArch64", 243 RISCV "RISC-V", 252 CSKY "C-SKY", 258 LOONGARCH "LoongArch",
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
