//! The machine code of BPF programs, which recorders put into the recording.

use perffile::wire::registers::Machine as Recorded;
use perffile::{ByteOrder, Features};
use readperf_symbols::{Machine, RecordedCode};

/// The code of all programs, by the addresses that it ran at.
pub(crate) fn bpf_code(features: &Features) -> RecordedCode {
    let (Some(machine), Some(programs)) = (machine(features), features.bpf_prog_info()) else {
        return RecordedCode::default();
    };
    let functions = programs.programs.iter().flat_map(|program| program.functions(features.order()));
    RecordedCode::new(machine, functions.map(|function| (function.address, function.code.to_vec())))
}

/// The machine of the recorded kernel.
fn machine(features: &Features) -> Option<Machine> {
    let arch = features.arch().unwrap_or_default();
    let big_endian = features.order() == ByteOrder::Big;
    Some(match features.machine()? {
        Recorded::X86 if arch.starts_with('i') => Machine::X86,
        Recorded::X86 => Machine::X86_64,
        Recorded::Arm64 => Machine::Arm64,
        Recorded::Arm => Machine::Arm,
        Recorded::S390 => Machine::S390x,
        Recorded::Powerpc => Machine::Ppc64 { big_endian },
        Recorded::Riscv => Machine::Riscv64,
        _ => return None,
    })
}
