//! UNWINDING_RESULT (32776): how unwinding the sample before it went, with what it was given (`--keep-failed-unwinding-…`).

use crate::wire::pass::{Fields, Pass, Step, WireField};
use crate::wire::registers::{self, RegsAbi};
use crate::wire::sample::UserStack;
use crate::wire::words::U64s;

/// How an unwinding went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UnwindingResult<'a> {
    /// Time of the sample, ns.
    pub time: u64,
    /// What it took, ns.
    pub used_time: u64,
    /// What went wrong; 0 nothing.
    pub error_code: u64,
    /// Where that was.
    pub error_addr: u64,
    /// Lowest address of the stack.
    pub stack_start: u64,
    /// End of the stack.
    pub stack_end: u64,
    /// Registers of 32 or of 64 bits, or none.
    pub abi: RegsAbi,
    /// Which registers, a bit each.
    pub reg_mask: u64,
    /// Their values, ascending by register number.
    pub regs: U64s<'a>,
    /// The stack it was given.
    pub stack: UserStack<'a>,
    /// The chain it found; newer versions only.
    pub chain: Option<UnwoundChain<'a>>,
}

/// A chain that was found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UnwoundChain<'a> {
    /// Addresses, innermost first.
    pub ips: U64s<'a>,
    /// The stack pointer of each.
    pub sps: U64s<'a>,
}

impl<'a> Fields<'a> for UnwindingResult<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        pass.u64("time", &mut self.time)?;
        pass.u64("used_time", &mut self.used_time)?;
        pass.u64("error_code", &mut self.error_code)?;
        pass.addr("error_addr", &mut self.error_addr)?;
        pass.addr("stack_start", &mut self.stack_start)?;
        pass.addr("stack_end", &mut self.stack_end)?;
        self.abi.field("abi", pass)?;
        if self.abi != RegsAbi::NONE {
            pass.addr("reg_mask", &mut self.reg_mask)?;
            let (abi, mask) = (self.abi, self.reg_mask);
            pass.explain(|context| registers::names(context.machine?, mask, abi));
            pass.addrs("regs", u64::from(self.reg_mask.count_ones()), &mut self.regs)?;
        }
        pass.inner("stack", &mut self.stack)?;
        if pass.left().map_or(self.chain.is_some(), |left| left >= 8) {
            pass.inner("callchain", self.chain.get_or_insert_default())?;
        }
        Ok(())
    }
}

impl<'a> Fields<'a> for UnwoundChain<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        let count = pass.count_u64("length", self.ips.len())?;
        pass.addrs("ips", count, &mut self.ips)?;
        pass.addrs("sps", count, &mut self.sps)
    }
}
