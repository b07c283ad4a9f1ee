//! Machines, as far as unwinding depends on them: columns of the tables, by the processor supplements to DWARF.

/// A machine whose stacks can be unwound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Machine {
    /// x86, 64 bit.
    X86_64,
    /// x86, 32 bit.
    I386,
    /// Arm, 64 bit.
    Aarch64,
    /// Arm, 32 bit.
    Arm,
    /// IBM Z, 64 bit.
    S390x,
    /// RISC-V, 64 bit.
    Riscv64,
    /// PowerPC, 64 bit, both byte orders.
    Powerpc64,
    /// LoongArch, 64 bit.
    Loongarch64,
}

/// What a table calls the registers that matter here, and how they behave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Convention {
    /// Bytes of an address.
    pub(crate) word: u8,
    /// Column of the stack pointer.
    pub(crate) sp: u8,
    /// Column of the frame pointer.
    pub(crate) fp: u8,
    /// Column that holds the return address when a function starts; `None` where calls push it.
    pub(crate) link: Option<u8>,
    /// Column of the instruction pointer, on machines that give it one.
    pub(crate) ip: Option<u8>,
    /// Whether the canonical frame address is the stack pointer of the caller. (On IBM Z it lies 160 bytes above.)
    pub(crate) cfa_is_sp: bool,
}

/// Columns that are followed. Most vector and floating-point registers have higher numbers; no frame is found by them.
pub(crate) const COLUMNS: usize = 33;

/// Where the link register of PowerPC, whose number is higher, is kept instead.
const POWERPC_LINK: u8 = 32;

impl Machine {
    /// The machine of a task, from what `uname -m` says of the machine (as perf records it) and whether the task is a
    /// 32-bit one (`PERF_SAMPLE_REGS_ABI_32`). `None` when its stacks cannot be unwound.
    pub fn of_task(uname: &str, is_32_bit: bool) -> Option<Machine> {
        Some(match (uname, is_32_bit) {
            ("x86_64" | "amd64", false) => Machine::X86_64,
            ("x86_64" | "amd64" | "i386" | "i486" | "i586" | "i686" | "x86", _) => Machine::I386,
            ("aarch64" | "arm64" | "aarch64_be", false) => Machine::Aarch64,
            ("aarch64" | "arm64", true) => Machine::Arm,
            (name, _) if name.starts_with("arm") => Machine::Arm,
            ("s390x" | "s390", false) => Machine::S390x,
            ("riscv64" | "riscv", false) => Machine::Riscv64,
            ("ppc64" | "ppc64le" | "powerpc", false) => Machine::Powerpc64,
            ("loongarch64" | "loongarch", false) => Machine::Loongarch64,
            _ => return None,
        })
    }

    /// Whether these are its `e_machine` and class in ELF files.
    pub(crate) fn is_of(self, e_machine: u16, is_64: bool) -> bool {
        self.elf() == (e_machine, is_64)
    }

    /// `e_machine` of the ELF specification and whether files are of the 64-bit class.
    pub(crate) fn elf(self) -> (u16, bool) {
        use object::elf;
        match self {
            Machine::X86_64 => (elf::EM_X86_64, true),
            Machine::I386 => (elf::EM_386, false),
            Machine::Aarch64 => (elf::EM_AARCH64, true),
            Machine::Arm => (elf::EM_ARM, false),
            Machine::S390x => (elf::EM_S390, true),
            Machine::Riscv64 => (elf::EM_RISCV, true),
            Machine::Powerpc64 => (elf::EM_PPC64, true),
            Machine::Loongarch64 => (elf::EM_LOONGARCH, true),
        }
    }

    /// Whether this is its `e_machine`, where nothing else is told.
    pub(crate) fn is_number(self, e_machine: u32) -> bool {
        let is_64 = self.convention().word == 8;
        u16::try_from(e_machine).is_ok_and(|e_machine| self.is_of(e_machine, is_64))
    }

    /// Its columns.
    pub(crate) fn convention(self) -> Convention {
        let pushes = Convention { word: 8, sp: 7, fp: 6, link: None, ip: Some(16), cfa_is_sp: true };
        let links = Convention { link: Some(30), ip: None, ..pushes };
        match self {
            // System V ABI, AMD64 supplement, figure 3.36.
            Machine::X86_64 => pushes,
            // System V ABI, Intel386 supplement 1.1, table 2.14.
            Machine::I386 => Convention { word: 4, sp: 4, fp: 5, ip: Some(8), ..pushes },
            // DWARF for the Arm 64-bit Architecture, 4.1.
            Machine::Aarch64 => Convention { sp: 31, fp: 29, ..links },
            // DWARF for the Arm Architecture, 4.1.
            Machine::Arm => Convention { word: 4, sp: 13, fp: 11, link: Some(14), ..links },
            // zSeries ELF ABI supplement, table 1.21.
            Machine::S390x => Convention { sp: 15, fp: 11, link: Some(14), cfa_is_sp: false, ..links },
            // RISC-V ABIs, DWARF register numbers.
            Machine::Riscv64 => Convention { sp: 2, fp: 8, link: Some(1), ..links },
            // 64-bit ELF V2 ABI for OpenPOWER, table 2.33.
            Machine::Powerpc64 => Convention { sp: 1, fp: 31, link: Some(POWERPC_LINK), ..links },
            // ELF psABI for LoongArch.
            Machine::Loongarch64 => Convention { sp: 3, fp: 22, link: Some(1), ..links },
        }
    }

    /// Turns an address of code, as it stands in a register or on the stack, into one that can be looked up.
    #[inline]
    pub(crate) fn code_address(self, value: u64) -> u64 {
        match self {
            // The lowest bit tells Thumb code.
            Machine::Arm => value & 0xffff_fffe,
            // A return address may be signed in its upper bits (pointer authentication).
            // Addresses of code have 48 bits: those of 52 are only given to who asks for them.
            Machine::Aarch64 => value & 0x0000_ffff_ffff_ffff,
            _ => value,
        }
    }

    /// The column for a register number of the tables; `None` for registers that are not followed.
    #[inline]
    pub(crate) fn column_of(self, register: u16) -> Option<u8> {
        match (self, register) {
            (Machine::Powerpc64, 65) => Some(POWERPC_LINK),
            (Machine::Powerpc64, 32..) => None,
            _ => u8::try_from(register).ok().filter(|column| usize::from(*column) < COLUMNS),
        }
    }

    /// The column of a register of `asm/perf_regs.h` of the machine; `None` for registers that no table uses.
    pub(crate) fn column(self, number: u32) -> Option<u8> {
        const X86: [u8; 9] = [0, 3, 2, 1, 4, 5, 6, 7, 16];
        const I386: [u8; 9] = [0, 3, 1, 2, 6, 7, 5, 4, 8];
        /// IBM Z numbers its floating-point registers by pairs.
        const S390_FLOAT: [u8; 16] = [0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15];
        let at = usize::try_from(number).ok()?;
        let small = u8::try_from(number).ok()?;
        match self {
            Machine::X86_64 => match small {
                16..=23 => Some(small - 8),
                _ => X86.get(at).copied(),
            },
            Machine::I386 => I386.get(at).copied(),
            Machine::Aarch64 => (small <= 31).then_some(small),
            Machine::Arm => (small <= 15).then_some(small),
            Machine::S390x => match small {
                0..=15 => Some(small),
                _ => S390_FLOAT.get(at.checked_sub(16)?).map(|column| 16 + column),
            },
            Machine::Riscv64 | Machine::Loongarch64 => (1..=31).contains(&small).then_some(small),
            Machine::Powerpc64 => match small {
                0..=31 => Some(small),
                36 => Some(POWERPC_LINK),
                _ => None,
            },
        }
    }

    /// The number of the instruction pointer in `asm/perf_regs.h` of the machine.
    pub(crate) fn ip_number(self) -> u32 {
        match self {
            Machine::X86_64 | Machine::I386 => 8,
            Machine::Aarch64 | Machine::Powerpc64 => 32,
            Machine::Arm => 15,
            Machine::S390x => 33,
            Machine::Riscv64 | Machine::Loongarch64 => 0,
        }
    }
}
