//! What kind of processor the code is for.

/// A processor, as far as its instructions are encoded differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Machine {
    /// x86 in 32-bit mode.
    X86,
    /// x86 in 64-bit mode, also with pointers of 32 bits (x32).
    X86_64,
    /// 64-bit Arm. Its instructions are little-endian whatever the data are.
    Arm64,
    /// 32-bit Arm: A32, and T32 (Thumb) where [`Content::Thumb`](crate::Content::Thumb) says so. Instructions are little-endian
    /// whatever the data are (BE8).
    Arm,
    /// RISC-V with registers of 32 bits.
    Riscv32,
    /// RISC-V with registers of 64 bits.
    Riscv64,
    /// IBM Z in its 64-bit mode.
    S390x,
    /// PowerPC with registers of 32 bits, big-endian.
    Ppc,
    /// PowerPC with registers of 64 bits.
    Ppc64 {
        /// The byte order of instructions.
        big_endian: bool,
    },
}

impl Machine {
    /// The machine of an ELF file: by `e_machine`, its class, and its byte order. `None` if there is no decoder for it.
    pub fn of_elf(e_machine: u16, is_64: bool, big_endian: bool) -> Option<Machine> {
        // EM_* of the System V ABI and its supplements.
        Some(match (e_machine, is_64, big_endian) {
            (3, _, _) => Machine::X86,
            (62, _, _) => Machine::X86_64,
            (183, _, _) => Machine::Arm64,
            (40, _, _) => Machine::Arm,
            (243, false, _) => Machine::Riscv32,
            (243, true, _) => Machine::Riscv64,
            (22, true, true) => Machine::S390x,
            (20, false, true) => Machine::Ppc,
            (21, true, big_endian) => Machine::Ppc64 { big_endian },
            _ => return None,
        })
    }

    /// Whether the bytes of instructions are in the order of a big-endian machine.
    pub(crate) fn has_big_endian_code(self) -> bool {
        matches!(self, Machine::S390x | Machine::Ppc | Machine::Ppc64 { big_endian: true })
    }

    /// How long instructions are, in bytes, where all have one length.
    pub fn instruction_length(self) -> Option<usize> {
        matches!(self, Machine::Arm64 | Machine::Ppc).then_some(4)
    }
}

/// How assembly is written. Only x86 has two ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Syntax {
    /// That of AT&T, which `objdump` has by default: `mov %rsp,%rbp`.
    #[default]
    Att,
    /// That of the processor's manuals: `mov rbp,rsp`.
    Intel,
}
