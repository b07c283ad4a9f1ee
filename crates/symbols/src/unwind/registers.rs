//! The registers of a frame, by the columns of the tables.

use crate::machine::{COLUMNS, Convention, Machine};

/// The registers of a task when it was sampled.
#[derive(Clone, Debug)]
pub struct Registers {
    machine: Machine,
    values: [u64; COLUMNS],
    /// A bit a column.
    known: u64,
    ip: u64,
}

impl Registers {
    /// Registers as recorded: `mask` has a bit for each register that is among the `values`, lowest first, by the numbers
    /// of `asm/perf_regs.h` of the machine (`sample_regs_user`). `None` when instruction or stack pointer are not among
    /// them: there is nothing to start from.
    pub fn recorded(machine: Machine, mask: u64, values: &[u64]) -> Option<Registers> {
        let convention = machine.convention();
        let mut registers = Registers { machine, values: [0; COLUMNS], known: 0, ip: 0 };
        let mut ip = None;
        let present = (0..u64::BITS).filter(|bit| mask >> bit & 1 == 1);
        for (number, value) in present.zip(values) {
            let value = convention.narrow(*value);
            if number == machine.ip_number() {
                ip = Some(value);
            }
            if let Some(column) = machine.column(number) {
                registers.set(column, value);
            }
        }
        registers.get(convention.sp)?;
        registers.set_ip(machine.code_address(ip?), &convention);
        Some(registers)
    }

    /// The machine that they are of.
    pub fn machine(&self) -> Machine {
        self.machine
    }

    /// The instruction pointer.
    pub fn ip(&self) -> u64 {
        self.ip
    }

    #[inline]
    pub(super) fn get(&self, column: u8) -> Option<u64> {
        let value = self.values.get(usize::from(column))?;
        (self.known >> column & 1 == 1).then_some(*value)
    }

    #[inline]
    pub(super) fn set(&mut self, column: u8, value: u64) {
        if let Some(place) = self.values.get_mut(usize::from(column)) {
            *place = value;
            self.known |= 1 << column;
        }
    }

    #[inline]
    pub(super) fn forget(&mut self, column: u8) {
        if usize::from(column) < COLUMNS {
            self.known &= !(1 << column);
        }
    }

    #[inline]
    pub(super) fn set_ip(&mut self, ip: u64, convention: &Convention) {
        self.ip = ip;
        if let Some(column) = convention.ip {
            self.set(column, ip);
        }
    }
}

impl Convention {
    /// A value of a register of this machine.
    #[inline]
    pub(super) fn narrow(&self, value: u64) -> u64 {
        if self.word == 4 { value & 0xffff_ffff } else { value }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_the_kernel_become_columns() {
        // AX BX CX DX SI DI BP SP IP, then R8 and R15, as arch/x86/include/uapi/asm/perf_regs.h numbers them.
        let mask = 0b1000_0001_0000_0001_1111_1111;
        let values = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
        let registers = Registers::recorded(Machine::X86_64, mask, &values).unwrap();
        let columns: Vec<_> = (0..17).map(|column| registers.get(column)).collect();
        // rax rdx rcx rbx rsi rdi rbp rsp r8 … r15 and the return address column.
        let expected = [1, 4, 3, 2, 5, 6, 7, 8, 10].map(Some);
        assert_eq!(columns[..9], expected);
        assert_eq!(columns[9..], [None, None, None, None, None, None, Some(11), Some(9)]);
        let registers = Registers::recorded(Machine::I386, mask, &values).unwrap();
        let columns: Vec<_> = (0..10).map(|column| registers.get(column)).collect();
        // eax ecx edx ebx esp ebp esi edi and the return address column.
        assert_eq!(columns[..9], [1, 3, 4, 2, 8, 7, 5, 6, 9].map(Some));
        assert_eq!(columns[9], None);
    }

    #[test]
    fn floating_point_of_z() {
        // zSeries ELF ABI supplement, DWARF numbers: f0 f2 f4 f6 f1 f3 f5 f7 f8 f10 f12 f14 f9 f11 f13 f15 from 16 up.
        let numbers = [0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15];
        let mask = 1 << 15 | 0xffff << 16 | 1 << 33;
        let values: Vec<u64> = [0x1000].into_iter().chain(100..116).chain([0x2000]).collect();
        let registers = Registers::recorded(Machine::S390x, mask, &values).unwrap();
        for (column, number) in (16..).zip(numbers) {
            assert_eq!(registers.get(column), Some(100 + number), "column {column}");
        }
    }

    #[test]
    fn nothing_to_start_from() {
        assert!(Registers::recorded(Machine::X86_64, 1 << 8, &[1]).is_none());
        assert!(Registers::recorded(Machine::X86_64, 1 << 7, &[1]).is_none());
        assert!(Registers::recorded(Machine::X86_64, 3 << 7, &[1]).is_none());
        assert!(Registers::recorded(Machine::X86_64, 3 << 7, &[1, 2]).is_some());
    }
}
