//! Names of registers: the numbers of each architecture's `asm/perf_regs.h`, which are the bits of `sample_regs_user` and
//! `sample_regs_intr`. The names are those that perf prints.

use super::feature::e_machine::ElfMachine;
use super::value::{Words, numbers};

/// A machine, as far as it decides the names of registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Machine {
    /// x86, 32 and 64 bit.
    X86,
    /// Arm, 32 bit.
    Arm,
    /// Arm, 64 bit.
    Arm64,
    /// IBM Z.
    S390,
    /// PowerPC, 32 and 64 bit.
    Powerpc,
    /// RISC-V.
    Riscv,
    /// LoongArch.
    Loongarch,
    /// MIPS.
    Mips,
    /// C-SKY.
    Csky,
}

numbers! {
    /// `abi` of registers: whose they are (PERF_SAMPLE_REGS_ABI_*).
    pub struct RegsAbi(u64) {
        0 NONE "none", 1 ABI_32 "32-bit", 2 ABI_64 "64-bit",
    }
}

/// First of the two slots of `XMM0`; each vector register has two.
const X86_XMM: u32 = 32;
/// The vector length register of SVE.
const ARM64_VG: u32 = 46;

const X86: &[&str] = &[
    "AX", "BX", "CX", "DX", "SI", "DI", "BP", "SP", "IP", "FLAGS", "CS", "SS", "DS", "ES", "FS", "GS", "R8",
    "R9", "R10", "R11", "R12", "R13", "R14", "R15",
];
const ARM: &[&str] =
    &["r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "fp", "ip", "sp", "lr", "pc"];
/// Those behind the numbered ones.
const ARM64: &[&str] = &["lr", "sp", "pc"];
const S390: &[&str] = &["MASK", "PC"];
const POWERPC: &[&str] = &[
    "nip", "msr", "orig_r3", "ctr", "link", "xer", "ccr", "softe", "trap", "dar", "dsisr", "sier", "mmcra",
    "mmcr0", "mmcr1", "mmcr2", "mmcr3", "sier2", "sier3", "pmc1", "pmc2", "pmc3", "pmc4", "pmc5", "pmc6",
    "sdar", "siar",
];
const RISCV: &[&str] = &[
    "pc", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5", "a6",
    "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
];
const CSKY: &[&str] = &[
    "tls", "lr", "pc", "sr", "sp", "orig_a0", "a0", "a1", "a2", "a3", "regs0", "regs1", "regs2", "regs3",
    "regs4", "regs5", "regs6", "regs7", "regs8", "regs9", "exregs0", "exregs1", "exregs2", "exregs3",
    "exregs4", "exregs5", "exregs6", "exregs7", "exregs8", "exregs9", "exregs10", "exregs11", "exregs12",
    "exregs13", "exregs14", "hi", "lo", "dcsr",
];

/// Beginnings of `uname -m`, or of perf's own names of architectures; the first that fits counts.
const ARCHES: &[(&str, Machine)] = &[
    ("x86", Machine::X86),
    ("amd64", Machine::X86),
    ("aarch64", Machine::Arm64),
    ("arm64", Machine::Arm64),
    ("arm", Machine::Arm),
    ("s390", Machine::S390),
    ("ppc", Machine::Powerpc),
    ("powerpc", Machine::Powerpc),
    ("riscv", Machine::Riscv),
    ("loongarch", Machine::Loongarch),
    ("mips", Machine::Mips),
    ("csky", Machine::Csky),
];

/// Machines of ELF files.
const E_MACHINES: &[(ElfMachine, Machine)] = &[
    (ElfMachine::I386, Machine::X86),
    (ElfMachine::MIPS, Machine::Mips),
    (ElfMachine::PPC, Machine::Powerpc),
    (ElfMachine::PPC64, Machine::Powerpc),
    (ElfMachine::S390, Machine::S390),
    (ElfMachine::ARM, Machine::Arm),
    (ElfMachine::X86_64, Machine::X86),
    (ElfMachine::AARCH64, Machine::Arm64),
    (ElfMachine::RISCV, Machine::Riscv),
    (ElfMachine::CSKY, Machine::Csky),
    (ElfMachine::LOONGARCH, Machine::Loongarch),
];

impl Machine {
    /// The machine that the feature ARCH names: `uname -m`.
    pub fn of_arch(arch: &str) -> Option<Machine> {
        let is_i386 = matches!(arch.as_bytes(), [b'i', _, b'8', b'6']);
        let named =
            || ARCHES.iter().find(|(prefix, _)| arch.starts_with(prefix)).map(|(_, machine)| *machine);
        if is_i386 { Some(Machine::X86) } else { named() }
    }

    /// The machine of an ELF header's `e_machine`, as in the feature E_MACHINE.
    pub fn of_e_machine(number: u32) -> Option<Machine> {
        E_MACHINES.iter().find(|(elf, _)| elf.0 == number).map(|(_, machine)| *machine)
    }

    /// Name of a register by its number, in samples of this `abi`; `None` for a number
    /// without a name.
    pub fn register_name(self, number: u32, abi: RegsAbi) -> Option<String> {
        match self {
            Machine::X86 => match number {
                X86_XMM..=63 => Some(format!("XMM{}", (number - X86_XMM) / 2)),
                _ => named(X86, number),
            },
            Machine::Arm => named(ARM, number),
            // The kernel shows a 32-bit task's registers under the numbers they have on 32-bit machines.
            Machine::Arm64 if abi == RegsAbi::ABI_32 && number < 16 => named(ARM, number),
            Machine::Arm64 if number == ARM64_VG => Some("vg".to_owned()),
            Machine::Arm64 => numbered("x", 30, number).or_else(|| named(ARM64, number.wrapping_sub(30))),
            Machine::S390 => numbered("R", 16, number)
                .or_else(|| numbered("FP", 16, number.wrapping_sub(16)))
                .or_else(|| named(S390, number.wrapping_sub(32))),
            Machine::Powerpc => numbered("r", 32, number).or_else(|| named(POWERPC, number.wrapping_sub(32))),
            Machine::Riscv => named(RISCV, number),
            Machine::Loongarch => pc_and_numbered("%r", number),
            Machine::Mips => pc_and_numbered("$", number),
            Machine::Csky => named(CSKY, number),
        }
    }
}

/// A name for each of the registers in a mask, ascending by number.
pub(crate) fn names(machine: Machine, mask: u64, abi: RegsAbi) -> Option<Words> {
    let numbers = (0..64u32).filter(|bit| mask >> bit & 1 == 1);
    Some(Words::Names(numbers.map(|number| machine.register_name(number, abi)).collect()))
}

fn named(names: &[&str], number: u32) -> Option<String> {
    names.get(usize::try_from(number).ok()?).map(|name| (*name).to_owned())
}

fn numbered(prefix: &str, count: u32, number: u32) -> Option<String> {
    (number < count).then(|| format!("{prefix}{number}"))
}

/// Machines whose register 0 is a constant have the program counter in its place.
fn pc_and_numbered(prefix: &str, number: u32) -> Option<String> {
    if number == 0 { Some("PC".to_owned()) } else { numbered(prefix, 32, number) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(arch: &str, number: u32) -> String {
        Machine::of_arch(arch).unwrap().register_name(number, RegsAbi::ABI_64).unwrap_or_default()
    }

    /// Numbers of the kernel's `asm/perf_regs.h` of each architecture.
    #[test]
    fn numbers_are_those_of_the_kernel() {
        assert_eq!(["i686", "x86_64", "x86"].map(|arch| name(arch, 8)), ["IP", "IP", "IP"]);
        assert_eq!(
            [0, 7, 9, 16, 23, 24, 32, 33, 63].map(|nr| name("x86_64", nr)),
            ["AX", "SP", "FLAGS", "R8", "R15", "", "XMM0", "XMM0", "XMM15"]
        );
        assert_eq!([0, 11, 13, 15, 16].map(|nr| name("armv7l", nr)), ["r0", "fp", "sp", "pc", ""]);
        assert_eq!(
            [0, 29, 30, 31, 32, 33, 46].map(|nr| name("aarch64", nr)),
            ["x0", "x29", "lr", "sp", "pc", "", "vg"]
        );
        assert_eq!(
            [15, 16, 31, 32, 33, 34].map(|nr| name("s390x", nr)),
            ["R15", "FP0", "FP15", "MASK", "PC", ""]
        );
        assert_eq!(
            [1, 32, 36, 44, 45, 56, 58, 59].map(|nr| name("ppc64le", nr)),
            ["r1", "nip", "link", "mmcra", "mmcr0", "pmc6", "siar", ""]
        );
        assert_eq!(
            [0, 1, 8, 10, 18, 31, 32].map(|nr| name("riscv64", nr)),
            ["pc", "ra", "s0", "a0", "s2", "t6", ""]
        );
        assert_eq!([0, 1, 31, 32].map(|nr| name("loongarch64", nr)), ["PC", "%r1", "%r31", ""]);
        assert_eq!([0, 29, 32].map(|nr| name("mips64", nr)), ["PC", "$29", ""]);
        assert_eq!(
            [1, 4, 6, 19, 20, 35, 37, 38].map(|nr| name("csky", nr)),
            ["lr", "sp", "a0", "regs9", "exregs0", "hi", "dcsr", ""]
        );
    }

    #[test]
    fn a_32_bit_task_on_a_64_bit_arm_has_the_registers_of_a_32_bit_arm() {
        let name = |abi| Machine::Arm64.register_name(13, abi);
        assert_eq!(
            (name(RegsAbi::ABI_32).as_deref(), name(RegsAbi::ABI_64).as_deref()),
            (Some("sp"), Some("x13"))
        );
    }

    #[test]
    fn no_number_is_too_large() {
        for machine in ARCHES.iter().map(|(_, machine)| *machine) {
            for number in 0..64 {
                let name = machine.register_name(number, RegsAbi::ABI_64);
                assert!(name.is_none_or(|name| !name.is_empty()), "{machine:?} {number}");
            }
            assert!(machine.register_name(u32::MAX, RegsAbi::ABI_32).is_none(), "{machine:?}");
        }
        assert_eq!(Machine::of_arch("vax"), None);
        assert_eq!((Machine::of_e_machine(183), Machine::of_e_machine(0)), (Some(Machine::Arm64), None));
    }
}
