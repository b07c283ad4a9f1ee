//! CALLCHAIN (32775): a call chain that was unwound after the sample, for joining chains of a thread.

use crate::wire::pass::{Fields, Pass, Step};
use crate::wire::words::U64s;

/// A call chain of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Callchain<'a> {
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// How the chain came to be: 0 unwound offline, 1 unwound by the user's side, 2 joined from several.
    pub chain_type: u64,
    /// Time of the sample, ns.
    pub time: u64,
    /// Addresses, innermost first.
    pub ips: U64s<'a>,
    /// The stack pointer of each.
    pub sps: U64s<'a>,
}

impl<'a> Fields<'a> for Callchain<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        pass.u32("pid", &mut self.pid)?;
        pass.u32("tid", &mut self.tid)?;
        pass.u64("chain_type", &mut self.chain_type)?;
        pass.u64("time", &mut self.time)?;
        let count = pass.count_u64("ip_nr", self.ips.len())?;
        pass.addrs("ips", count, &mut self.ips)?;
        pass.addrs("sps", count, &mut self.sps)
    }
}
