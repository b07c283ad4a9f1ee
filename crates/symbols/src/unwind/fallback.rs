//! Callers where no table helps: by the chain of frame pointers.

use super::registers::Registers;
use super::space::Lookup;
use super::stack::Memory;
use crate::machine::{Convention, Machine};

/// What the chain of frame pointers says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guess {
    /// The registers are those of the caller now.
    Caller,
    /// The registers are those of the caller, if a table describes it: its frame pointer leads nowhere, so it keeps something else in
    /// the register.
    CallerIfDescribed,
    /// The chain ends.
    Bottom,
    /// There is no chain.
    Nothing,
}

/// Where a frame keeps the two words, as distances from where the frame pointer points.
struct Record {
    caller_fp: i64,
    return_address: i64,
    /// Where the stack pointer of the caller is.
    caller_sp: i64,
}

/// What compilers and hand-written code do; no ABI but that of PowerPC demands it.
fn record(machine: Machine) -> Option<Record> {
    match machine {
        Machine::X86_64 | Machine::Aarch64 => Some(Record { caller_fp: 0, return_address: 8, caller_sp: 16 }),
        Machine::I386 => Some(Record { caller_fp: 0, return_address: 4, caller_sp: 8 }),
        Machine::Riscv64 | Machine::Loongarch64 => {
            Some(Record { caller_fp: -16, return_address: -8, caller_sp: 0 })
        }
        Machine::Arm | Machine::S390x | Machine::Powerpc64 => None,
    }
}

/// Follows the chain by one frame. It is only believed when what it leads to is code. The start and end of a program are written
/// by hand and keep a frame, where what calls them often does not.
pub(super) fn follow(
    registers: &mut Registers,
    convention: &Convention,
    memory: &Memory<'_>,
    lookup: &impl Lookup,
) -> Guess {
    if registers.machine() == Machine::Powerpc64 {
        return follow_back_chain(registers, convention, memory, lookup);
    }
    let (Some(record), Some(fp), Some(sp)) =
        (record(registers.machine()), registers.get(convention.fp), registers.get(convention.sp))
    else {
        return Guess::Nothing;
    };
    // Code that keeps a chain zeroes the register before its first frame.
    if fp == 0 {
        return Guess::Bottom;
    }
    let at = |distance| convention.narrow(fp.wrapping_add_signed(distance));
    let (Ok(caller_fp), Ok(return_address)) =
        (memory.word(at(record.caller_fp)), memory.word(at(record.return_address)))
    else {
        return Guess::Nothing;
    };
    let caller_sp = at(record.caller_sp);
    if fp < sp || caller_sp <= sp {
        return Guess::Nothing;
    }
    registers.set(convention.fp, caller_fp);
    match go_to(registers, convention, caller_sp, return_address, lookup) {
        Guess::Caller if caller_fp != 0 && caller_fp <= fp => Guess::CallerIfDescribed,
        guess => guess,
    }
}

/// 64-bit ELF ABI for PowerPC, stack frames: the word at the stack pointer leads to the caller's, and the return address
/// is 16 bytes above that.
fn follow_back_chain(
    registers: &mut Registers,
    convention: &Convention,
    memory: &Memory<'_>,
    lookup: &impl Lookup,
) -> Guess {
    let Some(sp) = registers.get(convention.sp) else { return Guess::Nothing };
    match memory.word(sp) {
        Ok(0) => Guess::Bottom,
        Ok(caller_sp) if caller_sp > sp => match memory.word(caller_sp.wrapping_add(16)) {
            Ok(return_address) => go_to(registers, convention, caller_sp, return_address, lookup),
            Err(_) => Guess::Nothing,
        },
        _ => Guess::Nothing,
    }
}

fn go_to(
    registers: &mut Registers,
    convention: &Convention,
    sp: u64,
    return_address: u64,
    lookup: &impl Lookup,
) -> Guess {
    let ip = registers.machine().code_address(return_address);
    if ip == 0 {
        return Guess::Bottom;
    }
    if lookup.find(ip - 1).is_none() {
        return Guess::Nothing;
    }
    registers.set(convention.sp, sp);
    registers.set_ip(ip, convention);
    Guess::Caller
}
